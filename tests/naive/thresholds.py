"""Slow, obvious twins of the targets, the best thresholds and the label sets of highest expected F1."""

import itertools
import math
import statistics

from naive.measures import columns, whole


def counts(y, p):
    pairs = list(zip(y, p, strict=True))
    return tuple(sum((a, b) == kind for a, b in pairs) for kind in ((1, 1), (0, 1), (1, 0), (0, 0)))


def f_beta(beta):
    def value(tp, fp, fn, tn):
        total = (1 + beta**2) * tp + beta**2 * fn + fp
        return (1 + beta**2) * tp / total if total else 0.0

    return value


def jaccard(tp, fp, fn, tn):
    return tp / (tp + fp + fn) if tp + fp + fn else 0.0


def hamming_loss(tp, fp, fn, tn):
    return -(fp + fn) / (tp + fp + fn + tn)


def balanced_accuracy(tp, fp, fn, tn):
    shares = ([tp / (tp + fn)] if tp + fn else []) + ([tn / (tn + fp)] if tn + fp else [])
    return sum(shares) / len(shares)


def cardinality(tp, fp, fn, tn):
    """As many predicted as there are: neither rises with tp nor falls with fp."""
    return -abs(fp - fn)


FUNCTIONS = {
    "f1": f_beta(1),
    "jaccard": jaccard,
    "hamming_loss": hamming_loss,
    "balanced_accuracy": balanced_accuracy,
}


def view_of(average, matrix):
    return {"instance": lambda A: A, "macro": columns, "micro": whole}[average](matrix)


def value(function, average, Y, P):
    """Mean over the rows of a view of a function of their counts."""
    rows = zip(view_of(average, Y), view_of(average, P), strict=True)
    values = [function(*counts(y, p)) for y, p in rows]
    return math.fsum(values) / len(values)


def candidates(scores):
    """A threshold for every way to cut: at each score, and below all."""
    finite = sorted({s for s in scores if s > -math.inf})
    return [-math.inf, *finite]


def cut(S, t, by):
    """Labels from strict comparison with a threshold for each row, column, or all."""
    place = {"instance": lambda i, j: i, "label": lambda i, j: j, "global": lambda i, j: 0}[by]
    return [[int(s > t[place(i, j)]) for j, s in enumerate(row)] for i, row in enumerate(S)]


def best_value(function, average, by, Y, S):
    """The highest value over all combinations of all thresholds."""
    rows = {"instance": S, "label": columns(S), "global": whole(S)}[by]
    return max(
        value(function, average, Y, cut(S, t, by))
        for t in itertools.product(*(candidates(row) for row in rows))
    )


def n_combinations(by, S):
    rows = {"instance": S, "label": columns(S), "global": whole(S)}[by]
    return math.prod(len(candidates(row)) for row in rows)


def top_k(S, k):
    return [[int(sum(s >= own for s in row) <= k) for own in row] for row in S]


def f1_of(y, h, nothing):
    total = sum(y) + sum(h)
    return 2 * sum(a * b for a, b in zip(y, h, strict=True)) / total if total else nothing


def label_sets(n):
    return list(itertools.product((0, 1), repeat=n))


def independent(p):
    """Probability of every label set if labels are independent."""
    return {
        y: math.prod(q if mark else 1 - q for q, mark in zip(p, y, strict=True))
        for y in label_sets(len(p))
    }


def expected_f1(chance, h, nothing):
    return math.fsum(c * f1_of(y, h, nothing) for y, c in chance.items())


def shrunk(thresholds, labels, scores, prior):
    """The thresholds of labels, moved towards the usual distance from a label's mean score."""
    means = [math.fsum(s) / len(s) for s in scores]
    finite = [math.isfinite(t) for t in thresholds]
    usual = statistics.median(
        t - mean for t, mean, ok in zip(thresholds, means, finite, strict=True) if ok
    )
    found = []
    for t, mean, y, ok in zip(thresholds, means, labels, finite, strict=True):
        if sum(y) == 0:
            found.append(math.inf)
        elif ok:
            found.append((sum(y) * t + prior * (mean + usual)) / (sum(y) + prior))
        else:
            found.append(t)
    return found


def jackknife_error(left_out):
    """The standard error of a value, from its values with each group of rows left out."""
    n = len(left_out)
    mean = math.fsum(left_out) / n
    return math.sqrt((n - 1) / n * math.fsum((v - mean) ** 2 for v in left_out))
