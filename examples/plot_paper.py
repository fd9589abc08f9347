"""
The paper in one picture
========================

*A Unified View of Multi-Label Performance Measures* (ICML 2017) explains why no classifier is best
by all measures: some measures depend on the order of the labels of each instance (label-wise
margin), others on the order of the instances of each label (instance-wise margin). LIMO-label
maximises the first, LIMO-inst the second, LIMO both. This is its experiment on synthetic data, on a
smaller scale; ``limo reproduce synthetic`` repeats it in full, beside the printed numbers.
"""

import matplotlib.pyplot as plt
import numpy as np

import limo

measures = ["ranking_loss", "one_error", "coverage", "average_precision"]
measures += ["instance_auc", "macro_auc", "micro_auc"]
methods = {"LIMO": (1, 1), "LIMO-label": (1, 0), "LIMO-inst": (0, 1)}

values = {name: [] for name in methods}
for seed in range(3):
    train, test = limo.datasets.split(limo.datasets.figure1(1500, seed=seed), 0.5)
    for name, (label, instance) in methods.items():
        model = limo.LIMOClassifier(label_weight=label, instance_weight=instance)
        S = model.fit(train.X, train.Y).decision_function(test.X)
        skill = limo.evaluate(test.Y, S).skill
        values[name].append([skill[measure] for measure in measures])

# %%
# Skill is 0 for blind guessing and 1 for the best possible value. A dot is the mean of three
# samples.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9.5, 3.8), layout="constrained", width_ratios=[1, 1.8]
)
data = limo.datasets.figure1(800, seed=0)
left.scatter(*data.X.T, c=data.Y.sum(axis=1), s=6, cmap="viridis")
left.set(title="the data, by number of labels", xticks=[], yticks=[], aspect="equal")
for k, (name, found) in enumerate(values.items()):
    right.plot(np.mean(found, axis=0), range(len(measures)), "os^"[k], label=name, markersize=7)
titles = [f"{limo.MEASURES[m].title} ({limo.MEASURES[m].view.margin})" for m in measures]
right.set_yticks(range(len(measures)), titles)
right.invert_yaxis()
right.grid(axis="y", alpha=0.3)
right.set(xlabel="skill on test data")
right.spines[["top", "right"]].set_visible(False)
right.legend(frameon=False, loc="upper left")
plt.show()
