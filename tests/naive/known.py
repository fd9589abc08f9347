"""Missing labels and sample weights, by brute force: remove what is missing, repeat what weighs.

A row is a list of (label, other) pairs without the missing ones; a matrix may then have rows of
different lengths. The row functions are those of :mod:`naive.measures`.
"""

import math

from naive import further, measures


def known_rows(Y, A, U):
    """The known items of each row, as (labels, others); ``U`` is true where a label is missing."""
    found = []
    for y, a, u in zip(Y, A, U, strict=True):
        kept = [(label, other) for label, other, gone in zip(y, a, u, strict=True) if not gone]
        found.append(([label for label, _ in kept], [other for _, other in kept]))
    return found


def view_rows(view, Y, A, U, weights):
    """The rows of a view that have known items; integer weights repeat instances."""
    repeated = [i for i, weight in enumerate(weights) for _ in range(weight)]
    turn = {"rows": list, "columns": measures.columns, "entries": measures.whole}[view]
    Y, A, U = (turn([matrix[i] for i in repeated]) for matrix in (Y, A, U))
    return [(y, a) for y, a in known_rows(Y, A, U) if y]


def measure(name, view, Y, A, U, weights, conventions):
    """The weighted masked definition of one of the eleven."""
    function = getattr(measures, f"{name}_row")
    if name == "hamming":  # a mean over all known entries
        view = "entries"
    values = [function(y, a, conventions) for y, a in view_rows(view, Y, A, U, weights)]
    fill = {"ranking_loss": 0.0, "coverage": -1.0, "average_precision": 1.0, "auc": math.nan}
    return measures.mean(values, conventions, fill.get(name))


ALL = {
    "hamming_loss": ("hamming", "rows"),
    "ranking_loss": ("ranking_loss", "rows"),
    "one_error": ("one_error", "rows"),
    "coverage": ("coverage", "rows"),
    "average_precision": ("average_precision", "rows"),
    "macro_f1": ("f1", "columns"),
    "instance_f1": ("f1", "rows"),
    "micro_f1": ("f1", "entries"),
    "macro_auc": ("auc", "columns"),
    "instance_auc": ("auc", "rows"),
    "micro_auc": ("auc", "entries"),
}
"""The row function and the view of each of the eleven measures."""


def further_measure(name, Y, A, U, weights):
    """The same of a further measure, under the standard conventions."""
    function, view = FURTHER[name]
    values = [function(y, a) for y, a in view_rows(view, Y, A, U, weights)]
    return measures.mean(values, "standard", None)


def _at(function, k):
    return lambda y, s: function(y, s, k)


def _f(beta):
    return lambda y, p: further.f_beta_row(y, p, beta)


def _average_precision(y, s):
    return measures.average_precision_row(y, s, "standard")


FURTHER = {
    "subset_accuracy": (lambda y, p: float(y == p), "rows"),
    "log_loss": (further.log_loss, "entries"),  # means over all known entries
    "brier_loss": (further.brier_loss, "entries"),
    "macro_average_precision": (_average_precision, "columns"),
    "micro_average_precision": (_average_precision, "entries"),
}
"""The row function and the view of each further measure."""

for _k in (1, 3, 5):
    for _kind in ("precision_at", "recall_at", "ndcg_at"):
        FURTHER[f"{_kind}_{_k}"] = (_at(getattr(further, _kind), _k), "rows")
for _average, _view in {"instance": "rows", "macro": "columns", "micro": "entries"}.items():
    for _name in ("precision", "recall", "jaccard", "balanced_accuracy"):
        FURTHER[f"{_average}_{_name}"] = (getattr(further, f"{_name}_row"), _view)
    for _beta in (0.5, 2):
        FURTHER[f"{_average}_f{_beta}"] = (_f(_beta), _view)
