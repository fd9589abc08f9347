"""How fast the learners are, and how much memory they take.

Times are ratios to a named rival in the same run, because machines are noisy. Each function below
prints one part; ``python benchmarks/learners.py sgd mlknn`` runs only those named. Rivals that are
not installed are skipped with a message.
"""

import argparse
import importlib.util
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from quality import SETS, load
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC
from timing import best, peak, verdict

import limo
from limo._checks import check_labels
from limo._solvers.exact import solve
from limo._solvers.objective import Resident
from limo._solvers.problem import Features, Problem
from limo._solvers.sgd import solve as solve_by_steps
from limo._views import VIEWS, Pattern
from limo.losses import Term
from limo.losses._sums import add_up
from limo.losses._term import Weighted
from limo.models._binary_relevance import logistic as logistic_of
from limo.models._limo import mean_terms
from limo.thresholds._fit import Training, label_matrix


def sparse_problem(m: int, d: int, l: int, nonzeros: int = 60) -> tuple[Any, Pattern]:  # noqa: E741
    """Sparse features, and three labels per instance on average."""
    rng = np.random.default_rng(0)
    X = sparse.csr_array(sparse.random(m, d, nonzeros / d, format="csr", rng=rng))
    return X, check_labels(sparse.random(m, l, 3 / l, format="csr", rng=rng) != 0, "y")


def seconds_per_step(X: Any, Y: Pattern, sampling: str = "pairs", n_steps: int = 200_000) -> float:
    """The slope of time over steps, without making and averaging W, which costs O(l d) once."""
    few, many = n_steps // 10, n_steps
    make_steps(X, Y, sampling, few)  # compiled, or loaded from the cache
    seconds = [best(partial(make_steps, X, Y, sampling, n)) for n in (few, many)]
    return (seconds[1] - seconds[0]) / (many - few)


def make_steps(X: Any, Y: Pattern, sampling: str, n_steps: int) -> Any:
    """Make some steps of Algorithm 1, with the paper's settings."""
    problem = Problem(Features(X, constant=0.0), Y, mean_terms(1, 1, base="hinge"), 1.0)
    rng = np.random.default_rng(0)
    return solve_by_steps(problem, rng, sampling=sampling, n_steps=n_steps)


def sgd() -> None:
    """Steps per second of Algorithm 1, and that they do not depend on the features."""
    print("Algorithm 1, steps per second (a step draws two pairs)")
    X, Y = sparse_problem(5000, 2000, 150)
    dense = np.random.default_rng(0).standard_normal((5000, 60))
    for name, features in (("sparse, 60 of 2000 features", X), ("dense, 60 features", dense)):
        for sampling in ("pairs", "instances"):
            rate = 1 / seconds_per_step(features, Y, sampling)
            mebibytes = peak(partial(make_steps, features, Y, sampling, 20_000))
            print(f"  {name}, {sampling}: {rate:,.0f}, peak {mebibytes:.0f} MiB")
    base = seconds_per_step(X, Y)
    for times in (10, 50):
        wide = sparse.csr_array((X.data, X.indices, X.indptr), shape=(5000, 2000 * times))
        ratio = seconds_per_step(wide, Y) / base
        met = verdict(ratio <= 1.1)
        print(
            f"  {times} times the features, all zero: {ratio:.2f} of the time (target 1.1: {met})"
        )


def mlknn(m: int = 2000, d: int = 100, l: int = 100) -> None:  # noqa: E741
    """ML-kNN, fit and predict, against scikit-multilearn-ng."""
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((m, d)), (rng.random((m, l)) < 0.05).astype(np.int64)
    limo.MLKNNClassifier().fit(X[:50], Y[:50]).predict_proba(X[:5])
    ours = best(lambda: limo.MLKNNClassifier().fit(X, Y).predict_proba(X))
    print(f"ML-kNN, fit and predict, {m} instances, {d} features, {l} labels, defaults of both")
    ours_peak = peak(lambda: limo.MLKNNClassifier().fit(X, Y).predict_proba(X))
    print(f"  limo.MLKNNClassifier      {ours:8.3f} s, peak {ours_peak:.0f} MiB")
    if importlib.util.find_spec("skmultilearn") is None:
        print("  scikit-multilearn-ng is not installed: pip install scikit-multilearn-ng")
        return
    from skmultilearn.adapt import MLkNN  # noqa: PLC0415

    def rival() -> Any:
        return MLkNN(k=10, ignore_first_neighbours=1).fit(X, Y).predict_proba(X)

    theirs = best(rival, repeat=1)
    ratio = theirs / ours
    print(f"  scikit-multilearn-ng      {theirs:8.3f} s, peak {peak(rival):.0f} MiB")
    print(f"  faster: {ratio:.0f}x (target 20x: {verdict(ratio >= 20)})")


