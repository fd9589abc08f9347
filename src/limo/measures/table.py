"""The registry: one line per measure."""

import math
from collections.abc import Mapping

from limo.measures.base import Measure, Optimised
from limo.measures.labels import f1, hamming
from limo.measures.ranking import auc, average_precision, coverage, one_error, ranking_loss
from limo.views import COLUMNS, ENTRIES, ROWS

__all__ = ["EFFECTIVENESS", "MEASURES"]

EFFECTIVENESS = ("label-wise", "instance-wise", "double", "entry-wise")
_YES, _LIMIT, _NO = Optimised.YES, Optimised.IN_THE_LIMIT, Optimised.NO


def _by(*ticks: Optimised) -> Mapping[str, Optimised]:
    return dict(zip(EFFECTIVENESS, ticks, strict=True))


# The rows that occur in the paper's Table 2, with our fourth column.
LABEL_WISE = _by(_YES, _NO, _YES, _YES)
INSTANCE_WISE = _by(_NO, _YES, _YES, _YES)
EITHER = _by(_YES, _YES, _YES, _YES)
ONLY_TOGETHER = _by(_NO, _NO, _LIMIT, _YES)

UNIT = (0.0, 1.0)
ANY = (0.0, math.inf)

# fmt: off
_TABLE = (
    Measure("hamming_loss", "Hamming loss", hamming, ROWS, "labels", "low", UNIT, EITHER, "label", COLUMNS),
    Measure("ranking_loss", "ranking loss", ranking_loss, ROWS, "scores", "low", UNIT, LABEL_WISE),
    Measure("one_error", "one-error", one_error, ROWS, "scores", "low", UNIT, LABEL_WISE),
    Measure("coverage", "coverage", coverage, ROWS, "scores", "low", ANY, LABEL_WISE),
    Measure("average_precision", "average precision", average_precision, ROWS, "scores", "high", UNIT, LABEL_WISE),
    Measure("macro_f1", "macro-F1", f1, COLUMNS, "labels", "high", UNIT, INSTANCE_WISE, "label"),
    Measure("instance_f1", "instance-F1", f1, ROWS, "labels", "high", UNIT, LABEL_WISE, "instance"),
    Measure("micro_f1", "micro-F1", f1, ENTRIES, "labels", "high", UNIT, LABEL_WISE, "global"),
    Measure("macro_auc", "macro-AUC", auc, COLUMNS, "scores", "high", UNIT, INSTANCE_WISE),
    Measure("instance_auc", "instance-AUC", auc, ROWS, "scores", "high", UNIT, LABEL_WISE),
    Measure("micro_auc", "micro-AUC", auc, ENTRIES, "scores", "high", UNIT, ONLY_TOGETHER),
)
# fmt: on

MEASURES: dict[str, Measure] = {measure.name: measure for measure in _TABLE}
"""All measures by name. A line added here is known to ``evaluate`` and ``make_scorer``."""
