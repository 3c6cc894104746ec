#!/usr/bin/env python3
"""Sentence vectors that sentence-transformers computes, for tests/it/encoder.rs.

    python3 scripts/golden/minilm.py models/cache/all-MiniLM-L6-v2 \
        tests/fixtures/golden/minilm.json

Needs the packages torch and sentence-transformers.
"""

import json
import sys
from importlib.metadata import version

from sentence_transformers import SentenceTransformer

SENTENCES = [
    "Your thesis is clear, but the second reason has no example.",
    "The second reason lacks an example, though the thesis is clear.",
    "I love the image of the rain on the tin roof!",
    "Fix the comma splice in the first line.",
    "Two main clauses are joined by a comma here.",
    "Who is Alex?",
    "Expand on this in the next draft.",
    "This paragraph repeats what you said above.",
    "Great.",
    "?",
    "",
    "   ",
    "Say more about how your grandmother taught you to cook, and what the kitchen smelled of.",
    "Cite the source of this number (48.7%), please.",
    "DON'T SHOUT.",
    "it's it's it's it's it's it's it's it's it's",
    "Café, naïve, Zoë and Łódź lose their accents here.",
    "“Curly quotes” — and dashes… too",
    "你好，世界 is a greeting; こんにちは is another.",
    "😀 emoji are unknown to this vocabulary 🌧",
    "Antidisestablishmentarianism and supercalifragilisticexpialidocious are long words.",
    "One\nline\n\nafter\tanother",
    "The evidence supports the claim. " * 8,
    "Consider the order of your paragraphs: the strongest reason stands first, the weakest last, and "
    "the reader leaves with the weakest in mind. Turn it around, and let the last line echo the first.",
    "http://example.org/essay?id=42#top",
    "1, 2, 3; 4.5 and 6,700",
    "The topic sentence announces three points and the paragraph delivers two of them.",
    "No.",
    "a",
    "You could connect this memory to the question in your title, which is still open.",
]


def main():
    folder, output = sys.argv[1:]
    model = SentenceTransformer(folder, device="cpu")
    # One by one, so that no padding enters.
    vectors = [model.encode([sentence])[0] for sentence in SENTENCES]
    golden = {
        "format_version": 1,
        "made_by": f"sentence-transformers {version('sentence-transformers')}, "
                   f"torch {version('torch')}",
        "sentences": [
            {"text": text, "vector": [float(f"{value:.7f}") for value in vector]}
            for text, vector in zip(SENTENCES, vectors)],
    }
    with open(output, "w", encoding="utf-8") as file:
        json.dump(golden, file, ensure_ascii=False, separators=(",", ":"))
        file.write("\n")
    print(f"{output}: {len(vectors)} vectors of {len(vectors[0])}")


if __name__ == "__main__":
    main()