def gfm(m: int = 2000, d: int = 100, l: int = 100) -> None:  # noqa: E741
    """GFM, fit and predict, against its neighbour search alone as scikit-learn does it."""
    from sklearn.neighbors import NearestNeighbors  # noqa: PLC0415

    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((m, d)), (rng.random((m, l)) < 0.05).astype(np.int64)
    limo.GFMClassifier().fit(X[:50], Y[:50]).predict(X[:5])
    ours = best(lambda: limo.GFMClassifier().fit(X, Y).predict(X))
    ours_peak = peak(lambda: limo.GFMClassifier().fit(X, Y).predict(X))
    search = best(lambda: NearestNeighbors(n_neighbors=10).fit(X).kneighbors(X))
    print(f"GFM, fit and predict, {m} instances, {d} features, {l} labels")
    print(f"  limo.GFMClassifier        {ours:8.3f} s, peak {ours_peak:.0f} MiB")
    print(f"  scikit-learn, search only {search:8.3f} s")


def exact() -> None:
    """Exact LIMO to a certified 1 % gap against one-vs-rest rivals, at alphas that are picked."""
    print("Exact LIMO to a certified 1 % gap")
    for name in ("enron", "bibtex"):
        data = limo.datasets.load(name, download=False)
        Y = data.Y.toarray() if sparse.issparse(data.Y) else data.Y
        raw = sparse.csr_array(data.X, dtype=np.float64)
        unit = sparse.csr_array(normalize(raw))
        length = raw.multiply(raw).sum() / raw.shape[0]
        for kind, X, size in (("as given", raw, length), ("rows of length 1", unit, 1.0)):
            alphas = (1e-3 * size, 1e-4 * size)
            compare_exact(f"{name}, {kind}", X, Y, alphas, whole=Y.shape[1])


def aimed(names: Iterable[str] = tuple(SETS)) -> None:
    """The search for one measure and for all eleven, against tuned logistic regression.

    The rival searches C and, for measures of labels, fits the same kinds of thresholds on the
    scores of three folds, which all thresholds share. Processor time, so that threads of either
    side count.
    """
    print("LIMOClassifierCV, in times of BinaryRelevance('logistic') with the same thresholds")
    for name in names:
        data, _ = limo.datasets.split(load(name), 0.3, seed=0)
        X = limo.models.UnitRows().fit_transform(data.X)
        limo.LIMOClassifierCV(list(limo.MEASURES)).fit(X[:100], data.Y[:100])  # compiled
        ratios, shown = {}, []
        for what, measures in (
            ("one-error", ["one_error"]),
            ("macro-F1", ["macro_f1"]),
            ("all eleven", list(limo.MEASURES)),
        ):
            theirs = _processor_time(lambda m=measures, X=X, Y=data.Y: _tuned_logistic(X, Y, m))
            ours = _processor_time(limo.LIMOClassifierCV(measures).fit, X, data.Y)
            ratios[what] = ours / theirs
            shown.append(f"{what} {ours:.2f} / {theirs:.2f} s = {ratios[what]:.2f}")
        met = max(ratios["one-error"], ratios["macro-F1"]) <= 1.5 and ratios["all eleven"] <= 4
        print(f"  {name}: {', '.join(shown)} (targets 1.5, 1.5 and 4: {verdict(met)})", flush=True)


def _tuned_logistic(X: Any, Y: Any, measures: list[str]) -> None:
    """Logistic regression with C searched once, and a threshold for each measure of labels."""
    model = limo.BinaryRelevance("logistic").fit(X, Y)
    labels = label_matrix(check_labels(Y, "y"), as_sparse=False)
    training = Training(limo.BinaryRelevance(logistic_of(model.C_)), X, labels, 3)
    for measure in measures:
        if limo.MEASURES[measure].needs == "labels":
            training.fit_rule(limo.AutoThreshold(measure))


def _processor_time(function: Callable[..., Any], *inputs: Any) -> float:
    start = time.process_time()
    function(*inputs)
    return time.process_time() - start


