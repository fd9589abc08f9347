"""Classifiers fitted block by block, compared with those fitted in memory."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

import limo
from limo._solvers.blocks import Local
from limo._solvers.parts import Block, Part
from limo.datasets import Shards
from limo.models._limo_average import Solving as Settings
from limo.models._limo_blocks import Fold, checked_block, chosen_of, fit_rule_over, solve_path

DATA = limo.datasets.figure1(200)
X, Y = np.asarray(DATA.X), np.asarray(DATA.Y)
SMALL = 2.0**-9  # MiB: blocks of fourteen instances


@pytest.fixture
def mapped(tmp_path):
    """Features as float32 and labels as int8, in files."""
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    np.save(tmp_path / "Y.npy", Y.astype(np.int8))
    return (np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in "XY")


def test_memory_mapped_arrays_give_the_same_weights(mapped):
    settings = {"entry_weight": 0.5, "tol": 1e-8, "threshold_measure": None}
    expected = limo.LIMOClassifier(**settings).fit(X.astype(np.float32), Y)
    found = limo.LIMOClassifier(**settings, working_memory=SMALL).fit(*mapped)
    assert found.solution_.converged
    assert found.solution_.objective == pytest.approx(expected.solution_.objective, rel=2e-8)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-3)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))


@pytest.mark.slow
def test_shards_with_the_threshold_of_held_out_scores():
    shards = Shards.of(sparse.csr_array(X), sparse.csr_array(Y))
    model = limo.LIMOClassifier(working_memory=SMALL, threshold_cv=2).fit(shards)
    assert isinstance(model.threshold_, limo.GlobalThreshold)
    expected = limo.LIMOClassifier().fit(X, Y)
    assert limo.micro_f1(Y, model.predict(X)) > limo.micro_f1(Y, expected.predict(X)) - 0.05
    again = limo.LIMOClassifier(threshold_cv="training", threshold="top_k").fit(shards)
    assert again.threshold_.k_ >= 1
    with pytest.raises(ValueError, match="leave y out"):
        limo.LIMOClassifier().fit(shards, Y)
    with pytest.raises(ValueError, match="number of folds, at least 2"):
        limo.LIMOClassifier(threshold_cv=[]).fit(shards)


def test_folds_divide_the_rows_of_every_block():
    block = checked_block(X[:11], Y[:11], 3)
    inside = [Fold(k, 4, inside=True).rows(block) for k in range(4)]
    assert sorted(np.concatenate(inside)) == list(range(11))
    assert {len(rows) for rows in inside} == {2, 3}
    outside = Fold(1, 4, inside=False).rows(block)
    assert sorted([*inside[1], *outside]) == list(range(11))
    part = chosen_of(Part([block]), Fold(1, 4, inside=False))
    (other,) = part
    np.testing.assert_array_equal(other.X, X[outside])
    np.testing.assert_array_equal(other.Y.csr.toarray(), Y[outside])


def test_the_rule_is_that_of_the_scores_of_the_models():
    engine = Local(Part([checked_block(X[:90], Y[:90], 0), checked_block(X[90:], Y[90:], 1)]))
    terms = limo.LIMOClassifier()._loss_terms()
    (model,) = solve_path(engine, terms, [1e-3], Settings(True, 3.0, 1e-3, 100))
    for rule in (limo.GlobalThreshold(), limo.LabelThreshold(), limo.TopK()):
        found = fit_rule_over(engine, rule, [model])
        expected = rule.fit(Y, model.scores(X))
        np.testing.assert_array_equal(found.predict(model.scores(X)), expected.predict(model.scores(X)))  # fmt: skip


def test_alpha_for_more_instances_grows_as_their_number():
    engine = Local(Part([checked_block(X[:60], Y[:60], 0)]))
    terms, solving = limo.LIMOClassifier()._loss_terms(), Settings(True, 3.0, 1e-6, 500)
    (own,) = solve_path(engine, terms, [3e-3], solving)
    (grown,) = solve_path(engine, terms, [1e-3], solving, for_rows=180)
    assert grown.alpha == pytest.approx(own.alpha)
    np.testing.assert_allclose(grown.scores(X), own.scores(X), rtol=1e-6)


def test_wrong_blocks_are_errors():
    with pytest.raises(ValueError, match="block 7 has 3 rows of X and 2 of y"):
        checked_block(X[:3], Y[:2], 7)
    with pytest.raises(ValueError, match="column for each label.*block 0 has 1 dim"):
        checked_block(X[:3], Y[:3, 0])
    with pytest.raises(ValueError, match="only 0 and 1"):
        checked_block(X[:3], 2 * Y[:3])
    with pytest.raises(ValueError, match="NaN"):
        checked_block(np.full((3, 2), np.nan), Y[:3])
    empty = checked_block(X[:0], Y[:0])
    assert isinstance(empty, Block)
    assert empty.Y.shape == (0, 4)


_slow = [pytest.param(name, marks=pytest.mark.slow) for name in ("micro_f1", "macro_f1")]


@pytest.mark.parametrize("measure", [*_slow, None])
def test_working_memory_bounds_fit_with_its_threshold(measure):
    """Cross-fitted scores took three matrices of all scores, whatever the memory allowed."""
    rng = np.random.default_rng(0)
    features, labels = rng.random((1500, 2)), sparse.coo_array(np.eye(1500, 500) > 0).tocsr()
    labels = labels + labels[rng.permutation(1500)] > 0  # 6 MB of scores
    model = limo.LIMOClassifier(
        threshold_measure=measure, threshold_cv=2, tol=0.5, working_memory=0.5
    )
    model.fit(features[:300], labels[:300])  # compiles
    tracemalloc.start()
    try:
        model.fit(features, labels)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4_000_000


@pytest.mark.parametrize("cv", [2, "training"])
def test_a_threshold_fitted_in_blocks_is_nearly_that_of_all_scores(cv):
    whole = limo.LIMOClassifier(threshold_cv=cv).fit(X, Y)
    found = limo.LIMOClassifier(threshold_cv=cv, working_memory=SMALL).fit(X, Y)
    assert found.moved_ == pytest.approx(whole.moved_, abs=1e-12 if cv == "training" else 0.3)
