import numpy as np
import pytest

import limo
from cases import cases, effective_case
from naive import margins as naive


@pytest.mark.parametrize("by", ["instance", "label", "global"])
def test_threshold_error_equals_its_twin(by):
    rng = np.random.default_rng(25)
    for Y, S, _ in cases(200, seed=26):
        A, B = {"instance": (Y, S), "label": (Y.T, S.T)}.get(
            by, (Y.reshape(1, -1), S.reshape(1, -1))
        )
        t = rng.choice([-1.0, -0.75, 0.1, 100.0], size=len(A))
        expected = [naive.threshold_error_row(y, s, c) for y, s, c in zip(A, B, t, strict=True)]
        assert limo.threshold_error(Y, S, t, by=by).tolist() == expected
        same = limo.threshold_error(Y, S, 0.1, by=by).tolist()
        assert same == [naive.threshold_error_row(y, s, 0.1) for y, s in zip(A, B, strict=True)]


def shifted_thresholds(rng, Y, S):
    """Thresholds off by a few items, here and there by more than there are relevant ones."""
    ordered = np.sort(S, axis=1)
    place = rng.integers(0, S.shape[1] + 1, size=len(S))
    low = ordered[:, :1] - 1
    return np.take_along_axis(np.hstack([low, ordered]), place[:, None], axis=1)[:, 0]


@pytest.mark.parametrize("by", ["instance", "label", "global"])
def test_bounds_hold_for_effective_predictors(by):
    rng = np.random.default_rng(28)
    kind = {"instance": "label-wise", "label": "instance-wise", "global": "entry-wise"}[by]
    tight = 0
    for _ in range(300):
        Y, S = effective_case(rng, kind, constant=True)
        if by == "instance":
            t = shifted_thresholds(rng, Y, S)
            P = t[:, None] < S
        elif by == "label":
            t = shifted_thresholds(rng, Y.T, S.T)
            P = t < S
        else:
            t = shifted_thresholds(rng, Y.reshape(1, -1), S.reshape(1, -1))
            P = t[0] < S
        error = limo.threshold_error(Y, S, t, by=by)
        bounds = limo.threshold_bounds(Y, error, by=by)
        found = limo.evaluate(Y, y_pred=P.astype(int))
        assert found["hamming_loss"] <= bounds["hamming_loss"] + 1e-12
        for name in set(bounds) - {"hamming_loss"}:
            assert found[name] >= bounds[name] - 1e-12
            tight += found[name] == pytest.approx(bounds[name])
    assert tight > 0


def test_bounds_by_hand():
    """p = 1, 3 and errors 0, 2: rows 1 and 2/(2+2), micro 2*2/(2*2+2), Hamming 2/8."""
    found = limo.threshold_bounds([[1, 0, 0, 0], [1, 1, 1, 0]], [0, 2])
    assert found == pytest.approx({"instance_f1": 0.75, "micro_f1": 2 / 3, "hamming_loss": 0.25})


def test_wrong_thresholds_and_errors_are_refused():
    Y, S = [[1, 0], [0, 1]], [[0.5, 0.25], [0.5, 1.0]]
    with pytest.raises(
        ValueError, match=r"one for each instance: expected shape \(2,\), got \(3,\)"
    ):
        limo.threshold_error(Y, S, [1, 2, 3])
    with pytest.raises(ValueError, match="Unknown kind of threshold 'labl'. Did you mean 'label'"):
        limo.threshold_error(Y, S, 0.5, by="labl")
    with pytest.raises(ValueError, match="expected 2 whole numbers from 0 up, got float64"):
        limo.threshold_bounds(Y, [0.5, 1.0])
    with pytest.raises(ValueError, match="expected 2 whole numbers from 0 up"):
        limo.threshold_bounds(Y, [-1, 1])
    with pytest.raises(ValueError, match="Unknown kind of threshold"):
        limo.threshold_bounds(Y, [0, 1], by="rows")
