"""Smooth losses of a row: log-sum-exps over its pairs, and losses of single entries.

A row has p relevant scores a and n irrelevant scores b. With A = log sum exp(b),
B = log sum exp(-a), softplus(z) = log(1 + exp(z)) and sigma its derivative,

    top    = 1/p sum over a of softplus(A - a),
    bottom = 1/n sum over b of softplus(b + B),
    worst  = softplus(A + B).

Bottom is top with the sides swapped and all signs reversed. Functions of one row take the relevant
and the irrelevant scores as two arrays and overwrite them with what they compute, so that a row
costs one exponential per item and no further memory.

An item of weight w counts like w equal items. In a log-sum-exp its score then has log w more; in a
mean it has a larger share.
"""

from typing import NamedTuple

import numpy as np

from limo._kernels import kernel
from limo._types import Booleans, Floats, Integers, Values

TOP, BOTTOM, WORST = 0, 1, 2
# Sums of log(1 + e) are logs of products, taken when a product exceeds this: a log is expensive.
MUCH = 1e300
LOGISTIC = -1.0
"""The first number of a ``shape`` that means the logistic loss instead of parabola and line."""


@kernel
def soft_step(z: float) -> tuple[float, float]:
    """softplus(z) and its derivative, without overflow."""
    e = np.exp(-abs(z))
    return max(z, 0.0) + np.log1p(e), (1.0 if z >= 0.0 else e) / (1.0 + e)


@kernel
def sigmoid(z: float) -> float:
    """The derivative of softplus."""
    e: float = np.exp(-abs(z))
    return (1.0 if z >= 0.0 else e) / (1.0 + e)


# A row as two arrays


class Items(NamedTuple):
    """Which items of each row are not irrelevant, and what items weigh.

    ``indices[indptr[i]:indptr[i + 1]]`` are the relevant and the unknown items of row i, ascending,
    and ``relevant`` says which of them are relevant; it is empty if all are. ``weights`` has the
    weight of each item, the same in all rows; it is empty if all weigh 1.
    """

    indptr: Integers
    indices: Integers
    relevant: Booleans
    weights: Values


@kernel
def places_of(items: Items, i: int) -> tuple[Integers, Booleans, int]:
    """The places of the relevant and unknown items of a row, which are relevant, and how many."""
    start, stop = items.indptr[i], items.indptr[i + 1]
    places = items.indices[start:stop]
    if items.relevant.size == 0:
        return places, items.relevant, places.size
    marks = items.relevant[start:stop]
    return places, marks, marks.sum()


@kernel
def take(
    row: Floats, places: Integers, marks: Booleans, relevant: Values, irrelevant: Values
) -> None:
    """Copy the known items of a row: the relevant ones among ``places``, and those elsewhere."""
    start, k, q = 0, 0, 0
    for r in range(places.size + 1):
        stop = places[r] if r < places.size else row.size
        for item in range(start, stop):
            irrelevant[k] = row[item]
            k += 1
        if r < places.size and (marks.size == 0 or marks[r]):
            relevant[q] = row[stop]
            q += 1
        start = stop + 1


@kernel
def give(
    weight: float,
    relevant: Values,
    irrelevant: Values,
    places: Integers,
    marks: Booleans,
    row: Floats,
) -> None:
    """Add both arrays, times ``weight``, to the items of a row they belong to."""
    start, k, q = 0, 0, 0
    for r in range(places.size + 1):
        stop = places[r] if r < places.size else row.size
        for item in range(start, stop):
            row[item] += weight * irrelevant[k]
            k += 1
        if r < places.size and (marks.size == 0 or marks[r]):
            row[stop] += weight * relevant[q]
            q += 1
        start = stop + 1


@kernel
def _softmax(scores: Values) -> float:
    """Replace scores by their shares of sum exp(scores); return the log of that sum."""
    highest: float = scores.max()
    total = 0.0
    for k in range(scores.size):
        scores[k] = np.exp(scores[k] - highest)
        total += scores[k]
    scores /= total
    level: float = highest + np.log(total)
    return level


@kernel
def _weigh(kind: int, relevant: Values, irrelevant: Values, w_rel: Values, w_irr: Values) -> None:
    """Add the logs of the weights to the scores in log-sum-exps; make the others shares of 1."""
    if kind == TOP:
        w_rel /= w_rel.sum()
    else:
        relevant -= np.log(w_rel)
    if kind == BOTTOM:
        w_irr /= w_irr.sum()
    else:
        irrelevant += np.log(w_irr)


@kernel
def _share(shares: Values, k: int, n: int) -> float:
    """The share of item k in a mean over n items; they are equal if none are given."""
    return shares[k] if shares.size else 1.0 / n


# Value and derivatives. The shares are those of the items that the mean is over, empty if equal.


