"""
One model, four kinds of threshold
==================================

The scores are the same throughout; only where they are cut differs. Full dots are rules fitted on
cross-fitted scores and evaluated on test data. Hollow dots are the best thresholds of the same
kind, chosen with the test labels: what is missing from there to 1 is lost to the ranking, and no
threshold of that kind can make up for it.
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

import limo

MEASURES = ("macro_f1", "micro_f1", "instance_f1")
RULES = {
    "0 for all": limo.FixedThreshold(0.0),
    "one for all": limo.GlobalThreshold("micro_f1"),
    "$t_j$, per label": limo.LabelThreshold("macro_f1"),
    "$t(x)$, per instance": limo.InstanceThreshold("instance_f1", source="both", regressor="svr"),
}
BEST = {
    "one for all": ("global", limo.thresholds.best_global_threshold, MEASURES),
    "$t_j$, per label": ("label", limo.thresholds.best_label_thresholds, MEASURES[:2]),
    "$t(x)$, per instance": ("instance", limo.thresholds.best_instance_thresholds, MEASURES[1:]),
}

train, test = limo.datasets.split(limo.datasets.figure1(2000, seed=0), test_size=0.5)
model = OneVsRestClassifier(LogisticRegression()).fit(train.X, train.Y)
scores = model.decision_function(test.X)

figure, axes = plt.subplots(figsize=(7.5, 3.4), layout="constrained")
for k, (name, rule) in enumerate(RULES.items()):
    tuned = limo.ThresholdClassifier(model, rule).fit(train.X, train.Y)
    values = [getattr(limo, measure)(test.Y, tuned.predict(test.X)) for measure in MEASURES]
    places = [place + 0.15 * (k - 1.5) for place in range(len(MEASURES))]
    axes.hlines(places, 0.75, values, color=f"C{k}", linewidth=1)
    axes.plot(values, places, "o", label=name, color=f"C{k}")
    line = "".join(f"{m} {v:.3f}   " for m, v in zip(MEASURES, values, strict=True))
    print(f"{name:22}{line.rstrip()}")
    if name in BEST:
        by, best, possible = BEST[name]
        for measure in possible:
            t = best(test.Y, scores, measure)
            value = getattr(limo, measure)(
                test.Y, limo.thresholds.apply_thresholds(scores, t, by=by)
            )
            axes.plot(value, places[MEASURES.index(measure)], "o", color=f"C{k}", fillstyle="none")
axes.plot([], [], "o", color="grey", fillstyle="none", label="best of its kind")
axes.set(xlim=(0.75, 1.01), ylim=(2.5, -0.5), xlabel="value on test data (higher is better)")
axes.set_yticks(range(len(MEASURES)), [limo.MEASURES[measure].title for measure in MEASURES])
axes.set_title("The same scores, cut in four ways")
figure.legend(loc="outside right center", frameon=False)

print(limo.threshold_report(test.Y, scores, model.predict(test.X)))
plt.show()
