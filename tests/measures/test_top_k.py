import math

import numpy as np
import pytest
from scipy import sparse

import limo
from cases import cases
from limo.measures import label_propensities, ndcg_at, precision_at, top_k_measures
from naive import top_k as naive


def test_against_the_definitions():
    rng = np.random.default_rng(0)
    for Y, S, _ in cases(60, seed=41):
        k, a, b = int(rng.integers(1, 7)), rng.uniform(0.1, 1), rng.uniform(0, 3)
        train = (rng.random((9, Y.shape[1])) < 0.4).astype(int)
        inverse = naive.inverse_propensities(train.tolist(), a, b)
        p = label_propensities(train, a, b)
        np.testing.assert_allclose(1 / p, inverse, rtol=1e-12)
        expected = naive.propensity_scored(Y, S.tolist(), k, inverse) | naive.macro(
            Y, S.tolist(), k
        )
        assert top_k_measures(Y, S, k, propensities=p) == pytest.approx(
            expected, abs=1e-9, nan_ok=True
        )
        stored = rng.random(S.shape) < 0.5
        few = sparse.csr_array((S[stored], np.nonzero(stored)), shape=S.shape)
        given = [
            [s if kept else None for s, kept in zip(*line, strict=True)]
            for line in zip(S.tolist(), stored, strict=True)
        ]
        expected = naive.propensity_scored(Y, given, k, inverse) | naive.macro(Y, given, k)
        assert top_k_measures(Y, few, k, propensities=p) == pytest.approx(
            expected, abs=1e-9, nan_ok=True
        )


def test_equal_propensities_give_precision_and_ndcg():
    """Without ties, and with k labels in every instance, nothing else is left."""
    rng = np.random.default_rng(1)
    S = rng.random((50, 9))
    Y = (np.argsort(np.argsort(rng.random(S.shape))) < 3).astype(int)
    found = top_k_measures(Y, S, 3, propensities=np.ones(9))
    whole = limo.evaluate(Y, S, measures=[precision_at(3), ndcg_at(3)])
    assert found["psp"] == pytest.approx(whole["precision_at_3"])
    assert found["psndcg"] == pytest.approx(whole["ndcg_at_3"])


def test_by_hand():
    # label 1 is rare: it counts 4 times as much
    found = top_k_measures([[1, 1], [1, 0]], [[0.9, 0.1], [0.2, 0.3]], 1, propensities=[1, 0.25])
    assert found["psp"] == 1 / 5
    assert found["macro_precision"] == 0.5
    assert found["coverage"] == 0.5
    assert set(top_k_measures([[1, 0]], [[0.5, 0.1]], 1)) == {
        "macro_precision",
        "macro_recall",
        "macro_f1",
        "coverage",
    }
    assert math.isnan(top_k_measures([[0]], [[0.5]], 1, propensities=[1])["psp"])


def test_wrong_input():
    with pytest.raises(ValueError, match="k must be an integer from 1 up, got 0"):
        top_k_measures([[1, 0]], [[0.5, 0.1]], 0)
    with pytest.raises(ValueError, match="one number for each of the 2 labels, got shape \\(3,\\)"):
        top_k_measures([[1, 0]], [[0.5, 0.1]], 1, propensities=[1, 1, 1])
    with pytest.raises(ValueError, match="finite numbers above 0"):
        top_k_measures([[1, 0]], [[0.5, 0.1]], 1, propensities=[1, 0])
    with pytest.raises(ValueError, match="b must be a number above -1"):
        label_propensities([[1, 0]], b=-3)
