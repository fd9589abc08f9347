"""Evaluate scores and predictions: all measures, the margins, and intervals."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from limo._checks import Checked, check_truth
from limo._evaluation import Evaluation
from limo._margins import MARGIN_FUNCTIONS, summarise
from limo._system import Later
from limo._types import Booleans, Values
from limo._views import VIEWS, Items, View
from limo.measures._compute import (
    Also,
    ByView,
    Computed,
    ProfileFunction,
    check_conventions,
    compute,
)
from limo.measures._conventions import Conventions
from limo.measures._intervals import (
    Method,
    Sampling,
    check_sampling,
    draw_sample,
)
from limo.measures._measure import Measure, blind_value
from limo.measures._own import Chosen, computable, select

pandas = Later("pandas")
routing = Later("sklearn.utils.metadata_routing")


def evaluate(
    y_true: Any,
    y_score: Any = None,
    y_pred: Any = None,
    *,
    conventions: str | Conventions = "standard",
    label_names: Iterable[str] | None = None,
    sample_weight: Any = None,
    missing: Any = None,
    measures: Chosen = None,
    intervals: float | None = None,
    method: Method = "analytic",
    groups: Any = None,
    n_resamples: int = 1000,
    random_state: int = 0,
) -> Evaluation:
    """Compute the measures and margins of scores, predicted labels or both.

    The margins and seven of the measures need scores; the other four need predicted labels. The
    rows, the columns and the entries of the scores are sorted once each, for all measures.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like or sparse matrix of shape (n_samples, n_labels), optional
        Scores; a higher one means more likely relevant. Those absent from a sparse matrix, such as
        the top 50 of each instance, are lower than all stored ones, and tied. Measures then come
        with ``bounds``: their values for the best and the worst order of the absent ones.
    y_pred : array-like or sparse matrix of shape (n_samples, n_labels), optional
        Predicted labels, 0 or 1.
    conventions : str or Conventions, default="standard"
        How ties and undefined rows count: "standard", "paper", "sklearn" or a record.
    label_names : iterable of str, optional
        Names for tables; by default the columns of a data frame, if one is given.
    sample_weight : array-like of shape (n_samples,), optional
        How much each instance counts; an instance of weight 2 counts as two.
    missing : number or array-like of bool, optional
        The number that stands for a missing label in ``y_true`` (nan or -1), or a mask that is true
        where a label is missing. Such entries take no part. Masked entries of a masked array are
        always missing.
    measures : "all", or a list of names, records or functions, optional
        Which measures to compute; by default those listed in ``limo.MEASURES``. ``"all"`` adds the
        further ones. Names may contain a number: ``"precision_at_5"``, ``"macro_f2"``. For
        functions of your own see :func:`limo.measures.make_measure`.
    intervals : float, optional
        The level of intervals for the true values, such as 0.95; by default there are none.
    method : {"analytic", "bootstrap"}, default="analytic"
        How intervals are found: by a formula where there is one, or for every measure from
        resampled instances.
    groups : array-like of shape (n_samples,), optional
        For intervals: the group of each instance, if instances come in groups that are not
        independent, such as pictures of one patient.
    n_resamples : int, default=1000
        For the bootstrap: how often the instances are drawn.
    random_state : int, default=0
        For the bootstrap: the seed.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import limo
    >>> y_true = [[1, 0, 0], [0, 1, 1], [0, 0, 0]]
    >>> y_score = [[0.9, 0.2, 0.4], [0.5, 0.1, 0.8], [0.3, 0.2, 0.1]]
    >>> evaluation = limo.evaluate(y_true, y_score)
    >>> evaluation["ranking_loss"], evaluation.skipped["ranking_loss"]
    (0.25, 1)
    >>> evaluation["macro_f1"]
    Traceback (most recent call last):
        ...
    KeyError: 'macro_f1 needs y_pred, which was not given.'
    """
    if y_score is None and y_pred is None:
        raise ValueError(
            "evaluate needs y_score, y_pred or both: got neither. "
            "Scores give the ranking measures, predicted labels the others."
        )
    truth = check_truth(y_true, label_names, missing=missing, sample_weight=sample_weight)
    checked = truth.join(y_score, y_pred, sparse_scores=True)
    sampling = None
    if intervals is not None and intervals is not False:
        if checked.stored is not None:
            raise ValueError("Intervals need dense scores: leave out intervals=, or y_score.")
        how = (intervals, method, groups, n_resamples, random_state)
        sampling = check_sampling(*how, n_instances=checked.Y.shape[0], rows=truth.frame)
    chosen = computable(select(measures), checked, measures)
    return evaluate_checked(
        checked, check_conventions(conventions), measures=chosen, sampling=sampling
    )[0]


def evaluate_checked(
    checked: Checked,
    conventions: Conventions,
    also: Also | None = None,
    *,
    measures: Sequence[Measure] | None = None,
    sampling: Sampling | None = None,
) -> tuple[Evaluation, ByView]:
    """Evaluate checked input, and apply other functions to the same sorted scores.

    ``also`` is explained at :func:`limo.measures._compute.compute`.
    """

    def functions(view: View, results: ByView) -> dict[str, ProfileFunction]:
        return {**MARGIN_FUNCTIONS, **(also(view, results) if also else {})}

    if measures is None:
        measures = computable(select(), checked)
    computed = compute(measures, checked, conventions, functions)
    evaluation = evaluation_of(
        measures,
        computed,
        conventions,
        checked.Y.shape,
        checked.label_names,
        (checked.n_missing, checked.n_absent),
    )
    if sampling is not None:
        sample = draw_sample(measures, checked, conventions, computed.results, sampling)
        evaluation = replace(evaluation, sample=sample)
    return replace(evaluation, weighted=checked.Y.row_weights is not None), computed.others


def evaluation_of(
    measures: Sequence[Measure],
    computed: Computed,
    conventions: Conventions,
    shape: tuple[int, int],
    label_names: tuple[str, ...] | None,
    n_gaps: tuple[int, int],
) -> Evaluation:
    """The record of what was computed, without intervals and weights.

    ``n_gaps`` counts the missing labels, and the relevant labels without a score.
    """
    results, items = computed.results, computed.items
    own = {m.name: items[m.view.name] for m in measures}

    def reasons(measure: Measure) -> dict[str, int]:
        result = results[measure.name]
        known = result.undefined, result.weights, own[measure.name]
        return {why: n for why, n in undefined_reasons(measure.view, *known).items() if n}

    return Evaluation(
        results,
        {
            name: summarise(VIEWS[name], by_function, items[name].weights)
            for name, by_function in computed.others.items()
        },
        conventions,
        *shape,
        label_names,
        {m.name: reasons(m) for m in measures},
        {m.name: m for m in measures},
        {m.name: blind_value(m, results[m.name], own[m.name], conventions) for m in measures},
        n_missing=n_gaps[0],
        bounds=computed.bounds if n_gaps[1] else {},
        n_absent=n_gaps[1],
    )


def undefined_reasons(
    view: View, undefined: Booleans, weights: Values | None, items: Items
) -> dict[str, int]:
    """How many rows are undefined, by reason."""
    known = undefined & (True if weights is None else weights > 0)
    return {
        view.empty_reason: int((known & (items.ones == 0)).sum()),
        view.full_reason: int((known & (items.ones == items.n_items)).sum()),
        "no known label, or weight 0": int((undefined & ~known).sum()),
    }
