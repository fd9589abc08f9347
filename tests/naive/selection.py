"""Greedy selection of an ensemble, step by step."""

import numpy as np


def greedy(value, scores, n_start, most_steps, patience):
    """``value`` of a sum of scores is to be maximised; scores come best first.

    The share of each model in the best ensemble on the way.
    """
    members = list(range(min(n_start, len(scores))))
    best = list(members)
    since = 0
    for _ in range(most_steps):
        options = [value(sum(scores[i] for i in [*members, k])) for k in range(len(scores))]
        members = [*members, int(np.argmax(options))]
        if max(options) > value(sum(scores[i] for i in best)):
            best, since = list(members), 0
        else:
            since += 1
        if since == patience or len(scores) == 1:
            break
    return np.array([best.count(k) / len(best) for k in range(len(scores))])
