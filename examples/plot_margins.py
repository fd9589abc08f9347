"""
Margins: why measures disagree
==============================

The *label-wise margin* of an instance is the lowest score of its relevant labels minus the highest
score of the others. If it is positive, the labels of this instance are in perfect order. The
*instance-wise margin* of a label says the same about the order of the instances. A model can have
one without the other, and then the measures that depend on them disagree.
"""

import matplotlib.pyplot as plt

import limo

train, test = limo.datasets.split(limo.datasets.figure1(2000, seed=0), 0.5)
models = {
    "trained for label pairs": limo.LIMOClassifier(label_weight=1, instance_weight=0),
    "trained for instance pairs": limo.LIMOClassifier(label_weight=0, instance_weight=1),
}
scores = {
    name: model.fit(train.X, train.Y).decision_function(test.X) for name, model in models.items()
}

# %%
# Left, most instances have a positive margin, and hardly a label has. Right, the labels come closer
# to 0, and fewer instances are in order.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
for ax, (name, S) in zip(axes, scores.items(), strict=True):
    limo.displays.MarginDisplay.from_predictions(test.Y, S, ax=ax)
    ax.set_title(name)
plt.show()

# %%
# Measures of instances (ranking loss, lower is better) prefer the first model. Measures of labels
# (macro-AUC, higher is better) prefer the second.

for name, S in scores.items():
    found = limo.evaluate(test.Y, S)
    print(
        f"{name:28} ranking loss {found['ranking_loss']:.4f}   macro-AUC {found['macro_auc']:.4f}"
    )
    share = (limo.label_wise_margin(test.Y, S) > 0).mean()
    print(f"{'':28} positive label-wise margin: {share:.0%} of instances")
