"""Why the measures are what they are, in a few sentences."""

import math

from limo.evaluation import Evaluation
from limo.measures.base import Optimised
from limo.measures.table import MEASURES
from limo.tables import counted
from limo.views import COLUMNS, ENTRIES, ROWS

__all__ = ["explain"]

# A difference in shares of positive margins that is worth a sentence.
_NOTABLE = 0.05
_MANY_TIES = 0.01


def explain(evaluation: Evaluation) -> str:
    """Say which measures a predictor should be good or bad at, and why.

    The margins tell: the share of instances with a positive label-wise margin, of labels with
    a positive instance-wise margin, and the entry-wise margin. The paper's Table 2, with our
    column for the entry-wise margin, says which measures follow from which.

    Parameters
    ----------
    evaluation : Evaluation
        What :func:`evaluate` gave for scores.

    Returns
    -------
    str
        One sentence a line.

    Examples
    --------
    >>> import limo
    >>> y_true, y_score = [[1, 0], [0, 1]], [[3.0, 2.0], [0.0, 1.0]]
    >>> print(limo.explain(limo.evaluate(y_true, y_score)))
    Label-wise: in 100.0% of 2 instances every relevant label scores above every irrelevant one.
    Instance-wise: for 50.0% of 2 labels every positive instance scores above every negative one.
    Entry-wise: no single cut parts relevant from irrelevant entries (margin -1).
    Label-wise effective: ranking loss, one-error, coverage, average precision, instance-AUC are
    as good as they can be, and with a threshold per instance so can be Hamming loss, instance-F1,
    micro-F1.
    The label-wise margin is the stronger one: expect this predictor to do better on ranking loss,
    one-error, coverage, average precision, instance-F1, micro-F1, instance-AUC than on macro-F1,
    macro-AUC.
    """
    if not evaluation.margins:
        raise ValueError(
            "explain reads margins, which need scores: call evaluate with y_score as well."
        )
    sentences = [*_shares(evaluation), *_guarantees(evaluation), *_leaning(evaluation)]
    return "\n".join([*sentences, *_cautions(evaluation)])


def _shares(evaluation: Evaluation) -> list[str]:
    rows, columns, entries = (evaluation.margins[v.name] for v in (ROWS, COLUMNS, ENTRIES))
    sentences = []
    if rows.defined.size:
        sentences.append(
            f"Label-wise: in {rows.positive_share:.1%} of {counted(rows.defined.size, 'instance')} "
            "every relevant label scores above every irrelevant one."
        )
    if columns.defined.size:
        sentences.append(
            f"Instance-wise: for {columns.positive_share:.1%} of "
            f"{counted(columns.defined.size, 'label')} every positive instance scores above every "
            "negative one."
        )
    if entries.defined.size:
        parts = "a single cut parts" if entries.margins[0] > 0 else "no single cut parts"
        sentences.append(
            f"Entry-wise: {parts} relevant from irrelevant entries "
            f"(margin {entries.margins[0]:.3g})."
        )
    return sentences or ["There is no pair to judge: every entry is relevant, or none is."]


def _guarantees(evaluation: Evaluation) -> list[str]:
    """What Table 2 promises for the strongest effectiveness that holds on all rows."""
    found = evaluation.effectiveness
    holds = {
        "entry-wise": (found.entry_wise, "one threshold for all"),
        "double": (found.double, "a threshold per instance or per label"),
        "label-wise": (found.label_wise, "a threshold per instance"),
        "instance-wise": (found.instance_wise, "a threshold per label"),
    }
    for kind, (effective, cut) in holds.items():
        if effective and evaluation.margins[ENTRIES.name].defined.size:
            now, cuttable = (_titles(kind, needs) for needs in ("scores", "labels"))
            return [
                f"{kind.capitalize()} effective: {now} are as good as they can be, "
                f"and with {cut} so can be {cuttable}."
            ]
    return []


def _titles(kind: str, needs: str) -> str:
    return ", ".join(
        m.title
        for m in MEASURES.values()
        if m.needs == needs and m.optimised_by[kind] is Optimised.YES
    )


def _leaning(evaluation: Evaluation) -> list[str]:
    """Which of the two margins of the paper is the stronger, and what that favours."""
    shares = {
        kind: evaluation.margins[view.name].positive_share
        for kind, view in (("label-wise", ROWS), ("instance-wise", COLUMNS))
    }
    if any(math.isnan(share) for share in shares.values()):
        return []
    strong, weak = sorted(shares, key=lambda kind: -shares[kind])
    if shares[strong] - shares[weak] < _NOTABLE:
        return [
            "Label-wise and instance-wise margins are about equally strong: the margins favour "
            "neither the measures of rows nor those of columns."
        ]
    return [
        f"The {strong} margin is the stronger one: expect this predictor to do better on "
        f"{_only(strong, weak)} than on {_only(weak, strong)}."
    ]


def _only(kind: str, other: str) -> str:
    """Titles of the measures that one kind of effectiveness optimises and the other does not."""
    return ", ".join(
        m.title
        for m in MEASURES.values()
        if m.optimised_by[kind] is Optimised.YES and m.optimised_by[other] is Optimised.NO
    )


def _cautions(evaluation: Evaluation) -> list[str]:
    tied = max(evaluation.tied_share.values(), key=lambda s: -1.0 if math.isnan(s) else s)
    cautions = []
    if tied >= _MANY_TIES:
        cautions.append(
            f"Up to {tied:.1%} of the pairs are tied: the measures of ranking then depend on "
            "conventions. Raw scores tie less than rounded ones or probabilities."
        )
    skipped = {n: k for n, k in evaluation.skipped.items() if k}
    if skipped:
        name = max(skipped, key=lambda n: skipped[n])
        rows = counted(skipped[name], MEASURES[name].view.row)
        cautions.append(f"Rows without a pair are left out: {MEASURES[name].title} skips {rows}.")
    return cautions
