"""
Is model A really better than model B?
======================================

A measure on 200 test instances is an estimate. Intervals show how far it may be off. The
intervals of two models often overlap although the models differ: both were tested on the same
instances, and what is hard for one is hard for the other. So limo compares the differences.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

import limo

train, test = limo.datasets.split(limo.datasets.figure1(700, seed=3), 200 / 700)
models = {
    "forest": RandomForestClassifier(100, min_samples_leaf=3, random_state=0),
    "logistic": OneVsRestClassifier(LogisticRegression()),
}
scores = {
    name: limo.scores_of(model.fit(train.X, train.Y), test.X) for name, model in models.items()
}
measures = ["macro_auc", "micro_auc", "instance_auc", "average_precision"]
titles = [limo.MEASURES[measure].title for measure in measures]
found = {
    name: limo.evaluate(test.Y, S, intervals=0.95, measures=measures) for name, S in scores.items()
}
differences = limo.compare_predictions(test.Y, scores, measures=measures)
print(differences)

# %%
# Left: each model with its interval. Right: their differences. A difference whose interval contains
# 0 may be an accident.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3), layout="constrained", sharey=True)
for k, (name, evaluation) in enumerate(found.items()):
    for row, measure in enumerate(measures):
        interval, place = evaluation.intervals[measure], row + 0.2 * (k - 0.5)
        left.plot([interval.low, interval.high], [place, place], color=f"C{k}", alpha=0.4, lw=5)
        left.plot(evaluation[measure], place, "o", color=f"C{k}", label=name if not row else None)
for row, measure in enumerate(measures):
    one = differences.of(measure)
    colour = "grey" if one.better is None else "C2"
    right.plot([one.interval.low, one.interval.high], [row, row], color=colour, alpha=0.4, lw=5)
    right.plot(one.difference, row, "o", color=colour)
right.axvline(0, color="black", linewidth=1)
left.set_yticks(np.arange(len(measures)), titles)
left.invert_yaxis()
left.legend(frameon=False)
left.set(xlabel="value, with its 95 % interval")
right.set(xlabel="forest minus logistic")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
