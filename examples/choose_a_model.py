"""
Choose a model by your measure
==============================

Any measure of limo is a scorer for scikit-learn's cross-validation. The measures disagree about
which of three models is best: choose by the one that you will be judged on.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier

import limo

data = limo.datasets.figure1(600, seed=0)
models = {
    "one-vs-rest logistic": OneVsRestClassifier(LogisticRegression()),
    "neighbours": KNeighborsClassifier(20),
    "forest": RandomForestClassifier(50, random_state=0),
}
scoring = {name: limo.make_scorer(name) for name in limo.MEASURES}
found = {
    name: cross_validate(model, data.X, data.Y, cv=3, scoring=scoring)
    for name, model in models.items()
}

# %%
# Scorers negate losses, so that greater is better; the sign restores the value.

values = {
    m: [limo.MEASURES[name].sign * found[m][f"test_{name}"].mean() for name in limo.MEASURES]
    for m in models
}
print(f"{'measure':20}" + "".join(f"{name:>24}" for name in models))
for k, name in enumerate(limo.MEASURES):
    print(f"{name:20}" + "".join(f"{values[m][k]:24.4f}" for m in models))

# %%
# The rank of each model on each measure: 1 is best.

table = np.array([[found[m][f"test_{name}"].mean() for m in models] for name in limo.MEASURES])
ranks = 1 + (-table).argsort(axis=1).argsort(axis=1)

figure, ax = plt.subplots(figsize=(6.4, 4.8), layout="constrained")
ax.imshow(ranks, cmap="Blues_r", vmin=0.5, vmax=4.5, aspect="auto")
for (row, column), rank in np.ndenumerate(ranks):
    ax.text(column, row, f"{rank}", ha="center", va="center", color="white" if rank == 1 else "k")
ax.set_xticks(range(len(models)), list(models))
ax.set_yticks(range(len(ranks)), [measure.title for measure in limo.MEASURES.values()])
ax.tick_params(length=0)
ax.set_title("Rank of three models by eleven measures")
plt.show()
