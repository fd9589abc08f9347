"""A plan that takes seconds, for processes that are to be killed: python slow_plan.py STORE JOBS."""

import sys
import time

import numpy as np
from sklearn.base import BaseEstimator

from limo.experiment import Data, Interrupted, Method, Plan, Splits, run


class Slow(BaseEstimator):
    """Takes its time, and draws."""

    def __init__(self, pause=0.02, random_state=None):
        self.pause = pause
        self.random_state = random_state

    def fit(self, X, y):
        time.sleep(self.pause)
        self.n_labels_ = y.shape[1]
        return self

    def decision_function(self, X):
        return np.random.default_rng(self.random_state).random((len(X), self.n_labels_))


def plan():
    """Ninety runs of a fiftieth of a second and more."""
    methods = [Method(name, "experiment.slow_plan:Slow", cv="prefit") for name in "abc"]
    data = [Data(name, "figure1", {"n": 30, "seed": k}) for k, name in enumerate("xyz")]
    return Plan(data, methods, ["one_error", "macro_f1"], splits=Splits("random", 10))


def main(store, n_jobs):
    """Run it, telling how many runs are done."""
    try:
        run(plan(), store, n_jobs=n_jobs, progress=lambda now: print(now.done, flush=True))
    except Interrupted as stop:
        print(stop, flush=True)
        sys.exit(130)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
