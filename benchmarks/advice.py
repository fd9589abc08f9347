"""Whether following the advice of a report helps: on rows that neither model nor advice has seen.

Each data set is divided into training rows, the user's own rows, and test rows. Models trained on
the first are evaluated on the second, which gives advice or none. Where there is advice it is
followed with the user's own rows: thresholds by AutoThreshold, calibration by ScoreCalibration.
Printed are the means of the test values before and after, and of what the advice promised.

    python benchmarks/advice.py emotions medical --splits 2
"""

import argparse

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.svm import LinearSVC

import limo
from limo.report import evaluation_document
from limo.thresholds import ScoreCalibration


def models(seed):
    """Two usual models, cut as they come: at one half, and at zero."""
    forest = RandomForestClassifier(100, min_samples_leaf=3, random_state=seed, n_jobs=1)
    return {"forest": (forest, 0.5), "linear SVM": (limo.BinaryRelevance(LinearSVC()), 0.0)}


def parts(data, seed):
    """A third of the rows each: for training, for advice, for the test."""
    order = np.random.default_rng(seed).permutation(data.X.shape[0])
    return np.array_split(order, 3)


def follow(advice, Y, mine, test):
    """Labels or scores of the test rows, changed as advised with the user's own rows."""
    if advice["change"] == "calibration":
        return {"y_score": ScoreCalibration().fit(Y, mine).transform(test)}
    rule = limo.AutoThreshold(advice["measure"]).fit(Y, mine)
    return {"y_pred": rule.predict(test)}


def tried(name, seed):
    """One row for each piece of advice: its measure before and after, on the test rows."""
    data = limo.datasets.load(name)
    train, own, test = parts(data, seed)
    X, Y = (part.toarray() if hasattr(part, "toarray") else part for part in (data.X, data.Y))
    for title, (model, cut) in models(seed).items():
        model.fit(X[train], Y[train])
        mine, other = limo.scores_of(model, X[own]), limo.scores_of(model, X[test])
        document = evaluation_document(Y[own], {title: mine}, {title: (mine > cut).astype(int)})
        before = limo.evaluate(Y[test], other, (other > cut).astype(int))
        for advice in document["models"][0]["advice"]:
            measure = advice["measure"]
            changed = follow(advice, Y[own], mine, other)
            after = limo.evaluate(Y[test], **changed, measures=[measure])[measure]
            sign = 1 if advice["better"] == "high" else -1
            yield {
                "data": name,
                "model": title,
                "change": advice["change"],
                "measure": measure,
                "before": before[measure],
                "after": after,
                "promised": advice["expected"],
                "gain": sign * (after - before[measure]),
            }


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", nargs="*", default=["emotions", "medical", "enron"])
    parser.add_argument("--splits", type=int, default=2)
    given = parser.parse_args()
    rows = [row for name in given.data for k in range(given.splits) for row in tried(name, k)]
    table = pd.DataFrame(rows)
    by = table.groupby(["change", "measure"], sort=False)
    means = by[["before", "after", "promised", "gain"]].mean()
    counts = by["gain"].agg(advised="size", better=lambda gain: int((gain > 0).sum()))
    print(means.join(counts).round(4).to_string())
    print(f"\nBetter on the test rows: {(table['gain'] > 0).sum()} of {len(table)}.")


if __name__ == "__main__":
    main()
