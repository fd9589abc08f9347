"""The labels and instances a model finds hardest, and each label's own numbers."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from limo._types import Anything, Integers, Values
from limo.evaluation import Evaluation
from limo.findings.cuts import Cut
from limo.findings.plain import shortened
from limo.pattern import Pattern

__all__ = ["hardest_instances", "hardest_labels", "label_columns"]

_MOST_NAMES = 6
_LABEL_KEYS = ("macro_auc", "instance_wise_margin", "macro_f1")
_INSTANCE_KEYS = ("instance_auc", "label_wise_margin", "instance_f1")


def label_columns(evaluation: Evaluation, cut: Cut | None) -> dict[str, list[Any]]:
    """The numbers of every label, column by column; only columns that exist."""
    values = evaluation.per_label
    columns: dict[str, Anything | None] = {
        "auc": values.get("macro_auc"),
        "f1": values.get("macro_f1"),
        "best_f1": cut.best_f1 if cut else None,
        "margin": values.get("instance_wise_margin"),
        "threshold": cut.thresholds if cut else None,
        "threshold_error": cut.label_error if cut else None,
    }
    return {name: shortened(column) for name, column in columns.items() if column is not None}


def hardest_labels(evaluation: Evaluation, n: int) -> list[int]:
    """The labels with the lowest AUC, then margin; without scores, the lowest F1."""
    return list(map(int, _hardest(evaluation.per_label, _LABEL_KEYS, n)))


def hardest_instances(
    evaluation: Evaluation, Y: Pattern, S: Anything | None, cut: Cut | None, n: int
) -> list[dict[str, Any]]:
    """The instances with the lowest AUC, then margin, and which labels stand in their way.

    Only these few rows of the scores are read.
    """
    values = evaluation.per_instance
    found = []
    for i in map(int, _hardest(values, _INSTANCE_KEYS, n)):
        relevant = Y.indices[Y.indptr[i] : Y.indptr[i + 1]]
        numbers: dict[str, Any] = {
            "auc": values["instance_auc"][i] if "instance_auc" in values else None,
            "f1": values["instance_f1"][i] if "instance_f1" in values else None,
            "margin": values["label_wise_margin"][i] if "label_wise_margin" in values else None,
            "threshold_error": _error(cut, i),
        }
        ahead = np.zeros(0, dtype=np.int64) if S is None else _ahead(np.asarray(S[i]), relevant)
        found.append(
            {
                "instance": i,
                **{k: shortened([v])[0] for k, v in numbers.items() if v is not None},
                "n_relevant": relevant.size,
                "relevant": relevant[:_MOST_NAMES].tolist(),
                "n_ahead": ahead.size,
                "ahead": ahead[:_MOST_NAMES].tolist(),
            }
        )
    return found


def _error(cut: Cut | None, i: int) -> int | None:
    return None if cut is None or cut.instance_error is None else int(cut.instance_error[i])


def _ahead(scores: Anything, relevant: Integers) -> Integers:
    """The irrelevant labels that score at least as high as the lowest relevant one, best first."""
    if not relevant.size:
        return np.zeros(0, dtype=np.int64)
    wrong = np.ones(scores.size, dtype=bool)
    wrong[relevant] = False
    places = np.flatnonzero(wrong & (scores >= scores[relevant].min()))
    return places[np.argsort(-scores[places], kind="stable")]


def _hardest(values: Mapping[str, Values], names: tuple[str, ...], n: int) -> Integers:
    """Where the first of the values that exist is lowest, then the next.

    Rows without a value are not hard; nor are those in perfect order, or without scores those
    without a wrong label.
    """
    keys = [values[name] for name in names if name in values]
    wrong = keys[0] < 1 if names[0] in values else values["hamming_loss"] > 0
    hard = np.flatnonzero(wrong)
    order = np.lexsort([key[hard] for key in reversed(keys)])
    return hard[order[:n]]
