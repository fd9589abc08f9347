"""Explain measures through margins: what pairs in order guarantee, and a few sentences."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from limo._evaluate import evaluate
from limo._evaluation import Evaluation
from limo._guarantees import BOUNDS, from_any_order, from_margins, has_table
from limo._margins import MarginSummary, Orders
from limo._settings import check_name
from limo._system import Later, workers
from limo._text import Prose, Rows, align, as_html, counted, plain
from limo._types import Values, check_kind
from limo._views import COLUMNS, ENTRIES, ROWS, View
from limo.measures._conventions import Conventions
from limo.measures._measure import Measure, Optimised, mean_of_defined
from limo.measures._table import MEASURES, PAPER_MEASURES

pandas = Later("pandas")

# Guarantees

# Threads pay for themselves from this size on.
_MANY_ENTRIES = 1 << 18


@dataclass(frozen=True, eq=False)
class Guarantee:
    """The lowest and the highest value that a measure can have, and its actual value.

    Measures of labels (F1) are taken with the best thresholds of their kind for these scores. Ties
    count as errors in everything here.

    Attributes
    ----------
    measure : Measure
        The measure.
    value : float
        Its value for these scores.
    from_pairs : tuple of float
        The lowest and the highest value of any scores with as many misordered pairs in every row.
    from_margins : tuple of float
        The same if only the rows with a positive margin are known.
    possible : tuple of float
        The lowest and the highest value of any scores on these labels.
    rows : array of shape (2, n_rows)
        The lowest and the highest value of each row, from its misordered pairs.
    exact_share : float
        Share of rows whose bounds are attained. 1 for all measures but two: rows with very many
        misordered pairs get bounds of average precision that hold, but may not be attained, and so
        do labels and matrices of F1 if instances have weights that are not whole numbers.

    Examples
    --------
    >>> import limo
    >>> Y, S = [[1, 0, 1], [0, 1, 0]], [[0.9, 0.1, 0.4], [0.5, 0.3, 0.2]]
    >>> one = limo.guarantees(Y, S)["one_error"]
    >>> one.value, one.from_pairs
    (0.5, (0.5, 0.5))
    """

    measure: Measure
    value: float
    from_pairs: tuple[float, float]
    from_margins: tuple[float, float]
    possible: tuple[float, float]
    rows: Values
    exact_share: float

    @property
    def fixed_share(self) -> float:
        """How far the misordered pairs fix the measure: 1 for one value, 0 for any.

        1 minus the width of ``from_pairs`` divided by the width of ``possible``.
        """
        width = self.possible[1] - self.possible[0]
        if width == 0 or math.isnan(width):
            return math.nan
        return 1 - (self.from_pairs[1] - self.from_pairs[0]) / width

    def to_dict(self) -> dict[str, Any]:
        """The guarantee as plain numbers."""
        fields = {
            "title": self.measure.title,
            "view": self.measure.view.name,
            "best_thresholds": self.measure.needs == "labels",
            "value": self.value,
            "from_pairs": self.from_pairs,
            "from_margins": self.from_margins,
            "possible": self.possible,
            "fixed_share": self.fixed_share,
            "exact_share": self.exact_share,
        }
        return dict(plain(fields))


@dataclass(frozen=True, eq=False, repr=False)
class Guarantees(Mapping[str, Guarantee]):
    """A mapping from the name of a measure to its :class:`Guarantee`.

    Examples
    --------
    >>> import limo
    >>> Y, S = [[1, 0, 1], [0, 1, 0]], [[0.9, 0.1, 0.4], [0.5, 0.3, 0.2]]
    >>> list(limo.guarantees(Y, S))[:3]
    ['ranking_loss', 'one_error', 'coverage']
    """

    found: Mapping[str, Guarantee]

    def __getitem__(self, name: str) -> Guarantee:
        return self.found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def to_dict(self) -> dict[str, Any]:
        """All guarantees as plain numbers."""
        return {name: one.to_dict() for name, one in self.found.items()}

    def to_frame(self) -> Any:
        """Make a data frame, one line for each measure."""
        return pandas.DataFrame.from_dict(self.to_dict(), orient="index").rename_axis("measure")

    def table_rows(self) -> Rows:
        """Rows of the table, starting with its head."""
        head: tuple[str, ...] = ("measure", "value", "from pairs", "from margins", "fixed")
        return [head] + [
            (
                one.measure.title + (" *" if one.measure.needs == "labels" else ""),
                f"{one.value:.4f}",
                _interval(one.from_pairs),
                _interval(one.from_margins),
                f"{one.fixed_share:.0%}",
            )
            for one in self.found.values()
        ]

    def __str__(self) -> str:
        return f"{align(self.table_rows())}\n* with the best thresholds for these scores"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        note = "* with the best thresholds for these scores"
        return f"{as_html(self.table_rows())}<p>{escape(note)}</p>"


def _interval(ends: tuple[float, float]) -> str:
    return f"{ends[0]:.4f} to {ends[1]:.4f}"


def guarantees(y_true: Any, y_score: Any = None) -> Guarantees:
    """What misordered pairs, and the signs of margins, guarantee about every other measure.

    Ranking loss and the AUCs count misordered pairs. Given these counts for every row, all other
    ranking measures lie in intervals, and so does F1 with the best thresholds. The intervals are
    sharp: some order of the items reaches each end. :doc:`/guarantees` has the proofs.

    Rows count as in the measures: missing labels take no part, and instances may have weights.

    Parameters
    ----------
    y_true : Evaluation, or array-like or sparse matrix of shape (n_samples, n_labels)
        The result of :func:`evaluate` with scores, which may have been called with ``missing`` and
        ``sample_weight``, or the true labels.
    y_score : array-like of shape (n_samples, n_labels), optional
        Scores, if ``y_true`` are labels.

    Returns
    -------
    Guarantees

    Examples
    --------
    >>> import limo
    >>> y_true = [[1, 1, 0, 0, 0], [0, 1, 0, 0, 1]]
    >>> y_score = [[0.9, 0.3, 0.5, 0.2, 0.1], [0.1, 0.8, 0.2, 0.3, 0.7]]
    >>> found = limo.guarantees(y_true, y_score)
    >>> found["average_precision"].from_pairs  # one pair of the first row is misordered
    (0.916..., 0.916...)
    >>> found["coverage"].from_margins
    (1.5, 2.5)
    """
    evaluation = y_true if isinstance(y_true, Evaluation) else evaluate(y_true, y_score)
    if not evaluation.margins:
        raise ValueError(
            "guarantees need margins, and margins need scores: call evaluate with y_score."
        )
    if not _has_orders(evaluation):
        raise ValueError(
            "guarantees need the order of every instance, which was not kept: use limo.evaluate, "
            "or limo.Evaluator(per_instance=True)."
        )
    measures = [m for m in PAPER_MEASURES.values() if m.family in BOUNDS]
    with workers(enough=evaluation.n_instances * evaluation.n_labels > _MANY_ENTRIES) as run:
        bounds = run(lambda measure: _guarantee(measure, evaluation), measures)
        return Guarantees({one.measure.name: one for one in bounds})


def _has_orders(evaluation: Evaluation) -> bool:
    kept: int = evaluation.margins[ROWS.name].orders.relevant.size
    return kept == evaluation.n_instances


def _guarantee(measure: Measure, evaluation: Evaluation) -> Guarantee:
    summary, family = evaluation.margins[measure.view.name], measure.family
    orders, weights = summary.orders, summary.weights
    p, n, b = _counts(evaluation, measure.view)

    def counted(rows: Values) -> Values:
        return _under(evaluation.conventions, measure, orders, rows, weights)

    rows = counted(BOUNDS[family](p, n, b))
    margins = counted(from_margins(family, p, n, summary.margins > 0))
    possible = counted(from_any_order(family, p, n))
    value = counted(_values(family, orders)[np.newaxis])[0]
    exact = np.full(p.shape, family != "f1" or p.dtype.kind == "i")
    if family == "average_precision":
        exact = has_table(p, n, b, size=float((p + n).sum()))
    return Guarantee(
        measure,
        value=mean_of_defined(value, weights),
        from_pairs=_ends(rows, weights),
        from_margins=_ends(margins, weights),
        possible=_ends(possible, weights),
        rows=rows,
        exact_share=float(exact.mean()),
    )


def _counts(evaluation: Evaluation, view: View) -> tuple[Any, Any, Any]:
    """Relevant and irrelevant items and misordered pairs of rows; floats if items have weights.

    An instance of weight 2 counts as two, so items of whole weights are whole items.
    """
    orders = evaluation.margins[view.name].orders
    counts = orders.relevant, orders.irrelevant, orders.misordered
    weights = evaluation.margins[ROWS.name].weights
    if view is ROWS or weights is None or (weights == np.rint(weights)).all():
        return counts
    p, n, b = (count.astype(np.float64) for count in counts)
    return p, n, b


def _ends(lines: Values, weights: Values | None) -> tuple[float, float]:
    return mean_of_defined(lines[0], weights), mean_of_defined(lines[1], weights)


def _values(family: str, orders: Orders) -> Values:
    """The value of each row, under the standard conventions, ties broken against the model."""
    if family in ("ranking_loss", "auc"):
        exact: Values = BOUNDS[family](orders.relevant, orders.irrelevant, orders.misordered)[0]
        return exact
    if family == "one_error":
        return np.where(orders.relevant > 0, orders.ahead_of_first > 0, np.nan)
    if family == "coverage":
        return orders.relevant - 1 + orders.ahead_of_last
    return orders.average_precision if family == "average_precision" else orders.best_f1


def _under(
    c: Conventions, measure: Measure, orders: Orders, rows: Values, weights: Values | None
) -> Values:
    """Values of rows under the conventions for rows without relevant or irrelevant items.

    Rows that count nothing, such as those without a known label, stay undefined.
    """
    if measure.family == "coverage":
        rows = rows + (c.coverage_offset + 1)
    if measure.family == "f1":
        rows = np.where(orders.relevant == 0, c.f1_of_nothing, rows)
    if measure.family == "average_precision" and not c.full_rows_in_average_precision:
        rows = np.where(orders.irrelevant == 0, np.nan, rows)
    fill = c.undefined.get(measure.name)
    rows = rows if fill is None else np.where(np.isnan(rows), fill, rows)
    return rows if weights is None else np.where(weights > 0, rows, np.nan)


# Sentences

_NEARLY_ALL = 0.9
_MANY = 0.95
_MOST = 0.8
_NOTABLE = 0.02
_MANY_TIES = 0.01


def explain(evaluation: Evaluation, measure: str | None = None) -> str:
    """Explain which measures a predictor should be good or bad at, and why.

    The explanation uses the share of instances with a positive label-wise margin, the share of
    labels with a positive instance-wise margin, the sign of the entry-wise margin, and the shares
    of pairs in order. The paper's Table 2, with our columns for the entry-wise and the absolute
    margin, says which measures depend on which margins. If pairs of instances are misordered, it
    also says how far their number fixes the other measures (:func:`guarantees`).

    Parameters
    ----------
    evaluation : Evaluation
        The result of :func:`evaluate` with scores.
    measure : str, optional
        One of its measures: only what concerns it is explained.

    Returns
    -------
    str
        A few sentences, one line for each view and for each remark.

    Examples
    --------
    >>> import limo
    >>> y_true, y_score = [[1, 0], [0, 1]], [[3.0, 2.0], [0.0, 1.0]]
    >>> print(limo.explain(limo.evaluate(y_true, y_score), "micro_auc"))
    The value of micro-AUC is 0.7500, skill 50% (0% is blind guessing).
    Entry-wise: the margin is -1, 75.0% of pairs are in order. Expect micro-AUC to be poor.
    >>> print(limo.explain(limo.evaluate(y_true, y_score)))
    Label-wise: the margin is positive on 100.0% of 2 instances, 100.0% of pairs are in order.
    Expect ranking loss, one-error, coverage, average precision, instance-AUC, and with a good
    threshold per instance instance-F1, micro-F1, at their best.
    Instance-wise: the margin is positive on 50.0% of 2 labels, 50.0% of pairs are in order.
    Expect macro-AUC, and with a good threshold per label macro-F1, to be poor.
    Entry-wise: the margin is -1, 75.0% of pairs are in order. Expect micro-AUC to be poor.
    Rows are ordered better than columns: this predictor suits measures of instances more than
    measures of labels.
    """
    check_kind(evaluation, Evaluation, "explain takes what limo.evaluate returns")
    if not evaluation.margins:
        raise ValueError(
            "explain needs margins, and margins need scores: call evaluate with y_score."
        )
    views = [evaluation.margins[view.name] for view in (ROWS, COLUMNS, ENTRIES)]
    if measure is not None:
        check_name(measure, evaluation, "measure")
        return _explain_one(evaluation, measure)
    sentences = [_view_sentence(summary) for summary in views if summary.pairs]
    if not sentences:
        return Prose("There are no pairs to compare: all entries are relevant, or none is.")
    promised = promise(guarantees(evaluation).to_dict()) if _has_orders(evaluation) else []
    return Prose("\n".join([*sentences, *promised, *_leaning(*views[:2]), *_cautions(evaluation)]))


def _explain_one(evaluation: Evaluation, name: str) -> str:
    """The value of one measure, the pairs that it depends on, and what these leave open."""
    measure, summary = (
        evaluation.measures[name],
        evaluation.margins[evaluation.measures[name].view.name],
    )
    skill = evaluation.skill[name]
    known = "" if math.isnan(skill) else f", skill {skill:.0%} (0% is blind guessing)"
    lines = [f"The value of {measure.title} is {evaluation[name]:.4f}{known}."]
    lines += [_view_sentence(summary)] if summary.pairs else []
    own = guarantees(evaluation).get(name) if _has_orders(evaluation) else None
    lines += promise({name: own.to_dict()} if own is not None else {})
    return Prose("\n".join([*lines, *_cautions(evaluation)]))


def promise(guarantees: Mapping[str, Any]) -> list[str]:
    """Sentences on how far misordered pairs of instances fix measures of instances.

    ``guarantees`` are plain data. There is no sentence if all of these measures are fixed.
    """
    open_ones = {
        name: one
        for name, one in guarantees.items()
        if one["view"] == ROWS.name
        and not one["best_thresholds"]
        and one["fixed_share"] not in (None, 1)
    }
    if not open_ones:
        return []
    parts = [
        f"{one['title']} between {one['from_pairs'][0]:.3g} and {one['from_pairs'][1]:.3g} "
        f"(it is {one['value']:.3g})"
        for one in open_ones.values()
    ]
    least = min(open_ones.values(), key=lambda one: float(one["fixed_share"]))
    which = f"They fix {least['title']} least: models" if len(open_ones) > 1 else "Models"
    return [
        f"The pairs in order of each instance guarantee: {', '.join(parts)}. {which} with the same "
        "pairs in order can differ there."
    ]


def _view_sentence(summary: MarginSummary) -> str:
    """The margins of a view, and what they mean for its measures."""
    if summary.view is ENTRIES:
        margin = f"the margin is {summary.margins[0]:.3g}"
    else:
        rows = counted(summary.defined.size, summary.view.row)
        margin = f"the margin is positive on {summary.positive_share:.1%} of {rows}"
    return (
        f"{summary.view.margin.capitalize()}: {margin}, {summary.ordered_share:.1%} of pairs are "
        f"in order. Expect {_measures(summary.view)} {_expectation(summary)}."
    )


def _expectation(summary: MarginSummary) -> str:
    if summary.positive_share == 1:
        return "at their best" if summary.view is not ENTRIES else "at its best"
    if summary.positive_share >= _NEARLY_ALL:
        return "close to their best"
    if summary.ordered_share >= _MANY:
        return "to be good: few margins are positive, yet few pairs are out of order"
    return "to be fair" if summary.ordered_share >= _MOST else "to be poor"


def _measures(view: View) -> str:
    """The measures that Table 2 ticks for this kind of effectiveness and for no weaker one."""
    scores, labels = (_titles(view, needs) for needs in ("scores", "labels"))
    if not labels:
        return scores
    return f"{scores}, and with a good threshold per {view.row} {labels},"


def _titles(view: View, needs: str) -> str:
    others = {"label-wise": "instance-wise", "instance-wise": "label-wise", "entry-wise": "double"}
    return ", ".join(
        m.title
        for m in MEASURES.values()
        if m.needs == needs
        and m.optimised_by[view.margin] is Optimised.YES
        and m.optimised_by[others[view.margin]] is not Optimised.YES
    )


def _leaning(rows: MarginSummary, columns: MarginSummary) -> list[str]:
    suits = suited_measures(rows.ordered_share, columns.ordered_share)
    if not suits:
        return []
    in_rows = rows.ordered_share > columns.ordered_share
    better, worse = ("Rows", "columns") if in_rows else ("Columns", "rows")
    return [f"{better} are ordered better than {worse}: this predictor {suits}."]


def suited_measures(rows_ordered: float, columns_ordered: float) -> str:
    """Which measures a predictor suits more; empty if rows and columns are ordered equally well.

    Shares of positive margins cannot be compared, as a column has far more pairs than a row;
    shares of ordered pairs can.
    """
    difference = rows_ordered - columns_ordered
    if math.isnan(difference) or abs(difference) < _NOTABLE:
        return ""
    more, less = ("instances", "labels") if difference > 0 else ("labels", "instances")
    return f"suits measures of {more} more than measures of {less}"


def _cautions(evaluation: Evaluation) -> list[str]:
    tied = max(evaluation.tied_share.values(), key=lambda s: -1.0 if math.isnan(s) else s)
    cautions = []
    if tied >= _MANY_TIES:
        cautions.append(
            f"Up to {tied:.1%} of the pairs are tied: the ranking measures then depend on "
            "conventions. Raw scores tie less often than rounded ones or probabilities."
        )
    skipped = {n: k for n, k in evaluation.skipped.items() if k}
    if skipped:
        name = max(skipped, key=lambda n: skipped[n])
        rows = counted(skipped[name], MEASURES[name].view.row)
        cautions.append(f"Rows without a pair are left out: {MEASURES[name].title} skips {rows}.")
    if evaluation.n_missing:
        share = evaluation.n_missing / (evaluation.n_instances * evaluation.n_labels)
        cautions.append(
            f"{share:.1%} of the true labels are missing and take no part: ranks and coverage "
            "count known labels only."
        )
    return cautions