def near_constant(m: int = 500, d: int = 2000, l: int = 27) -> None:  # noqa: E741
    """The search on data most of whose features are almost constant, as in genbase."""
    rng = np.random.default_rng(0)
    Y = (rng.random((m, l)) < 0.05).astype(int)
    X = np.zeros((m, d))
    n_useful = d // 3
    X[:, :n_useful] = (Y @ (rng.random((l, n_useful)) < 0.1) > 0) ^ (
        rng.random((m, n_useful)) < 0.01
    )
    for j in range(n_useful, d):
        X[rng.integers(m, size=j % 3), j] = 1.0
    X[:, n_useful::2] = 1 - X[:, n_useful::2]
    scaled = limo.models.UnitRows().fit_transform(X)
    for name, features in (("as given", X), ("standardised", scaled)):
        start = time.process_time()
        limo.LIMOClassifierCV(list(limo.MEASURES)).fit(features, Y)
        seconds = time.process_time() - start
        met = verdict(seconds < 20)
        print(f"Near-constant features, {X.shape}, {name}: {seconds:.1f} s (target 20: {met})")


def exact10(times: int = 10) -> None:
    """The same with ten times the instances and ten times the labels, on synthetic data."""
    made = limo.datasets.make_multilabel(4900 * times, 1836, 159 * times, seed=0)
    print(f"Exact LIMO to a certified 1 % gap, {made.X.shape} features, {made.Y.shape[1]} labels")
    labels = np.linspace(0, made.Y.shape[1] - 1, 16).astype(int)
    Y = sparse.csr_array(made.Y)
    X = sparse.csr_array(normalize(made.X))
    compare_exact("rows of length 1", X, Y, (1e-3,), whole=Y.shape[1], sample=labels)


def growth() -> None:
    """Slopes of log time over log m and log l, at fixed features and a fixed amount of work."""
    print("Growth of one value and gradient over all pairs")
    factors = (1, 2, 4, 8)
    for name, sizes in (
        ("m", [(2000 * f, 200) for f in factors]),
        ("l", [(4000, 100 * f) for f in factors]),
    ):
        seconds = []
        for m, l in sizes:  # noqa: E741
            X, Y = sparse_problem(m, 2000, l)
            objective = Resident(_problem(X, Y, 1e-3))
            W = np.random.default_rng(0).normal(scale=0.1, size=(2001, l))
            seconds.append(best(lambda o=objective, W=W: o.start(W)))
        slope = np.polyfit(np.log(factors), np.log(seconds), 1)[0]
        shown = ", ".join(f"{s:.3f}" for s in seconds)
        print(f"  in {name}: slope {slope:.2f} (target 1.1: {verdict(slope <= 1.1)}) [{shown} s]")


def compare_exact(
    name: str, X: Any, Y: Any, alphas: tuple[float, ...], whole: int, sample: Any = None
) -> None:
    """Time the exact solver and its rivals; rivals on a sample of labels are scaled up."""
    pattern = check_labels(Y, "y")
    solve(_problem(X[:200], pattern.rows(0, 200), 1.0))  # compiled, or loaded from the cache
    ours = []
    for alpha in alphas:
        start = time.perf_counter()
        found = solve(_problem(X, pattern, alpha))
        ours.append(time.perf_counter() - start)
        work = f"{ours[-1]:.2f} s, {found.iterations} iterations, {found.passes} passes"
        split = _split(X, pattern, found.W)
        print(f"  {name}, alpha {alpha:g}: {work}, gap {found.relative_gap:.2%}; {split}")
    size = X.shape[0] * Y.shape[1] * 8 / 2**20
    mebibytes = peak(lambda: solve(_problem(X, pattern, alphas[0])))
    print(f"  peak memory {mebibytes:.0f} MiB; the scores are {size:.0f} MiB")
    labels = Y if sample is None else np.asarray(Y[:, sample].todense())
    for rival, model in (
        ("LinearSVC(C=1)", LinearSVC(C=1)),
        ("LogisticRegression(C=10)", LogisticRegression(C=10, max_iter=1000)),
    ):
        start = time.perf_counter()
        OneVsRestClassifier(model, n_jobs=2).fit(X, labels)
        seconds = (time.perf_counter() - start) * whole / labels.shape[1]
        note = "" if sample is None else f" (scaled up from {labels.shape[1]} labels)"
        ratio = max(ours) / seconds
        target = {"LinearSVC(C=1)": 0.5 if sample is None else 1.0}.get(rival)
        met = f" (target {target}: {verdict(ratio <= target)})" if target else ""
        print(f"  one-vs-rest {rival}: {seconds:.1f} s{note}; limo takes {ratio:.2f} of it{met}")
        few = labels[:, :16]
        mebibytes = peak(partial(OneVsRestClassifier(model).fit, X, few))
        print(f"    in one process, {few.shape[1]} labels: peak {mebibytes:.0f} MiB")


