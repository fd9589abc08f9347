"""Means over pairs of a batch, on both ways, against the sum over all pairs."""

import numpy as np
import pytest
import torch

from limo._kernels.losses import FEW
from limo.losses import Term
from limo.torch._rows import compiled_mean, sorted_mean
from naive import losses as naive


@pytest.mark.parametrize("mean", [compiled_mean, sorted_mean])
@pytest.mark.parametrize("base", ["hinge", "squared_hinge"])
def test_means_with_ties_and_on_both_sides_of_few(mean, base):
    """Scores are multiples of 1/4: many pairs lie exactly on the corner of the loss."""
    rng = np.random.default_rng(94)
    width = 2 * FEW + 40
    Y = rng.random((4, width)) < np.array([[0.02], [0.5], [0.98], [0.0]])
    S = rng.integers(-8, 8, Y.shape) / 4
    batch = torch.tensor(S), torch.tensor(Y), torch.tensor(~Y)
    values, slopes = mean(*batch, Term("rows", "mean", base))
    for i in range(4):
        value, expected, pairs = naive.row_pairs(Y[i], S[i], base)
        assert values[i].item() == pytest.approx(value / max(pairs, 1), abs=1e-9)
        np.testing.assert_allclose(slopes[i].numpy(), expected / max(pairs, 1), atol=1e-9)
