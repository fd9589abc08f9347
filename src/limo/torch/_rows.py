"""Losses of the rows of a batch, each with its derivative, as functions that torch differentiates.

The functions of :class:`Sides` return one value per row, 0 for rows without pairs, and the
derivative of that value by each score. The formulas of top, bottom and worst are in
``limo._kernels.soft``. Derivatives are computed together with the values, block by block, which
costs less time and memory than automatic differentiation through masks and log-sum-exps.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from limo._kernels.losses import mean_pairs
from limo._system import at_most, workers
from limo.losses._term import Term, base_of

try:
    # _loss imports torch from here, so that a missing library gives the error below
    import torch as torch
    from torch.autograd.function import once_differentiable
    from torch.nn import functional
except ImportError as error:
    raise ImportError(
        "limo.torch needs PyTorch, which is not installed. Install it with "
        "pip install 'limo-ml[torch]'."
    ) from error

Tensor = Any
Found = tuple[Tensor, Tensor]

# On the CPU, so many scores are computed at once: what is computed in between stays in the cache.
_BLOCK = 1 << 16


@dataclass(frozen=True, eq=False)
class Sides:
    """Scores, and which of them are relevant and irrelevant; others are left out.

    Attributes
    ----------
    scores : tensor of shape (n_samples, n_labels)
        The scores; 0 where they are left out.
    relevant, irrelevant : tensors of the shape and type of the scores
        The two masks, 0 or 1. Products with them are several times faster than selecting.
    dim : int
        The dimension along which the items of a row lie.
    """

    scores: Tensor
    relevant: Tensor
    irrelevant: Tensor
    dim: int

    @classmethod
    def of(cls, scores: Tensor, target: Tensor, mask: Tensor | None, dim: int) -> "Sides":
        """Check the labels, and leave out what the mask does not hold, even if it is nan."""
        if mask is not None:
            scores, target = scores.masked_fill(~mask, 0.0), target.masked_fill(~mask, 0)
        relevant = _checked(target.to(scores.dtype))
        irrelevant = 1.0 - relevant if mask is None else mask.to(scores.dtype) - relevant
        return cls(scores, relevant, irrelevant, dim)

    @property
    def negated(self) -> "Sides":
        """The same rows with the sides exchanged and all signs reversed."""
        return Sides(-self.scores, self.irrelevant, self.relevant, self.dim)

    @cached_property
    def p(self) -> Tensor:
        """How many relevant items each row has; ``dim`` is kept, with size 1."""
        return self.relevant.sum(self.dim, keepdim=True)

    @cached_property
    def n(self) -> Tensor:
        """How many irrelevant items each row has; ``dim`` is kept, with size 1."""
        return self.irrelevant.sum(self.dim, keepdim=True)


def _checked(target: Tensor) -> Tensor:
    """The labels, if all are 0 or 1."""
    if target.numel() and (target * target).sub_(target).abs_().amax() != 0:
        raise ValueError(
            "target must hold only 0 and 1 where labels are known. Labels coded -1/+1 become "
            "0/1 with (target > 0); unknown labels need a mask."
        )
    return target


class RowLosses(torch.autograd.Function):  # type: ignore[misc]
    """The loss of each row, and its numbers of relevant and irrelevant items."""

    @staticmethod
    def forward(
        ctx: Any, scores: Tensor, target: Tensor, mask: Tensor | None, term: Term, dim: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Compute values and derivatives; rows lie along ``dim``."""
        numbers, slopes = _losses(scores, target, mask, term, dim)
        ctx.save_for_backward(scores, target, mask)
        ctx.slopes, ctx.term, ctx.dim = slopes if ctx.needs_input_grad[0] else None, term, dim
        values, p, n = numbers
        ctx.mark_non_differentiable(p, n)
        return values, p, n

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, weights: Tensor, *_: Any) -> tuple[Tensor, None, None, None, None]:
        """The derivatives, weighted.

        Those computed before become the gradient, without a copy. They are computed again if this
        is not the first time, which only happens if the graph is retained.
        """
        scores, target, mask = ctx.saved_tensors  # torch's error if the graph was not retained
        slopes, ctx.slopes = ctx.slopes, None
        if slopes is None:
            slopes = _losses(scores, target, mask, ctx.term, ctx.dim)[1]
        return slopes.mul_(weights.unsqueeze(ctx.dim)), None, None, None, None


