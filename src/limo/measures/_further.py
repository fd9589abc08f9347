"""Further measures, computed on request: precision, recall, F-beta, Jaccard, top k, probabilities.

They are looked up by name in ``limo.MEASURES``, like the paper's eleven. Two kinds have a number in
their name: ``precision_at_5`` (and ``recall_at``, ``ndcg_at``) and ``macro_f2`` (``f0.5``, ...).
"""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from limo._settings import check_number
from limo._types import Floats, Values
from limo._views import AVERAGES, COLUMNS, ENTRIES, ROWS, Counts
from limo.measures._conventions import Conventions
from limo.measures._measure import Measure
from limo.measures._rows import average_precision, blind_average_precision, divide, f_measure

if TYPE_CHECKING:  # profiles load the compiler, which is too slow for shell completion
    from limo._profiles import Profile

UNIT = (0.0, 1.0)
_LISTED_K = (1, 3, 5)
_LISTED_BETA = (0.5, 2.0)


# Measures of predicted labels


def subset_accuracy(counts: Counts, conventions: Conventions) -> Values:
    """1 if every label is predicted correctly, else 0."""
    return np.asarray(counts.wrong == 0, dtype=np.float64)


def precision(counts: Counts, conventions: Conventions) -> Values:
    """#both / #predicted; 0 if nothing is predicted."""
    return divide(counts.both, counts.predicted, 0.0)


def recall(counts: Counts, conventions: Conventions) -> Values:
    """#both / #true; 0 if nothing is true."""
    return divide(counts.both, counts.true, 0.0)


def jaccard(counts: Counts, conventions: Conventions) -> Values:
    """#both / #{true or predicted}; 0 if there is none."""
    return divide(counts.both, counts.true + counts.predicted - counts.both, 0.0)


def balanced_accuracy(counts: Counts, conventions: Conventions) -> Values:
    """Mean of the shares of relevant and of irrelevant items that are predicted correctly."""
    true, false = counts.true, counts.n_items - counts.true
    rejected = false - (counts.predicted - counts.both)
    kinds = (true > 0).astype(np.float64) + (false > 0)
    balanced: Values = (divide(counts.both, true, 0.0) + divide(rejected, false, 0.0)) / kinds
    return balanced


@dataclass(frozen=True)
class FBeta:
    """(1 + b²) #both / (b² #true + #predicted): recall counts b times as much as precision."""

    beta: float

    def __call__(self, counts: Counts, conventions: Conventions) -> Values:
        """The value of each row."""
        return f_measure(counts, self.beta, conventions.f1_of_nothing)


def blind_all(relevant: Values, n_items: int, conventions: Conventions) -> Values:
    """Everything is predicted: the share of items that are relevant."""
    return relevant / n_items


def blind_half(relevant: Values, n_items: int, conventions: Conventions) -> Values:
    """Any prediction that ignores the instances."""
    return np.full(relevant.shape, 0.5)


# The first k labels


def _places(profile: "Profile", conventions: Conventions) -> Values:
    """The place of each relevant item from 1, with ties in the worst or the best order."""
    own = np.arange(profile.above.size) - np.repeat(profile.indptr[:-1], profile.n_relevant) + 1
    ahead = profile.above + (profile.tied if conventions.tied_rank == "worst" else 0)
    return np.asarray(own + ahead)


@dataclass(frozen=True)
class TopK:
    """How good the k labels with the highest scores of an instance are."""

    kind: str
    k: int

    def __call__(self, profile: "Profile", conventions: Conventions) -> Values:
        """The value of each row."""
        inside = (places := _places(profile, conventions)) <= self.k
        if self.kind == "ndcg":
            gains = np.where(inside, 1 / np.log2(1 + places), 0.0)
            most = np.minimum(profile.n_relevant, self.k)
            ideal = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, self.k + 2)))])
            return divide(profile.sum(gains), ideal[most])
        hits = profile.sum(inside.astype(np.int64))
        if self.kind == "precision":
            return np.asarray(hits / self.k)
        return divide(hits, profile.n_relevant)

    def blind(self, relevant: Values, n_items: int, conventions: Conventions) -> Values:
        """The expected value of a random order."""
        read = np.minimum(self.k, n_items)
        if self.kind == "precision":
            return np.asarray(relevant / n_items * read / self.k)
        if self.kind == "recall":
            return np.broadcast_to(read / n_items, relevant.shape).astype(np.float64)
        ideal = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, self.k + 2)))])
        most = np.minimum(relevant, self.k).astype(np.int64)
        return divide(relevant / n_items * ideal[read], ideal[most])


# Probabilities


def log_loss(profile: "Profile", conventions: Conventions) -> Values:
    """Mean over items of -log of the probability given to the true label."""
    tiny = float(np.finfo(profile.relevant.dtype).eps)

    def loss(probability: Values) -> Values:
        return -np.log(np.clip(probability, tiny, 1 - tiny))

    return _mean_loss(profile, loss)


def brier_loss(profile: "Profile", conventions: Conventions) -> Values:
    """Mean over items of (probability - label)²."""
    return _mean_loss(profile, lambda probability: (1 - probability) ** 2)


