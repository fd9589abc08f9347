"""
Your own method in a fair comparison
====================================

Your method and others on several data sets, with the same splits and thresholds for all. The
picture shows average ranks: methods joined by a bar are not distinguishable on so few data sets.

From Python, or from a plan file: ``comparison.toml`` names the same class as
``your_own_method.py:NearestMeans``.
"""

import tempfile

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import BaseEstimator

from limo.experiment import (
    Data,
    Method,
    Plan,
    Splits,
    compare_methods,
    plot_critical_difference,
    run,
    summarise,
)


class NearestMeans(BaseEstimator):
    """Scores a label by how much closer an instance is to those with it than to those without."""

    def __init__(self, power=2.0):
        self.power = power

    def fit(self, X, y):
        """Compute the mean of the instances with each label, and of those without it."""
        self.with_ = [X[y[:, j] == 1].mean(axis=0) for j in range(y.shape[1])]
        self.without_ = [X[y[:, j] == 0].mean(axis=0) for j in range(y.shape[1])]
        return self

    def decision_function(self, X):
        """Return the difference of distances; limo sets thresholds, so it needs no ``predict``."""
        near, far = (self._distances(X, means) for means in (self.with_, self.without_))
        return far - near

    def _distances(self, X, means):
        parts = [np.abs(X - mean) ** self.power for mean in means]
        return np.column_stack([part.sum(axis=1) for part in parts])


def main():
    """Compare it with LIMO and ML-kNN on samples of the paper's synthetic data."""
    data = [Data(f"sample {k}", "figure1", {"n": 300, "seed": k}) for k in range(6)]
    methods = ["limo", "mlknn", Method("mine", NearestMeans())]
    with tempfile.TemporaryDirectory() as folder:
        # With a permanent path instead of a temporary one, the run can be stopped and resumed.
        plan = Plan(data, methods, ["ranking_loss", "macro_auc", "macro_f1"], Splits(number=2))
        rows = run(plan, f"{folder}/results.sqlite", n_jobs=1)
    table = summarise(rows)
    print(table.groupby(["measure", "method"])["mean"].mean().unstack().round(3))
    _, ax = plt.subplots(figsize=(6.5, 2), layout="constrained")
    plot_critical_difference(compare_methods(rows, "macro_auc"), ax=ax)
    plt.show()


if __name__ == "__main__":
    main()
