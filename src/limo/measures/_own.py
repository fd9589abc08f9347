"""Which measures are computed, and measures made from functions of your own."""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from limo._checks import Checked
from limo._settings import check_name
from limo._types import Values, check_kind
from limo._views import COLUMNS, ENTRIES, Counts, View
from limo.measures._conventions import Conventions
from limo.measures._further import LISTED, OF_PROBABILITIES
from limo.measures._measure import Measure
from limo.measures._table import MEASURES

Needs = Literal["scores", "labels"]
Better = Literal["high", "low"]
Chosen = str | Iterable[str | Measure | Callable[..., Any]] | None
"""How measures are chosen: by default None, ``"all"``, or names, records and functions."""

_LABELS = ("y_pred", "pred", "predictions", "predicted", "labels", "P")
_SCORES = ("y_score", "y_prob", "y_proba", "score", "scores", "probabilities", "S")
_LOW = ("loss", "error", "losses", "errors", "distance")
_COUNTS = ["tp", "fp", "fn", "tn"]


def make_measure(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    needs: Needs | None = None,
    better: Better | None = None,
    view: View | None = None,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Measure:
    """Make a measure from a function of your own.

    The function is one of

    * ``f(y_true, y_score)``: 0/1 labels and scores, both arrays of shape (n_samples, n_labels);
    * ``f(y_true, y_pred)``: 0/1 labels and predicted labels, likewise;
    * ``f(tp, fp, fn, tn)``: arrays of confusion counts, one item per row of the ``view``. It gives
      an array, nan where it is undefined; the measure is its mean.

    The first two give one number. What the function needs is read from the name of its second
    argument, and whether low values are better from its own name (``..._loss`` or ``..._error``),
    as in scikit-learn; pass ``needs`` and ``better`` if the names do not say so.

    Parameters
    ----------
    function : callable
        The measure.
    name : str, optional
        By default the name of the function.
    needs : {"scores", "labels"}, optional
        What the second argument is.
    better : {"high", "low"}, optional
        Which values are better.
    view : View, optional
        For a function of counts: ``ROWS`` (instances), ``COLUMNS`` (labels; the default) or
        ``ENTRIES`` (the whole matrix).
    bounds : tuple of float, optional
        Lowest and highest possible value, if there are any.

    Returns
    -------
    Measure
        For ``measures=`` of ``limo.evaluate``, ``limo.make_scorer`` or ``limo.measures.register``.

    Examples
    --------
    >>> import limo
    >>> from sklearn.metrics import coverage_error
    >>> y_true, y_score = [[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.4], [0.5, 0.1, 0.8]]
    >>> dict(limo.evaluate(y_true, y_score, measures=["coverage", coverage_error]))
    {'coverage': 1.0, 'coverage_error': 2.0}
    >>> def specificity(tp, fp, fn, tn):
    ...     return tn / (tn + fp)
    >>> mine = limo.measures.make_measure(specificity)
    >>> limo.evaluate(y_true, y_pred=[[1, 0, 0], [1, 1, 1]], measures=[mine])["specificity"]
    0.666...
    """
    if not callable(function):
        raise TypeError(f"make_measure takes a function, got {function!r}.")
    check_kind(name, str | None, "name must be a text")
    if better is not None:
        check_name(better, ("high", "low"), "direction")
    if needs is not None:
        check_name(needs, ("scores", "labels"), "input")
    title = name or str(getattr(function, "__name__", type(function).__name__))
    if title == "<lambda>":
        raise ValueError("A lambda has no name: give one with make_measure(..., name='...').")
    arguments = _arguments(function)
    better = better or ("low" if _is_loss(title) else "high")
    doc = str(getattr(function, "__doc__", None) or title).strip().partition("\n")[0]
    if arguments[:4] == _COUNTS:
        return Measure(
            title, title, _OfCounts(function), view or COLUMNS, "labels", better, bounds,
            meaning=doc, formula=doc,
        )  # fmt: skip
    kind = needs or _needs(arguments, title)
    return Measure(
        title, title, function, ENTRIES, kind, better, bounds, meaning=doc, formula=doc, whole=True
    )


@dataclass(frozen=True)
class _OfCounts:
    """A function of (tp, fp, fn, tn) as one of counts."""

    function: Callable[..., Any]

    def __call__(self, counts: Counts, conventions: Conventions) -> Values:
        tp, fp, fn = counts.both, counts.predicted - counts.both, counts.true - counts.both
        tn = counts.n_items - counts.true - fp
        values = np.asarray(self.function(tp, fp, fn, tn), dtype=np.float64)
        if values.shape != np.shape(tp):
            raise ValueError(
                "A measure of confusion counts must give one value for each row: expected shape "
                f"{np.shape(tp)}, got {values.shape}. Write it for arrays tp, fp, fn, tn."
            )
        return values


def _arguments(function: Callable[..., Any]) -> list[str]:
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # some compiled functions
        return []


def _needs(arguments: list[str], name: str) -> Needs:
    second = arguments[1] if len(arguments) > 1 else ""
    if second in _LABELS:
        return "labels"
    if second in _SCORES:
        return "scores"
    raise ValueError(
        f"Cannot tell what {name!r} is a function of. Call its second argument y_score or y_pred, "
        "or its arguments tp, fp, fn, tn; or say needs='scores' or needs='labels' in "
        "limo.measures.make_measure."
    )


def _is_loss(name: str) -> bool:
    """Whether a name says that low values are better."""
    return name.lower().split("_")[-1] in _LOW


def check_no_loss(name: str) -> str:
    """Return the name of a function that thresholds maximise, unless it is called a loss."""
    if _is_loss(name):
        raise ValueError(
            f"Thresholds maximise their target, and {name!r} is called a loss. Pass "
            f"limo.measures.make_measure({name}), or rename it if higher is better."
        )
    return name


def check_counts(measure: Measure) -> Measure:
    """Return a measure if thresholds can aim at it: if it is a function of confusion counts."""
    if measure.needs != "labels" or measure.whole:
        raise ValueError(
            f"{measure.name!r} cannot be the target of thresholds: they need a measure of "
            "confusion counts, such as limo.measures.make_measure of a function of tp, fp, fn, tn."
        )
    return measure


def as_measure(measure: Any) -> Measure:
    """A measure by its name, its record, or its function."""
    if isinstance(measure, Measure):
        return measure
    if callable(measure):
        return make_measure(measure)
    return MEASURES[check_name(measure, MEASURES, "measure")]


def select(chosen: Chosen = None) -> list[Measure]:
    """Look up measures: by default those listed in ``limo.MEASURES``.

    Parameters
    ----------
    chosen : "all", or a list of names, records or functions, optional
        ``"all"`` adds the further measures. Functions are explained at :func:`make_measure`.

    Returns
    -------
    list of Measure

    Examples
    --------
    >>> from limo.measures import select
    >>> len(select())
    11
    >>> [measure.title for measure in select(["macro_f2", "precision_at_7"])]
    ['macro-F2', 'precision@7']
    """
    if chosen is None:
        return list(MEASURES.values())
    if not callable(chosen):
        check_kind(chosen, Iterable, "measures must be a list of names, records or functions")
    if isinstance(chosen, str):
        names = [*MEASURES, *LISTED] if chosen == "all" else [chosen]
        return [as_measure(name) for name in names]
    if isinstance(chosen, Measure) or callable(chosen):
        return [as_measure(chosen)]
    measures = [as_measure(one) for one in chosen]
    if not measures:
        raise ValueError("measures is empty: name at least one, or leave it out for all eleven.")
    kept: dict[str, Measure] = {}
    for one in measures:
        if kept.setdefault(one.name, one) != one:
            raise ValueError(f"Two measures are called {one.name!r}. Give them different names.")
    return list(kept.values())  # macro_f1 and f1_macro are the same


def computable(
    measures: Iterable[Measure], checked: Checked, chosen: Chosen = None
) -> list[Measure]:
    """The measures that can be computed from the given scores and predicted labels.

    With ``measures="all"``, measures of probabilities are left out if the scores are none.
    """
    given = {"scores": checked.any_scores, "labels": checked.P}
    suited = [m for m in measures if given[m.needs] is not None]
    if chosen == "all" and checked.any_scores is not None:
        S = checked.S
        are_probabilities = S is not None and S.min() >= 0 and S.max() <= 1
        suited = [m for m in suited if are_probabilities or m.name not in OF_PROBABILITIES]
    if not suited:
        missing = "y_score" if checked.any_scores is None else "y_pred"
        raise ValueError(f"The measures asked for need {missing}, which was not given.")
    if checked.stored is not None:
        _check_sparse_measures(suited)
    return suited


def _check_sparse_measures(measures: Iterable[Measure]) -> None:
    for measure in measures:
        if measure.needs == "scores" and (measure.whole or measure.name in OF_PROBABILITIES):
            raise ValueError(
                f"{measure.name!r} needs the score of every label, and y_score is sparse: absent "
                "scores have an order, below all others, but no number. Leave it out."
            )
