"""
Your own method in a fair comparison
====================================

From Python, or from a plan file: ``comparison.toml`` names the same class as
``your_own_method.py:NearestMeans``.
"""

import tempfile

import numpy as np
from sklearn.base import BaseEstimator

from limo.experiment import Data, Method, Plan, Splits, run, summarise


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
    """Compare it with LIMO and ML-kNN on the paper's synthetic data."""
    data = Data("figure 1", "figure1", {"n": 400})
    with tempfile.TemporaryDirectory() as folder:
        # With a permanent path instead of a temporary one, the run can be stopped and resumed.
        plan = Plan(
            [data], ["limo", "mlknn", Method("mine", NearestMeans())], splits=Splits(number=3)
        )
        rows = run(plan, f"{folder}/results.sqlite", n_jobs=1)
        print(summarise(rows).pivot(index="measure", columns="method", values="mean").round(3))


if __name__ == "__main__":
    main()