def _mean_loss(profile: "Profile", loss: Callable[[Values], Values]) -> Values:
    """The mean of a loss of the probability given to what is true."""
    if profile.sort is None:  # the perfect prediction
        return np.zeros(profile.n_relevant.size)
    scores = profile.sorted_rows.irrelevant[0].reshape(profile.n_relevant.size, -1)
    scores = scores.astype(np.float64)
    given = scores > -np.inf  # relevant items were replaced by -inf
    _check_probabilities(profile.relevant, scores[given])
    wrong = np.where(given, loss(1 - np.where(given, scores, 0.0)), 0.0)
    if profile.weights is not None:
        wrong *= -np.diff(profile.weights.tails, axis=1)
    right = profile.sum(loss(profile.relevant.astype(np.float64)))
    return np.asarray((wrong.sum(axis=1) + right) / profile.n_items)


def _check_probabilities(*parts: Floats) -> None:
    for part in parts:
        if part.size and not (part.min() >= 0 and part.max() <= 1):
            bad = part[(part < 0) | (part > 1)][0]
            raise ValueError(
                f"log_loss and brier_loss need probabilities, from 0 to 1: found {bad:g}. Pass "
                "the output of predict_proba, or calibrate the scores first."
            )


# Records


def _averaged(measure: Measure, name: str) -> Iterator[Measure]:
    """The same measure averaged over instances, over labels, and of the whole matrix."""
    for average, view in AVERAGES.items():
        yield replace(
            measure,
            name=f"{average}_{name}",
            title=f"{average}-{measure.title}",
            view=view,
            threshold=view.threshold,
        )


_SUBSET = Measure(
    "subset_accuracy", "subset accuracy", subset_accuracy, ROWS, "labels", "high",
    meaning="Share of instances whose labels are all predicted correctly.",
    formula="1 if no label is wrong, else 0",
)  # fmt: skip
_PRECISION = Measure(
    "precision", "precision", precision, ROWS, "labels", "high",
    meaning="Share of the predicted labels that are true.",
    formula="#{true and predicted} / #predicted", ties="0/0 is 0", blind=blind_all,
)  # fmt: skip
_RECALL = Measure(
    "recall", "recall", recall, ROWS, "labels", "high",
    meaning="Share of the true labels that are predicted.",
    formula="#{true and predicted} / #true", ties="0/0 is 0",
)  # fmt: skip
_JACCARD = Measure(
    "jaccard", "Jaccard", jaccard, ROWS, "labels", "high",
    meaning="Overlap of the true and the predicted labels.",
    formula="#{true and predicted} / #{true or predicted}", ties="0/0 is 0", blind=blind_all,
    fractional=True,
)  # fmt: skip
_BALANCED = Measure(
    "balanced_accuracy", "balanced accuracy", balanced_accuracy, ROWS, "labels", "high",
    meaning="Mean of the shares of relevant items predicted and of irrelevant items not predicted.",
    formula="(#{true and predicted} / p + #{neither} / n) / 2",
    ties="without one kind of item, the share of the other", blind=blind_half, fractional=True,
)  # fmt: skip
_AVERAGE_PRECISION = Measure(
    "macro_average_precision", "macro-average precision", average_precision, COLUMNS,
    "scores", "high",
    meaning="Area under the precision-recall curve of each label, the mean of which is called mAP.",
    formula="mean over r of #{relevant s ≥ sᵣ} / #{s ≥ sᵣ}", blind=blind_average_precision,
)  # fmt: skip
_LOG_LOSS = Measure(
    "log_loss", "log loss", log_loss, ROWS, "scores", "low", (0.0, math.inf), also=COLUMNS,
    meaning="Mean of -log of the probability given to what is true.",
    formula="(Σ -log sᵣ + Σ -log(1 - sᵥ)) / (p + n)", ties="scores must be probabilities",
    per_item=True,
)  # fmt: skip
_BRIER = Measure(
    "brier_loss", "Brier score", brier_loss, ROWS, "scores", "low", also=COLUMNS,
    meaning="Mean squared distance of the probability from the label.",
    formula="(Σ (1 - sᵣ)² + Σ sᵥ²) / (p + n)", ties="scores must be probabilities", per_item=True,
)  # fmt: skip


def precision_at(k: int) -> Measure:
    """Make the measure precision@k: the share of relevant labels among the k highest scores.

    Parameters
    ----------
    k : int
        How many labels are read, from 1 up. It divides by k even if there are fewer labels.

    Returns
    -------
    Measure
        Called ``precision_at_5`` for k = 5; this name works wherever measures are named.

    Examples
    --------
    >>> import limo
    >>> Y, S = [[1, 0, 0], [0, 1, 0]], [[0.9, 0.1, 0.4], [0.5, 0.3, 0.2]]
    >>> measure = limo.measures.precision_at(2)
    >>> limo.evaluate(Y, S, measures=[measure])["precision_at_2"]
    0.5
    """
    meaning = f"Share of relevant labels among the {k} with the highest scores."
    return _top("precision", k, meaning, "#{relevant among the first k} / k")


