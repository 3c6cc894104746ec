#!/usr/bin/env python3
"""What llama.cpp says greedily after a few prompts, for tests/fixtures/golden.

Needs the packages llama-cpp-python and numpy, and the model file, as
scripts/fetch_models.py brings it. Writes one JSON object: for each prompt its text, its
tokens, the likeliest token at each of 32 steps, and by how much its logit is ahead of
the second one's. Where two implementations round differently, they may part where that
lead is small, and nowhere else.

    python scripts/golden/llama_cpp_greedy.py models/cache/SmolLM2-135M-Instruct.Q4_1.gguf \
        > tests/fixtures/golden/llama_cpp_greedy.json
"""

import json
import sys

import llama_cpp
import numpy as np

N_STEPS = 32

SYSTEM = "You are an experienced writing instructor. You give short, concrete feedback."

USERS = [
    "Give feedback on this paragraph.\n\n### Paragraph:\nSchool uniforms make mornings easier, "
    "because nobody has to decide what to wear. That is the only reason I can think of.",
    "Name one strength of this paragraph.\n\n### Paragraph:\nWhen my grandmother left Lisbon she "
    "carried two photographs and a recipe. The photographs faded; the recipe is still on our "
    "kitchen wall, and every Sunday we follow it as if it were a map.",
    "What should the student change first?\n\n### Essay:\nMany people think that homework helps. "
    "Studies show that it depends. Homework in primary school has little effect.\n\n"
    "### Target Paragraph:\nHomework in primary school has little effect. This is proven. "
    "Therefor it should be banned in every country, as everyone knows.",
    "Is the topic sentence of this paragraph clear? Explain in two sentences.\n\n"
    "### Paragraph:\nThere are buses, trams and bicycles. Cars are loud – and they don’t belong "
    "in the old town. I like trams best. The mayor said 25% of all trips could be made on foot.",
    "List two questions that you would ask the author.\n\n### Paragraph:\nOur club planted forty "
    "trees in spring. By autumn thirty-one of them were alive, which the newspaper called a "
    "failure and we called a forest.",
]


def rendered(user):
    """ChatML, as the model's own template writes it."""
    turns = [("system", SYSTEM), ("user", user)]
    text = "".join(f"<|im_start|>{role}\n{content}<|im_end|>\n" for role, content in turns)
    return text + "<|im_start|>assistant\n"


def greedy(model, tokens):
    model.reset()
    model.eval(tokens)
    ids, leads = [], []
    for _ in range(N_STEPS):
        pointer = llama_cpp.llama_get_logits_ith(model.ctx, -1)
        logits = np.ctypeslib.as_array(pointer, shape=(model.n_vocab(),))
        second, first = np.argsort(logits, kind="stable")[-2:]
        ids.append(int(first))
        leads.append(round(float(logits[first] - logits[second]), 4))
        model.eval([int(first)])
    return ids, leads


def main():
    model = llama_cpp.Llama(
        model_path=sys.argv[1], n_ctx=2048, n_threads=2, n_batch=512, verbose=False
    )
    cases = []
    for user in USERS:
        text = rendered(user)
        tokens = model.tokenize(text.encode("utf-8"), add_bos=False, special=True)
        ids, leads = greedy(model, tokens)
        cases.append({"user": user, "text": text, "tokens": tokens, "greedy": ids, "leads": leads})
    version = llama_cpp.__version__
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    head = json.dumps({"llama_cpp_python": version, "system": SYSTEM}, ensure_ascii=False)
    print(head[:-1] + ', "cases": [\n' + lines + "\n]}")


if __name__ == "__main__":
    main()
