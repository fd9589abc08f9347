"""Linear, kernel, forest, boosting, neighbours, and the ensemble selected from all of them.

``python benchmarks/nonlinear.py --data emotions scene --splits 2 --to nonlinear`` reads the data
from ``LIMO_DATA``, splits them 70/30, and cross-fits the models of the library of
``limo.AimedClassifier`` on the training part, once for all methods. Each rival is the best of its
settings in the library, chosen by cross-validation for the measure, and cut by ``AutoThreshold``,
fitted on the same cross-fitted scores. The folder keeps all scores and results: the same command
resumes a run that was stopped, and more data or splits are added to it. ``--limit`` leaves out
models that take longer than so many seconds.

It prints the mean over splits in every cell, the mean rank of each method by measure, the cells
that each method wins, how the ensemble compares with the best single rival on the test rows of each
split (paired, level 0.95), and its time as a multiple of the cross-fits of its base models.
``--kernel`` prints kernel LIMO beside linear LIMO instead.
"""

import argparse
import json
import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import limo
from limo.models._library import comparable_scores, cross_fit_candidate, library
from limo.models._selection import Truth, alone, fit_rule, mixed, select, standardise, without_light
from limo.thresholds._fit import fit_varying, folds_of

DATA = ("emotions", "scene", "yeast", "CAL500", "medical", "enron", "Corel5k", "bibtex")
KERNEL_LIMO = "RBF 0.5, LIMO"
# Which models of the library are the settings of each rival.
RIVALS = {
    "logistic": lambda name: name.startswith("logistic"),
    "LIMO": lambda name: name.startswith("LIMO"),
    "RBF": lambda name: name.startswith("RBF") and "logistic" in name,
    "forest": lambda name: name.startswith("random forest"),
    "extra trees": lambda name: name.startswith("extra trees"),
    "boosting": lambda name: name.startswith("boosting"),
    "ML-kNN": lambda name: name.startswith("ML-kNN"),
}


def load(name: str) -> limo.Dataset:
    """A known data set, or the file of that name in the folder of the data."""
    try:
        return limo.datasets.load(name, download=False)
    except limo.datasets.DataError:
        return limo.read(next((Path(os.environ["LIMO_DATA"]) / name).glob(f"{name}.arff*")))


def labels_of(data: limo.Dataset) -> Any:
    """0/1 labels as a dense array."""
    Y = data.Y.toarray() if sparse.issparse(data.Y) else data.Y
    return np.asarray(Y, dtype=np.int64)


def score_all(name: str, seed: int, folder: Path, limit: float) -> None:
    """Cross-fitted scores of training rows and scores of test rows, one file per model."""
    train, test = limo.datasets.split(load(name), 0.3, stratify=False, seed=seed)
    Y, X, X_test = labels_of(train), train.X, test.X
    if sparse.issparse(X) and X.nnz >= 0.25 * np.prod(X.shape):
        X, X_test = X.toarray(), X_test.toarray()
    folds, fold = folds_of(5, X, Y), np.zeros(len(Y), dtype=int)
    for k, (_, rows) in enumerate(folds):
        fold[rows] = k
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / "truth.npz", Y=Y, Y2=labels_of(test), fold=fold)
    for one in library(X, Y.shape[1], seed=0, n_jobs=None):
        if all((folder / f"{member}.npz").exists() for member in one.members):
            continue
        try:
            scored = cross_fit_candidate(one, X, Y, folds, time.monotonic() + limit)
        except Exception as error:
            print(f"  {name} {seed}, {one.name}: {error}", flush=True)
            continue
        start = time.monotonic()
        fitted = scored.fitted or fit_varying(clone(one.estimator), X, Y, {})
        refit = 0.0 if scored.fitted else time.monotonic() - start
        for (member, settings), S in zip(one.members.items(), scored.scores, strict=True):
            fitted.estimator.set_params(**settings)
            S2 = comparable_scores(fitted, X_test)
            seconds = [scored.seconds, refit]
            np.savez(folder / f"{member}.npz", S=S, S2=S2, seconds=seconds, family=one.family)


