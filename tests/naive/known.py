"""Missing labels and sample weights, by brute force: remove what is missing, repeat what weighs.

A row is a list of (label, other) pairs without the missing ones; a matrix may then have rows of
different lengths. The row functions are those of :mod:`naive.measures`.
"""

import math

from naive import measures


def known_rows(Y, A, U):
    """The known items of each row, as (labels, others); ``U`` is true where a label is missing."""
    found = []
    for y, a, u in zip(Y, A, U, strict=True):
        kept = [(label, other) for label, other, gone in zip(y, a, u, strict=True) if not gone]
        found.append(([label for label, _ in kept], [other for _, other in kept]))
    return found


def measure(name, view, Y, A, U, weights, conventions):
    """The weighted masked definition: integer weights repeat instances."""
    repeated = [i for i, weight in enumerate(weights) for _ in range(weight)]
    Y, A, U = ([matrix[i] for i in repeated] for matrix in (Y, A, U))
    if view == "columns":
        Y, A, U = (measures.columns(matrix) for matrix in (Y, A, U))
    if view == "entries":
        Y, A, U = (measures.whole(matrix) for matrix in (Y, A, U))
    function = getattr(measures, f"{name}_row")
    if name == "hamming":  # a mean over all known entries
        Y, A, U = (measures.whole(matrix) for matrix in (Y, A, U))
    values = [function(y, a, conventions) for y, a in known_rows(Y, A, U) if y]
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
