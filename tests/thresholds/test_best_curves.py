import numpy as np
import pytest

import limo
from cases import cases
from limo.thresholds import f1_curves
from naive import measures as naive


@pytest.mark.parametrize(("Y", "S", "P"), list(cases(25, 701)))
def test_every_point_is_the_measure_at_the_threshold(Y, S, P):
    for order in ("C", "F"):
        curves = f1_curves(Y, np.asarray(S, order=order), 9)
        assert (np.diff(curves.thresholds) > 0).all()
        for k, t in enumerate(curves.thresholds):
            labels = (np.asarray(S) > t).astype(int).tolist()
            for name in ("macro_f1", "instance_f1", "micro_f1"):
                expected = getattr(naive, name)(Y.tolist(), labels, "standard")
                assert getattr(curves, name)[k] == pytest.approx(expected, abs=1e-12)


def test_the_best_threshold_for_micro_f1_is_found_where_the_grid_holds_every_relevant_score():
    rng = np.random.default_rng(5)
    Y, S = (rng.random((30, 4)) < 0.3).astype(int), rng.random((30, 4))
    curves = f1_curves(Y, S, 400)
    best = limo.thresholds.best_global_threshold(Y, S)
    reached = limo.micro_f1(Y, (best < S).astype(int))
    assert curves.micro_f1.max() == pytest.approx(reached, abs=1e-12)


def test_blocks_add_up(monkeypatch):
    rng = np.random.default_rng(6)
    Y, S = (rng.random((50, 4)) < 0.3).astype(int), rng.random((50, 4)).astype(np.float32)
    whole = f1_curves(Y, S, 9)
    monkeypatch.setattr("limo._profiles._BLOCK_ITEMS", 28)
    monkeypatch.setattr("limo._profiles._LEAST_COLUMNS", 1)
    monkeypatch.setattr("limo.thresholds._best._CELLS", 20)
    in_parts = f1_curves(Y, S, 9)
    for name in ("thresholds", "macro_f1", "instance_f1", "micro_f1"):
        assert np.allclose(getattr(whole, name), getattr(in_parts, name), rtol=0, atol=1e-14)


def test_without_relevant_entries_there_is_one_point():
    curves = f1_curves([[0, 0]], [[0.25, 0.5]])
    assert curves.thresholds.tolist() == [0.0]
    assert curves.micro_f1.tolist() == [0.0]


def test_points_are_counted():
    with pytest.raises(ValueError, match="n_points must be at most 10000000, got 1000000"):
        f1_curves([[1, 0]], [[0.25, 0.5]], 10**30)
    with pytest.raises(ValueError, match="n_points must be a whole number from 0 up, got -1"):
        f1_curves([[1, 0]], [[0.25, 0.5]], -1)
    assert f1_curves([[1, 0]], [[0.25, 0.5]], 0).thresholds.size == 0
