"""Thresholds from scores in blocks equal those of the whole matrix."""

import numpy as np
import pytest

import limo
from limo._views import Pattern
from limo.thresholds._spread import (
    Ordered,
    Sample,
    fit_to_gaps,
    fit_to_samples,
    gaps_of,
    view_of,
)


def pattern(Y):
    return Pattern.from_flat(np.flatnonzero(Y), Y.shape)


def in_blocks(rule, Y, S, cuts):
    blocks = [(pattern(y), s) for y, s in zip(np.split(Y, cuts), np.split(S, cuts), strict=True)]
    labels = [y.indices for y, _ in blocks]
    scores = [s.reshape(-1)[y.flat] for y, s in blocks]
    known = Ordered.of(view_of(rule).name, labels, scores, Y.shape[1])
    gaps = [gaps_of(s, y, known) for y, s in blocks]
    total = gaps[0]
    for one in gaps[1:]:
        total = total.plus(one)
    return fit_to_gaps(rule, known, total, len(Y))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("cuts", [[], [1, 20], [30]], ids=str)
def test_any_partition_gives_the_thresholds_of_the_whole(seed, cuts):
    """With ties, labels that no instance has, and labels that all have."""
    rng = np.random.default_rng(seed)
    Y, S = (rng.random((40, 4)) < 0.3).astype(int), rng.integers(-6, 6, (40, 4)) / 4
    Y[:, 0], Y[:, 1] = 0, 1
    for rule in (
        limo.GlobalThreshold(),
        limo.LabelThreshold(),
        limo.LabelThreshold("hamming_loss", shrinkage=0),
        limo.GlobalThreshold(limo.thresholds.f_beta(2.0)),
    ):
        expected, found = rule.fit(Y, S), in_blocks(rule, Y, S, cuts)
        np.testing.assert_allclose(
            getattr(found, "threshold_", getattr(found, "thresholds_", None)),
            getattr(expected, "threshold_", getattr(expected, "thresholds_", None)),
            atol=1e-12,
        )
        np.testing.assert_array_equal(found.predict(S), expected.predict(S))


def test_other_rules_need_a_sample():
    assert view_of(limo.GlobalThreshold("macro_f1")) is None
    assert view_of(limo.LabelThreshold("micro_f1")) is None
    assert view_of(limo.TopK()) is None
    Y, S = np.array([[1, 0], [0, 1]]), np.array([[0.75, 0.25], [0.5, 1.0]])
    samples = [Sample(None, pattern(Y[k : k + 1]), S[k : k + 1]) for k in (0, 1)]
    assert fit_to_samples(limo.TopK(), samples, None).k_ == 1
