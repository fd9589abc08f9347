"""limo.Evaluator: the same bits as limo.evaluate for any partition and order of rows."""

import json
import math
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import limo
from cases import cases, random_case

TWO_PASS = "two-pass"


def blocks_of(rng, n_rows, n_blocks):
    """Rows in random order, in blocks of any size; some are empty."""
    return np.split(rng.permutation(n_rows), np.sort(rng.integers(0, n_rows + 1, n_blocks - 1)))


def evaluated(method, blocks, *, again=None, **options):
    options = {"per_instance": True} | options
    evaluator = limo.Evaluator(method, **options)
    for block in blocks:
        evaluator.update(*block)
    if method == TWO_PASS:
        evaluator.second_pass()
        for block in blocks if again is None else again:
            evaluator.update(*block)
    return evaluator.compute()


def assert_same(found, expected, rows=None):
    """Every number has the same bits; instances are in the order of the blocks."""
    assert found.to_json() == expected.to_json()
    assert str(found) == str(expected)
    np.testing.assert_equal(found.blind, expected.blind)
    rows = slice(None) if rows is None else rows
    for name, values in expected.per_instance.items():
        np.testing.assert_array_equal(found.per_instance[name], values[rows])
    for view, summary in expected.margins.items():
        own = rows if view == "rows" else slice(None)
        np.testing.assert_array_equal(found.margins[view].absolute, summary.absolute[own])
        np.testing.assert_equal(
            [line[own] for line in vars(summary.orders).values()],
            list(vars(found.margins[view].orders).values()),
        )


@pytest.mark.parametrize("method", ["keep", TWO_PASS])
@pytest.mark.parametrize("conventions", ["standard", "sklearn"])
def test_any_partition_in_any_order(method, conventions):
    rng = np.random.default_rng(1)
    for Y, S, P in cases(20, seed=11):
        expected = limo.evaluate(Y, S, P, conventions=conventions)
        parts = blocks_of(rng, len(Y), rng.integers(1, 6))
        blocks = [(Y[i], S[i], P[i]) for i in parts]
        found = evaluated(method, blocks, conventions=conventions)
        assert_same(found, expected, np.concatenate(parts))
        summed = evaluated(method, blocks, conventions=conventions, per_instance=False)
        assert summed.to_json() == expected.to_json()
        assert str(summed) == str(expected)
        np.testing.assert_equal(summed.blind, expected.blind)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_to_a_hundred_blocks(dtype):
    rng = np.random.default_rng(2)
    Y = (rng.random((3000, 7)) < rng.uniform(0, 0.4, 7)).astype(int)
    S = (rng.integers(-900, 900, Y.shape) / 7 + Y).astype(dtype)
    P = (S > 50).astype(int)
    expected = limo.evaluate(Y, S, P, measures=[m for m in SCORED if m != "log_loss"])
    for n_blocks in (1, 2, 3, 5, 8, 13, 21, 34, 55, 100):
        parts = blocks_of(rng, len(Y), n_blocks)
        blocks = [(Y[i], S[i], P[i]) for i in parts]
        again = [blocks[k] for k in rng.permutation(n_blocks)]
        for kept in (True, False):
            how = {"measures": list(expected), "per_instance": kept}
            found = evaluated(TWO_PASS, blocks, again=again, **how)
            assert found.to_json() == expected.to_json()


SCORED = [*limo.MEASURES, "macro_average_precision", "micro_average_precision", "ndcg_at_3"]


def test_further_measures_and_large_blocks():
    """More entries than one tile of the sort, in columns that are far apart in memory."""
    rng = np.random.default_rng(3)
    Y = rng.random((40_000, 40)) < 0.03
    S = (rng.normal(size=Y.shape) + Y).round(2).astype(np.float32)
    P = S > 1.5
    expected = limo.evaluate(Y, S, P, measures=SCORED)
    parts = [slice(0, 29_000), slice(29_000, 29_001), slice(29_001, None)]
    blocks = [(Y[i], S[i], P[i]) for i in parts]
    assert_same(evaluated(TWO_PASS, blocks, measures=SCORED), expected)


@pytest.mark.parametrize("method", ["keep", TWO_PASS])
def test_missing_labels(method):
    rng = np.random.default_rng(4)
    for Y, S, P in cases(20, seed=12):
        Y = np.where(rng.random(Y.shape) < rng.choice([0.0, 0.1, 0.6]), np.nan, Y)
        half = len(Y) // 2
        blocks = [(Y[i], S[i], P[i]) for i in (slice(half, None), slice(0, half))]
        expected = limo.evaluate(*map(np.concatenate, zip(*blocks, strict=True)), missing=math.nan)
        assert_same(evaluated(method, blocks, missing=math.nan), expected)
        summed = evaluated(method, blocks, missing=math.nan, per_instance=False)
        assert summed.to_json() == expected.to_json()
        np.testing.assert_equal(summed.blind, expected.blind)


