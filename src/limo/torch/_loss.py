"""A loss of limo as a PyTorch module."""

from collections.abc import Iterable

from limo._settings import check_name
from limo._views import VIEWS
from limo.losses._term import Term, check_terms
from limo.torch._rows import RowLosses, Tensor, torch

_REDUCTIONS = ("mean", "sum", "none")
_HALVES = (torch.float16, torch.bfloat16)


class MarginLoss(torch.nn.Module):  # type: ignore[misc]
    """Any loss of :mod:`limo.losses`, exact within the batch, for training networks.

    Instances are the rows of the batch and labels its columns. Nothing of the size of all pairs is
    ever stored. Scores of half precision are computed with in single precision, also under
    autocast. A row without pairs, and a batch without rows, gives 0 and gradients of 0.

    Parameters
    ----------
    terms : Term, str, or sequence of these
        The terms of the loss, which are added. ``"rows top"`` is short for ``Term("rows", "top")``,
        ``"columns mean hinge"`` adds the base, and ``"pointwise"`` is binary cross-entropy. By
        default binary cross-entropy plus means over label pairs and over instance pairs.
    reduction : {"mean", "sum", "none"}, default="mean"
        ``"mean"`` averages over the rows with pairs, as :func:`limo.losses.loss` does; terms with
        the share ``"uniform"`` average over all pairs or entries. ``"sum"`` does not divide by
        their number. ``"none"`` gives the parts of that sum: one value per instance, label, or
        matrix; all terms must then have the same view.

    Examples
    --------
    >>> import torch
    >>> from limo.torch import MarginLoss
    >>> scores = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True)
    >>> labels = torch.tensor([[1, 0, 0], [0, 0, 0]])
    >>> loss = MarginLoss("rows worst")(scores, labels)
    >>> print(f"{loss.item():.4f}")  # log 3; the second row has no pairs
    1.0986
    >>> loss.backward()
    >>> print(scores.grad[0].numpy().round(4))
    [-0.6667  0.3333  0.3333]
    """

    __module__ = "limo.torch"  # the public name

    def __init__(
        self,
        terms: Term | str | Iterable[Term | str] = ("pointwise", "rows mean", "columns mean"),
        *,
        reduction: str = "mean",
    ) -> None:
        super().__init__()
        self.terms = check_terms(terms)
        self.reduction = check_name(reduction, _REDUCTIONS, "reduction")
        views = sorted({term.view for term in self.terms})
        if reduction == "none" and len(views) > 1:
            raise ValueError(
                "With reduction='none' all terms must have the same view, because each row of the "
                f"view gets a value: got {' and '.join(views)}. Use one MarginLoss for each."
            )

    def forward(self, input: Tensor, target: Tensor, mask: Tensor | None = None) -> Tensor:
        """The loss of a batch.

        Parameters
        ----------
        input : tensor of shape (n_samples, n_labels)
            Scores (logits).
        target : tensor of shape (n_samples, n_labels)
            Labels, 0 or 1, of any type.
        mask : bool tensor of shape (n_samples, n_labels), optional
            True where a label is known. All other entries are left out, whatever they hold.

        Returns
        -------
        tensor
            One number, unless ``reduction="none"``.
        """
        _check_batch(input, target, mask)
        with torch.autocast(input.device.type, enabled=False):
            scores = input.float() if input.dtype in _HALVES else input
            values = [self._value(term, scores, target, mask) for term in self.terms]
        return sum(values[1:], start=values[0])

    def extra_repr(self) -> str:
        """The terms and the reduction, as ``print(model)`` shows them."""
        lines = [*map(repr, self.terms), f"reduction={self.reduction!r}"]
        return ",\n".join(lines)

    def _value(self, term: Term, *batch: Tensor) -> Tensor:
        """The value of one term, reduced."""
        axis = VIEWS[term.view].axis
        if axis is None:
            batch = tuple(None if part is None else part.reshape(1, -1) for part in batch)
        values, p, n = RowLosses.apply(*batch, term, 1 if axis is None else axis)
        pairs = p * n
        count = (pairs > 0).sum()
        if term.share == "uniform" and term.aggregation == "mean":
            values, count = values * pairs, pairs.sum()
        elif term.share == "uniform":
            count = (p + n).sum()
        values = term.weight * values
        if self.reduction == "none":
            return values
        return values.sum() / count.clamp(min=1) if self.reduction == "mean" else values.sum()


def _check_batch(input: Tensor, target: Tensor, mask: Tensor | None) -> None:
    """Reject tensors that do not fit together."""
    if input.dim() != 2:
        raise ValueError(
            f"input must have two dimensions, instances x labels, got shape {tuple(input.shape)}. "
            "Other dimensions can be joined with flatten."
        )
    if not input.is_floating_point():
        raise ValueError(f"input must hold scores, which are floats, got {input.dtype}.")
    for name, other in (("target", target), ("mask", mask)):
        if other is not None and other.shape != input.shape:
            raise ValueError(
                f"{name} must have the shape of input: expected {tuple(input.shape)}, got "
                f"{tuple(other.shape)}."
            )
    if mask is not None and mask.dtype != torch.bool:
        raise ValueError(
            f"mask must be a bool tensor, True where a label is known, got {mask.dtype}. "
            "Convert it with mask.bool()."
        )
