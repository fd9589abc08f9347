"""How fast the learners are, and how much memory they take.

Everything is a ratio against a named rival in the same run, because machines are noisy. Each
function below prints one part; ``python benchmarks/learners.py sgd mlknn`` runs only those named.
Rivals that are not installed are left out, with a sentence.
"""

import argparse
import importlib.util
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

import limo
from limo._checks import check_labels
from limo.pattern import Pattern
from limo.solvers.sgd import SGD


def verdict(met: bool) -> str:
    """How a figure stands to its target."""
    return "met" if met else "NOT MET"


def best(function: Callable[[], object], repeat: int = 3) -> float:
    """Seconds of the fastest of several calls."""
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def sparse_problem(m: int, d: int, l: int, nonzeros: int = 60) -> tuple[Any, Pattern]:  # noqa: E741
    """Sparse features and three labels an instance on the average."""
    rng = np.random.default_rng(0)
    X = sparse.csr_array(sparse.random(m, d, nonzeros / d, format="csr", rng=rng))
    return X, check_labels(sparse.random(m, l, 3 / l, format="csr", rng=rng) != 0, "y")


def seconds_per_step(X: Any, Y: Pattern, sampling: str = "pairs", n_steps: int = 200_000) -> float:
    """The slope of time over steps: making and averaging W, O(l d) once, takes no part."""
    few, many = (SGD(sampling=sampling, n_steps=n) for n in (n_steps // 10, n_steps))
    few.solve(X, Y, np.random.default_rng(0))  # compiled, or loaded from the cache
    seconds = [
        best(lambda solver=solver: solver.solve(X, Y, np.random.default_rng(0)))
        for solver in (few, many)
    ]
    return (seconds[1] - seconds[0]) / (n_steps - n_steps // 10)


def sgd() -> None:
    """Steps per second of Algorithm 1, and that they do not depend on the features."""
    print("Algorithm 1, steps per second (a step draws two pairs)")
    X, Y = sparse_problem(5000, 2000, 150)
    dense = np.random.default_rng(0).standard_normal((5000, 60))
    for name, features in (("sparse, 60 of 2000 features", X), ("dense, 60 features", dense)):
        for sampling in ("pairs", "instances"):
            rate = 1 / seconds_per_step(features, Y, sampling)
            print(f"  {name}, {sampling}: {rate:,.0f}")
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
    print(f"  limo.MLKNNClassifier      {ours:8.3f} s")
    if importlib.util.find_spec("skmultilearn") is None:
        print("  scikit-multilearn-ng is not installed: pip install scikit-multilearn-ng")
        return
    from skmultilearn.adapt import MLkNN  # noqa: PLC0415

    def rival() -> Any:
        return MLkNN(k=10, ignore_first_neighbours=1).fit(X, Y).predict_proba(X)

    theirs = best(rival, repeat=1)
    ratio = theirs / ours
    print(f"  scikit-multilearn-ng      {theirs:8.3f} s")
    print(f"  faster: {ratio:.0f}x (target 20x: {verdict(ratio >= 20)})")


def gfm(m: int = 2000, d: int = 100, l: int = 100) -> None:  # noqa: E741
    """GFM, fit and predict, against its neighbour search alone as scikit-learn does it."""
    from sklearn.neighbors import NearestNeighbors  # noqa: PLC0415

    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((m, d)), (rng.random((m, l)) < 0.05).astype(np.int64)
    limo.GFMClassifier().fit(X[:50], Y[:50]).predict(X[:5])
    ours = best(lambda: limo.GFMClassifier().fit(X, Y).predict(X))
    search = best(lambda: NearestNeighbors(n_neighbors=10).fit(X).kneighbors(X))
    print(f"GFM, fit and predict, {m} instances, {d} features, {l} labels")
    print(f"  limo.GFMClassifier        {ours:8.3f} s")
    print(f"  scikit-learn, search only {search:8.3f} s")


PARTS = {"sgd": sgd, "mlknn": mlknn, "gfm": gfm}


def main() -> None:
    """Print every figure, or those asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="default: all")
    for name in parser.parse_args().parts or PARTS:
        PARTS[name]()


if __name__ == "__main__":
    main()
