"""Slow, obvious twins of the neighbour search, ML-kNN and GFM."""

from itertools import combinations


def nearest(X, k, query, leave_out=None):
    """The k nearest rows by (distance, index); equal up to ten digits is equal."""
    distances = []
    for i, x in enumerate(X):
        if i != leave_out:
            distances.append(
                (round(sum((a - b) ** 2 for a, b in zip(x, query, strict=True)), 10), i)
            )
    return [i for _, i in sorted(distances)[:k]]


def mlknn(X, Y, k, s, queries):
    """P(y_j = 1) for each query and label, as in the paper of ML-kNN, one label at a time."""
    m, l = len(Y), len(Y[0])
    k = min(k, m - 1)
    train = [nearest(X, k, X[i], leave_out=i) for i in range(m)]
    found = []
    for query in queries:
        near = nearest(X, k, query)
        row = []
        for j in range(l):
            prior = (s + sum(y[j] for y in Y)) / (s * 2 + m)
            having, lacking = [0] * (k + 1), [0] * (k + 1)
            for i in range(m):
                count = sum(Y[n][j] for n in train[i])
                (having if Y[i][j] else lacking)[count] += 1
            count = sum(Y[n][j] for n in near)
            yes = prior * (s + having[count]) / (s * (k + 1) + sum(having))
            no = (1 - prior) * (s + lacking[count]) / (s * (k + 1) + sum(lacking))
            row.append(yes / (yes + no))
        found.append(row)
    return found


def f1(truth, guess, nothing):
    if not truth and not guess:
        return nothing
    return 2 * len(truth & guess) / (len(truth) + len(guess))


def best_set(label_sets, n_labels, nothing):
    """The highest expected F1 and the set that has it, among all 2**l label sets."""
    best = (-1.0, None)
    for size in range(n_labels + 1):
        for guess in combinations(range(n_labels), size):
            value = sum(f1(truth, set(guess), nothing) for truth in label_sets) / len(label_sets)
            if value > best[0] + 1e-12:
                best = (value, set(guess))
    return best
