"""Explain measures through margins, in a few sentences."""

import math

from limo._evaluation import Evaluation
from limo._margins import MarginSummary
from limo._text import counted
from limo._views import COLUMNS, ENTRIES, ROWS, View
from limo.measures._measure import Optimised
from limo.measures._table import MEASURES

_NEARLY_ALL = 0.9
_MANY = 0.95
_MOST = 0.8
_NOTABLE = 0.02
_MANY_TIES = 0.01


def explain(evaluation: Evaluation) -> str:
    """Explain which measures a predictor should be good or bad at, and why.

    The explanation uses the share of instances with a positive label-wise margin, the share of
    labels with a positive instance-wise margin, the sign of the entry-wise margin, and the shares
    of pairs in order. The paper's Table 2, with our column for the entry-wise margin, says which
    measures depend on which margins.

    Parameters
    ----------
    evaluation : Evaluation
        The result of :func:`evaluate` with scores.

    Returns
    -------
    str
        A few sentences, one line for each view and for each remark.

    Examples
    --------
    >>> import limo
    >>> y_true, y_score = [[1, 0], [0, 1]], [[3.0, 2.0], [0.0, 1.0]]
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
    if not evaluation.margins:
        raise ValueError(
            "explain needs margins, and margins need scores: call evaluate with y_score."
        )
    views = [evaluation.margins[view.name] for view in (ROWS, COLUMNS, ENTRIES)]
    sentences = [_view_sentence(summary) for summary in views if summary.pairs]
    if not sentences:
        return "There are no pairs to compare: all entries are relevant, or none is."
    return "\n".join([*sentences, *_leaning(*views[:2]), *_cautions(evaluation)])


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
    """Which measures a predictor suits more; empty if its rows and columns are alike.

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
