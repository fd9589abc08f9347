"""Learners to try the runner on: one that works, one that fails, one that draws, one that dies."""

import os

import numpy as np
from sklearn.base import BaseEstimator


class Frequency(BaseEstimator):
    """Scores every label by its frequency in training."""

    def __init__(self, sign=1):
        self.sign = sign

    def fit(self, X, y):
        self.shares_ = self.sign * np.asarray(y).mean(axis=0)
        return self

    def decision_function(self, X):
        return np.tile(self.shares_, (X.shape[0], 1))

    def predict(self, X):
        return (self.decision_function(X) > 0.5).astype(int)


class Dice(Frequency):
    """Draws its scores, from a generator of its own and from the one all share."""

    def __init__(self, sign=1, random_state=None):
        super().__init__(sign)
        self.random_state = random_state

    def decision_function(self, X):
        own = np.random.default_rng(self.random_state).random((X.shape[0], len(self.shares_)))
        return own + np.random.random(own.shape)  # noqa: NPY002


class Broken(Frequency):
    """Cannot learn."""

    def fit(self, X, y):
        raise ZeroDivisionError("no luck")


class NoScores(BaseEstimator):
    """Predicts labels, and nothing else."""

    def fit(self, X, y):
        self.n_labels_ = np.asarray(y).shape[1]
        return self

    def predict(self, X):
        return np.ones((X.shape[0], self.n_labels_), dtype=int)


class Deadly(Frequency):
    """Takes its process with it."""

    def fit(self, X, y):
        os._exit(1)


class NotSklearn:
    """Learns, but has none of scikit-learn's interface."""

    def fit(self, X, y):
        return self
