#!/usr/bin/env python3
"""Golden values of agreement, from the libraries that define it.

    pip install numpy==1.26.4 scipy==1.14.1 scikit-learn==1.5.2 pandas==2.2.3 \
        pingouin==0.5.5 krippendorff==0.8.0 nltk==3.9.1 segeval==2.0.11 setuptools
    python3 scripts/golden/agreement.py > tests/fixtures/golden/agreement.json

Data are drawn with a fixed seed. Correlations, t and Benjamini-Yekutieli: scipy; kappa,
the reliability curve and Brier: scikit-learn; ICC: pingouin; alpha: krippendorff;
WindowDiff: nltk; boundary similarity: segeval. Tie-calibrated accuracy and the loop over
annotators of the alternative-annotator test are spelled out here from their papers.
"""

import json
import warnings

import krippendorff
import numpy as np
import pandas as pd
import pingouin
import scipy
import scipy.stats as st
import segeval
import sklearn
from nltk.metrics.segmentation import windowdiff
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, cohen_kappa_score

warnings.filterwarnings("ignore")


def pairwise_accuracy(scores, gold):
    """acc_eq at every threshold among zero and the differences; the least best one."""
    n = len(scores)
    pairs = [(i, j) for i in range(n) for j in range(i)]
    thresholds = sorted({0.0} | {abs(scores[i] - scores[j]) for i, j in pairs})
    best = (-1.0, 0.0)
    for threshold in thresholds:
        right = 0
        for i, j in pairs:
            d, g = scores[i] - scores[j], gold[i] - gold[j]
            tie = abs(d) <= threshold
            right += (g == 0 and tie) or (g != 0 and not tie and d * g > 0)
        if right / len(pairs) > best[0]:
            best = (right / len(pairs), threshold)
    return best


def similarity_cases(rng):
    """Ratings against gold, with many ties, few, and none."""
    cases = []
    for n, kind in [(5, "ints"), (40, "ints"), (60, "floats"), (120, "floats"), (200, "coarse"), (70, "poles")]:
        gold = rng.integers(0, 5, n).astype(float)
        noise = rng.normal(0, 1, n)
        if kind == "poles":
            gold = np.where(gold < 3, 0.0, 4.0)
            noise /= 3
        rating = np.clip(0.7 * gold + 0.6 + noise, 0, 4)
        if kind == "ints":
            rating = np.floor(rating + 0.5)
        if kind == "coarse":
            rating = np.floor(rating * 4 + 0.5) / 4
        rounded = np.floor(rating + 0.5).astype(int)
        table = pd.DataFrame(
            {
                "item": np.tile(np.arange(n), 2),
                "rater": np.repeat(["a", "b"], n),
                "rating": np.concatenate([rating, gold]),
            }
        )
        icc = pingouin.intraclass_corr(table, "item", "rater", "rating").set_index("Type")
        accuracy, threshold = pairwise_accuracy(rating.tolist(), gold.tolist())
        alpha = krippendorff.alpha(
            reliability_data=np.array([rounded, gold.astype(int)]), level_of_measurement="ordinal"
        )
        cases.append(
            {
                "rating": rating.tolist(),
                "gold": gold.tolist(),
                "pearson": st.pearsonr(rating, gold).statistic,
                "spearman": st.spearmanr(rating, gold).statistic,
                "kendall": st.kendalltau(rating, gold, variant="b").statistic,
                "accuracy": accuracy,
                "threshold": threshold,
                "kappa": cohen_kappa_score(
                    rounded, gold.astype(int), weights="quadratic", labels=[0, 1, 2, 3, 4]
                ),
                "icc": float(icc.loc["ICC2", "ICC"]),
                "alpha": alpha,
                "slope": st.linregress(gold, rating).slope,
            }
        )
    return cases


def alpha_cases(rng):
    """Three raters, some ratings missing."""
    cases = []
    for n in [10, 80]:
        truth = rng.integers(0, 5, n)
        raters = [np.clip(truth + rng.integers(-1, 2, n), 0, 4).astype(float) for _ in range(3)]
        for rater in raters:
            rater[rng.random(n) < 0.2] = np.nan
        data = np.array(raters)
        units = [[float(v) for v in column if not np.isnan(v)] for column in data.T]
        alpha = krippendorff.alpha(reliability_data=data, level_of_measurement="ordinal")
        cases.append({"units": units, "alpha": alpha})
    return cases


