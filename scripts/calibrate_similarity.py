#!/usr/bin/env python3
"""Fit the curve from cosines to ratings that `--scorer embedding:FOLDER` uses.

    cargo build --release
    python3 scripts/calibrate_similarity.py --train similarity_train.jsonl \
        --dev similarity_dev.jsonl --encoder models/cache/all-MiniLM-L6-v2 \
        --output models/calibration/all-MiniLM-L6-v2.toml

With `--layer N` the curve is from the F-score of BERTScore at that layer, which
`--scorer bertscore:FOLDER@N` uses, and belongs into `calibration-bertscore-N.toml`.

Needs the packages numpy, scipy and blake3. The cosines are those of the program
itself (`unimatch rate --raw`), so that the curve fits the vectors in use.

The annotations are JSON lines with `id`, `draft` (ends in _ID and the student's
number), `kind`, `a`, `b` and `ratings` from 0 to 4. Pairs of kind `variant`, an
instructor's unit with a rewording of it made to fill the upper half of the scale,
are left out of the fit: no model's unit is made that way, and at equal cosine they
are rated a point and a half higher. Figures are given with and without all kinds
that begin with `variant`.

The curve is straight between knots, never falls, and ends at cosine 1 with rating 4,
since equal texts are equivalent. Its knots lie at quantiles of the cosines; their
number is the one with the least squared error under cross-validation in ten folds
that keep a student's pairs together. Isotonic, linear and logistic curves are fitted
beside it, for comparison only.
"""

import argparse
import json
import subprocess
from pathlib import Path

import numpy as np
from blake3 import blake3
from scipy.optimize import isotonic_regression, lsq_linear, minimize
from scipy.stats import pearsonr, spearmanr

TOP = 4.0
N_FOLDS = 10
SEED = 42


def load(path, arguments):
    """The annotated pairs of a file, each with its cosine."""
    scorer = f"embedding:{arguments.encoder}"
    if arguments.layer:
        scorer = f"bertscore:{arguments.encoder}@{arguments.layer}"
    command = [arguments.unimatch, "rate", path, "--raw", "--generated-field", "a",
               "--gold-field", "b", "--scorer", scorer]
    measured = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    pairs = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    for pair, line in zip(pairs, measured.splitlines(), strict=True):
        line = json.loads(line)
        assert line["id"] == pair["id"], "the program changed the order of the pairs"
        pair["cosine"] = line["raw"]
        pair["rating"] = float(np.mean(pair["ratings"]))
        pair["student"] = pair["draft"].rsplit("_", 1)[1]
    return pairs


def columns(pairs):
    return (np.array([pair["cosine"] for pair in pairs]),
            np.array([pair["rating"] for pair in pairs]))


def hats(knots, cosines):
    """The share of each knot in each cosine."""
    return np.stack([np.interp(cosines, knots, row) for row in np.eye(len(knots))], axis=1)


def fit_knots(n_knots):
    def fit(cosines, ratings):
        inner = np.quantile(cosines, np.linspace(0.02, 0.995, n_knots))
        knots = np.unique(np.round(np.append(inner, 1.0), 3))
        shares = hats(knots, cosines)
        # In steps from knot to knot, which may not be negative; the last is what is
        # left up to the top, so that the curve ends there.
        steps = np.tril(np.ones((len(knots), len(knots))))
        design = shares @ steps
        fitted = lsq_linear(design[:, :-1] - design[:, -1:], ratings - TOP * design[:, -1],
                            bounds=(0, np.inf)).x
        values = np.minimum(np.cumsum(np.append(fitted, max(TOP - fitted.sum(), 0.0))), TOP)
        return lambda x: np.interp(x, knots, values), (knots, values)
    return fit


def fit_isotonic(cosines, ratings):
    order = np.argsort(cosines)
    values = isotonic_regression(ratings[order]).x
    return lambda x: np.interp(x, cosines[order], values), None


def fit_line(cosines, ratings):
    slope, start = np.polyfit(cosines, ratings, 1)
    return lambda x: np.clip(start + slope * x, 0, TOP), None


def fit_logistic(cosines, ratings):
    def curve(parameters, x):
        return TOP / (1 + np.exp(-(parameters[0] + parameters[1] * x)))
    best = minimize(lambda p: np.mean((curve(p, cosines) - ratings) ** 2), [-2.0, 3.0]).x
    return lambda x: curve(best, x), None


