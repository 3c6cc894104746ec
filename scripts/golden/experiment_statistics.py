#!/usr/bin/env python3
"""Golden values of micro ratios under clustering, from the libraries that know them.

    pip install numpy==2.4.6 scipy==1.17.1 statsmodels==0.15.0 wildboottest==0.3.2
    python3 scripts/golden/experiment_statistics.py \
        > tests/fixtures/golden/experiment_statistics.json

Data are drawn with a fixed seed: paragraphs with a count of matches above the line and a
count of items below it, by student and by class. Errors of ratios and differences, by
one grouping and by two: statsmodels, as a regression of N/D on constants with weights D.
BCa and the draws that it is of, the exact randomisation test, the normal distribution:
scipy. Wild cluster bootstrap: wildboottest, on the same regression, ties with the t seen
counted. Adjusted p-values, two one-sided tests: statsmodels.
"""

import json
import warnings

import numpy as np
import scipy
import scipy.stats as st
import statsmodels
import statsmodels.api as sm
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.sandwich_covariance import cov_cluster_2groups
from statsmodels.stats.weightstats import DescrStatsW
from wildboottest.wildboottest import WildboottestCL

warnings.filterwarnings("ignore")


def paragraphs(rng, n_students, n_classes, real=False):
    """Sums of two systems on paragraphs; a student's paragraphs go together."""
    rows = []
    for student in range(n_students):
        ability = rng.normal(0, 0.15)
        lean = rng.normal(0, 0.1)
        for _ in range(rng.integers(1, 7)):
            n_items = [int(n) for n in rng.integers(1, 9, 2)]
            chances = np.clip([0.55 + ability, 0.6 + ability + lean], 0, 1)
            n_right = [int(rng.binomial(n, p)) for n, p in zip(n_items, chances)]
            if real:
                n_items = [n + float(rng.random()) for n in n_items]
                n_right = [n * float(rng.random()) for n in n_right]
            rows.append((student, int(rng.integers(n_classes)), *n_right, *n_items))
    student, group, n1, n2, d1, d2 = (np.array(column) for column in zip(*rows))
    return student, group, (n1.astype(float), d1.astype(float)), (n2.astype(float), d2.astype(float))


def by_student(student, sums):
    """The sums of each student."""
    return tuple(np.bincount(student, weights=side) for side in sums)


def ratio_of(sums):
    """A constant that N/D is regressed on with weights D."""
    above, below = sums
    return sm.WLS(above / below, np.ones(len(above)), weights=below)


def both(first, second):
    """A constant and a dummy of the second system, all rows of the first system first."""
    above, below = (np.concatenate(sides) for sides in zip(first, second))
    is_second = np.repeat([0.0, 1.0], [len(first[0]), len(second[0])])
    return above / below, np.column_stack([np.ones(len(above)), is_second]), below


def estimate(value, error, degrees, level=0.95):
    """As the library under test gives it."""
    low, high = st.t.interval(level, degrees, loc=value, scale=error)
    return {
        "estimate": float(value),
        "standard_error": float(error),
        "degrees": float(degrees),
        "low": float(low),
        "high": float(high),
    }


def linearised_cases(rng):
    """Ratios and differences by student."""
    cases = []
    for n_students, real in [(2, False), (5, False), (30, True), (200, False)]:
        student, _, first, second = paragraphs(rng, n_students, 3, real)
        groups = {"groups": student, "use_correction": True, "df_correction": True}
        fit = ratio_of(first).fit(cov_type="cluster", cov_kwds=groups, use_t=True)
        ratio = estimate(fit.params[0], fit.bse[0], fit.df_resid_inference)
        assert np.allclose(fit.conf_int()[0], [ratio["low"], ratio["high"]], rtol=1e-12)
        y, x, weights = both(first, second)
        doubled = {**groups, "groups": np.tile(student, 2), "use_correction": False}
        fit = sm.WLS(y, x, weights=weights).fit(cov_type="cluster", cov_kwds=doubled, use_t=True)
        # statsmodels' own correction holds (n-1)/(n-k) besides.
        error = fit.bse[1] * np.sqrt(n_students / (n_students - 1))
        cases.append(
            {
                "first": np.transpose(by_student(student, first)).tolist(),
                "second": np.transpose(by_student(student, second)).tolist(),
                "ratio": ratio,
                "difference": estimate(fit.params[1], error, fit.df_resid_inference),
            }
        )
    return cases


