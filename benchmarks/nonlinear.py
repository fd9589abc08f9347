"""Linear, kernel, forest, boosting, neighbours, and the ensemble selected from all of them.

``python benchmarks/nonlinear.py --data emotions scene --splits 2 --store nonlinear.sqlite`` reads
the data from ``LIMO_DATA``, splits them 70/30 and fits every method on the training part;
thresholds are fitted alike for all. Results are kept in the store: the same command resumes a run
that was stopped, and more data or splits are added to it. It prints the value in every cell, the
mean rank of each method per measure, and how often each is the best.
"""

import argparse
import os
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.exceptions import ConvergenceWarning

import limo
from limo.experiment import METHODS, Data, Method, Plan, Splits, rank, run

DATA = ("emotions", "scene", "yeast", "CAL500", "medical", "enron", "Corel5k", "bibtex")
RIVALS = ("logistic", "rbf", "forest", "extra-trees", "boosting")


def methods(names: list[str]) -> list[Any]:
    """The methods; ML-kNN cut like the others, not by its own predict."""
    cut = Method("mlknn-cut", limo.MLKNNClassifier(), scaling="unit_rows")
    return [cut if name == cut.name else METHODS[name] for name in names]


def source(name: str) -> Any:
    """A known data set, or a file of that name in the folder of the data."""
    try:
        return Data.of(name)
    except limo.datasets.DataError:
        return Data(name, str(Path(os.environ["LIMO_DATA"]) / name / f"{name}.arff.xz"))


def show(rows: Any, names: list[str]) -> None:
    """The mean over splits in every cell, then mean ranks and wins."""
    good = rows[rows["status"] == "ok"]
    table = good.pivot_table("value", ["dataset", "measure"], "method")
    table = table.reindex(columns=names).dropna()
    print(table.to_string(float_format="{:.4f}".format))
    parts = [
        rank(part, limo.MEASURES[measure].better) for measure, part in table.groupby("measure")
    ]
    ranks = pd.concat(parts)
    by_measure = ranks.groupby("measure").mean()
    by_measure.loc["all"] = ranks.mean()
    by_measure.loc["cells won"] = (ranks < 2).sum()
    print("\nmean rank")
    print(by_measure.to_string(float_format="{:.2f}".format))


def main(words: list[str] | None = None) -> None:
    """Run what is missing, then print everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=list(DATA))
    parser.add_argument("--methods", nargs="+", default=["aimed", *RIVALS, "mlknn-cut"])
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--store", default="nonlinear.sqlite")
    given = parser.parse_args(words)
    warnings.simplefilter("ignore", ConvergenceWarning)
    plan = Plan(
        [source(name) for name in given.data],
        methods(given.methods),
        splits=Splits(number=given.splits),
    )
    show(run(plan, given.store, n_jobs=1, progress=print), given.methods)


if __name__ == "__main__":
    main()
