"""Why the crosses of Table 2 are crosses: small predictors, found by hand."""

import itertools
from dataclasses import dataclass

import numpy as np

from limo._types import Anything, Values
from limo.evaluation import evaluate
from limo.measures.table import MEASURES

__all__ = ["COUNTEREXAMPLES", "Counterexample", "best_reachable"]


@dataclass(frozen=True, eq=False)
class Counterexample:
    """A predictor effective in one way, and the measures on which it is not perfect all the same.

    Attributes
    ----------
    kind : str
        How it is effective.
    measures : tuple of str
        Which measures it does not optimise.
    Y, S : array
        Labels and scores.
    why : str
        What to look at.
    """

    kind: str
    measures: tuple[str, ...]
    Y: Anything
    S: Values
    why: str


COUNTEREXAMPLES = (
    Counterexample(
        "label-wise",
        ("macro_auc", "micro_auc", "macro_f1"),
        np.eye(2, dtype=int),
        np.array([[1.0, 0.0], [5.0, 6.0]]),
        "The first label scores the second instance (5) above the first (1), which has it.",
    ),
    Counterexample(
        "instance-wise",
        (
            "ranking_loss",
            "one_error",
            "coverage",
            "average_precision",
            "instance_auc",
            "micro_auc",
            "instance_f1",
            "micro_f1",
        ),
        np.eye(2, dtype=int),
        np.array([[1.0, 5.0], [0.0, 6.0]]),
        "The second label outscores the first everywhere, also where the first is right.",
    ),
    Counterexample(
        "double",
        ("micro_auc",),
        np.eye(3, dtype=int),
        np.array([[10.0, 5.0, 0.0], [0.0, 10.0, 0.0], [0.0, 0.0, 1.0]]),
        "The irrelevant 5 beats its rivals in row and column, but not the relevant 1 far away.",
    ),
)


def best_reachable(example: Counterexample, measure: str) -> float:
    """The value of a measure on an example; of labels, under the best cuts that suit the measure.

    All cuts are tried: one for each label where those suit, otherwise one for each instance.
    """
    Y, S = example.Y, example.S
    if MEASURES[measure].needs == "scores":
        return evaluate(Y, S)[measure]
    by_label = MEASURES[measure].threshold == "label"
    places = np.append(np.unique(S), S.min() - 1)
    cuts = map(np.array, itertools.product(places, repeat=len(Y)))
    tried = (((t if by_label else t[:, np.newaxis]) < S).astype(int) for t in cuts)
    return max(evaluate(Y, y_pred=P)[measure] for P in tried)