def two_way_cases(rng):
    """Ratios by student and by class; in some the crossed variance is the smaller one."""
    cases, n_of = [], {True: 0, False: 0}
    while min(n_of.values()) < 2:
        student, group, first, _ = paragraphs(rng, int(rng.integers(4, 40)), int(rng.integers(2, 9)))
        fit = ratio_of(first).fit()
        crossed, one, other = (float(v.item()) for v in cov_cluster_2groups(fit, student, group))
        is_smaller = crossed < max(one, other)
        if n_of[is_smaller] == 2:
            continue
        n_of[is_smaller] += 1
        degrees = min(len(set(student)), len(set(group))) - 1
        variance = max(crossed, one, other)
        cases.append(
            {
                "items": np.transpose(first).tolist(),
                "one": student.tolist(),
                "other": group.tolist(),
                "is_smaller": is_smaller,
                "ratio": estimate(fit.params[0], np.sqrt(variance), degrees),
            }
        )
    return cases


def bootstrap_cases(rng):
    """Ratios and differences over students, with the draws themselves."""
    cases = []
    for n_students, is_difference in [(12, False), (60, False), (25, True), (120, True)]:
        student, _, first, second = paragraphs(rng, n_students, 3)
        first, second = by_student(student, first), by_student(student, second)

        def statistic(drawn, axis=-1):
            ratios = [above[drawn].sum(axis) / below[drawn].sum(axis) for above, below in (first, second)]
            return ratios[1] - ratios[0] if is_difference else ratios[0]

        def run(n):
            return st.bootstrap(
                (np.arange(n_students),), statistic, n_resamples=n, method="BCa", vectorized=True, rng=rng
            )

        few, many = run(400), run(40000)
        percentile = np.percentile(many.bootstrap_distribution, [2.5, 97.5])
        cases.append(
            {
                "first": np.transpose(first).tolist(),
                "second": np.transpose(second).tolist() if is_difference else None,
                "distribution": few.bootstrap_distribution.tolist(),
                "bca": [float(end) for end in few.confidence_interval],
                "bca_of_many": [float(end) for end in many.confidence_interval],
                "percentile_of_many": percentile.tolist(),
                "error_of_many": float(many.standard_error),
            }
        )
    return cases


def randomisation_cases(rng):
    """All ways to swap two systems on the students."""
    cases = []
    for n_students, real in [(2, False), (6, False), (10, True), (13, False)]:
        student, _, first, second = paragraphs(rng, n_students, 3, real)
        first, second = by_student(student, first), by_student(student, second)
        above, below = (np.concatenate(sides) for sides in zip(first, second))

        def difference(one, other, axis=-1):
            ratios = [above[drawn].sum(axis) / below[drawn].sum(axis) for drawn in (one, other)]
            return ratios[1] - ratios[0]

        places = np.arange(2 * n_students)
        found = st.permutation_test(
            (places[:n_students], places[n_students:]),
            difference,
            permutation_type="samples",
            n_resamples=np.inf,
            vectorized=True,
        )
        cases.append(
            {
                "first": np.transpose(first).tolist(),
                "second": np.transpose(second).tolist(),
                "difference": float(found.statistic),
                "p_value": float(found.pvalue),
                "n_assignments": len(found.null_distribution),
            }
        )
    return cases


