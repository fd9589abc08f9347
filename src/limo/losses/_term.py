"""The terms of a loss, and the weights that labels give to their rows and entries."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from limo._settings import check_name, check_number
from limo._types import Anything, Values, check_kind
from limo._views import COLUMNS, ROWS, VIEWS, Pattern

# The bases and the ways to share the weight that each aggregation allows; defaults come first.
_BASES = {
    "mean": ("squared_hinge", "hinge"),
    "top": ("logistic",),
    "bottom": ("logistic",),
    "worst": ("logistic",),
    "pointwise": ("logistic", "hinge", "squared_hinge"),
}
_SHARES = {
    "mean": ("measure", "uniform"),
    "top": ("measure",),
    "bottom": ("measure",),
    "worst": ("measure",),
    "pointwise": ("balanced", "pairs", "uniform"),
}
_WHY = {
    "mean": "Its sum over all pairs is computed by sorting, which needs a parabola or a line.",
    "top": "It is a log-sum-exp.",
    "bottom": "It is a log-sum-exp.",
    "worst": "It is a log-sum-exp.",
}


@dataclass(frozen=True)
class Term:
    """One term of a loss: which pairs, how they are added up, with which base and weight.

    Parameters
    ----------
    view : {"rows", "columns", "entries"}, default="rows"
        What a row is: an instance with its labels, a label with its instances, or the whole matrix.
    aggregation : {"mean", "top", "bottom", "worst", "pointwise"}, default="mean"
        How the loss of a row is added up, as :mod:`limo.losses` lists them.
    base : {"squared_hinge", "hinge", "logistic"}, optional
        phi. ``"squared_hinge"`` (default) or ``"hinge"`` for the mean; ``"logistic"`` for top,
        bottom and worst; ``"logistic"`` (default) or any other for pointwise terms, where
        phi(z) is log(1 + exp(-z)), max(0, 1 - z) or its square.
    weight : float, default=1
        The weight of the term, not negative.
    share : {"measure", "uniform", "balanced", "pairs"}, optional
        How the weight is divided. ``"measure"`` (default for pairs): every row with pairs weighs
        the same, as in the measures. ``"uniform"``: every pair (mean only) or every entry
        (pointwise in the view ``"entries"``, where it is the default) weighs the same. For
        pointwise terms, also ``"balanced"`` (default for rows and columns): 1/p for relevant and
        1/n for irrelevant items of a row, and ``"pairs"``: 1/(pn) for both; rows without pairs
        then count nothing, and the others the same.

    Examples
    --------
    >>> from limo.losses import Term
    >>> Term("rows", "top")
    Term(view='rows', aggregation='top', base='logistic', weight=1.0, share='measure')
    >>> Term("entries", "pointwise").share
    'uniform'
    >>> Term("rows", "mean", base="logistic")
    Traceback (most recent call last):
        ...
    ValueError: A term "mean" cannot have the base 'logistic', only: squared_hinge, hinge. Its sum
    over all pairs is computed by sorting, which needs a parabola or a line.
    """

    __module__ = "limo.losses"  # the public name, which model files contain

    view: str = "rows"
    aggregation: str = "mean"
    base: str = ""
    weight: float = 1.0
    share: str = ""

    def __post_init__(self) -> None:
        check_name(self.view, VIEWS, "view")
        check_name(self.aggregation, _BASES, "aggregation")
        check_number(self.weight, "The weight of a term", least=0)
        check_kind(self.base, str, "base must be the name of a base loss")
        check_kind(self.share, str, "share must be the name of a share")
        uniform = self.aggregation == "pointwise" and self.view == "entries"
        object.__setattr__(self, "base", self.base or _BASES[self.aggregation][0])
        first = "uniform" if uniform else _SHARES[self.aggregation][0]
        object.__setattr__(self, "share", self.share or first)
        check_name(self.base, _BASES["pointwise"], "base loss")
        check_name(self.share, ("measure", "uniform", "balanced", "pairs"), "share")
        self._check_combination()

    def _check_combination(self) -> None:
        bases, shares = _BASES[self.aggregation], _SHARES[self.aggregation]
        if self.base not in bases:
            raise ValueError(
                f'A term "{self.aggregation}" cannot have the base {self.base!r}, only: '
                f"{', '.join(bases)}. {_WHY[self.aggregation]}"
            )
        if self.share not in shares:
            raise ValueError(
                f'A term "{self.aggregation}" cannot have the share {self.share!r}, only: '
                f"{', '.join(shares)}."
            )
        if self.aggregation == "pointwise" and self.share == "uniform" and self.view != "entries":
            raise ValueError(
                'A pointwise term with the share "uniform" weighs all entries alike, whatever the '
                f'view: give it the view "entries", got {self.view!r}.'
            )

    def __str__(self) -> str:
        """Its weight, view and aggregation, and what else differs from the default."""
        default = Term(self.view, self.aggregation)
        parts = [self.view, self.aggregation]
        parts += [
            getattr(self, n) for n in ("base", "share") if getattr(self, n) != getattr(default, n)
        ]
        return " ".join([f"{self.weight:g}"] * (self.weight != 1) + parts)

    @property
    def is_smooth(self) -> bool:
        """Whether the gradient exists everywhere."""
        return self.base != "hinge"

    @property
    def route(self) -> str:
        """The view in which the term is computed; single entries are, row by row."""
        return "rows" if self.aggregation == "pointwise" else self.view


def check_terms(terms: Any) -> tuple[Term, ...]:
    """Check a term or several, records or names; at least one must have a weight."""
    several = (terms,) if isinstance(terms, Term | str) else terms
    check_kind(several, Iterable, "terms must be a list of limo.losses.Term")
    several = tuple(_named(term) if isinstance(term, str) else term for term in several)
    for term in several:
        if not isinstance(term, Term):
            raise ValueError(f"terms must be a list of limo.losses.Term, got {term!r} in it.")
    if not any(term.weight for term in several):
        raise ValueError(
            "terms must hold a term whose weight is above 0: otherwise there is no loss."
        )
    return several


def _named(name: str) -> Term:
    """The term that a name such as "rows top" or "columns mean hinge" stands for."""
    words = name.split()
    if words[:1] == ["pointwise"]:
        words.insert(0, "entries")
    if not 2 <= len(words) <= 3:
        raise ValueError(
            f"terms must be a list of limo.losses.Term, got {name!r} in it. A name consists of a "
            'view, an aggregation and optionally a base, such as "rows top".'
        )
    view, aggregation, *base = words
    return Term(view, aggregation, "".join(base))


# Base losses, as kernels take them


@dataclass(frozen=True)
class Base:
    """A loss of z = 1 - d: a parabola near 0, a line beyond, 0 below; or the logistic loss of d.

    phi(z) = curvature / 2 z^2 for 0 < z <= width, slope (z - width / 2) for z > width. Kernels read
    a curvature of -1 as the logistic loss.
    """

    curvature: float
    width: float
    slope: float

    def __call__(self, z: float) -> float:
        """The loss of a pair, or of an entry, whose z is 1 - d."""
        if self.curvature < 0:
            return float(np.logaddexp(0.0, z - 1.0))
        if z <= self.width:
            return 0.5 * self.curvature * max(z, 0.0) ** 2
        return self.slope * (z - 0.5 * self.width)

    @property
    def shape(self) -> Values:
        """The three numbers as kernels take them."""
        return np.array([self.curvature, self.width, self.slope])


def base_of(term: Term, width: float = 0.0) -> Base:
    """The base loss of a term; a ``width`` above 0 rounds the corner of the hinge.

    The rounded hinge is never above the hinge, and below it by at most half the width.
    """
    if term.base == "squared_hinge":
        return Base(curvature=2.0, width=math.inf, slope=0.0)
    if term.base == "logistic":
        return Base(curvature=-1.0, width=0.0, slope=0.0)
    return Base(curvature=1.0 / width if width else 0.0, width=width, slope=1.0)


# Weights


@dataclass(frozen=True, eq=False)
class Totals:
    """Totals that the weights of terms depend on; those of blocks of instances add up.

    Instances count as much as they weigh.

    Attributes
    ----------
    n_rows : int
        Instances.
    ones, items : array of shape (n_labels,)
        How many instances have each label, and of how many it is known.
    acting : float
        Instances with pairs of labels.
    pairs : float
        Their pairs.
    """

    n_rows: int
    ones: Values
    items: Values
    acting: float
    pairs: float

    @classmethod
    def of(cls, Y: Pattern) -> "Totals":
        """Count the labels of some instances."""
        relevant, irrelevant = _counts(ROWS.ones(Y), ROWS.n_items(Y))
        pairs = relevant * irrelevant
        weights = np.ones(Y.shape[0]) if Y.row_weights is None else Y.row_weights
        ones = COLUMNS.ones(Y).astype(np.float64)
        items = np.broadcast_to(COLUMNS.n_items(Y), ones.shape).astype(np.float64)
        return cls(Y.shape[0], ones, items, float(weights[pairs > 0].sum()), float(weights @ pairs))

    def __add__(self, other: "Totals") -> "Totals":
        return Totals(
            self.n_rows + other.n_rows,
            self.ones + other.ones,
            self.items + other.items,
            self.acting + other.acting,
            self.pairs + other.pairs,
        )

    def counts(self, view: str) -> Values:
        """The relevant and irrelevant items of each row of a view other than "rows"."""
        if view == "columns":
            return _counts(self.ones, self.items)
        return _counts(self.ones.sum(keepdims=True), self.items.sum(keepdims=True))


@dataclass(frozen=True, eq=False)
class Weighted:
    """A term with the weights that labels give it.

    Attributes
    ----------
    term : Term
        The term.
    weights : array
        The weight of each row of the term's view; for the mean, of each of its pairs. For a
        pointwise term two factors per instance, for its relevant and its irrelevant entries.
    by_column : array of shape (n_labels, 2)
        For a pointwise term, two factors per label, too.
    counts : array of shape (2, n_rows)
        The relevant and irrelevant items of each row of the view, or what they weigh.
    instances : array of shape (n_samples,)
        The weight of each instance.
    """

    term: Term
    weights: Values
    by_column: Values
    counts: Values
    instances: Values

    @classmethod
    def of(cls, term: Term, Y: Pattern, totals: Totals | None = None) -> "Weighted":
        """Divide the weight of a term among its rows, pairs or entries.

        ``totals`` are those of all instances, if ``Y`` are the labels of some of them.
        """
        view = VIEWS[term.view]
        if totals is None or term.view == "rows":
            counts = _counts(view.ones(Y), view.n_items(Y))
        else:
            counts = totals.counts(term.view)
        whole = totals if term.view == "rows" else None
        by_column = np.ones((Y.shape[1], 2))
        own = np.ones(Y.shape[0]) if Y.row_weights is None else Y.row_weights
        rows = own if term.view == "rows" else np.ones(counts.shape[1])
        if term.aggregation != "pointwise":
            return cls(term, _row_weights(term, counts, rows, whole), by_column, counts, own)
        factors = _entry_weights(term, counts, rows, whole)
        weights = np.repeat(own[:, np.newaxis], 2, axis=1)
        if term.view == "columns":
            return cls(term, weights, factors, counts, own)
        return cls(
            term, factors if term.view == "rows" else weights * factors, by_column, counts, own
        )

    @property
    def matters(self) -> bool:
        """Whether any pair or entry has a weight."""
        return bool(self.weights.any() and self.by_column.any())

    def at_equal_scores(self, width: float = 0.0) -> float:
        """The value of the term where all scores are 0; ``width`` as for :func:`base_of`."""
        p, n = self.counts
        kind = self.term.aggregation
        if kind == "mean":
            return float(self.weights @ (p * n)) * base_of(self.term, width)(1.0)
        if kind == "pointwise":
            factors = {"rows": self.weights, "columns": self.by_column}.get(self.term.view)
            if factors is None:
                factors = self.weights.sum(axis=0) / self.instances.sum()
            return float((factors * self.counts.T).sum()) * base_of(self.term, width)(1.0)
        items = {"top": n, "bottom": p, "worst": p * n}[kind]
        return float(self.weights @ np.log1p(items))

    def curvatures(self, shape: tuple[int, int]) -> tuple[Values, Values]:
        """Second derivatives by each score where all scores are 0, of the given shape.

        Two factors for each instance and two for each label: for a relevant entry the second
        derivative is the product of the first ones, for an irrelevant entry of the second ones.
        The hinge, which has none, counts as a parabola. With instances of different weights, those
        of log-sum-exps are approximate.
        """
        if self.term.aggregation == "pointwise":
            base = {"logistic": 0.25, "squared_hinge": 2.0, "hinge": 1.0}[self.term.base]
            return base * self.weights, self.by_column
        by_row, by_column = (np.ones((size, 2)) for size in shape)
        pair_curvatures = _pair_curvatures(self.term, *self.counts) * self.weights[:, np.newaxis]
        if self.term.view == "columns":
            by_column *= pair_curvatures
        else:
            by_row *= pair_curvatures
        if self.term.view != "rows":
            by_row *= self.instances[:, np.newaxis]
        return by_row, by_column


def _pair_curvatures(term: Term, p: Values, n: Values) -> Values:
    """Second derivatives by a relevant and by an irrelevant score of rows whose scores are equal.

    For the mean, of a row whose pairs have weight 1. Rows without pairs are counted as if they had.
    """
    if term.aggregation == "mean":
        curvature = 2.0 if term.base == "squared_hinge" else 1.0
        return curvature * np.stack([n, p], axis=1)
    p, n = np.maximum(p, 1.0), np.maximum(n, 1.0)
    if term.aggregation == "worst":
        s = p * n / (1 + p * n)
        return np.stack([s / k * (1 - s / k) for k in (p, n)], axis=1)
    swapped = term.aggregation == "bottom"
    led, others = (n, p) if swapped else (p, n)
    s = others / (1 + others)
    of_led, of_others = s * (1 - s) / led, s / others * (1 - s / others)
    return np.stack([of_others, of_led] if swapped else [of_led, of_others], axis=1)


def _counts(ones: Anything, n_items: Any) -> Values:
    relevant = ones.astype(np.float64)
    return np.stack([relevant, n_items - relevant])


def _row_weights(term: Term, counts: Values, rows: Values, whole: Totals | None) -> Values:
    """The weight of each row, or for the mean of each of its pairs; 0 for rows without pairs.

    ``rows`` are the sample weights of the rows, 1 for labels. ``whole`` counts all rows, if these
    are some of them.
    """
    pairs = counts[0] * counts[1]
    exist = pairs > 0
    weights = np.zeros(pairs.size)
    own = rows[exist]
    acting = own.sum() if whole is None else whole.acting
    if term.aggregation != "mean":
        weights[exist] = term.weight * own / acting
    elif term.share == "measure":
        weights[exist] = term.weight * own / (acting * pairs[exist])
    elif exist.any():
        weights[exist] = term.weight * own / (own @ pairs[exist] if whole is None else whole.pairs)
    return weights


def _entry_weights(term: Term, counts: Values, rows: Values, whole: Totals | None) -> Values:
    """The weight of a relevant and of an irrelevant entry, for each row of the view.

    ``rows`` and ``whole`` are as for :func:`_row_weights`.
    """
    if term.share == "uniform":
        return np.full((1, 2), term.weight / counts.sum())
    exist = counts.min(axis=0) > 0
    p, n = counts[:, exist]
    weights = np.zeros((exist.size, 2))
    shares = [1 / (p * n)] * 2 if term.share == "pairs" else [1 / p, 1 / n]
    own = term.weight * rows[exist] / (rows[exist].sum() if whole is None else whole.acting)
    weights[exist] = np.stack(shares, axis=1) * own[:, np.newaxis]
    return weights
