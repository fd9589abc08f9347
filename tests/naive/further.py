"""Slow, obvious twins of the further measures, of influence values and of the bootstrap."""

import math

from naive.measures import columns, irrelevant, mean, relevant, whole


def counts(y, p):
    """True and predicted, true only, predicted only, neither."""
    pairs = list(zip(y, p, strict=True))
    return tuple(pairs.count(kind) for kind in ((1, 1), (1, 0), (0, 1), (0, 0)))


def ratio(a, b):
    return a / b if b else 0.0


def precision_row(y, p):
    both, _, false, _ = counts(y, p)
    return ratio(both, both + false)


def recall_row(y, p):
    both, missed, _, _ = counts(y, p)
    return ratio(both, both + missed)


def jaccard_row(y, p):
    both, missed, false, _ = counts(y, p)
    return ratio(both, both + missed + false)


def f_beta_row(y, p, beta):
    both, missed, false, _ = counts(y, p)
    return ratio((1 + beta**2) * both, (1 + beta**2) * both + beta**2 * missed + false)


def balanced_accuracy_row(y, p):
    both, missed, false, neither = counts(y, p)
    shares = []
    if both + missed:
        shares.append(both / (both + missed))
    if false + neither:
        shares.append(neither / (false + neither))
    return sum(shares) / len(shares)


def subset_accuracy(Y, P):
    return mean([float(list(y) == list(p)) for y, p in zip(Y, P, strict=True)], "", None)


def average(row, Y, P, kind):
    """A row function averaged over instances, over labels, or on the whole matrix."""
    shape = {"instance": list, "macro": columns, "micro": whole}[kind]
    values = [row(y, p) for y, p in zip(shape(Y), shape(P), strict=True)]
    return mean(values, "", None)


def worst_order(y, s):
    """Items from the highest score down; among equal scores irrelevant items first."""
    return sorted(range(len(s)), key=lambda j: (-s[j], y[j]))


def precision_at(y, s, k):
    return sum(y[j] for j in worst_order(y, s)[:k]) / k


def recall_at(y, s, k):
    return sum(y[j] for j in worst_order(y, s)[:k]) / sum(y) if sum(y) else None


def ndcg_at(y, s, k):
    if not sum(y):
        return None
    places = enumerate(worst_order(y, s)[:k], start=1)
    gain = sum(y[j] / math.log2(1 + place) for place, j in places)
    return gain / sum(1 / math.log2(1 + place) for place in range(1, min(k, sum(y)) + 1))


def log_loss(y, s):
    tiny = 2.0**-52
    clipped = [min(max(v, tiny), 1 - tiny) for v in s]
    return -sum(math.log(v if a else 1 - v) for a, v in zip(y, clipped, strict=True)) / len(y)


def brier_loss(y, s):
    return sum((a - v) ** 2 for a, v in zip(y, s, strict=True)) / len(y)


# Weighted versions, for derivatives by the weight of one instance


def weighted_auc(y, s, w, tie=0.5):
    lost = total = 0.0
    for u in relevant(y):
        for v in irrelevant(y):
            won = 1.0 if s[u] > s[v] else tie if s[u] == s[v] else 0.0
            lost += w[u] * w[v] * won
            total += w[u] * w[v]
    return lost / total if total else None


def weighted_average_precision(y, s, w):
    total = weight = 0.0
    for u in relevant(y):
        above = sum(w[k] for k in range(len(s)) if s[k] >= s[u])
        good = sum(w[k] for k in relevant(y) if s[k] >= s[u])
        if w[u]:
            total += w[u] * good / above
            weight += w[u]
    return total / weight if weight else None


def weighted_f1(y, p, w):
    both = sum(c for a, b, c in zip(y, p, w, strict=True) if a and b)
    total = sum(c * (a + b) for a, b, c in zip(y, p, w, strict=True))
    return 2 * both / total if total else 0.0


def slope(function, m, i, step=1e-5):
    """The influence of instance i: m times the derivative by its weight, the total unchanged."""

    def at(change):
        w = [1.0 - change / m] * m
        w[i] += change
        return function(w)

    return m * (at(step) - at(-step)) / (2 * step)
