"""The settings behind the paper's tables."""

from typing import Any, Literal

from limo._checks import check_name
from limo.models._limo import LIMOClassifier

__all__ = ["paper_limo"]


def paper_limo(
    kind: Literal["LIMO", "LIMO-label", "LIMO-inst"] = "LIMO",
    dataset: Literal["benchmark", "synthetic"] = "benchmark",
    *,
    random_state: Any = None,
) -> LIMOClassifier:
    """LIMO with the settings behind the paper's tables.

    Parameters
    ----------
    kind : {"LIMO", "LIMO-label", "LIMO-inst"}, default="LIMO"
        Both margins, or one of them.
    dataset : {"benchmark", "synthetic"}, default="benchmark"
        For the five benchmark sets: weights 1, step 0.01, 20 passes, no intercept, features to be
        divided by their largest absolute value first. For the synthetic data: weights 100,
        step 0.1, 20 000 steps, a constant feature 1. Both draw instances as the authors' program
        did, shrink by 1 and average all iterates.
    random_state : int, RandomState or None, default=None
        Draws the first weights and the pairs.

    Returns
    -------
    LIMOClassifier

    Examples
    --------
    >>> import limo
    >>> limo.paper_limo("LIMO-inst").label_weight
    0.0
    """
    check_name(kind, ("LIMO", "LIMO-label", "LIMO-inst"), "kind of LIMO")
    check_name(dataset, ("benchmark", "synthetic"), "kind of data")
    benchmark = dataset == "benchmark"
    weight = 1.0 if benchmark else 100.0
    return LIMOClassifier(
        0.0 if kind == "LIMO-inst" else weight,
        0.0 if kind == "LIMO-label" else weight,
        alpha=1.0,
        loss="hinge",
        solver="sgd",
        fit_intercept=not benchmark,
        intercept_scaling=1.0,
        sampling="instances",
        step=0.01 if benchmark else 0.1,
        n_passes=20,
        n_steps=None if benchmark else 20_000,
        threshold_cv="prefit",
        random_state=random_state,
    )
