#!/usr/bin/env python3
"""Golden totals of the assignment problem, computed by scipy.

    pip install numpy==2.4.6 scipy==1.17.1
    python3 scripts/golden/assignment.py > tests/fixtures/golden/assignment.json

Matrices of ratings from 0 to 4 in many shapes up to 30 by 30, integers and reals,
with a fixed seed. For each: the greatest sum of a one-to-one assignment
(`linear_sum_assignment`), and the size of a maximum matching of the cells at or
above each threshold from 1 to 4 (`maximum_bipartite_matching`).
"""

import json

import numpy as np
import scipy
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching

SHAPES = [
    (1, 1), (1, 2), (2, 1), (2, 2), (1, 7), (7, 1), (2, 3), (3, 2), (3, 3), (3, 5), (5, 3),
    (4, 4), (4, 9), (9, 4), (5, 5), (6, 6), (6, 10), (10, 6), (8, 8), (12, 5), (5, 12), (12, 12),
    (15, 20), (20, 15), (1, 30), (30, 1), (25, 25), (30, 7), (7, 30), (29, 30), (30, 29), (30, 30),
]


def integers(draw, shape):
    """Integer ratings, all alike."""
    return draw.integers(0, 5, shape)


def sparse(draw, shape):
    """Integer ratings, most of them 0, as judges give them."""
    return draw.choice([0, 1, 2, 3, 4], shape, p=[0.6, 0.2, 0.1, 0.06, 0.04])


def reals(draw, shape):
    """Real ratings, as of a calibrated scorer."""
    return np.round(draw.uniform(0, 4, shape), 6)


def solve(ratings):
    """The golden values of one matrix."""
    rows, cols = linear_sum_assignment(-ratings)
    matched = [
        int((maximum_bipartite_matching(csr_matrix(ratings >= tau), perm_type="row") >= 0).sum())
        for tau in (1, 2, 3, 4)
    ]
    return {
        "ratings": ratings.tolist(),
        "total": float(ratings[rows, cols].sum()),
        "n_matched": matched,
    }


def main():
    """Prints the golden file, a matrix on each line."""
    draw = np.random.default_rng(42)
    cases = [solve(kind(draw, shape)) for shape in SHAPES for kind in (integers, sparse, reals)]
    lines = ",\n".join(json.dumps(case) for case in cases)
    versions = f'"numpy": "{np.__version__}", "scipy": "{scipy.__version__}"'
    print(f'{{{versions}, "cases": [\n{lines}\n]}}')


if __name__ == "__main__":
    main()