def reliability_cases(rng):
    """Probabilities of five classes."""
    cases = []
    for n in [30, 300]:
        logits = rng.normal(0, 1.5, (n, 5))
        probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        classes = np.array([rng.choice(5, p=p) for p in probabilities])
        confidence = probabilities.max(axis=1)
        right = (probabilities.argmax(axis=1) == classes).astype(int)
        accuracy, mean_confidence = calibration_curve(right, confidence, n_bins=10)
        counts = np.histogram(confidence, bins=np.linspace(0, 1, 11))[0]
        counts = counts[counts > 0]
        brier = sum(
            brier_score_loss((classes == c).astype(int), probabilities[:, c]) for c in range(5)
        )
        cases.append(
            {
                "probabilities": probabilities.tolist(),
                "classes": classes.tolist(),
                "accuracy": accuracy.tolist(),
                "confidence": mean_confidence.tolist(),
                "counts": counts.tolist(),
                "ece": float((counts / n * np.abs(accuracy - mean_confidence)).sum()),
                "brier": brier,
            }
        )
    return cases


def student_cases():
    """The distribution and its quantiles."""
    cases = []
    for degrees in [1, 2, 5, 19, 120, 1000]:
        for t in [-40.0, -3.2, -0.1, 0.0, 0.7, 2.5, 12.0]:
            cases.append({"degrees": degrees, "t": t, "cdf": float(st.t.cdf(t, degrees))})
    quantiles = [
        {"degrees": d, "probability": p, "t": float(st.t.ppf(p, d))}
        for d in [1, 2, 5, 19, 120]
        for p in [0.005, 0.025, 0.5, 0.95, 0.975]
    ]
    return cases, quantiles


def annotator_cases(rng):
    """The alternative-annotator test on three to five annotators."""
    cases = []
    for n, k, noise in [(40, 3, 0.4), (60, 4, 1.0), (90, 5, 2.0)]:
        truth = rng.integers(0, 5, n)
        score = np.clip(truth + rng.normal(0, noise, n), 0, 4)
        ratings = [
            [
                None if rng.random() < 0.1 else float(np.clip(truth[i] + rng.integers(-1, 2), 0, 4))
                for _ in range(k)
            ]
            for i in range(n)
        ]
        p_values, advantages = [], []
        for j in range(k):
            scorer_wins, annotator_wins = [], []
            for i in range(n):
                others = [r for a, r in enumerate(ratings[i]) if a != j and r is not None]
                if ratings[i][j] is None or not others:
                    continue
                f = -np.sqrt(np.mean([(score[i] - o) ** 2 for o in others]))
                h = -np.sqrt(np.mean([(ratings[i][j] - o) ** 2 for o in others]))
                scorer_wins.append(float(f >= h))
                annotator_wins.append(float(h >= f))
            differences = np.array(annotator_wins) - np.array(scorer_wins)
            p_values.append(st.ttest_1samp(differences, 0.2, alternative="less").pvalue)
            advantages.append(float(np.mean(scorer_wins)))
        adjusted = st.false_discovery_control(p_values, method="by")
        cases.append(
            {
                "scores": score.tolist(),
                "ratings": ratings,
                "p_values": [float(p) for p in p_values],
                "advantages": advantages,
                "winning_rate": float(np.mean(adjusted <= 0.05)),
            }
        )
    return cases


def segmentation_cases(rng):
    """Boundary strings of two segmentations."""
    cases = []
    for n_words in [12, 25, 60, 120]:
        for _ in range(4):
            reference = (rng.random(n_words - 1) < 0.12).astype(int)
            hypothesis = reference.copy()
            for at in range(len(hypothesis)):
                if rng.random() < 0.08:
                    hypothesis[at] = 1 - hypothesis[at]
                if at and rng.random() < 0.1:
                    hypothesis[at - 1], hypothesis[at] = hypothesis[at], hypothesis[at - 1]
            masses = []
            for gaps in (reference, hypothesis):
                ends = [0] + [i + 1 for i, gap in enumerate(gaps) if gap] + [n_words]
                masses.append([b - a for a, b in zip(ends, ends[1:])])
            strings = ["".join(map(str, gaps)) for gaps in (reference, hypothesis)]
            case = {"reference": strings[0], "hypothesis": strings[1]}
            case["window_diff"] = {str(k): windowdiff(strings[0], strings[1], k) for k in (3, 10)}
            has_any = reference.any() or hypothesis.any()
            similarity = float(segeval.boundary_similarity(*masses)) if has_any else None
            case["boundary_similarity"] = similarity
            cases.append(case)
    return cases


def main():
    """Prints the golden file."""
    rng = np.random.default_rng(42)
    student, quantiles = student_cases()
    golden = {
        "versions": {
            "scipy": scipy.__version__,
            "sklearn": sklearn.__version__,
            "pingouin": pingouin.__version__,
            "krippendorff": "0.8.0",
            "segeval": "2.0.11",
        },
        "similarity": similarity_cases(rng),
        "alpha": alpha_cases(rng),
        "reliability": reliability_cases(rng),
        "student": student,
        "quantiles": quantiles,
        "annotators": annotator_cases(rng),
        "segmentation": segmentation_cases(rng),
    }
    print(json.dumps(golden, indent=1))


if __name__ == "__main__":
    main()
