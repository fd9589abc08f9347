"""Measures of the k labels with the highest scores that ask which labels these are.

They are usual where labels are very many: propensity-scored precision and nDCG (Jain et al. 2016),
which reward rare labels, macro averages of the k predicted labels, and how many labels are ever
found. Precision, recall and nDCG at k need no names of labels: ``limo.measures.precision_at``.
"""

from typing import Any

import numpy as np

from limo._checks import Checked, check_inputs, check_labels, check_weights
from limo._settings import check_number
from limo._types import Anything, Integers, Values
from limo._views import Counts, Pattern
from limo.measures._conventions import CONVENTIONS
from limo.measures._further import precision, recall
from limo.measures._rows import divide, f1

_BLOCK_ITEMS = 1 << 22


def label_propensities(y_train: Any, a: float = 0.55, b: float = 1.5) -> Values:
    """Estimate how probable it is that a relevant label was noticed, from its frequency.

    1 / (1 + c (n_j + b)^-a) with c = (log n - 1) (b + 1)^a, for a label that n_j of the n training
    instances have (Jain, Prabhu and Varma 2016).

    Parameters
    ----------
    y_train : array-like or sparse matrix of shape (n_samples, n_labels)
        Labels of the training data.
    a, b : float, default=0.55 and 1.5
        Constants of the data: 0.5 and 0.4 for Wikipedia, 0.6 and 2.6 for Amazon.

    Returns
    -------
    array of shape (n_labels,)

    Examples
    --------
    >>> import limo
    >>> limo.measures.label_propensities([[1, 0], [1, 0], [1, 1]]).round(3)
    array([0.933, 0.91 ])
    """
    check_number(a, "a")
    check_number(b, "b", above=-1.0)
    Y = check_labels(y_train, "y_train")
    c = (np.log(Y.shape[0]) - 1) * (b + 1) ** a
    propensities: Values = 1 / (1 + c * (Y.ones_per_column + b) ** -a)
    return propensities


def top_k_measures(
    y_true: Any, y_score: Any, k: int, *, propensities: Any = None, sample_weight: Any = None
) -> dict[str, float]:
    """Compute measures of the k labels with the highest scores of each instance.

    Of equal scores the first column comes first. Labels absent from sparse scores are never among
    the k.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like or sparse matrix of shape (n_samples, n_labels)
        Scores. A sparse matrix is never made dense.
    k : int
        How many labels are predicted for each instance.
    propensities : array-like of shape (n_labels,), optional
        From :func:`label_propensities` on the training data; needed for the first two measures.
    sample_weight : array-like of shape (n_samples,), optional
        How much each instance counts.

    Returns
    -------
    dict of str to float
        ``psp`` and ``psndcg``, propensity-scored precision and nDCG, divided by their highest
        possible values; ``macro_precision``, ``macro_recall`` and ``macro_f1``, means over labels,
        0/0 being 0; ``coverage``, the share of labels found at least once.

    Examples
    --------
    >>> import limo
    >>> Y, S = [[1, 0, 1], [0, 1, 0]], [[0.9, 0.5, 0.1], [0.2, 0.3, 0.8]]
    >>> propensities = limo.measures.label_propensities(Y)
    >>> found = limo.measures.top_k_measures(Y, S, 2, propensities=propensities)
    >>> {name: round(value, 3) for name, value in found.items()}  # doctest: +NORMALIZE_WHITESPACE
    {'psp': 0.667, 'psndcg': 0.622, 'macro_precision': 0.5, 'macro_recall': 0.667,
     'macro_f1': 0.556, 'coverage': 0.667}
    """
    check_number(k, "k", least=1, integer=True)
    checked = check_inputs(y_true, y_score, sparse_scores=True)
    rows, labels, places = _highest(checked, k)
    Y = checked.Y
    given = check_weights(sample_weight, Y.shape[0])
    weights = np.ones(Y.shape[0]) if given is None else given
    hit = np.isin(rows * Y.shape[1] + labels, Y.flat, assume_unique=True)
    results = {}
    if propensities is not None:
        gains = 1 / _check_propensities(propensities, Y.shape[1])
        results = _propensity_scored(Y, gains, weights, (rows, labels, places), hit, k)
    both = np.bincount(labels[hit], weights[rows[hit]], minlength=Y.shape[1])
    predicted = np.bincount(labels, weights[rows], minlength=Y.shape[1])
    counts = Counts(both, Y.csr.T @ weights, predicted, weights.sum())
    standard = CONVENTIONS["standard"]
    return results | {
        "macro_precision": float(precision(counts, standard).mean()),
        "macro_recall": float(recall(counts, standard).mean()),
        "macro_f1": float(f1(counts, standard).mean()),
        "coverage": float((both > 0).mean()),
    }


_Picks = tuple[Anything, Anything, Anything]
"""Rows, labels and places from 0 of chosen labels."""


def _propensity_scored(
    Y: Pattern, gains: Values, weights: Values, picks: _Picks, hit: Anything, k: int
) -> dict[str, float]:
    """Gains of the chosen labels, over those of the best choice."""
    own = np.repeat(np.arange(Y.shape[0]), Y.ones_per_row)
    best = _first(own, Y.indices, gains[Y.indices], Y.indptr, k)
    ideal = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, k + 2)))])
    norm = ideal[np.minimum(Y.ones_per_row, k)]

    def totals(rows: Anything, labels: Anything, places: Anything) -> tuple[float, float]:
        gain = weights[rows] * gains[labels]
        return float(gain.sum()), float((gain / np.log2(places + 2) / norm[rows]).sum())

    reached, possible = totals(*(part[hit] for part in picks)), totals(*best)
    psp, psndcg = divide(np.array(reached), np.array(possible))
    return {"psp": float(psp), "psndcg": float(psndcg)}


def _highest(checked: Checked, k: int) -> _Picks:
    """The labels with the k highest scores of each row, the first column first among ties."""
    if checked.stored is not None:
        matrix = checked.stored.matrix
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        return _first(rows, matrix.indices.astype(np.int64), matrix.data, matrix.indptr, k)
    S = checked.scores
    step = max(1, _BLOCK_ITEMS // S.shape[1])
    parts = [
        np.argsort(-S[start : start + step], axis=1, kind="stable")[:, :k]
        for start in range(0, S.shape[0], step)
    ]
    labels = np.concatenate(parts)
    n_rows, width = labels.shape
    rows = np.repeat(np.arange(n_rows), width)
    return rows, labels.reshape(-1), np.tile(np.arange(width), n_rows)


def _first(rows: Integers, labels: Integers, scores: Values, indptr: Integers, k: int) -> _Picks:
    """The k entries with the highest scores of each row, in the order of the scores."""
    order = np.lexsort((-scores, rows))
    places = np.arange(rows.size) - np.asarray(indptr, dtype=np.int64)[rows]
    kept = places < k
    return rows[kept], labels[order[kept]], places[kept]


def _check_propensities(propensities: Any, n_labels: int) -> Values:
    numbers = np.asarray(propensities, dtype=np.float64)
    if numbers.shape != (n_labels,):
        raise ValueError(
            f"propensities must hold one number for each of the {n_labels} labels, got shape "
            f"{numbers.shape}. limo.measures.label_propensities computes them from training labels."
        )
    if not ((numbers > 0) & np.isfinite(numbers)).all():
        raise ValueError("propensities must be finite numbers above 0.")
    return numbers
