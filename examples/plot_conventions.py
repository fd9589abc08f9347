"""
Conventions: one name, several numbers
======================================

Libraries treat ties and empty rows differently, so the "same" measure of the same model has
different values. Coarse scores show it best: here a model gives each label one of five grades, and
many labels of an instance tie.
"""

import matplotlib.pyplot as plt
import numpy as np

import limo

rng = np.random.default_rng(0)
Y = (rng.random((400, 8)) < 0.25).astype(int)  # some instances have no label at all
grades = np.clip(np.rint(1.2 * Y + rng.standard_normal(Y.shape) + 1.5), 0, 4)

found = {name: limo.evaluate(Y, grades, conventions=name) for name in limo.CONVENTIONS}
measures = ["ranking_loss", "one_error", "average_precision", "macro_auc", "instance_auc"]

# %%
# The result says how many rows each measure left out.

for name, evaluation in found.items():
    print(f"{name:10} {limo.CONVENTIONS[name]}")
    print(f"{'':10} ranking loss left out {evaluation.skipped['ranking_loss']} of 400 instances")

# %%
# Compare numbers only under the same conventions. With so many ties, the paper's formula of average
# precision even exceeds 1.

figure, ax = plt.subplots(figsize=(7.5, 4), layout="constrained")
for k, (name, evaluation) in enumerate(found.items()):
    places = np.arange(len(measures)) + 0.18 * (k - 1)
    values = [evaluation[measure] for measure in measures]
    ax.barh(places, values, height=0.16, label=f'conventions="{name}"', color=f"C{k}")
    for place, value in zip(places, values, strict=True):
        ax.text(value + 0.008, place, f"{value:.3f}", va="center", fontsize=8)
ax.set_yticks(range(len(measures)), [limo.MEASURES[measure].title for measure in measures])
ax.invert_yaxis()
ax.spines[["top", "right"]].set_visible(False)
ax.set(xlim=(0, 1.2), xlabel="value of the same scores")
figure.legend(frameon=False, loc="outside upper center", ncols=3, fontsize=8)
plt.show()
