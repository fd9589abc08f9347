"""One pass over a stream: bounds that always contain the exact value."""

import math

import numpy as np
import pytest

import limo
from cases import times


def stream_case(rng):
    m, l = rng.integers(30, 90), rng.integers(1, 5)
    Y = (rng.random((m, l)) < rng.choice([0.1, 0.5])).astype(int)
    S = rng.normal(size=(m, l)) + rng.choice([0.0, 1.0, 5.0]) * Y
    if rng.random() < 0.5:
        S = S.round(int(rng.integers(0, 2)))  # ties
    if rng.random() < 0.3:
        S[m // 2 :] += 3.0  # the first rows say little about the others
    return Y, S.astype(rng.choice([np.float32, np.float64])), (S > 0.5).astype(int)


def streamed(Y, S, P, step, **options):
    evaluator = limo.StreamEvaluator(**options)
    for start in range(0, len(Y), step):
        rows = slice(start, start + step)
        evaluator.update(Y[rows], S[rows], None if P is None else P[rows])
    return evaluator.compute()


def check(rng, n, conventions):
    for k in range(n):
        Y, S, P = stream_case(rng)
        exact = limo.evaluate(Y, S, P, conventions=conventions)
        found = streamed(
            Y, S, P, int(rng.integers(1, 20)), bins=int(rng.integers(2, 8)), conventions=conventions,
            per_instance=k % 2 == 0,
        )  # fmt: skip
        for name, value in exact.items():
            if name in found.bounds:
                low, high = found.bounds[name]
                assert math.isnan(value) or low <= value <= high
                assert math.isnan(value) or low <= found[name] <= high
            else:
                assert found[name] == value or math.isnan(value)
        assert found.undefined == exact.undefined
        if k % 2 == 0:
            np.testing.assert_equal(found.per_instance["coverage"], exact.per_instance["coverage"])


@pytest.mark.parametrize("conventions", ["standard", "paper"])
def test_bounds_contain_the_exact_value(conventions):
    check(np.random.default_rng(1), 15, conventions)


@pytest.mark.slow
def test_bounds_contain_the_exact_value_in_many_cases():
    check(np.random.default_rng(2), times(400), "standard")


def test_close_bounds_from_many_bins():
    rng = np.random.default_rng(3)
    Y = (rng.random((30_000, 3)) < 0.1).astype(int)
    S = (rng.normal(size=Y.shape) + Y).astype(np.float32)
    found, exact = streamed(Y, S, None, 2000), limo.evaluate(Y, S)
    for name, (low, high) in found.bounds.items():
        assert low <= exact[name] <= high
        assert (high - low) / 2 < 1e-3
    assert set(found.bounds) == {"macro_auc", "micro_auc"}
    assert "between" in str(found)


def test_few_rows_and_few_values_are_exact():
    Y, S, P = stream_case(np.random.default_rng(4))
    assert dict(streamed(Y, S, P, 7)) == dict(limo.evaluate(Y, S, P))
    S = np.sign(S)
    found = streamed(Y, S, P, 7, bins=4)
    assert found["macro_auc"] == limo.evaluate(Y, S, P)["macro_auc"]


def test_missing_labels():
    rng = np.random.default_rng(5)
    Y, S, P = stream_case(rng)
    Y = np.where(rng.random(Y.shape) < 0.2, np.nan, Y)
    found = streamed(Y, S, P, 9, bins=4, missing=math.nan)
    exact = limo.evaluate(Y, S, P, missing=math.nan)
    assert found.n_missing == exact.n_missing
    assert found["macro_f1"] == exact["macro_f1"]
    low, high = found.bounds["macro_auc"]
    assert low <= exact["macro_auc"] <= high


def test_wrong_input():
    with pytest.raises(ValueError, match="'macro_average_precision' cannot be computed in one"):
        limo.StreamEvaluator(measures=["macro_average_precision"])
    with pytest.raises(ValueError, match="bins must be an integer from 2 up, got 1"):
        limo.StreamEvaluator(1)
    evaluator = limo.StreamEvaluator()
    with pytest.raises(ValueError, match="Nothing to evaluate"):
        evaluator.compute()
    with pytest.raises(ValueError, match="y_score is None"):
        evaluator.update([[1, 0]])
    evaluator.update([[1, 0]], [[0.5, 0.2]]).update(np.empty((0, 2)), np.empty((0, 2)))
    with pytest.raises(ValueError, match="expected 2 labels, got 3, without y_pred"):
        evaluator.update([[1, 0, 0]], [[0.5, 0.2, 0.1]])
    evaluator.reset()
    evaluator.update([[1, 0, 0]], [[0.5, 0.2, 0.1]])
