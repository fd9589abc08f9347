"""Functions of given scores: their best thresholds, labels from thresholds, and F1 curves."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from limo._checks import check_inputs
from limo._kernels.thresholds import count_above
from limo._profiles import Profile, read_profiles
from limo._settings import check_name
from limo._types import Anything, Floats, Values
from limo._views import COLUMNS, ENTRIES, ROWS, THRESHOLDS, Counts, Pattern, ThresholdKind, View
from limo.measures._compute import ByView, ProfileFunction
from limo.measures._conventions import CONVENTIONS
from limo.measures._rows import f1
from limo.thresholds._scores import Scores, check_pair, read_scores
from limo.thresholds._search import Steps, best_thresholds
from limo.thresholds._target import TARGETS, check_target

Labels = Any  # an array of 0 and 1, or a CSR array where the scores are sparse


def best_label_thresholds(
    y_true: Any,
    y_score: Any,
    target: Any = "macro_f1",
    *,
    sample_weight: Any = None,
    missing: Any = None,
) -> Values:
    """Find the threshold of each label that maximises the target on these scores.

    Exact: every threshold between two different scores of a label is considered, as are ``inf``
    (predict none) and ``-inf`` (predict all). A threshold is half way between the scores on its two
    sides; of equally good ones the one with the fewest predictions is taken. With a micro target
    (``"micro_f1"``) the thresholds are chosen *together*, for the whole matrix. O(m l log m).

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like or sparse matrix of shape (n_samples, n_labels)
        Scores; those absent from a sparse matrix are above no threshold.
    target : str, callable or Target, default="macro_f1"
        What to maximise: a name in ``limo.thresholds.TARGETS``, or a function of (tp, fp, fn, tn),
        arrays of counts.

    Returns
    -------
    array of shape (n_labels,)
        Predict label j where its score is higher than the j-th threshold.

    Examples
    --------
    >>> import limo
    >>> y_true = [[1, 0], [1, 0], [0, 0]]
    >>> y_score = [[0.75, 0.5], [0.25, 0.5], [0.125, 0.25]]
    >>> limo.thresholds.best_label_thresholds(y_true, y_score)
    array([0.1875,    inf])
    """
    return _best(COLUMNS, y_true, y_score, target, sample_weight=sample_weight, missing=missing)


def best_instance_thresholds(
    y_true: Any,
    y_score: Any,
    target: Any = "instance_f1",
    *,
    sample_weight: Any = None,
    missing: Any = None,
) -> Values:
    """Find the threshold of each instance that maximises the target on these scores.

    Like :func:`best_label_thresholds`, for rows instead of columns. It needs the true labels; to
    predict thresholds of new instances, use :class:`limo.InstanceThreshold`.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like or sparse matrix of shape (n_samples, n_labels)
        Scores; those absent from a sparse matrix are above no threshold.
    target : str, callable or Target, default="instance_f1"
        What to maximise.
    sample_weight : array-like of shape (n_samples,), optional
        How much each instance counts.
    missing : number or array-like of bool, optional
        The number that stands for a missing label in ``y_true`` (nan or -1), or a mask that is true
        where a label is missing. Such entries take no part.

    Returns
    -------
    array of shape (n_samples,)

    Examples
    --------
    >>> import limo
    >>> y_true, y_score = [[1, 0, 0], [0, 1, 1]], [[0.75, 0.25, 0.5], [0.5, 0.25, 1.0]]
    >>> limo.thresholds.best_instance_thresholds(y_true, y_score)
    array([0.625,  -inf])
    """
    return _best(ROWS, y_true, y_score, target, sample_weight=sample_weight, missing=missing)


def best_global_threshold(
    y_true: Any,
    y_score: Any,
    target: Any = "micro_f1",
    *,
    sample_weight: Any = None,
    missing: Any = None,
) -> float:
    """Find the one threshold for all entries that maximises the target on these scores.

    Exact for every target: ``"macro_f1"`` and ``"instance_f1"`` are means over labels and
    instances. O(m l log(m l)).

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like or sparse matrix of shape (n_samples, n_labels)
        Scores; those absent from a sparse matrix are above no threshold.
    target : str, callable or Target, default="micro_f1"
        What to maximise.
    sample_weight : array-like of shape (n_samples,), optional
        How much each instance counts.
    missing : number or array-like of bool, optional
        The number that stands for a missing label in ``y_true`` (nan or -1), or a mask that is true
        where a label is missing. Such entries take no part.

    Returns
    -------
    float

    Examples
    --------
    >>> import limo
    >>> limo.thresholds.best_global_threshold([[1, 0], [0, 1]], [[0.75, 0.25], [0.5, 1.0]])
    0.625
    """
    return float(
        _best(ENTRIES, y_true, y_score, target, sample_weight=sample_weight, missing=missing)[0]
    )


def apply_thresholds(y_score: Any, threshold: Any, *, by: ThresholdKind = "label") -> Labels:
    """Cut scores into labels: 1 where the score is higher than the threshold.

    Parameters
    ----------
    y_score : array-like or sparse matrix of shape (n_samples, n_labels)
        Scores; those absent from a sparse matrix are above no threshold.
    threshold : float or array-like
        One number for all, or one for each label or instance.
    by : {"label", "instance", "global"}, default="label"
        What each threshold is for.

    Returns
    -------
    array or CSR array of shape (n_samples, n_labels)
        Labels 0 and 1, sparse if the scores are.

    Examples
    --------
    >>> import limo
    >>> limo.thresholds.apply_thresholds([[0.75, 0.25], [0.5, 1.0]], [0.5, 0.5])
    array([[1, 0],
           [0, 1]])
    """
    view = THRESHOLDS[check_name(by, THRESHOLDS, "kind of threshold")]
    return cut_scores(read_scores(y_score), threshold, view)


def cut_scores(scores: Scores, threshold: Any, view: View) -> Labels:
    """Cut checked scores by thresholds for the rows of a view."""
    return scores.cut(check_thresholds(threshold, view, view.n_rows(scores.shape)))


def check_thresholds(threshold: Any, view: View, n_rows: int) -> Values:
    """Check one threshold, or one for each row of a view; make them fit the matrix of scores."""
    try:
        t = np.asarray(threshold, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"threshold must be a number or numbers, one for each {view.row}: got {threshold!r}."
        ) from None
    if t.ndim and t.shape != (n_rows,):
        raise ValueError(
            f"threshold must be one number or one for each {view.row}: expected shape "
            f"({n_rows},), got {t.shape}."
        )
    if np.isnan(t).any():
        raise ValueError("threshold must hold numbers, got nan. inf predicts nothing, -inf all.")
    return t[:, np.newaxis] if t.ndim and view is ROWS else t


def top_k(y_score: Any, k: int) -> Labels:
    """Predict the k labels of each instance that score highest.

    Equal scores are treated alike: labels tied for the k-th place are all left out, so that there
    may be fewer than k labels, but never more.

    Parameters
    ----------
    y_score : array-like or sparse matrix of shape (n_samples, n_labels)
        Scores; labels absent from a sparse matrix are not predicted.
    k : int
        The largest number of labels to predict.

    Returns
    -------
    array or CSR array of shape (n_samples, n_labels)
        Labels 0 and 1, sparse if the scores are.

    Examples
    --------
    >>> import limo
    >>> limo.thresholds.top_k([[0.75, 0.25, 0.5], [1.0, 0.5, 0.5]], 2)
    array([[1, 0, 1],
           [1, 0, 0]])
    """
    return read_scores(y_score).worst_ranks().cut(np.asarray(-check_count(k, "k") - 0.5))


_MOST = 10_000_000


def check_count(n: Any, name: str) -> int:
    """A whole number from 0 up, of which arrays can be made."""
    whole = isinstance(n, int | np.integer) and not isinstance(n, bool)
    if not whole or n < 0:
        raise ValueError(f"{name} must be a whole number from 0 up, got {n!r}.")
    if n > _MOST:
        raise ValueError(f"{name} must be at most {_MOST}, got {n!r}.")
    return int(n)


def _best(view: View, y_true: Any, y_score: Any, target: Any, **given: Any) -> Values:
    wanted = check_target(target)
    return best_thresholds(view, wanted, *check_pair(y_true, y_score, **given)).values


def label_thresholds(profile: Profile) -> Values:
    """The threshold of each label that is best for F1, from the sorted columns."""
    steps = Steps.of(profile.sorted_rows, every=False)
    return steps.take(steps.best(TARGETS["f1"], most=False)).values


# F1 as a function of one global threshold

_POINTS = 101
# Cells of counts held at once: rows of a block times thresholds.
_CELLS = 1 << 16


@dataclass(frozen=True, eq=False)
class F1Curves:
    """The three F1 measures at each of many thresholds.

    Attributes
    ----------
    thresholds : array of shape (n,)
        Ascending; an item is predicted if it scores higher.
    macro_f1, instance_f1, micro_f1 : array of shape (n,)
        The value if the threshold is used for all entries; 0/0 counts 0.
    above : array of shape (n,)
        The share of the relevant entries that score higher, the recall of all entries. Curves over
        it are not squeezed by a few extreme scores.

    Examples
    --------
    >>> import limo
    >>> Y, S = [[1, 0, 1], [0, 1, 0]], [[0.9, 0.1, 0.4], [0.5, 0.3, 0.2]]
    >>> curves = limo.thresholds.f1_curves(Y, S)
    >>> float(curves.micro_f1.max()) <= 1
    True
    """

    thresholds: Values
    macro_f1: Values
    instance_f1: Values
    micro_f1: Values
    above: Values

    @property
    def lines(self) -> dict[str, Values]:
        """The curves by the name of the measure."""
        return {
            "macro_f1": self.macro_f1,
            "instance_f1": self.instance_f1,
            "micro_f1": self.micro_f1,
        }


def f1_curves(
    y_true: Any,
    y_score: Any,
    n_points: int = _POINTS,
    *,
    sample_weight: Any = None,
    missing: Any = None,
) -> F1Curves:
    """Compute the three F1 measures at many global thresholds.

    Half of the thresholds are evenly spaced between the lowest and the highest relevant score, and
    half are quantiles of the relevant scores: the first show the shape, the second the detail.
    Rows and columns are sorted once each, and memory stays at a few blocks.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like of shape (n_samples, n_labels)
        Scores.
    n_points : int, default=101
        About how many thresholds; duplicates are dropped.
    sample_weight : array-like of shape (n_samples,), optional
        How much each instance counts.
    missing : number or array-like of bool, optional
        The number that stands for a missing label in ``y_true`` (nan or -1), or a mask that is true
        where a label is missing. Such entries take no part.

    Returns
    -------
    F1Curves

    Examples
    --------
    >>> import limo
    >>> y_true, y_score = [[1, 0], [0, 1]], [[0.75, 0.25], [0.5, 1.0]]
    >>> curves = limo.thresholds.f1_curves(y_true, y_score, 3)
    >>> curves.thresholds.round(3), curves.micro_f1.round(3)
    (array([0.75, 1.  ]), array([1.   , 0.667]))
    """
    checked = check_inputs(y_true, y_score, sample_weight=sample_weight, missing=missing)
    Y, S = checked.Y, checked.scores
    results: dict[str, dict[str, Values]] = {}
    results["entries"] = {"grid": _grid(np.sort(_relevant(Y, S)), n_points)}
    for view in (ROWS, COLUMNS):
        (name, function), *_ = curve_functions(view, results).items()
        results[view.name] = {name: np.concatenate(read_profiles(view, Y, S, function), axis=-1)}
    return curves_of(Y, results)


def curve_functions(view: View, results: ByView) -> dict[str, ProfileFunction]:
    """Functions of profiles that find the curves: first the thresholds, then sums at each.

    The view of the whole matrix must come first.
    """
    if view is ENTRIES:
        return {"grid": lambda profile: _grid(profile.relevant[::-1], _POINTS)}
    thresholds = results["entries"]["grid"]
    return {"sums": lambda profile: _sums(profile, thresholds)}


def curves_of(Y: Pattern, results: ByView) -> F1Curves:
    """The curves, from what :func:`curve_functions` found in the three views."""
    instance_f1, hits, predicted = results["rows"]["sums"].sum(axis=-1)
    macro_f1 = results["columns"]["sums"][0].sum(axis=-1)
    true = np.array(ENTRIES.ones(Y)[0])
    micro_f1 = f1(Counts(hits, true, predicted, None), CONVENTIONS["standard"])
    weights = {view: view.row_weights(Y) for view in (ROWS, COLUMNS)}
    n_instances, n_labels = (
        view.n_rows(Y.shape) if own is None else own.sum() for view, own in weights.items()
    )
    return F1Curves(
        results["entries"]["grid"],
        macro_f1 / n_labels,
        instance_f1 / n_instances,
        micro_f1,
        above=hits / true if true else np.zeros(len(hits)),
    )


def _relevant(Y: Pattern, S: Floats) -> Floats:
    """The scores of the relevant entries."""
    if S.flags.c_contiguous:
        return S.reshape(-1)[Y.flat]
    return S[np.repeat(np.arange(Y.shape[0]), Y.ones_per_row), Y.indices]


def _grid(relevant: Floats, n_points: int) -> Values:
    """Thresholds just below scores, so that the item with that score is predicted."""
    n = check_count(n_points, "n_points")
    if not relevant.size or n == 0:
        return np.zeros(min(n, 1))
    scores = relevant.astype(np.float64)
    even = np.linspace(scores[0], scores[-1], (n + 1) // 2)
    places = np.linspace(0, scores.size - 1, n // 2).round().astype(np.int64)
    levels: Values = np.unique(np.concatenate([even, scores[places]]))
    with np.errstate(over="ignore"):  # below the lowest float there is only -inf
        return np.nextafter(levels, -np.inf)


def _sums(profile: Profile, thresholds: Values) -> Values:
    """Sums over rows, at each threshold, of F1, of hits and of predictions: (3, thresholds, 1)."""
    rows = profile.sorted_rows
    total = np.zeros((3, thresholds.size, 1))
    n_rows = profile.n_relevant.size
    step = max(1, _CELLS // max(1, thresholds.size))
    for first in range(0, n_rows, step):
        true: Anything = profile.n_relevant[first : first + step, np.newaxis]
        hits, predicted = np.empty((2, len(true), thresholds.size), dtype=np.int64)
        count_above(rows.relevant, rows.irrelevant, first, thresholds, hits, predicted)
        if rows.weights is not None:
            own = np.arange(first, first + len(true))[:, np.newaxis]
            hits, misses = rows.weigh(own, hits, predicted - hits)
            predicted = hits + misses
        parts: list[Anything] = [f1(Counts(hits, true, predicted, None), CONVENTIONS["standard"])]
        parts += [hits, predicted]
        if rows.row_weights is not None:
            parts = [rows.row_weights[first : first + step, np.newaxis] * part for part in parts]
        total[:, :, 0] += [part.sum(axis=0) for part in parts]
    return total
