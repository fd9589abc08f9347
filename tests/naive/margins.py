"""Slow, obvious twins of the margins and of the threshold error."""

import math

from naive.measures import columns, irrelevant, relevant, whole


def margin_row(y, s):
    gaps = [s[u] - s[v] for u in relevant(y) for v in irrelevant(y)]
    return min(gaps) if gaps else math.nan


def label_wise_margin(Y, S):
    return [margin_row(y, s) for y, s in zip(Y, S, strict=True)]


def instance_wise_margin(Y, S):
    return label_wise_margin(columns(Y), columns(S))


def entry_wise_margin(Y, S):
    return label_wise_margin(whole(Y), whole(S))[0]


def absolute_margin(Y, S):
    return min(
        s if y else -s
        for row, scores in zip(Y, S, strict=True)
        for y, s in zip(row, scores, strict=True)
    )


def threshold_error_row(y, s, t):
    """Count the items of the descending row that are between the threshold and the right place."""
    ordered = sorted(s, reverse=True)
    place = 0
    while place < len(ordered) and ordered[place] > t:
        place += 1
    right = len(relevant(y))
    return len(ordered[min(place, right) : max(place, right)])