def recall_at(k: int) -> Measure:
    """Make the measure recall@k: the share of an instance's labels among the k highest scores.

    Parameters
    ----------
    k : int
        How many labels are read, from 1 up.

    Returns
    -------
    Measure
        Called ``recall_at_5`` for k = 5.

    Examples
    --------
    >>> import limo
    >>> Y, S = [[1, 0, 0], [0, 1, 0]], [[0.9, 0.1, 0.4], [0.5, 0.3, 0.2]]
    >>> measure = limo.measures.recall_at(2)
    >>> limo.evaluate(Y, S, measures=[measure])["recall_at_2"]
    1.0
    """
    meaning = f"Share of the relevant labels that are among the {k} with the highest scores."
    return _top("recall", k, meaning, "#{relevant among the first k} / p")


def ndcg_at(k: int) -> Measure:
    """Make the measure nDCG@k: discounted gain of the first k labels over the best possible one.

    Parameters
    ----------
    k : int
        How many labels are read, from 1 up.

    Returns
    -------
    Measure
        Called ``ndcg_at_5`` for k = 5.

    Examples
    --------
    >>> import limo
    >>> Y, S = [[1, 0, 0], [0, 1, 0]], [[0.9, 0.1, 0.4], [0.5, 0.3, 0.2]]
    >>> measure = limo.measures.ndcg_at(2)
    >>> limo.evaluate(Y, S, measures=[measure])["ndcg_at_2"]
    0.815...
    """
    meaning = f"Gain of the first {k} labels, less at lower places, over the best possible gain."
    return _top("ndcg", k, meaning, "Σ 1/log₂(1 + place) over relevant labels, over its maximum")


def _top(kind: str, k: int, meaning: str, formula: str) -> Measure:
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ValueError(f"k must be an integer from 1 up, got {k!r}.")
    function = TopK(kind, int(k))
    title = {"ndcg": "nDCG"}.get(kind, kind)
    return Measure(
        f"{kind}_at_{k}", f"{title}@{k}", function, ROWS, "scores", "high",
        meaning=meaning, formula=formula, ties=_tie_text, blind=function.blind,
    )  # fmt: skip


def _tie_text(conventions: Conventions) -> str:
    return f"ties: {conventions.tied_rank} order"


def _nothing_text(conventions: Conventions) -> str:
    return f"0/0 is {conventions.f1_of_nothing:g}"


def f_beta_measures(beta: float) -> tuple[Measure, ...]:
    """Make F-beta of instances, labels and the whole matrix: ``instance_f2``, ``macro_f2``, ...

    Parameters
    ----------
    beta : float
        How many times recall counts as much as precision, above 0.

    Returns
    -------
    tuple of Measure

    Examples
    --------
    >>> import limo
    >>> [measure.name for measure in limo.measures.f_beta_measures(2)]
    ['instance_f2', 'macro_f2', 'micro_f2']
    """
    check_number(beta, "beta", above=0)
    measure = Measure(
        "f", f"F{beta:g}", FBeta(float(beta)), ROWS, "labels", "high",
        meaning=f"Precision and recall in one number; recall counts {beta:g} times as much.",
        formula=f"{1 + beta**2:g} #both / ({beta**2:g} #true + #predicted)",
        ties=_nothing_text, fractional=True,
    )  # fmt: skip
    return tuple(_averaged(measure, f"f{beta:g}"))


_FIXED = {
    measure.name: measure
    for measure in (
        _SUBSET,
        *_averaged(_PRECISION, "precision"),
        *_averaged(_RECALL, "recall"),
        *_averaged(_JACCARD, "jaccard"),
        *_averaged(_BALANCED, "balanced_accuracy"),
        _AVERAGE_PRECISION,
        replace(
            _AVERAGE_PRECISION,
            name="micro_average_precision",
            title="micro-average precision",
            view=ENTRIES,
        ),
        _LOG_LOSS,
        _BRIER,
    )
}
_TOP = {"precision": precision_at, "recall": recall_at, "ndcg": ndcg_at}

LISTED = (
    *_FIXED,
    *(
        f"{average}_f{beta:g}"
        for beta in _LISTED_BETA
        for average in ("instance", "macro", "micro")
    ),
    *(f"{kind}_at_{k}" for kind in _TOP for k in _LISTED_K),
)
"""The further measures that ``measures="all"`` adds; other numbers are found by name, too."""

OF_PROBABILITIES = (_LOG_LOSS.name, _BRIER.name)


@lru_cache(maxsize=256)
def further_measure(name: str) -> Measure | None:
    """The further measure of this name; None if there is none."""
    if name in _FIXED:
        return _FIXED[name]
    if match := re.fullmatch(r"(precision|recall|ndcg)_at_([1-9]\d*)", name):
        return _TOP[match[1]](int(match[2]))
    if match := re.fullmatch(r"(?:instance|macro|micro)_f(\d+(?:\.\d+)?)", name):
        beta = float(match[1])
        made = f_beta_measures(beta) if beta > 0 and beta != 1 else ()
        return next((measure for measure in made if measure.name == name), None)
    return None
