"""What thresholds win on six data sets, and how fast exact ones are found.

First tables: logistic regression of each label and LIMO, their scores cut in five ways, judged on
test data by the measure each rule was fitted to. "0" cuts at 0, "training" fits the suited kind on
scores of the training data itself, "exact" on cross-fitted scores, "suited" does so with the
thresholds of rare labels shrunk, and "auto" chooses the kind. Last table: seconds against rivals on
the same scores, and of judging all kinds for all measures.
"""

import argparse
import os
import time
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "2")

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV
from timing import best

import limo
from limo._checks import check_labels
from limo.thresholds._auto import try_kinds
from limo.thresholds._fit import cross_fit, fit_varying, folds_of, label_matrix
from limo.thresholds._scores import check_pair
from limo.thresholds._search import check_target

try:
    import libmultilabel.linear.linear as libmultilabel
except ImportError:
    libmultilabel = None

# Settings that did well in a coarse search for macro-AUC on training folds: C of logistic
# regression, and alpha of LIMO.
SETTINGS = {
    "emotions": (1.0, 1e-2),
    "yeast": (1.0, 1e-2),
    "scene": (1.0, 1e-2),
    "CAL500": (1.0, 1e-3),
    "medical": (100.0, 1e-3),
    "enron": (10.0, 1e-3),
}
MEASURES = ("macro_f1", "micro_f1", "instance_f1", "hamming_loss")
WAYS = ("0", "training", "exact", "suited", "auto")


def models(name: str) -> dict[str, BaseEstimator]:
    """Logistic regression of each label, and LIMO, which has no threshold of its own."""
    C, alpha = SETTINGS[name]
    return {
        "logistic": limo.BinaryRelevance(LogisticRegression(C=C, max_iter=300)),
        "LIMO": limo.LIMOClassifier(alpha=alpha, threshold_measure=None),
    }


def rule(measure: str, way: str) -> limo.thresholds.ThresholdRule:
    """The rule that chooses its kind, or the suited one, with shrinkage or without."""
    if way == "auto":
        return limo.AutoThreshold(measure)
    chosen = limo.suggest_threshold(measure)
    if way != "suited" and "shrinkage" in chosen.get_params():
        chosen.set_params(shrinkage=0)
    return chosen


def dataset(name: str) -> limo.Dataset:
    """A data set of the catalogue, or a file in the folder LIMO_DATA."""
    file = Path(os.environ.get("LIMO_DATA", ".")) / name / f"{name}.arff.xz"
    return limo.read(file) if file.exists() else limo.datasets.load(name)


def quality(name: str, seed: int) -> dict[tuple[str, str, str], float]:
    """Each measure on test data, by model and way to choose thresholds; one split, 70 to 30."""
    train, test = limo.datasets.split(dataset(name), stratify=False, seed=seed)
    scaler = limo.models.UnitRows().fit(train.X)
    X, X_test = scaler.transform(train.X), scaler.transform(test.X)
    Y = label_matrix(check_labels(train.Y, "Y"), as_sparse=False)
    Y_test = label_matrix(check_labels(test.Y, "Y"), as_sparse=False)
    found = {}
    for title, model in models(name).items():
        fitted = fit_varying(model, X, Y, {})
        rows, unseen = cross_fit(model, X, Y, folds_of(5, X, Y))
        seen, S = fitted.scores(X), fitted.scores(X_test)
        for measure in MEASURES:
            value = getattr(limo, measure)
            found[measure, title, "0"] = value(Y_test, (S > 0).astype(int))
            for way in WAYS[1:]:
                pair = (Y, seen) if way == "training" else (Y[rows], unseen)
                found[measure, title, way] = value(Y_test, rule(measure, way).fit(*pair).predict(S))
    return found


def print_quality(n_splits: int) -> None:
    """Print a table for each measure and model, data sets as columns."""
    found: dict[str, list[dict[tuple[str, str, str], float]]] = {}
    for name in SETTINGS:
        start = time.perf_counter()
        found[name] = [quality(name, seed) for seed in range(n_splits)]
        print(f"({name}: {time.perf_counter() - start:.0f} s)", flush=True)
    for measure in MEASURES:
        better = limo.MEASURES[measure].better
        print(f"\n{measure} on test data, {better} is better; {n_splits} random 70/30 splits")
        print(f"{'':20}" + "".join(f"{name:>10}" for name in SETTINGS) + f"{'mean':>10}")
        for title in ("logistic", "LIMO"):
            for way in WAYS:
                print_line(found, measure, title, way)


def print_line(found: dict, measure: str, title: str, way: str) -> None:
    """Print the means over splits, and in how many splits the way is better than the suited one."""
    sign = limo.MEASURES[measure].sign
    values = {n: np.array([f[measure, title, way] for f in rows]) for n, rows in found.items()}
    suited = {n: np.array([f[measure, title, "suited"] for f in rows]) for n, rows in found.items()}
    gains = np.concatenate([sign * (values[name] - suited[name]) for name in found])
    means = [v.mean() for v in values.values()]
    print(f"{title:9} {way:10}" + "".join(f"{v:10.4f}" for v in (*means, np.mean(means))), end="")
    print(f"   better {(gains > 0).sum()}, worse {(gains < 0).sum()}")