def _problem(X: Any, Y: Pattern, alpha: float) -> Problem:
    return Problem(Features(X, constant=3.0), Y, mean_terms(1, 1, base="squared_hinge"), alpha)


def _split(X: Any, Y: Pattern, W: Any) -> str:
    """How much of the time of one value and gradient the products and the pair sums take."""
    problem = _problem(X, Y, 1.0)
    S = problem.features.times(W)
    products = best(lambda: problem.features.times(W))
    products += best(lambda: problem.features.transposed_times(S))
    pairs = best(lambda: add_up(S, Y, problem.parts))
    met = verdict(pairs <= products)
    return f"products {products * 1e3:.0f} ms, pair sums {pairs * 1e3:.0f} ms ({met})"


def terms() -> None:
    """One value and gradient of each term against the mean over the same rows, on bibtex."""
    data = limo.datasets.load("bibtex", download=False)
    Y = check_labels(data.Y, "y")
    S = np.random.default_rng(0).normal(size=Y.shape)
    print(f"One value and gradient, {Y.shape[0]} instances, {Y.shape[1]} labels")
    for view in VIEWS:
        kinds = [Term(view, kind) for kind in ("mean", "top", "bottom", "worst", "pointwise")]
        parts = [Weighted.of(term, Y) for term in kinds]
        seconds = [best(partial(add_up, S, Y, [part])) for part in parts]
        shown = ", ".join(
            f"{term.aggregation} {one / seconds[0]:.2f}"
            for term, one in zip(kinds[1:], seconds[1:], strict=True)
        )
        print(f"  {view}: mean {seconds[0] * 1e3:.1f} ms; in times of it: {shown}")


def logistic() -> None:
    """Pointwise logistic fits against scikit-learn's logistic regression, on bibtex."""
    data = limo.datasets.load("bibtex", download=False)
    X = sparse.csr_array(normalize(data.X))
    Y = np.asarray(data.Y.todense() if sparse.issparse(data.Y) else data.Y)
    print("Pointwise logistic loss, bibtex, rows of length 1, no intercept, both cores")
    pattern, loss = check_labels(Y, "y"), (Term("entries", "pointwise"),)
    for C in (1.0, 10.0, 100.0):
        problem = Problem(Features(X, 0.0), pattern, loss, 1 / (C * Y.size))
        solve(problem, max_iter=2)  # compiled, or loaded from the cache
        start = time.perf_counter()
        found = solve(problem)
        ours = time.perf_counter() - start
        model = LogisticRegression(C=C, fit_intercept=False, max_iter=1000)
        start = time.perf_counter()
        rival = OneVsRestClassifier(model, n_jobs=2).fit(X, Y)
        theirs = time.perf_counter() - start
        W = np.vstack([one.coef_[0] for one in rival.estimators_]).T
        reached = Resident(problem).start(W).value
        print(
            f"  C {C:g}: limo {ours:.2f} s, {found.iterations} iterations, objective "
            f"{found.objective:.6f}, gap {found.relative_gap:.2%}; one-vs-rest "
            f"LogisticRegression {theirs:.2f} s, objective {reached:.6f}; limo takes "
            f"{ours / theirs:.2f} of its time"
        )


PARTS = {
    "exact": exact,
    "aimed": aimed,
    "near_constant": near_constant,
    "terms": terms,
    "logistic": logistic,
    "growth": growth,
    "sgd": sgd,
    "mlknn": mlknn,
    "gfm": gfm,
    "exact10": exact10,
}


def main() -> None:
    """Print all parts, or those named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="default: all but exact10")
    parser.add_argument("--sets", nargs="+", choices=SETS, help="data sets of the part 'aimed'")
    options = parser.parse_args()
    for name in options.parts or [part for part in PARTS if part != "exact10"]:
        if name == "aimed" and options.sets:
            aimed(options.sets)
        else:
            PARTS[name]()


if __name__ == "__main__":
    main()
