#!/usr/bin/env python3
"""Golden figures of a folder in the layout of the public release, by scipy.

    pip install numpy==2.4.6 scipy==1.17.1
    python3 scripts/golden/release.py tests/fixtures/release \
        > tests/fixtures/golden/release.json

Written from the formulas, on its own: soft figures by `linear_sum_assignment`,
threshold figures by `maximum_bipartite_matching`, paragraphs without a generated
or a gold unit left out.
"""

import json
import sys
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching

MARKER = "FEEDBACK_SEGMENTS"


def long_enough(text):
    """Whether a text counts as a unit."""
    return len(text.strip()) >= 3


def matrices(folder):
    """The score matrix of each paragraph that can be evaluated."""
    scores = {}
    # The companion first, so that the main file overrides it.
    for path in sorted(folder.glob("stage1_scores*.jsonl"), key=lambda p: "_g1GT" not in p.name):
        for line in path.read_text(encoding="utf-8").splitlines():
            pair = json.loads(line)
            indices = ("paragraph_index", "model_seg_index", "annot_index")
            scores[(pair["file"], *(pair[index] for index in indices))] = pair["score"]
    for path in sorted((folder / "seg_model").glob("*.json")):
        generated = json.loads(path.read_text(encoding="utf-8"))["paragraphs"]
        annotated = json.loads((folder / "seg_annot" / path.name).read_text(encoding="utf-8"))
        for place, (ours, theirs) in enumerate(zip(generated, annotated["paragraphs"])):
            feedback = ours.get("model", [{"feedback": []}])[0]["feedback"]
            if MARKER not in feedback:
                continue
            n_units = sum(map(long_enough, feedback[feedback.index(MARKER) + 1 :]))
            n_gold = sum(long_enough(item["comment"]) for item in theirs["annotations"])
            if n_units and n_gold:
                yield np.array(
                    [[scores[path.name, place, u, g] for g in range(n_gold)] for u in range(n_units)],
                    dtype=float,
                )


def soft(ratings):
    """Matched weight, and the weight of either side."""
    rows, cols = linear_sum_assignment(-ratings)
    n_units, n_gold = ratings.shape
    return ratings[rows, cols].sum(), 4 * n_units, 4 * n_gold


def at(tau):
    """Matched units at a threshold, and the units of either side."""

    def count(ratings):
        matching = maximum_bipartite_matching(csr_matrix(ratings >= tau), perm_type="row")
        return (matching >= 0).sum(), *ratings.shape

    return count


def figures(all_ratings, count):
    """Micro and macro precision, recall and F1."""
    counts = np.array([count(ratings) for ratings in all_ratings], dtype=float)
    own = np.array([prf(*row) for row in counts])
    names = ("precision", "recall", "f1")
    micro = dict(zip((f"micro_{name}" for name in names), prf(*counts.sum(axis=0))))
    macro = dict(zip((f"macro_{name}" for name in names), own.mean(axis=0).tolist()))
    return micro | macro | {"total_llm_segments": sum(len(ratings) for ratings in all_ratings)}


def prf(matched, generated, gold):
    """Precision, recall and their harmonic mean."""
    precision, recall = float(matched / generated), float(matched / gold)
    return precision, recall, 2 * precision * recall / (precision + recall) if matched else 0.0


def main():
    """Prints the figures of the folder named on the command line."""
    full = list(matrices(Path(sys.argv[1])))
    single = [ratings for ratings in full if ratings.shape[1] == 1]
    multi = [ratings for ratings in full if ratings.shape[1] > 1]
    golden = {
        "soft": {
            "full": figures(full, soft),
            "single_reference": figures(single, soft),
            "multi_reference": figures(multi, soft),
        },
        "threshold": {
            name: {str(tau): figures(subset, at(tau)) for tau in (1, 2, 3, 4)}
            for name, subset in (("full", full), ("single_reference", single))
        },
    }
    print(json.dumps(golden, indent=1))


if __name__ == "__main__":
    main()
