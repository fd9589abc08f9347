"""
Train for the measure you are judged on
=======================================

The same linear model, trained with three losses. Each loss adds up pairs of labels or of instances
as some measure does, and serves that measure best. The map in the guide says which loss suits
which measure.
"""

import matplotlib.pyplot as plt
import numpy as np

import limo

losses = {
    "each entry": "pointwise",
    "label pairs": "rows mean",
    "instance pairs": "columns mean",
}
measures = ["micro_auc", "ranking_loss", "macro_auc"]
train, test = limo.datasets.split(limo.datasets.figure1(3000, seed=1), 0.5)

values = {}
for name, terms in losses.items():
    model = limo.MarginClassifier(terms, threshold_measure=None).fit(train.X, train.Y)
    values[name] = limo.evaluate(test.Y, model.decision_function(test.X)).skill

# %%
# Skill puts all measures on one scale: 0 is blind guessing, 1 is the best possible value.

table = np.array([[values[name][measure] for name in losses] for measure in measures])
best = table.max(axis=1, keepdims=True)
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.imshow(best - table, cmap="Blues_r", vmin=0, vmax=0.3, aspect="auto")
for (row, column), value in np.ndenumerate(table):
    first = value == best[row]
    ax.text(
        column,
        row,
        f"{value:.3f}",
        ha="center",
        va="center",
        color="white" if best[row] - value < 0.15 else "black",
        weight="bold" if first else "normal",
    )
ax.set_xticks(range(len(losses)), list(losses))
ax.set_yticks(range(len(measures)), [limo.MEASURES[measure].title for measure in measures])
ax.tick_params(length=0)
ax.set(title="Skill of three losses (the best is bold)", xlabel="what the loss adds up")
plt.show()