def test_sample_weights_are_kept_or_refused():
    rng = np.random.default_rng(5)
    Y, S, P = random_case(np.random.default_rng(0))
    weights = rng.integers(0, 4, len(Y)) + 0.5
    evaluator = limo.Evaluator()
    for i in np.array_split(np.arange(len(Y)), 2):
        evaluator.update(Y[i], S[i], P[i], sample_weight=weights[i])
    assert evaluator.compute().to_json() == limo.evaluate(Y, S, P, sample_weight=weights).to_json()
    with pytest.raises(ValueError, match="Either every block has sample_weight or none"):
        evaluator.update(Y, S, P)
    with pytest.raises(ValueError, match="sample_weight is not possible with method='two-pass'"):
        limo.Evaluator(TWO_PASS).update(Y, S, P, sample_weight=weights)


@pytest.mark.parametrize("method", ["keep", TWO_PASS])
def test_scores_only_labels_only_sparse_labels_and_frames(method):
    Y, S, P = random_case(np.random.default_rng(7))
    rows = [slice(0, 2), slice(2, None)]
    for blocks, expected in (
        ([(Y[i], S[i]) for i in rows], limo.evaluate(Y, S)),
        ([(Y[i], None, P[i]) for i in rows], limo.evaluate(Y, y_pred=P)),
        ([(sparse.csr_array(Y[i]), S[i]) for i in rows], limo.evaluate(Y, S)),
    ):
        assert evaluated(method, blocks).to_json() == expected.to_json()
    frame = pd.DataFrame(Y).add_prefix("label ")
    found = evaluated(method, [(frame[i], S[i]) for i in rows])
    assert found.label_names == tuple(frame.columns)
    assert found.to_json() == limo.evaluate(frame, S).to_json()


def test_a_training_loop_with_tensors():
    torch = pytest.importorskip("torch")
    Y, S, _ = random_case(np.random.default_rng(8))
    evaluator = limo.Evaluator(measures=["macro_auc", "coverage"])
    for _ in range(2):
        evaluator.reset()
        buffer = torch.empty(1, S.shape[1], requires_grad=True)
        for y, s in zip(Y, S, strict=True):
            with torch.no_grad():
                buffer.copy_(torch.as_tensor(s)[None])  # loops reuse their memory
            evaluator.update(torch.as_tensor(y)[None], buffer)
        expected = limo.evaluate(Y, S.astype(np.float32), measures=["macro_auc", "coverage"])
        assert evaluator.n_instances == len(Y)
        assert evaluator.compute().to_json() == expected.to_json()


@pytest.mark.slow
def test_two_processes_merge_files(tmp_path):
    """Both passes in other processes, which exchange files; nothing is pickled."""
    Y, S, P = random_case(np.random.default_rng(9))
    np.savez(data := tmp_path / "data.npz", Y=Y, S=S, P=P)
    code = (
        "import sys, numpy as np, limo\n"
        "data, source, target, first = sys.argv[1:]\n"
        "d = np.load(data)\n"
        "e = limo.Evaluator.load(source)\n"
        "i = slice(int(first), None, 2)\n"
        "e.update(d['Y'][i], d['S'][i], d['P'][i]).save(target)\n"
    )
    limo.Evaluator(TWO_PASS).save(tmp_path / "start.npz")
    source = "start.npz"
    for step in range(2):
        for first in "01":
            target = tmp_path / f"part{first}.npz"
            subprocess.run(
                [sys.executable, "-c", code, data, tmp_path / source, target, first], check=True
            )
        joined = limo.Evaluator.load(tmp_path / "part0.npz")
        joined.merge(limo.Evaluator.load(tmp_path / "part1.npz"))
        if step == 0:
            joined.second_pass().save(tmp_path / (source := "second.npz"))
    assert joined.compute().to_json() == limo.evaluate(Y, S, P).to_json()


@pytest.mark.parametrize("method", ["keep", TWO_PASS])
def test_saved_and_merged_at_any_time(method, tmp_path):
    def again(evaluator):
        evaluator.save(tmp_path / "state.npz")
        return limo.Evaluator.load(tmp_path / "state.npz")

    for Y, S, P in cases(5, seed=13):
        Y = np.where(np.arange(Y.size).reshape(Y.shape) % 5 == 0, np.nan, Y)
        options = {"missing": math.nan, "conventions": "paper"}
        evaluator = limo.Evaluator(
            method, measures=["macro_auc", "coverage", "macro_f1"], **options
        )
        evaluator = again(again(evaluator).update(Y[:1], S[:1], P[:1]).update(Y[1:], S[1:], P[1:]))
        if method == TWO_PASS:
            evaluator = again(evaluator.second_pass())
            other = again(evaluator).update(Y[:1], S[:1], P[:1])
            evaluator = again(evaluator.update(Y[1:], S[1:], P[1:])).merge(again(other))
        expected = limo.evaluate(Y, S, P, measures=["macro_auc", "coverage", "macro_f1"], **options)
        assert json.loads(again(evaluator).compute().to_json()) == json.loads(expected.to_json())