def wild_cases(rng):
    """The null of no difference, imposed; all signs where there are few."""
    cases = []
    for n_students, weights_type in [(10, "rademacher"), (12, "rademacher"), (7, "webb"), (40, "rademacher")]:
        student, _, first, second = paragraphs(rng, n_students, 3)
        y, x, weights = both(first, second)
        root = np.sqrt(weights)
        test = WildboottestCL(
            X=x * root[:, None],
            Y=y * root,
            cluster=np.tile(student, 2),
            R=np.array([0.0, 1.0]),
            B=50_000,
            seed=int(rng.integers(1, 2**31)),
            parallel=False,
        )
        test.get_scores(bootstrap_type="11", impose_null=True)
        _, n_draws, is_exact = test.get_weights(weights_type)
        test.get_numer()
        test.get_denom()
        test.get_tboot()
        test.get_vcov()
        test.get_tstat()
        assert not is_exact or len(test.t_boot) == 2**n_students
        cases.append(
            {
                "first": np.transpose(by_student(student, first)).tolist(),
                "second": np.transpose(by_student(student, second)).tolist(),
                "is_exact": bool(is_exact),
                "p_value": float(np.mean(abs(test.t_stat) * (1 - 1e-9) <= np.abs(test.t_boot))),
            }
        )
    return cases


def multiplicity_cases(rng):
    """P-values of several tests, some tied."""
    cases = []
    for n in [1, 2, 7, 40]:
        p_values = rng.random(n) ** 3
        p_values[n // 2 :: 5] = p_values[0]
        cases.append(
            {
                "p_values": p_values.tolist(),
                "holm": multipletests(p_values, method="holm")[1].tolist(),
                "benjamini_hochberg": multipletests(p_values, method="fdr_bh")[1].tolist(),
            }
        )
    return cases


def equivalence_cases(rng):
    """Means, which are ratios over ones, within margins; and what could be detected."""
    cases = []
    for n, shift, margin in [(5, 0.0, 0.3), (30, 0.05, 0.2), (30, -0.2, 0.15), (80, 0.02, 0.1)]:
        values = rng.normal(shift, 0.3, n)
        p_value = DescrStatsW(values).ttost_mean(-margin, margin)[0]
        low, high = DescrStatsW(values).tconfint_mean(alpha=0.1)
        cases.append(
            {
                "values": values.tolist(),
                "margin": margin,
                "p_value": float(p_value),
                "low": float(low),
                "high": float(high),
            }
        )
    return cases


def detectable_cases():
    """(t of 1-alpha/2 and t of the power) times the error."""
    return [
        {
            "standard_error": 0.031,
            "degrees": degrees,
            "alpha": alpha,
            "power": power,
            "difference": float(0.031 * (st.t.ppf(1 - alpha / 2, degrees) + st.t.ppf(power, degrees))),
        }
        for degrees in [4, 30, 250]
        for alpha, power in [(0.05, 0.8), (0.01, 0.9), (0.1, 0.5)]
    ]


def normal_cases():
    """The distribution and its quantiles, far out too."""
    z = [-37.0, -10.0, -5.5, -2.51, -2.5, -2.49, -1.0, -0.01, 0.0, 0.3, 1.96, 2.6, 4.0, 8.0]
    p = [1e-300, 1e-12, 0.001, 0.025, 0.3, 0.5, 0.841, 0.975, 0.9999, 1 - 1e-9]
    return {
        "cdf": [[float(at), float(st.norm.cdf(at))] for at in z],
        "quantile": [[at, float(st.norm.ppf(at))] for at in p],
    }


def main():
    """Prints the golden file."""
    rng = np.random.default_rng(42)
    golden = {
        "versions": {
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "statsmodels": statsmodels.__version__,
            "wildboottest": "0.3.2",
        },
        "linearised": linearised_cases(rng),
        "two_way": two_way_cases(rng),
        "bootstrap": bootstrap_cases(rng),
        "randomisation": randomisation_cases(rng),
        "wild": wild_cases(rng),
        "multiplicity": multiplicity_cases(rng),
        "equivalence": equivalence_cases(rng),
        "detectable": detectable_cases(),
        "normal": normal_cases(),
    }
    print(json.dumps(golden))


if __name__ == "__main__":
    main()