class Split:
    """The stored scores of one split, and the values of rivals and ensemble on its test rows."""

    def __init__(self, folder: Path) -> None:
        with np.load(folder / "truth.npz") as found:
            self.Y, self.Y_test, fold = found["Y"], found["Y2"], found["fold"]
        self.rows = [np.flatnonzero(fold == k) for k in range(fold.max() + 1)]
        self.truth = Truth(self.Y)
        self.S: dict[str, Any] = {}
        self.S_test: dict[str, Any] = {}
        self.seconds: dict[str, Any] = {}
        names = {n for one in library(np.zeros((9, 1)), 2, seed=0, n_jobs=1) for n in one.members}
        for file in sorted(folder.glob("*.npz")):
            if file.stem not in names:
                continue
            with np.load(file) as found:
                S, centre, spread = standardise(found["S"].astype(float))
                self.S[file.stem] = S
                self.S_test[file.stem] = (found["S2"].astype(float) - centre) / spread
                self.seconds[file.stem] = (str(found["family"]), *found["seconds"])

    def best(self, names: list[str], measure: str) -> str:
        """The setting that is best in cross-validation."""
        values = {n: alone([measure], self.truth, self.S[n], self.rows)[measure] for n in names}
        sign = limo.MEASURES[measure].sign
        return max(names, key=lambda n: sign * np.nan_to_num(values[n].value))

    def predicted(self, measure: str, S: Any, S_test: Any, rule: Any = None) -> Any:
        """Scores of the test rows, or labels if the measure needs them."""
        if limo.MEASURES[measure].threshold is None:
            return S_test
        rule = rule or limo.AutoThreshold(measure).fit(self.Y, S)
        return rule.predict(S_test)

    def ensembles(self) -> tuple[dict[str, Any], float]:
        """What the ensemble for each measure predicts, and what its choice took."""
        start, names = time.monotonic(), list(self.S)
        measures, found = list(limo.MEASURES.values()), {}
        scores = [self.S[n] for n in names]
        chosen = select(measures, self.truth, scores, self.rows, np.random.default_rng(0))
        for m in measures:
            weights = without_light(chosen[m.name].weights)
            S = self.truth.complete(mixed(scores, weights))
            S_test = mixed([self.S_test[n] for n in names], weights)
            rule = fit_rule(m, "micro_f1", self.truth, S, np.arange(len(S)))
            found[m.name] = self.predicted(m.name, S, S_test, rule)
        return found, time.monotonic() - start

    def value(self, measure: str, predicted: Any) -> float:
        """The measure of scores or labels of the test rows."""
        given = {"y_score": predicted}
        if limo.MEASURES[measure].threshold is not None:
            given = {"y_pred": predicted}
        return float(limo.evaluate(self.Y_test, **given)[measure])

    def better(self, measure: str, ours: Any, theirs: Any) -> str | None:
        """Who is better on the test rows beyond noise."""
        both = {"ensemble": ours, "rival": theirs}
        kind = "scores" if limo.MEASURES[measure].threshold is None else "predictions"
        found = limo.compare_predictions(self.Y_test, measures=[measure], **{kind: both})
        who: str | None = found.of(measure, "ensemble", "rival").better
        return who

    def results(self) -> dict[str, Any]:
        """Every measure of every method, the paired comparison, and the time."""
        ours, seconds = self.ensembles()
        values: dict[str, dict[str, float]] = {}
        better: dict[str, str | None] = {}
        for measure, m in limo.MEASURES.items():
            predicted = {}
            for rival, belongs in RIVALS.items():
                names = [n for n in self.S if belongs(n)]
                if names:
                    n = self.best(names, measure)
                    predicted[rival] = self.predicted(measure, self.S[n], self.S_test[n])
            known = {rival: self.value(measure, found) for rival, found in predicted.items()}
            first = max(known, key=lambda rival, k=known, s=m.sign: s * k[rival])  # type: ignore[misc]
            better[measure] = self.better(measure, ours[measure], predicted[first])
            values[measure] = {"ensemble": self.value(measure, ours[measure]), **known}
        fits = {tuple(part) for part in self.seconds.values()}  # stages share a fit
        base = sum(part[1] for part in fits)
        ratio = (base + seconds + sum(part[2] for part in fits)) / base if base else np.nan
        return {"values": values, "better": better, "time": ratio}