class Column(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose decision function is its only feature."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> "Column":
        """Nothing to learn."""
        self.classes_ = np.array([0, 1])
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """The score."""
        return X[:, 0]

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Positive scores."""
        return (X[:, 0] > 0).astype(int)


def scikit_learn(Y: np.ndarray, S: np.ndarray) -> np.ndarray:
    """Thresholds by TunedThresholdClassifierCV, label by label, on given scores."""
    found = []
    for y, s in zip(Y.T, S.T, strict=True):
        column = s.reshape(-1, 1)
        inner = Column().fit(column, y)
        tuned = TunedThresholdClassifierCV(inner, scoring="f1", cv="prefit", refit=False)
        found.append(tuned.fit(column, y).best_threshold_)
    return np.array(found)


def lib_multi_label(Y: np.ndarray, S: np.ndarray) -> None:
    """LibMultiLabel's own sweep, its training replaced by the scores we have."""
    libmultilabel._do_train = lambda y, x, options: np.matrix([[1.0]])
    stats = {"tp": 0, "fp": 0, "fn": 0, "labels": 0}
    for y, s in zip(Y.T, S.T, strict=True):
        column = libmultilabel.sparse.csr_matrix(s.reshape(-1, 1))
        libmultilabel._micromacro_one_label(np.where(y, 1, -1), column, "", stats)


def f1_of(Y: np.ndarray, S: np.ndarray, thresholds: np.ndarray) -> float:
    """Macro-F1 of the scores cut by these thresholds."""
    return limo.macro_f1(Y, (thresholds < S).astype(int))


def all_kinds(Y: np.ndarray, S: np.ndarray) -> None:
    """Judge every kind for every measure on held-out rows."""
    targets = [check_target(measure) for measure in MEASURES]
    try_kinds(*check_pair(Y, S), targets, 5, 1.0)


def suited_kinds(Y: np.ndarray, S: np.ndarray) -> None:
    """Judge the suited kind of every measure only, rule by rule."""
    fold = np.random.default_rng(0).permutation(len(Y)) % 5
    for measure in MEASURES:
        for k in range(5):
            known, cut = fold != k, fold == k
            fitted = limo.suggest_threshold(measure).fit(Y[known], S[known])
            getattr(limo, measure)(Y[cut], fitted.predict(S[cut]))


def print_times(m: int, l: int, n_rival: int) -> None:  # noqa: E741
    """Print seconds of our thresholds, and of the rivals scaled up from a few labels."""
    rng = np.random.default_rng(0)
    Y = (rng.random((m, l)) < 0.02).astype(np.int64)
    S = rng.standard_normal((m, l)) + 2 * Y
    few, scale = np.s_[:, :n_rival], l / n_rival
    thresholds = limo.thresholds
    thresholds.best_label_thresholds(Y[:200], S[:200])  # compile
    ours = best(lambda: thresholds.best_label_thresholds(Y, S))
    print(f"\n{m} x {l} scores, 2 % positive; seconds, best of 3")
    print(f"(rivals: run once on {n_rival} labels, times {scale:g})")
    print(f"{'exact F1 threshold of each label':39} {ours:9.3f}")
    start = time.perf_counter()
    theirs = scikit_learn(Y[few], S[few])
    tuned = (time.perf_counter() - start) * scale
    verdict = "met" if tuned >= 100 * ours else "NOT MET"
    print(f"{'TunedThresholdClassifierCV, prefit':39} {tuned:9.3f} {tuned / ours:6.0f}x", end=" ")
    print(f"(target 100x: {verdict})")
    if libmultilabel is None:
        print(f"{'sweep of LibMultiLabel':39} not installed")
    else:
        swept = best(lambda: lib_multi_label(Y[few], S[few]), 1) * scale
        print(f"{'sweep of LibMultiLabel, 3 folds':39} {swept:9.3f} {swept / ours:6.0f}x")
    exact = f1_of(Y[few], S[few], thresholds.best_label_thresholds(Y[few], S[few]))
    print(f"macro-F1 of these labels: exact {exact:.4f}, grid {f1_of(Y[few], S[few], theirs):.4f}")
    for title, work in {
        "joint micro-F1, one threshold per label": lambda: thresholds.best_label_thresholds(
            Y, S, "micro_f1"
        ),
        "threshold of each instance": lambda: thresholds.best_instance_thresholds(Y, S),
        "global threshold, micro-F1": lambda: thresholds.best_global_threshold(Y, S),
        "global threshold, macro-F1": lambda: thresholds.best_global_threshold(Y, S, "macro_f1"),
        "all kinds, all four measures, 5 folds": lambda: all_kinds(Y, S),
        "the suited kind of each, 5 folds": lambda: suited_kinds(Y, S),
        "numpy.sort of all columns": lambda: np.sort(np.ascontiguousarray(S.T), axis=1),
    }.items():
        print(f"{title:39} {best(work):9.3f}")


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=3, help="random splits of each data set")
    parser.add_argument("--size", type=int, nargs=2, default=(20_000, 500), metavar=("M", "L"))
    parser.add_argument("--rival-labels", type=int, default=20)
    parser.add_argument("--only", choices=("quality", "times"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.only != "quality":
        print_times(*options.size, options.rival_labels)
    if options.only != "times":
        print_quality(options.splits)


if __name__ == "__main__":
    main()
