"""Measures of the k highest scores, instance by instance, from the published definitions."""

import math


def inverse_propensities(Y, a, b):
    """As defined by Jain, Prabhu and Varma (2016), equation 3, and used by pyxclib."""
    c = (math.log(len(Y)) - 1) * (b + 1) ** a
    return [1 + c * (sum(column) + b) ** -a for column in zip(*Y, strict=True)]


def top(scores, k):
    """The k best of the labels that have a score, the first column first among ties."""
    known = [j for j, s in enumerate(scores) if s is not None]
    return sorted(known, key=lambda j: (-scores[j], j))[:k]


def propensity_scored(Y, S, k, inverse):
    """PSP@k and PSnDCG@k: sums of gains over instances, over the sums of the best choices."""
    sums = {"psp": [0.0, 0.0], "psndcg": [0.0, 0.0]}
    for y, s in zip(Y, S, strict=True):
        true = [j for j, mark in enumerate(y) if mark]
        best = sorted(true, key=lambda j: -inverse[j])[:k]
        norm = sum(1 / math.log2(place + 2) for place in range(min(k, len(true))))
        for side, chosen in enumerate((top(s, k), best)):
            for place, j in enumerate(chosen):
                if y[j]:
                    sums["psp"][side] += inverse[j]
                    sums["psndcg"][side] += inverse[j] / math.log2(place + 2) / norm
    return {name: a / b if b else math.nan for name, (a, b) in sums.items()}


def macro(Y, S, k):
    """Precision, recall and F1 of each label if the k best labels are predicted; coverage."""
    m, n_labels = len(Y), len(Y[0])
    P = [[int(j in top(s, k)) for j in range(n_labels)] for s in S]
    lines = []
    for j in range(n_labels):
        both = sum(Y[i][j] and P[i][j] for i in range(m))
        true, predicted = (sum(Z[i][j] for i in range(m)) for Z in (Y, P))
        lines.append(
            (
                both / predicted if predicted else 0,
                both / true if true else 0,
                2 * both / (true + predicted) if true + predicted else 0,
                both > 0,
            )
        )
    means = [sum(values) / n_labels for values in zip(*lines, strict=True)]
    names = ("macro_precision", "macro_recall", "macro_f1", "coverage")
    return dict(zip(names, means, strict=True))
