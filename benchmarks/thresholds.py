"""What thresholds win on five data sets, and how fast exact ones are found.

First table: a one-vs-rest logistic regression, its scores cut in four ways, judged on test data by
the measure each rule was fitted to: the model's own threshold (0), thresholds fitted on the scores
of the training data itself, on cross-fitted scores, and on those with rare labels sharing the
global threshold (the default). Second table: seconds against rivals on the same scores.
"""

import argparse
import os
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "2")

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from timing import best

import limo
from limo._checks import check_labels
from limo.thresholds._fit import cross_fit, fit_varying, folds_of, label_matrix

try:
    import libmultilabel.linear.linear as libmultilabel
except ImportError:
    libmultilabel = None

# Penalties that did well in a coarse search for average precision on training folds.
PENALTIES = {"CAL500": 0.01, "medical": 30.0, "enron": 0.1, "corel5k": 0.1, "bibtex": 1.0}
MEASURES = ("macro_f1", "micro_f1", "instance_f1", "hamming_loss")
WAYS = ("own", "training", "cross-fitted", "default")


def model(name: str) -> BaseEstimator:
    """One-vs-rest logistic regression on scaled features."""
    scaler = StandardScaler() if name == "CAL500" else MaxAbsScaler()
    logistic = LogisticRegression(C=PENALTIES[name], solver="liblinear")
    return make_pipeline(scaler, OneVsRestClassifier(logistic))


def rule(measure: str, way: str) -> limo.thresholds.ThresholdRule:
    """The rule that suits the measure, with the safeguard in the last way only."""
    chosen = limo.suggest_threshold(measure)
    if way != "default" and "min_positives" in chosen.get_params():
        chosen.set_params(min_positives=0)
    return chosen


def quality(name: str, seed: int) -> dict[tuple[str, str], float]:
    """Each measure on test data, for each way to choose thresholds; one random split, 70 to 30."""
    data = limo.datasets.load(name)
    train, test = limo.datasets.split(data, stratify=False, seed=seed)
    Y = label_matrix(check_labels(train.Y, "Y"), as_sparse=False)
    Y_test = label_matrix(check_labels(test.Y, "Y"), as_sparse=False)
    fitted = fit_varying(model(name), train.X, Y, {})
    rows, unseen = cross_fit(model(name), train.X, Y, folds_of(5, train.X, Y))
    seen, S = fitted.scores(train.X), fitted.scores(test.X)
    fits = {"training": (Y, seen), "cross-fitted": (Y[rows], unseen), "default": (Y[rows], unseen)}
    found = {}
    for measure in MEASURES:
        found[measure, "own"] = getattr(limo, measure)(Y_test, (S > 0).astype(int))
        for way, pair in fits.items():
            P = rule(measure, way).fit(*pair).predict(S)
            found[measure, way] = getattr(limo, measure)(Y_test, P)
    return found


def print_quality(n_splits: int) -> None:
    """Print a table for each measure, data sets as columns."""
    found: dict[str, list[dict[tuple[str, str], float]]] = {}
    for name in PENALTIES:
        start = time.perf_counter()
        found[name] = [quality(name, seed) for seed in range(n_splits)]
        print(f"({name}: {time.perf_counter() - start:.0f} s)", flush=True)
    for measure in MEASURES:
        better = limo.MEASURES[measure].better
        print(f"\n{measure} on test data, {better} is better; {n_splits} random 70/30 splits")
        print(f"{'':14}" + "".join(f"{name:>10}" for name in PENALTIES) + f"{'mean':>10}")
        means = {}
        for way in WAYS:
            values = [np.mean([f[measure, way] for f in found[name]]) for name in PENALTIES]
            means[way] = np.mean(values)
            print(f"{way:14}" + "".join(f"{v:10.4f}" for v in (*values, means[way])))
        sign = limo.MEASURES[measure].sign
        met = sign * means["default"] >= sign * means["training"]
        print(f"default no worse than training-score thresholds: {'met' if met else 'NOT MET'}")


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
    print(f"{'exact F1 threshold of each label':35} {ours:9.3f}")
    start = time.perf_counter()
    theirs = scikit_learn(Y[few], S[few])
    tuned = (time.perf_counter() - start) * scale
    verdict = "met" if tuned >= 100 * ours else "NOT MET"
    print(f"{'TunedThresholdClassifierCV, prefit':35} {tuned:9.3f} {tuned / ours:6.0f}x", end=" ")
    print(f"(target 100x: {verdict})")
    if libmultilabel is None:
        print(f"{'sweep of LibMultiLabel':35} not installed")
    else:
        swept = best(lambda: lib_multi_label(Y[few], S[few]), 1) * scale
        print(f"{'sweep of LibMultiLabel, 3 folds':35} {swept:9.3f} {swept / ours:6.0f}x")
    exact = f1_of(Y[few], S[few], thresholds.best_label_thresholds(Y[few], S[few]))
    print(f"macro-F1 of these labels: exact {exact:.4f}, grid {f1_of(Y[few], S[few], theirs):.4f}")
    for title, work in {
        "joint micro-F1, one threshold per label": lambda: thresholds.best_label_thresholds(
            Y, S, "micro_f1"
        ),
        "threshold of each instance": lambda: thresholds.best_instance_thresholds(Y, S),
        "global threshold, micro-F1": lambda: thresholds.best_global_threshold(Y, S),
        "global threshold, macro-F1": lambda: thresholds.best_global_threshold(Y, S, "macro_f1"),
        "numpy.sort of all columns": lambda: np.sort(np.ascontiguousarray(S.T), axis=1),
    }.items():
        print(f"{title:35} {best(work):9.3f}")


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