def test_a_damaged_file_is_rejected(tmp_path):
    file = tmp_path / "state.npz"
    file.write_bytes(b"PK nonsense")
    with pytest.raises(ValueError, match="was not written by Evaluator.save"):
        limo.Evaluator.load(file)
    with pytest.raises(FileNotFoundError):
        limo.Evaluator.load(tmp_path / "none.npz")
    evaluator = limo.Evaluator(TWO_PASS).update([[1, 0]], [[0.5, 0.2]])
    evaluator._gathered[0].labels[0] = 77
    evaluator.save(file)
    with pytest.raises(ValueError, match="a label is out of range"):
        limo.Evaluator.load(file)
    evaluator = limo.Evaluator(TWO_PASS).update([[1, 0]], [[0.5, 0.2]]).second_pass()
    evaluator._reference.indptr[1] = -5
    evaluator.save(file)
    with pytest.raises(ValueError, match="indptr does not fit"):
        limo.Evaluator.load(file)
    with pytest.raises(ValueError, match="Only evaluators whose measures are given by name"):
        limo.Evaluator(measures=[limo.MEASURES["macro_f1"]]).save(file)


def test_wrong_blocks():
    evaluator = limo.Evaluator().update([[1, 0]], [[0.5, 0.2]])
    for block, message in (
        (([[1, 0, 0]], [[0.5, 0.2, 0.1]]), "the blocks before have 2, this one has 3"),
        (([[1, 0]], None, [[1, 0]]), "Either every block has y_score or none: this one has none"),
        (([[1, 0]], [[0.5, 0.2]], [[1, 0]]), "Either every block has y_pred or none"),
        (([[1, 0]],), "update needs y_score, y_pred or both"),
        (([[1, 0]], [[0.5, math.nan]]), "must hold finite numbers"),
        (([[1, 0], [0, 1]], [[0.5, 0.2]]), "y_score must have the shape of y_true"),
    ):
        with pytest.raises(ValueError, match=message):
            evaluator.update(*block)
    assert evaluator.n_instances == 1
    assert evaluator.update([], []).update(np.empty((0, 2)), np.empty((0, 2))).n_instances == 1
    named = limo.Evaluator().update(pd.DataFrame([[1, 0]], columns=["a", "b"]), [[0.5, 0.2]])
    with pytest.raises(ValueError, match="the same labels in the same order"):
        named.update(pd.DataFrame([[1, 0]], columns=["b", "a"]), [[0.5, 0.2]])


def test_wrong_order_of_calls():
    with pytest.raises(ValueError, match="Nothing to evaluate: call update"):
        limo.Evaluator().compute()
    with pytest.raises(ValueError, match="needs no second pass"):
        limo.Evaluator().second_pass()
    evaluator = limo.Evaluator(TWO_PASS)
    with pytest.raises(ValueError, match="Nothing to evaluate"):
        evaluator.second_pass()
    evaluator.update([[1, 0]], [[0.5, 0.2]]).update([[0, 1]], [[0.5, 0.2]])
    with pytest.raises(ValueError, match="The blocks were seen once"):
        evaluator.compute()
    evaluator.second_pass()
    with pytest.raises(ValueError, match="second pass has begun already"):
        evaluator.second_pass()
    with pytest.raises(ValueError, match="The blocks were seen once"):
        evaluator.compute()
    evaluator.update([[1, 0]], [[0.5, 0.2]])
    with pytest.raises(ValueError, match="must see the rows of the first: expected 2, got 1"):
        evaluator.compute()
    with pytest.raises(ValueError, match="not in the same pass over the same blocks"):
        evaluator.merge(limo.Evaluator(TWO_PASS))
    with pytest.raises(ValueError, match="same method, measures and conventions"):
        evaluator.merge(limo.Evaluator())
    with pytest.raises(TypeError, match="merge takes an Evaluator, got int"):
        evaluator.merge(3)
    with pytest.raises(ValueError, match="Unknown method 'one'"):
        limo.Evaluator("one")
    with pytest.raises(ValueError, match="'log_loss' needs all rows at once"):
        limo.Evaluator(TWO_PASS, measures=["log_loss"]).update([[1, 0]], [[0.5, 0.2]])
    assert "log_loss" in evaluated("keep", [([[1, 0]], [[0.5, 0.2]])], measures="all")
    assert "log_loss" not in evaluated(TWO_PASS, [([[1, 0]], [[0.5, 0.2]])], measures="all")
