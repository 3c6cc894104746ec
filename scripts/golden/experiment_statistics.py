#!/usr/bin/env python3
"""Golden values of the statistics of experiments, from the libraries that define them.

    pip install numpy==1.26.4 scipy==1.14.1 statsmodels==0.14.4 pandas==2.2.3
    python3 scripts/golden/experiment_statistics.py \
        > tests/fixtures/golden/experiment_statistics.json

Data are drawn with a fixed seed. Errors of ratios, one-way and two-way: the regression of
N/D on a constant with weights D has θ as its coefficient, and statsmodels' cluster-robust
covariance with C/(C-1) and nothing else as its correction. BCa: scipy.stats.bootstrap (its
draws are others, so that ends agree to the error of drawing). Randomisation: all assignments
by itertools, and scipy.stats.permutation_test. Holm and Benjamini-Hochberg: statsmodels.
Equivalence: statsmodels' ttost on cluster means. Normal and t: scipy.
"""

import itertools
import json
import sys

import numpy as np
import scipy
import scipy.stats as st
import statsmodels
import statsmodels.api as sm
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.sandwich_covariance import cov_cluster, cov_cluster_2groups
from statsmodels.stats.weightstats import DescrStatsW


def items(rng, n_clusters, per_cluster):
    """Paragraphs with N and D, alike within a cluster."""
    cluster, above, below = [], [], []
    for c in range(n_clusters):
        rate = rng.beta(2, 5)
        for _ in range(rng.integers(1, per_cluster)):
            d = int(rng.integers(1, 7))
            cluster.append(c)
            below.append(float(d))
            above.append(float(np.round(np.clip(rate + rng.normal(0, 0.1), 0, 1) * d, 3)))
    return np.array(cluster), np.array(above), np.array(below)


def sums(cluster, values):
    return np.array([values[cluster == c].sum() for c in range(cluster.max() + 1)])


def correction(n):
    return n / (n - 1)


def ratio(cluster, above, below):
    """θ, SE and its interval by a weighted regression on a constant."""
    n = cluster.max() + 1
    fit = sm.WLS(above / below, np.ones(len(above)), weights=below).fit()
    variance = cov_cluster(fit, cluster, use_correction=False)[0, 0] * correction(n)
    theta, se = fit.params[0], np.sqrt(variance)
    low, high = st.t.interval(0.95, n - 1, loc=theta, scale=se)
    return {"estimate": theta, "standard_error": se, "low": low, "high": high}


def two_way(one, other, above, below):
    fit = sm.WLS(above / below, np.ones(len(above)), weights=below).fit()
    _, first, second = cov_cluster_2groups(fit, one, other, use_correction=False)
    _, both = np.unique(np.stack([one, other], 1), axis=0, return_inverse=True)
    shared = cov_cluster(fit, both.ravel(), use_correction=False)[0, 0]
    n1, n2, n12 = one.max() + 1, other.max() + 1, both.max() + 1
    variance = (
        first[0, 0] * correction(n1) + second[0, 0] * correction(n2) - shared * correction(n12)
    )
    return {
        "variances": [first[0, 0] * correction(n1), second[0, 0] * correction(n2)],
        "standard_error": float(np.sqrt(variance)),
    }


def randomised(first, second):
    """All assignments of whole clusters."""
    observed = second[0].sum() / second[1].sum() - first[0].sum() / first[1].sum()
    hits = total = 0
    for signs in itertools.product([False, True], repeat=len(first[0])):
        swap = np.array(signs)
        a = np.where(swap, second, first)
        b = np.where(swap, first, second)
        other = b[0].sum() / b[1].sum() - a[0].sum() / a[1].sum()
        hits += abs(other) >= abs(observed) - 1e-12
        total += 1
    return {"difference": observed, "p_value": hits / total}


def main():
    rng = np.random.default_rng(20)
    cluster, above, below = items(rng, 30, 12)
    other_way = rng.integers(0, 6, len(cluster))
    other_way[:6] = range(6)
    # What the other way's clusters share must show, or its variance would be lost.
    above = np.round(np.clip(above + below * 0.06 * (other_way - 2.5), 0, None), 3)
    second = np.round(np.clip(above + rng.normal(0.05, 0.2, len(above)), 0, None), 3)
    second_below = below + rng.integers(0, 2, len(below))
    a, b = sums(cluster, above), sums(cluster, below)
    a2, b2 = sums(cluster, second), sums(cluster, second_below)

    def of(x, y, axis=-1):
        return x.sum(axis) / y.sum(axis)

    bca = st.bootstrap(
        (a, b), of, paired=True, n_resamples=100_000, method="BCa", random_state=rng
    ).confidence_interval
    percentile = st.bootstrap(
        (a, b), of, paired=True, n_resamples=100_000, method="percentile", random_state=rng
    )
    few = slice(0, 10)
    permuted = st.permutation_test(
        (a[few] / 10, a2[few] / 10),
        lambda x, y, axis=-1: y.mean(axis) - x.mean(axis),
        permutation_type="samples",
        n_resamples=np.inf,
    )
    p_values = [0.001, 0.04, 0.03, 0.2, 0.5, 0.012, 0.04, 0.9]
    means = a2[few] / 10 - a[few] / 10
    margin = float(np.abs(means.mean()) + 2.5 * means.std(ddof=1) / np.sqrt(10))
    tost = DescrStatsW(means).ttost_mean(-margin, margin)
    se = float(means.std(ddof=1) / np.sqrt(10))
    json.dump(
        {
            "made_by": f"numpy {np.__version__}, scipy {scipy.__version__}, "
            f"statsmodels {statsmodels.__version__}",
            "cluster": cluster.tolist(),
            "other_way": other_way.tolist(),
            "above": above.tolist(),
            "below": below.tolist(),
            "second_above": second.tolist(),
            "second_below": second_below.tolist(),
            "ratio": ratio(cluster, above, below),
            "two_way": two_way(cluster, other_way, above, below),
            "bootstrap": {
                "bca": [bca.low, bca.high],
                "percentile": list(percentile.confidence_interval),
                "standard_error": percentile.standard_error,
            },
            "randomisation": randomised(
                np.stack([a[few], b[few]]), np.stack([a2[few], b2[few]])
            ),
            "randomisation_of_means": permuted.pvalue,
            "p_values": p_values,
            "holm": multipletests(p_values, method="holm")[1].tolist(),
            "benjamini_hochberg": multipletests(p_values, method="fdr_bh")[1].tolist(),
            "equivalence": {
                "difference": float(means.mean()),
                "standard_error": se,
                "degrees": 9,
                "margin": margin,
                "p_value": float(tost[0]),
            },
            "detectable": float((st.t.ppf(0.975, 9) + st.t.ppf(0.8, 9)) * se),
            "normal": [[z, st.norm.cdf(z)] for z in (-8.0, -3.1, -2.0, -0.3, 0.0, 1.5, 5.0)],
            "normal_quantiles": [
                [p, st.norm.ppf(p)] for p in (1e-10, 0.01, 0.3, 0.5, 0.975, 0.9999)
            ],
        },
        sys.stdout,
        indent=1,
    )
    print()


if __name__ == "__main__":
    main()