@kernel
def _one_sided(led: Values, others: Values, shares: Values) -> float:
    """Mean over ``led`` of softplus(A - led), A over ``others``; both become derivatives."""
    level = _softmax(others)
    value = pull = 0.0
    product = 1.0
    for k in range(led.size):
        z = level - led[k]
        e = np.exp(-abs(z))
        share = _share(shares, k, led.size)
        value += share * max(z, 0.0)
        if shares.size:
            value += share * np.log1p(e)
        else:
            product *= 1.0 + e
            if product > MUCH:
                value += share * np.log(product)
                product = 1.0
        s = share * (1.0 if z >= 0.0 else e) / (1.0 + e)
        pull += s
        led[k] = -s
    others *= pull
    total: float = value + np.log(product) / led.size
    return total


@kernel
def _row_value(kind: int, relevant: Values, irrelevant: Values, shares: Values) -> float:
    """The loss of a row; its scores become derivatives."""
    if kind == TOP:
        return _one_sided(relevant, irrelevant, shares)
    if kind == BOTTOM:
        relevant *= -1.0
        irrelevant *= -1.0
        value = _one_sided(irrelevant, relevant, shares)
        relevant *= -1.0
        irrelevant *= -1.0
        return value
    relevant *= -1.0
    value, s = soft_step(_softmax(irrelevant) + _softmax(relevant))
    irrelevant *= s
    relevant *= -s
    return value


@kernel
def _enter(
    row: Floats, items: Items, i: int, kind: int, scratch: Values
) -> tuple[Integers, Booleans, int, Values, Values]:
    """Copy the known scores of row i into ``scratch``, relevant ones first, with their weights.

    Returns their places, which are relevant, how many these are, the scores and the shares.
    """
    places, marks, p = places_of(items, i)
    known = row.size - places.size + p
    scores, weights = scratch[0, :known], scratch[1, :known]
    take(row, places, marks, scores[:p], scores[p:])
    if items.weights.size == 0:
        return places, marks, p, scores, items.weights
    take(items.weights, places, marks, weights[:p], weights[p:])
    _weigh(kind, scores[:p], scores[p:], weights[:p], weights[p:])
    return places, marks, p, scores, weights[:p] if kind == TOP else weights[p:]


@kernel
def add_soft_rows(
    rows: Floats, items: Items, weights: Values, kind: int, gradient: Floats
) -> float:
    """The weighted sum of the rows' losses; adds its derivatives to ``gradient``.

    Rows whose weight is 0 are skipped; the others must have pairs.
    """
    total = 0.0
    scratch = np.empty((2, rows.shape[1]))
    for i in range(rows.shape[0]):
        if weights[i] != 0.0:
            places, marks, p, scores, shares = _enter(rows[i], items, i, kind, scratch)
            total += weights[i] * _row_value(kind, scores[:p], scores[p:], shares)
            give(weights[i], scores[:p], scores[p:], places, marks, gradient[i])
    return total


# Second derivatives


@kernel
def _one_sided_product(
    led: Values, others: Values, t_led: Values, t_others: Values, shares: Values
) -> None:
    """The directions ``t`` become products with the Hessian of ``_one_sided``."""
    level = _softmax(others)
    d_level = np.dot(others, t_others)
    pull = d_pull = 0.0
    for k in range(led.size):
        s = sigmoid(level - led[k]) * _share(shares, k, led.size)
        d = s * sigmoid(led[k] - level) * (d_level - t_led[k])
        pull += s
        d_pull += d
        t_led[k] = -d
    for k in range(others.size):
        t_others[k] = others[k] * ((t_others[k] - d_level) * pull + d_pull)


@kernel
def _row_product(
    kind: int,
    relevant: Values,
    irrelevant: Values,
    t_relevant: Values,
    t_irrelevant: Values,
    shares: Values,
) -> None:
    """The directions become products with the Hessian of a row's loss; scores are overwritten."""
    if kind == TOP:
        _one_sided_product(relevant, irrelevant, t_relevant, t_irrelevant, shares)
        return
    relevant *= -1.0
    if kind == BOTTOM:
        irrelevant *= -1.0
        _one_sided_product(irrelevant, relevant, t_irrelevant, t_relevant, shares)
        return
    z = _softmax(irrelevant) + _softmax(relevant)
    s = sigmoid(z)
    d_below, d_above = np.dot(irrelevant, t_irrelevant), -np.dot(relevant, t_relevant)
    d = s * sigmoid(-z) * (d_below + d_above)
    for k in range(irrelevant.size):
        t_irrelevant[k] = irrelevant[k] * (d + s * (t_irrelevant[k] - d_below))
    for k in range(relevant.size):
        t_relevant[k] = -relevant[k] * (d - s * (t_relevant[k] + d_above))


@kernel
def add_soft_products(
    rows: Floats, directions: Floats, items: Items, weights: Values, kind: int, out: Floats
) -> float:
    """Add the Hessian of the rows' losses, times ``directions``, to ``out``."""
    scratch = np.empty((3, rows.shape[1]))
    for i in range(rows.shape[0]):
        if weights[i] != 0.0:
            places, marks, p, scores, shares = _enter(rows[i], items, i, kind, scratch)
            moves = scratch[2, : scores.size]
            take(directions[i], places, marks, moves[:p], moves[p:])
            _row_product(kind, scores[:p], scores[p:], moves[:p], moves[p:], shares)
            give(weights[i], moves[:p], moves[p:], places, marks, out[i])
    return 0.0


