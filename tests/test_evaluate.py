"""limo.evaluate with sparse scores: absent ones are below all stored ones, and tied."""

import math

import numpy as np
import pytest
from scipy import sparse

import limo
from cases import cases

MEASURES = [*limo.MEASURES, "macro_average_precision", "precision_at_2", "recall_at_3", "ndcg_at_2"]


def sparse_cases(n, seed):
    """Labels, the stored scores as a CSR matrix and as an array with nan, predicted labels."""
    rng = np.random.default_rng(seed)
    for Y, S, P in cases(n, seed):
        stored = np.where(rng.random(S.shape) < rng.choice([0.1, 0.5, 0.9]), S, np.nan)
        places = np.nonzero(~np.isnan(stored))
        yield Y, sparse.csr_array((stored[places], places), shape=S.shape), stored, P


def assert_within(value, bounds):
    assert math.isnan(value) or bounds[0] - 1e-12 <= value <= bounds[1] + 1e-12


@pytest.mark.parametrize("conventions", list(limo.CONVENTIONS))
def test_absent_scores_are_low_and_tied(conventions):
    for Y, S, stored, P in sparse_cases(20, seed=31):
        found = limo.evaluate(Y, S, P, measures=MEASURES, conventions=conventions)
        low = np.where(np.isnan(stored), -7.0, stored)
        expected = limo.evaluate(Y, low, P, measures=MEASURES, conventions=conventions)
        np.testing.assert_equal(dict(found), dict(expected))
        np.testing.assert_equal(found.blind, expected.blind)
        assert found.n_absent == (Y * np.isnan(stored)).sum()
        for view, summary in expected.margins.items():
            np.testing.assert_equal(np.sign(found.margins[view].margins), np.sign(summary.margins))
            assert found.margins[view].tied_share == summary.tied_share or not summary.pairs


@pytest.mark.parametrize("conventions", ["standard", "paper"])
def test_the_bounds_hold_for_any_order_of_absent_scores(conventions):
    rng = np.random.default_rng(32)
    reached = dict.fromkeys(MEASURES, 0)
    for Y, S, stored, P in sparse_cases(20, seed=32):
        found = limo.evaluate(Y, S, P, measures=MEASURES, conventions=conventions)
        assert bool(found.bounds) == (found.n_absent > 0)
        for k in range(6):
            # the relevant ones first or last, or anything with ties
            order = (
                [Y - 9.0, -Y - 9.0 - rng.random(Y.shape)][k]
                if k < 2
                else (-9.0 - rng.integers(0, 3, Y.shape))
            )
            whole = limo.evaluate(
                Y, np.where(np.isnan(stored), order, stored), P, measures=MEASURES,
                conventions=conventions,
            )  # fmt: skip
            for name, bounds in found.bounds.items():
                assert_within(whole[name], bounds)
                reached[name] += any(abs(whole[name] - end) < 1e-12 for end in bounds)
    assert all(reached[name] for name in MEASURES if limo.MEASURES[name].needs == "scores")


@pytest.mark.parametrize("method", ["keep", "two-pass"])
def test_in_blocks(method, tmp_path):
    for Y, S, _, P in sparse_cases(15, seed=33):
        evaluator = limo.Evaluator(method, measures=MEASURES)
        half = len(Y) // 2
        for k in range(1 if method == "keep" else 2):
            for i in (slice(half, None), slice(0, half)):
                evaluator.update(Y[i], S[i], P[i])
            if k == 0 and method == "two-pass":
                evaluator.second_pass()
        evaluator.save(tmp_path / "state.npz")
        found = limo.Evaluator.load(tmp_path / "state.npz").compute()
        assert found.to_json() == limo.evaluate(Y, S, P, measures=MEASURES).to_json()


def test_one_function_and_the_sentences():
    Y = [[1, 0, 1], [0, 1, 0]]
    S = sparse.csr_array(([0.9, 0.5, 0.3], ([0, 0, 1], [0, 1, 0])), shape=(2, 3))
    found = limo.evaluate(Y, S)
    # label 2 of the first instance has no score; nor has the only label of the second
    assert found["ranking_loss"] == pytest.approx((1 / 2 + 2 / 2) / 2)
    assert found.bounds["ranking_loss"] == (pytest.approx((1 / 2 + 1 / 2) / 2), 0.75)
    assert "2 relevant labels without a score" in str(found)
    assert "0.5000 and 0.7500" in str(found)
    assert found.to_json().count("lower_bound") == 7
    assert limo.ranking_loss(Y, S) == found["ranking_loss"]
    assert limo.effectiveness(Y, S) == found.effectiveness
    assert limo.label_wise_margin(Y, S).tolist() == [-math.inf, -math.inf]
    assert limo.entry_wise_margin(Y, S) == -math.inf
    assert limo.guarantees(found)["ranking_loss"].value == pytest.approx(0.75)
    assert limo.explain(found)


@pytest.mark.slow
def test_many_labels_are_never_dense():
    rng = np.random.default_rng(34)
    shape = (300, 3_000_000)  # 7 GB as an array
    columns = rng.integers(0, shape[1], (300, 5))
    S = sparse.csr_array((rng.random(1500), (np.repeat(np.arange(300), 5), columns.ravel())), shape)
    Y = sparse.csr_array((np.ones(300), (np.arange(300), columns[:, 0])), shape)
    found = limo.evaluate(Y, S, measures=["precision_at_5", "micro_auc", "instance_auc"])
    assert found["precision_at_5"] == 0.2
    assert found.n_absent == 0


def test_what_sparse_scores_cannot_do():
    S = sparse.csr_array([[0.9, 0.5]])
    with pytest.raises(ValueError, match="'log_loss' needs the score of every label"):
        limo.evaluate([[1, 0]], S, measures=["log_loss"])
    assert "log_loss" not in limo.evaluate([[1, 0]], S, measures="all")
    with pytest.raises(ValueError, match="Intervals need dense scores"):
        limo.evaluate([[1, 0]], S, intervals=0.95)
    with pytest.raises(ValueError, match="cannot be used with missing labels or sample_weight"):
        limo.evaluate([[1, 0]], S, sample_weight=[2.0])
    with pytest.raises(ValueError, match="expected \\(1, 3\\), got \\(1, 2\\)"):
        limo.evaluate([[1, 0, 0]], S)
    S.data[0] = math.inf
    with pytest.raises(ValueError, match="found inf at row 0, column 0. Leave such an entry out"):
        limo.evaluate([[1, 0]], S)
    evaluator = limo.Evaluator().update([[1, 0]], sparse.csr_array([[0.9, 0.5]]))
    with pytest.raises(ValueError, match="Either every block has sparse scores or none"):
        evaluator.update([[1, 0]], [[0.9, 0.5]])
