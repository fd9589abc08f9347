"""A plan for processes that are to be stopped: PAUSE=seconds slow_plan.py STORE JOBS."""

import os
import sys
import time

import numpy as np
from sklearn.base import BaseEstimator

from limo.experiment import Data, Interrupted, Method, Plan, Splits, run


class Slow(BaseEstimator):
    """Takes as long as the environment says, which is no setting, and draws."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        time.sleep(float(os.environ.get("PAUSE", "0")))
        self.n_labels_ = y.shape[1]
        return self

    def decision_function(self, X):
        return np.random.default_rng(self.random_state).random((len(X), self.n_labels_))


def plan():
    """Ninety runs."""
    methods = [Method(name, "experiment.slow_plan:Slow", cv="training") for name in "abc"]
    data = [Data(name, "figure1", {"n": 30, "seed": k}) for k, name in enumerate("xyz")]
    return Plan(data, methods, ["one_error", "macro_f1"], splits=Splits("random", 10))


def main(store, n_jobs):
    """Run it, and print how many runs are done."""
    try:
        run(plan(), store, n_jobs=n_jobs, progress=lambda now: print(now.done, flush=True))
    except Interrupted as stop:
        print(stop, flush=True)
        sys.exit(130)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