@kernel
def _one_sided_diagonal(led: Values, others: Values, shares: Values) -> None:
    """Both arrays become the diagonal of the Hessian of ``_one_sided``."""
    level = _softmax(others)
    pull = curved = 0.0
    for k in range(led.size):
        s = sigmoid(level - led[k]) * _share(shares, k, led.size)
        led[k] = s * sigmoid(led[k] - level)
        pull += s
        curved += led[k]
    for k in range(others.size):
        others[k] *= (1.0 - others[k]) * pull + others[k] * curved


@kernel
def _row_diagonal(kind: int, relevant: Values, irrelevant: Values, shares: Values) -> None:
    """Scores become the diagonal of the Hessian of a row's loss."""
    if kind == TOP:
        _one_sided_diagonal(relevant, irrelevant, shares)
        return
    relevant *= -1.0
    if kind == BOTTOM:
        irrelevant *= -1.0
        _one_sided_diagonal(irrelevant, relevant, shares)
        return
    z = _softmax(irrelevant) + _softmax(relevant)
    s = sigmoid(z)
    for side in (relevant, irrelevant):
        for k in range(side.size):
            side[k] *= s * (1.0 - side[k] + side[k] * sigmoid(-z))


@kernel
def add_soft_diagonals(
    rows: Floats, items: Items, weights: Values, kind: int, out: Floats
) -> float:
    """Add the diagonal of the Hessian of the rows' losses to ``out``."""
    scratch = np.empty((2, rows.shape[1]))
    for i in range(rows.shape[0]):
        if weights[i] != 0.0:
            places, marks, p, scores, shares = _enter(rows[i], items, i, kind, scratch)
            _row_diagonal(kind, scores[:p], scores[p:], shares)
            give(weights[i], scores[:p], scores[p:], places, marks, out[i])
    return 0.0


# Single entries


@kernel
def entry_loss(z: float, shape: Values) -> tuple[float, float]:
    """phi(z) and phi'(z) of z = (2y - 1) s, where 1 - z enters parabola and line.

    At a corner the derivative is that of the side with less loss.
    """
    if shape[0] == LOGISTIC:
        value, s = soft_step(-z)
        return value, -s
    curvature, width, slope = shape[0], shape[1], shape[2]
    short = 1.0 - z
    if short <= 0.0:
        return 0.0, 0.0
    if short <= width:
        return 0.5 * curvature * short * short, -curvature * short
    return slope * (short - 0.5 * width), -slope


@kernel
def entry_curvature(z: float, shape: Values) -> float:
    """phi''(z); at a corner that of the side with less loss."""
    if shape[0] == LOGISTIC:
        return sigmoid(z) * sigmoid(-z)
    return shape[0] if 0.0 < 1.0 - z <= shape[1] else 0.0


@kernel
def _sides(items: Items, i: int, sides: Integers) -> None:
    """Write 0 for each relevant, 1 for each irrelevant and 2 for each unknown item of a row."""
    places, marks, _ = places_of(items, i)
    sides[:] = 1
    for r in range(places.size):
        sides[places[r]] = 0 if marks.size == 0 or marks[r] else 2


@kernel
def add_entries(
    rows: Floats, items: Items, weights: Values, by_column: Values, shape: Values, gradient: Floats
) -> float:
    """The weighted sum of phi over all known entries; adds its derivatives to ``gradient``.

    ``weights`` and ``by_column`` hold two factors for each row and each column: the weight of a
    relevant entry is the product of the first ones, of an irrelevant entry of the second ones.
    """
    total = 0.0
    sides = np.empty(rows.shape[1], np.int64)
    for i in range(rows.shape[0]):
        _sides(items, i, sides)
        for item in range(rows.shape[1]):
            side = sides[item]
            if side < 2:
                sign = 1.0 - 2.0 * side
                weight = weights[i, side] * by_column[item, side]
                value, slope = entry_loss(sign * rows[i, item], shape)
                total += weight * value
                gradient[i, item] += weight * sign * slope
    return total


@kernel
def add_entry_curvatures(
    rows: Floats, items: Items, weights: Values, by_column: Values, shape: Values, out: Floats
) -> float:
    """Add the weighted second derivatives, with weights as for ``add_entries``."""
    sides = np.empty(rows.shape[1], np.int64)
    for i in range(rows.shape[0]):
        _sides(items, i, sides)
        for item in range(rows.shape[1]):
            side = sides[item]
            if side < 2:
                weight = weights[i, side] * by_column[item, side]
                out[i, item] += weight * entry_curvature((1.0 - 2.0 * side) * rows[i, item], shape)
    return 0.0
