"""The paper's benchmark table beside ours: LIMO, LIMO-inst and LIMO-label, seven ranking measures.

Trained as the authors did: uniform instances, 20 passes, step 0.01, lambda 1, every feature divided
by its largest absolute value over train and test together, no intercept; ten splits 70/30, the
authors' own where they are stored in the data folder. Measured under the "standard" conventions,
which the printed values fit best. A cell agrees if our mean lies within two printed standard
deviations of the printed mean.

The data are found as ``limo.datasets.load`` finds them (``LIMO_DATA``). The printed table is a CSV
file with the columns dataset, algorithm, measure, mean and std: pass its path.

    python benchmarks/reproduce_benchmark.py path/to/benchmark.csv
"""

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.model_selection import ShuffleSplit
from sklearn.preprocessing import MaxAbsScaler

import limo
from limo._checks import check_labels
from limo.solvers.sgd import SGD
from limo.workers import workers

DATASETS = ("CAL500", "enron", "medical", "corel5k", "bibtex")
ALGORITHMS = {"LIMO": (1, 1), "LIMO-inst": (0, 1), "LIMO-label": (1, 0)}
RANKING = tuple(name for name, measure in limo.MEASURES.items() if measure.needs == "scores")


def splits(name: str, n_rows: int, n_splits: int) -> tuple[list[Any], str]:
    """The authors' splits of a data set, or random ones, and which of the two they are."""
    try:
        stored, origin = limo.datasets.stored_splits(name), "the authors' splits"
    except limo.datasets.DataError:
        stored, origin = ShuffleSplit(n_splits, test_size=0.3, random_state=0), "random splits"
    return list(stored.split(np.zeros((n_rows, 1))))[:n_splits], origin


def measure(
    X: Any, Y: Any, train: Any, test: Any, weights: tuple[float, float]
) -> dict[str, float]:
    """Train on one part, measure on the other."""
    solver = SGD(*weights, step=0.01, sampling="instances", n_passes=20)
    found = solver.solve(X[train], check_labels(Y[train], "y"), np.random.default_rng(0))
    return dict(limo.evaluate(Y[test], X[test] @ found.coef.T))


def reproduce(name: str, n_splits: int) -> Iterator[dict[str, Any]]:
    """Mean and standard deviation of each cell of one data set."""
    data = limo.datasets.load(name)
    X = MaxAbsScaler().fit_transform(data.X.astype(np.float64))
    X, Y = (sparse.csr_array(A) if sparse.issparse(A) else A for A in (X, data.Y))
    parts, origin = splits(name, X.shape[0], n_splits)
    started = time.perf_counter()
    for algorithm, weights in ALGORITHMS.items():
        with workers() as run:
            runs = list(run(lambda part, w=weights: measure(X, Y, *part, w), parts))
        for cell in RANKING:
            values = [one[cell] for one in runs]
            yield {
                "dataset": name,
                "algorithm": algorithm,
                "measure": cell,
                "ours": np.mean(values),
                "our std": np.std(values, ddof=1) if len(values) > 1 else np.nan,
            }
    seconds = time.perf_counter() - started
    print(f"{name}: {len(parts)} of {origin}, {len(ALGORITHMS) * len(parts)} fits, {seconds:.1f} s")


def main() -> None:
    """Print every cell and count those that agree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("printed", type=Path, help="the printed table")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    arguments = parser.parse_args()
    rows = [row for name in arguments.datasets for row in reproduce(name, arguments.splits)]
    keys = ["dataset", "algorithm", "measure"]
    table = pd.DataFrame(rows).merge(pd.read_csv(arguments.printed), on=keys, validate="1:1")
    table["deviation"] = (table["ours"] - table["mean"]) / table["std"]
    table["agrees"] = table["deviation"].abs() <= 2
    columns = [*keys, "mean", "std", "ours", "our std", "deviation", "agrees"]
    print(table[columns].to_string(index=False, float_format="{:.3f}".format))
    print(f"{table['agrees'].sum()} of {len(table)} cells within two printed standard deviations")


if __name__ == "__main__":
    main()