def _losses(
    scores: Tensor, target: Tensor, mask: Tensor | None, term: Term, dim: int
) -> tuple[Tensor, Tensor]:
    """Three lines (values, and numbers of items of both kinds), and the derivatives."""
    numbers, slopes = scores.new_zeros(3, scores.shape[1 - dim]), torch.empty_like(scores)
    work = _work_of(term)

    def compute(start: int, size: int) -> None:
        own = scores.narrow(1 - dim, start, size), target.narrow(1 - dim, start, size)
        known = None if mask is None else mask.narrow(1 - dim, start, size)
        lines, derivatives = work(*own, known, dim)
        slopes.narrow(1 - dim, start, size).copy_(derivatives)
        torch.stack(lines, out=numbers.narrow(1, start, size))

    if scores.numel():
        _in_blocks(compute, scores, dim, share=term.aggregation == "mean")
    return numbers, slopes


def _in_blocks(
    compute: Callable[[int, int], None], scores: Tensor, dim: int, *, share: bool
) -> None:
    """Compute blocks of rows; in threads if they are to be shared, because torch does not do it."""
    n_rows = scores.shape[1 - dim]
    size = n_rows
    if scores.device.type == "cpu":
        size = max(1, _BLOCK // scores.shape[dim])
    starts = range(0, n_rows, size)
    sizes = [min(size, n_rows - start) for start in starts]
    with at_most(torch.get_num_threads()), workers(enough=share and len(starts) > 1) as run:
        for _ in run(lambda block: compute(*block), zip(starts, sizes, strict=True)):
            pass


def _work_of(term: Term) -> Callable[..., tuple[tuple[Tensor, ...], Tensor]]:
    """A function of scores, labels, mask and dim: the three lines of rows, and the derivatives."""
    if term.aggregation == "mean":
        return lambda scores, target, mask, dim: _mean(scores, target, mask, dim, term)
    formulas: dict[str, Callable[[Sides], Found]] = {
        "top": _top,
        "bottom": _bottom,
        "worst": _worst,
        "pointwise": lambda sides: _pointwise(sides, term),
    }

    def work(*batch: Any) -> tuple[tuple[Tensor, ...], Tensor]:
        sides = Sides.of(*batch)
        values, slopes = formulas[term.aggregation](sides)
        return (values, sides.p.squeeze(sides.dim), sides.n.squeeze(sides.dim)), slopes

    return work


# Log-sum-exps


def _softplus(z: Tensor) -> Tensor:
    """log(1 + exp(z)); torch's own is the identity from 20 on, which is off by 2e-9."""
    return functional.logsigmoid(-z).neg_()


def _level(scores: Tensor, mask: Tensor, dim: int) -> Found:
    """The log-sum-exp of the scores in the mask, and the share of each score in the sum.

    Scores outside are lowered by so much that their share is 0. In a row without scores in the
    mask, the level is so low that everything computed from it becomes 0.
    """
    far = torch.finfo(scores.dtype).max / 4
    kept = torch.add(scores, mask - 1.0, alpha=far)
    shares = torch.softmax(kept, dim)
    highest = shares.amax(dim, keepdim=True)
    return kept.amax(dim, keepdim=True) - highest.log(), shares


def _top(sides: Sides) -> Found:
    """Mean over the relevant scores of softplus(level of the irrelevant ones - score)."""
    dim, weights = sides.dim, sides.relevant / sides.p.clamp(min=1.0)
    level, shares = _level(sides.scores, sides.irrelevant, dim)
    z = level - sides.scores
    values = _softplus(z).mul_(weights).sum(dim)
    pulls = z.sigmoid_().mul_(weights)
    return values, shares.mul_(pulls.sum(dim, keepdim=True)).sub_(pulls)


def _bottom(sides: Sides) -> Found:
    """Top with the sides exchanged and all signs reversed."""
    values, slopes = _top(sides.negated)
    return values, slopes.neg_()


def _worst(sides: Sides) -> Found:
    """Softplus of the level of the irrelevant scores plus that of the negated relevant ones."""
    below, falling = _level(sides.scores, sides.irrelevant, sides.dim)
    above, rising = _level(-sides.scores, sides.relevant, sides.dim)
    z = below + above
    return _softplus(z).squeeze(sides.dim), falling.sub_(rising).mul_(z.sigmoid())


# Single entries


def _pointwise(sides: Sides, term: Term) -> Found:
    """The weighted sum of phi((2y - 1) score) over the items of a row."""
    sign, weights = 2.0 * sides.relevant - 1.0, _entry_weights(sides, term)
    z = sign * sides.scores
    if term.base == "logistic":
        phi, slopes = _softplus(-z), z.neg_().sigmoid_().neg_()
    else:
        short = (1.0 - z).clamp_(min=0.0)
        squared = term.base == "squared_hinge"
        phi = short.square() if squared else short
        slopes = -2.0 * short if squared else -(short > 0).to(short.dtype)
    return (phi * weights).sum(sides.dim), slopes.mul_(sign).mul_(weights)


def _entry_weights(sides: Sides, term: Term) -> Tensor:
    """The weight of each entry within its row."""
    if term.share == "uniform":
        return sides.relevant + sides.irrelevant
    p, n = sides.p.clamp(min=1.0), sides.n.clamp(min=1.0)
    up, down = (p * n, p * n) if term.share == "pairs" else (p, n)
    have_pairs = (sides.p * sides.n > 0).to(p.dtype)
    return sides.relevant * (have_pairs / up) + sides.irrelevant * (have_pairs / down)


# Means over pairs


def _mean(
    scores: Tensor, target: Tensor, mask: Tensor | None, dim: int, term: Term
) -> tuple[tuple[Tensor, ...], Tensor]:
    """The mean of phi over the pairs of a row, by limo's compiled loops or, elsewhere, by sorts."""
    if mask is not None:
        scores, target = scores.masked_fill(~mask, 0.0), target.masked_fill(~mask, 0)
    relevant = target if target.dtype == torch.bool else _checked(target).bool()
    irrelevant = ~relevant if mask is None else mask & ~relevant
    mean = compiled_mean if scores.device.type == "cpu" else sorted_mean
    S, up, down = (x.movedim(dim, -1).contiguous() for x in (scores, relevant, irrelevant))
    values, slopes = mean(S, up, down, term)
    p, n = (side.sum(-1, dtype=scores.dtype) for side in (up, down))
    return (values, p, n), slopes.movedim(-1, dim)


def compiled_mean(scores: Tensor, relevant: Tensor, irrelevant: Tensor, term: Term) -> Found:
    """On the CPU, in one thread."""
    values, slopes = scores.new_empty(len(scores)), torch.empty_like(scores)
    given = (scores.detach().numpy(), relevant.numpy(), irrelevant.numpy())
    mean_pairs(*given, base_of(term).shape, values.numpy(), slopes.numpy())
    return values, slopes


def sorted_mean(scores: Tensor, relevant: Tensor, irrelevant: Tensor, term: Term) -> Found:
    """On any device, by two sorts and two searches per row.

    An irrelevant score with c = score + 1 forms pairs with the k relevant scores below c, and a
    relevant score with all c above it; running sums give the losses and slopes of all of these.
    """
    # Only differences matter, and small numbers have small rounding errors. A whole number is
    # subtracted, so that scores exactly at the corner of the hinge stay there.
    scores = scores - scores.mean(-1, keepdim=True).round_()
    c = scores + 1.0
    low = scores.masked_fill(~relevant, math.inf).sort(-1).values
    high = c.masked_fill(~irrelevant, -math.inf).sort(-1).values
    k = torch.searchsorted(low, c)
    j = torch.searchsorted(high, scores, right=True)
    low, high = low.masked_fill_(low == math.inf, 0.0), high.masked_fill_(high == -math.inf, 0.0)
    sums, acting = _running(low).gather(-1, k), high.sum(-1, keepdim=True)
    acting = acting - _running(high).gather(-1, j)
    n_acting = (scores.shape[-1] - j).to(scores.dtype)
    if term.base == "squared_hinge":
        squares = _running(low.square()).gather(-1, k)
        losses = (k * c - 2.0 * sums).mul_(c).add_(squares)
        by_irrelevant, by_relevant = 2.0 * (k * c - sums), 2.0 * (n_acting * scores - acting)
    else:
        losses = k * c - sums
        by_irrelevant, by_relevant = k.to(scores.dtype), -n_acting
    pairs = relevant.sum(-1, dtype=scores.dtype) * irrelevant.sum(-1, dtype=scores.dtype)
    share = pairs.clamp_(min=1.0).reciprocal_()
    slopes = torch.where(relevant, by_relevant, by_irrelevant.masked_fill(~irrelevant, 0.0))
    values = losses.masked_fill_(~irrelevant, 0.0).sum(-1).clamp_(min=0.0)
    return values * share, slopes * share.unsqueeze(-1)


def _running(values: Tensor) -> Tensor:
    """Sums of the first 0, 1, 2, ... values of each row."""
    return functional.pad(values.cumsum(-1), (1, 0))
