"""Whether following the advice of a report helps: on rows that neither model nor advice has seen.

Each data set is divided into training rows, the user's own rows, and test rows. Models trained on
the first are evaluated on the second, which gives advice or none. Where there is advice it is
followed with the user's own rows: thresholds by AutoThreshold, calibration by ScoreCalibration.
Printed are the means of the test values before and after, and the gains promised and found. Where
there is none for a measure, thresholds for it are fitted all the same: silence is right if that
gains nothing.

    python benchmarks/advice.py emotions medical --splits 2
"""

import argparse
import os
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.svm import LinearSVC

import limo
from limo.report import evaluation_document
from limo.thresholds import ScoreCalibration

CUT = ("hamming_loss", "macro_f1", "instance_f1", "micro_f1")
LAST = {"scene": 6, "yeast": 14}
DATA = ("emotions", "scene", "yeast", "CAL500", "medical", "enron")


def models(seed):
    """Three usual models, cut as they come: at one half, and at zero."""
    forest = RandomForestClassifier(100, min_samples_leaf=3, random_state=seed, n_jobs=1)
    return {
        "forest": (forest, 0.5),
        "linear SVM": (limo.BinaryRelevance(LinearSVC()), 0.0),
        "ML-kNN": (limo.MLKNNClassifier(), 0.5),
    }


def read(name):
    """A known data set, or one of the folder LIMO_DATA whose last columns are the labels."""
    if name not in LAST:
        return limo.datasets.load(name)
    file = Path(os.environ["LIMO_DATA"]) / name / f"{name}.arff.xz"
    return limo.read(file, labels=LAST[name])


def parts(data, seed):
    """A third of the rows each: for training, for advice, for the test."""
    order = np.random.default_rng(seed).permutation(data.X.shape[0])
    return np.array_split(order, 3)


def follow(change, measure, Y, mine, test):
    """Labels or scores of the test rows, changed as advised with the user's own rows."""
    if change == "calibration":
        return {"y_score": ScoreCalibration().fit(Y, mine).transform(test)}
    return {"y_pred": limo.AutoThreshold(measure).fit(Y, mine).predict(test)}


def tried(name, seed):
    """One row for each piece of advice, given or not: its measure before and after."""
    data = read(name)
    train, own, test = parts(data, seed)
    X, Y = (part.toarray() if hasattr(part, "toarray") else part for part in (data.X, data.Y))
    for title, (model, cut) in models(seed).items():
        model.fit(X[train], Y[train])
        mine, other = limo.scores_of(model, X[own]), limo.scores_of(model, X[test])
        document = evaluation_document(Y[own], {title: mine}, {title: (mine > cut).astype(int)})
        before = limo.evaluate(Y[test], other, (other > cut).astype(int))
        given = {(one["change"], one["measure"]): one for one in document["models"][0]["advice"]}
        for change, measure in dict.fromkeys([*given, *(("thresholds", one) for one in CUT)]):
            changed = follow(change, measure, Y[own], mine, other)
            after = limo.evaluate(Y[test], **changed, measures=[measure])[measure]
            sign = limo.MEASURES[measure].sign
            one = given.get((change, measure))
            yield {
                "data": name,
                "model": title,
                "change": change if one else f"no advice ({change})",
                "measure": measure,
                "before": before[measure],
                "after": after,
                "gain": sign * (after - before[measure]),
                "promised": sign * (one["expected"] - one["found"]) if one else np.nan,
            }


def table(rows):
    """Means over the cases of each change and measure, and how often it was better."""
    by = rows.groupby(["change", "measure"], sort=False)
    means = by[["before", "after", "gain", "promised"]].mean()
    counts = by["gain"].agg(cases="size", better=lambda gain: int((gain > 0).sum()))
    return means.join(counts).sort_index(ascending=False, sort_remaining=False).round(3)


def main():
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", nargs="*", default=DATA)
    parser.add_argument("--splits", type=int, default=2)
    given = parser.parse_args()
    found = []
    for name in given.data:
        for k in range(given.splits):
            found += tried(name, k)
        print(f"{name} done", flush=True)
    rows = pd.DataFrame(found)
    print(table(rows).to_string())
    advised = rows[~rows["change"].str.startswith("no")]
    by = advised.groupby("data", sort=False)["gain"]
    counts = by.agg(pieces="size", better=lambda gain: int((gain > 0).sum()))
    print(
        f"\nBetter on the test rows: {counts['better'].sum()} of {len(advised)} pieces of advice."
    )
    print(counts.to_string())


if __name__ == "__main__":
    main()