def finished(name: str, seed: int, folder: Path, limit: float) -> dict[str, Any]:
    """The results of one split, from its file if it has been run."""
    file = folder / f"{name}_{seed}.json"
    if not file.exists():
        score_all(name, seed, folder / f"{name}_{seed}", limit)
        file.write_text(json.dumps(Split(folder / f"{name}_{seed}").results(), indent=1))
        print(f"  {name}, split {seed}: done", flush=True)
    return json.loads(file.read_text())  # type: ignore[no-any-return]


def show(found: dict[tuple[str, int], dict[str, Any]]) -> None:
    """The mean over splits in every cell, then ranks, wins, comparisons and times."""
    cells: dict[tuple[str, str], list[dict[str, float]]] = {}
    for (name, _), one in found.items():
        for measure, values in one["values"].items():
            cells.setdefault((name, measure), []).append(values)
    table = pd.DataFrame({key: pd.DataFrame(rows).mean() for key, rows in cells.items()}).T
    table.index.names = ["data", "measure"]
    print(table.to_string(float_format="{:.4f}".format))
    sign = np.array([limo.MEASURES[measure].sign for _, measure in table.index])
    ranks = table.mul(-sign, axis=0).rank(axis=1)
    by_measure = ranks.groupby("measure").mean()
    by_measure.loc["all"] = ranks.mean()
    by_measure.loc["cells won"] = (ranks < 2).sum()
    print(f"\nmean rank, {len(table)} cells")
    print(by_measure.to_string(float_format="{:.2f}".format))
    outcomes = [who or "neither" for one in found.values() for who in one["better"].values()]
    counts = {who: outcomes.count(who) for who in ("ensemble", "neither", "rival")}
    print(
        f"\nagainst the best single rival on the test rows of each split, who is better: {counts}"
    )
    for (name, seed), one in found.items():
        lost = [measure for measure, who in one["better"].items() if who == "rival"]
        if lost:
            print(f"  {name}, split {seed}: the best rival is better at {', '.join(lost)}")
    times = [one["time"] for one in found.values()]
    print(f"time / cross-fits of the base models: {np.median(times):.2f}, at most {max(times):.2f}")


def show_kernel(folders: list[Path]) -> None:
    """Kernel LIMO, one setting, beside linear LIMO, the best of its settings for the measure."""
    lines: dict[tuple[str, str], dict[str, float]] = {}
    for folder in folders:
        split = Split(folder)
        for measure in limo.MEASURES:
            line = lines.setdefault((folder.name, measure), {})
            for kind, prefix in (("linear", "LIMO"), ("kernel", KERNEL_LIMO)):
                n = split.best([n for n in split.S if n.startswith(prefix)], measure)
                predicted = split.predicted(measure, split.S[n], split.S_test[n])
                line[kind] = split.value(measure, predicted)
    table = pd.DataFrame(lines).T
    table.index.names = ["split", "measure"]
    print(table.to_string(float_format="{:.4f}".format))
    print("\nmean")
    print(table.groupby("measure").mean().to_string(float_format="{:.4f}".format))


def main(words: list[str] | None = None) -> None:
    """Run what is missing, then print everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=list(DATA))
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for each model")
    parser.add_argument("--to", type=Path, default=Path("nonlinear"), help="folder of the results")
    parser.add_argument("--kernel", action="store_true", help="kernel LIMO beside linear LIMO")
    given = parser.parse_args(words)
    warnings.simplefilter("ignore", ConvergenceWarning)
    runs = [(name, seed) for name in given.data for seed in range(given.splits)]
    found = {(name, seed): finished(name, seed, given.to, given.limit) for name, seed in runs}
    if given.kernel:
        show_kernel([given.to / f"{name}_{seed}" for name, seed in runs])
    else:
        show(found)


if __name__ == "__main__":
    main()
