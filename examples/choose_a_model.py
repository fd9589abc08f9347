"""
Choose a model by your measure
==============================

Any measure of limo is a scorer for scikit-learn's cross-validation.
"""

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

print(f"{'measure':20}" + "".join(f"{name:>24}" for name in models) + "   best")
for name, measure in limo.MEASURES.items():
    # scorers negate losses so that greater is better; the sign restores the value
    values = {m: measure.sign * found[m][f"test_{name}"].mean() for m in models}
    best = max(values, key=lambda m: measure.sign * values[m])
    print(f"{name:20}" + "".join(f"{value:24.4f}" for value in values.values()) + f"   {best}")