def folds(pairs):
    """The fold of each pair; a student's pairs are in one."""
    students = sorted({pair["student"] for pair in pairs})
    np.random.default_rng(SEED).shuffle(students)
    fold_of = {student: index % N_FOLDS for index, student in enumerate(students)}
    return np.array([fold_of[pair["student"]] for pair in pairs])


def cross_validate(fit, pairs):
    """For each pair, what a curve says that has not seen its student."""
    cosines, ratings = columns(pairs)
    fold = folds(pairs)
    predicted = np.empty_like(ratings)
    for index in range(N_FOLDS):
        seen = fold != index
        curve, _ = fit(cosines[seen], ratings[seen])
        predicted[~seen] = curve(cosines[~seen])
    return predicted


def figures(predicted, ratings):
    return {
        "n": len(ratings),
        "mae": float(np.mean(np.abs(predicted - ratings))),
        "rmse": float(np.sqrt(np.mean((predicted - ratings) ** 2))),
        "bias": float(np.mean(predicted - ratings)),
        "pearson": float(pearsonr(predicted, ratings)[0]),
        "spearman": float(spearmanr(predicted, ratings)[0]),
    }


def show(name, found):
    print(f"{name:34}" + "".join(
        f" {key} {value}" if key == "n" else f"  {key} {value:6.3f}"
        for key, value in found.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--train", required=True)
    parser.add_argument("--dev", required=True)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--layer", type=int, help="fit to BERTScore at this layer")
    parser.add_argument("--unimatch", default="target/release/unimatch")
    arguments = parser.parse_args()

    train, dev = load(arguments.train, arguments), load(arguments.dev, arguments)
    fitted = [pair for pair in train if pair["kind"] != "variant"]
    _, ratings = columns(fitted)
    candidates = {f"{n} knots and the top": fit_knots(n) for n in range(2, 11)}
    others = {"isotonic": fit_isotonic, "line": fit_line, "logistic": fit_logistic,
              "one rating for all": lambda x, y: (lambda z: np.full_like(z, y.mean()), None)}
    print(f"cross-validation, {len(fitted)} pairs")
    scored = {}
    for name, fit in (candidates | others).items():
        with np.errstate(all="ignore"):
            scored[name] = figures(cross_validate(fit, fitted), ratings)
        show("  " + name, scored[name])
    best = min(candidates, key=lambda name: scored[name]["rmse"])
    curve, (knots, values) = candidates[best](*columns(fitted))

    subsets = {
        "natural": lambda kind: kind == "natural",
        "without variants": lambda kind: not kind.startswith("variant"),
        "with variants": lambda kind: True,
    }
    print(f"\n{best}, on the development set")
    on_dev = {}
    for name, keeps in subsets.items():
        cosines, ratings = columns([pair for pair in dev if keeps(pair["kind"])])
        on_dev[name] = figures(curve(cosines), ratings)
        show("  " + name, on_dev[name])

    weights = blake3(Path(arguments.encoder, "model.safetensors").read_bytes()).hexdigest()
    lines = [
        "# From the cosine of two sentence vectors to a rating from 0 to 4, straight between",
        "# the knots and level beyond them. Written by scripts/calibrate_similarity.py.",
        "format_version = 1",
        f'encoder = "{Path(arguments.encoder).name}"',
        f'weights_blake3 = "{weights}"',
        *([f'measure = "bertscore@{arguments.layer}"'] if arguments.layer else []),
        f"cosines = {[float(knot) for knot in knots]}",
        f"ratings = {[round(float(value), 4) for value in values]}",
        "",
        "[provenance]",
        'annotators = "large language models that followed the published guideline: these are '
        'not human judgements"',
        f'fitted_to = "{len(fitted)} pairs of {Path(arguments.train).name}, the kind `variant` '
        'left out"',
        f'chosen_by = "least squared error in {N_FOLDS} folds that keep a student together: '
        f'{best}"',
        "",
        "[provenance.cross_validation]",
        *(f"{key} = {round(value, 4)}" for key, value in scored[best].items()),
    ]
    for name, found in on_dev.items():
        lines += ["", f'[provenance."{Path(arguments.dev).name}, {name}"]',
                  *(f"{key} = {round(value, 4)}" for key, value in found.items())]
    Path(arguments.output).write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"\nwritten to {arguments.output}")


if __name__ == "__main__":
    main()
