"""Slow, obvious twins of the eleven measures, written from their definitions.

Nested loops over lists, one function per measure, one branch per convention. ``conventions`` is
"standard", "paper" or "sklearn"; a row without a value is None.
"""

import math


def relevant(row):
    return [j for j, y in enumerate(row) if y]


def irrelevant(row):
    return [j for j, y in enumerate(row) if not y]


def columns(matrix):
    return [list(column) for column in zip(*matrix, strict=True)]


def whole(matrix):
    return [[x for row in matrix for x in row]]


def rank(scores, j, conventions):
    if conventions == "paper":
        return 1 + sum(s > scores[j] for s in scores)
    return sum(s >= scores[j] for s in scores)


def mean(values, conventions, undefined):
    """Mean of the values that exist; under "sklearn" ``undefined`` replaces the others."""
    if conventions == "sklearn" and undefined is not None:
        values = [undefined if v is None else v for v in values]
    values = [v for v in values if v is not None]
    return math.fsum(values) / len(values) if values else math.nan


def ranking_loss_row(y, s, conventions):
    pairs = [(u, v) for u in relevant(y) for v in irrelevant(y)]
    return sum(s[u] <= s[v] for u, v in pairs) / len(pairs) if pairs else None


def ranking_loss(Y, S, conventions):
    return mean(rows(ranking_loss_row, Y, S, conventions), conventions, 0.0)


def one_error_row(y, s, conventions):
    if not relevant(y):
        return None
    top = [j for j in range(len(s)) if s[j] == max(s)]
    if conventions == "paper":
        return float(not any(y[j] for j in top))
    return float(not all(y[j] for j in top))


def one_error(Y, S, conventions):
    return mean(rows(one_error_row, Y, S, conventions), conventions, None)


def coverage_row(y, s, conventions):
    if not relevant(y):
        return None
    return max(rank(s, j, conventions) for j in relevant(y)) - 1


def coverage(Y, S, conventions):
    return mean(rows(coverage_row, Y, S, conventions), conventions, -1.0)


def average_precision_row(y, s, conventions):
    if not relevant(y):
        return None
    shares = []
    for j in relevant(y):
        own = rank(s, j, conventions)
        shares.append(sum(rank(s, k, conventions) <= own for k in relevant(y)) / own)
    return math.fsum(shares) / len(shares)


def average_precision(Y, S, conventions):
    return mean(rows(average_precision_row, Y, S, conventions), conventions, 1.0)


def auc_row(y, s, conventions):
    pairs = [(u, v) for u in relevant(y) for v in irrelevant(y)]
    if not pairs:
        return None
    tie = 1.0 if conventions == "paper" else 0.5
    return sum(1.0 if s[u] > s[v] else tie if s[u] == s[v] else 0.0 for u, v in pairs) / len(pairs)


def instance_auc(Y, S, conventions):
    return mean(rows(auc_row, Y, S, conventions), conventions, math.nan)


def macro_auc(Y, S, conventions):
    return mean(rows(auc_row, columns(Y), columns(S), conventions), conventions, math.nan)


def micro_auc(Y, S, conventions):
    return mean(rows(auc_row, whole(Y), whole(S), conventions), conventions, math.nan)


def f1_row(y, p, conventions):
    both = sum(a and b for a, b in zip(y, p, strict=True))
    total = sum(y) + sum(p)
    return 2 * both / total if total else 0.0


def instance_f1(Y, P, conventions):
    return mean(rows(f1_row, Y, P, conventions), conventions, None)


def macro_f1(Y, P, conventions):
    return mean(rows(f1_row, columns(Y), columns(P), conventions), conventions, None)


def micro_f1(Y, P, conventions):
    return mean(rows(f1_row, whole(Y), whole(P), conventions), conventions, None)


def hamming_row(y, p, conventions):
    return sum(a != b for a, b in zip(y, p, strict=True)) / len(y)


def hamming_loss(Y, P, conventions):
    return mean(rows(hamming_row, Y, P, conventions), conventions, None)


def rows(function, Y, A, conventions):
    return [function(y, a, conventions) for y, a in zip(Y, A, strict=True)]
