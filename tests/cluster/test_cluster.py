"""Blocks of collections, and the engine that computes where they are."""

import itertools
import os
import signal

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import limo
from cli.running import refused, run
from limo._solvers.blocks import BlockObjective, BlockProblem
from limo._solvers.parts import Setting
from limo.dask._cluster import Cluster, _divided, balanced, blocks_of, client_of, is_collection
from limo.experiment import Data, Plan, Splits
from limo.losses import Term
from limo.models._limo_blocks import summarise
from naive import losses as naive

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
Y = (X @ rng.normal(size=(4, 3)) + rng.normal(size=(60, 3)) > 0.5).astype(int)
Y[0], Y[1] = 0, 1


def read(blocks):
    found = dask.compute(*blocks, scheduler="synchronous")
    dense = [b.X.toarray() if sparse.issparse(b.X) else b.X for b in found]
    return np.concatenate(dense), np.concatenate([b.Y.csr.toarray() for b in found])


def frames(n=3):
    return (
        dd.from_pandas(pd.DataFrame(one, columns=[f"c{k}" for k in range(one.shape[1])]), npartitions=n)
        for one in (X, Y)
    )  # fmt: skip


def test_blocks_make_up_the_collection():
    whole = da.from_array(X, chunks=(25, 2)), da.from_array(Y, chunks=(17, 3))
    for given in (whole, frames()):
        found = read(blocks_of(*given))
        np.testing.assert_array_equal(found[0], X)
        np.testing.assert_array_equal(found[1], Y)
    csr = whole[0].rechunk((20, 4)).map_blocks(sparse.csr_array)
    np.testing.assert_array_equal(read(blocks_of(csr, whole[1].rechunk((20, 3))))[0], X)


def test_unknown_and_empty_blocks():
    mask = X[:, 0] > 0
    mask[20:40] = False  # the second block has no row left
    kept = da.from_array(mask, chunks=20)
    x, y = (da.from_array(one, chunks=(20, -1))[kept] for one in (X, Y))
    assert np.isnan(x.shape[0])
    found = read(blocks_of(x, y))
    np.testing.assert_array_equal(found[0], X[mask])
    np.testing.assert_array_equal(found[1], Y[mask])


def test_what_does_not_fit_is_an_error():
    x, y = da.from_array(X, chunks=(20, -1)), da.from_array(Y, chunks=(20, -1))
    with pytest.raises(
        ValueError, match="y must have a row for each instance: expected 60, got 40"
    ):
        blocks_of(x, y[:40])
    with pytest.raises(TypeError, match="y must be a Dask array or data frame.*ndarray"):
        blocks_of(x, Y)
    with pytest.raises(ValueError, match="two dimensions, got 1"):
        blocks_of(x, y[:, 0])
    unknown = x[da.from_array(X[:, 0] > 0, chunks=20)]
    with pytest.raises(ValueError, match="as many blocks as X: got 4 and 3"):
        blocks_of(unknown, y.rechunk((15, 3)))
    with pytest.raises(ValueError, match="block . has .* rows of X and 20 of y"):
        read(blocks_of(unknown, y))
    bad = da.from_array(np.where(Y == 1, 2, 0), chunks=(20, -1))
    with pytest.raises(ValueError, match="only 0 and 1"):
        read(blocks_of(x, bad))
    assert not is_collection(X)


def test_without_a_cluster():
    with pytest.raises(ValueError, match="needs a cluster: start one with"):
        client_of()
    with pytest.raises(ConnectionError, match="No Dask scheduler answers at 'nowhere'"):
        limo.dask.executor("nowhere")


def test_lists_are_divided_evenly():
    assert _divided(list("abcde"), 2) == [["a", "c", "e"], ["b", "d"]]
    assert _divided(["a"], 3) == [["a"]]


def load(homes, sizes, threads):
    """Rows per thread of the worker that has the most, from the definition."""
    by_worker = {w: sum(s for h, s in zip(homes, sizes, strict=True) if h == w) for w in threads}
    return max(by_worker[w] / n for w, n in threads.items())


def test_blocks_move_only_where_that_helps():
    two = {"a": 1, "b": 1}
    assert balanced("abab", [5, 5, 5, 5], two) == list("abab")
    assert balanced("aabb", [5, 5, 5, 4], two) == list("aabb")
    assert sorted(balanced("aaaaabbb", [5] * 8, two)) == list("aaaabbbb")
    assert balanced("a", [5], two) == ["a"]  # it is as heavy elsewhere
    assert sorted(balanced("aaaa", [5] * 4, {"a": 1, "b": 3})) == list("abbb")
    assert balanced("", [], two) == []
    assert balanced(["gone"], [5], {"a": 1}) in (["gone"], ["a"])
    moved = np.random.default_rng(1)
    for _ in range(200):
        threads = {w: int(moved.integers(1, 4)) for w in "abc"}
        homes, sizes = moved.choice(list("abc"), 6).tolist(), moved.integers(0, 9, 6).tolist()
        best = min(load(h, sizes, threads) for h in itertools.product("abc", repeat=6))
        after = load(balanced(homes, sizes, threads), sizes, threads)
        assert after <= load(homes, sizes, threads)
        assert after <= best + max(sizes)


@pytest.mark.slow
def test_a_worker_does_not_keep_all_blocks(client):
    """Blocks that are all on one worker are divided between two."""
    first = next(iter(client.nthreads()))
    x, y = (client.persist(da.from_array(one, chunks=(15, -1)), workers=[first]) for one in (X, Y))
    engine = Cluster(client, blocks_of(x, y))
    assert len(engine.parts) == 2
    rows = client.gather(client.map(lambda part: [b.Y.shape[0] for b in part], engine.parts))
    assert rows == [[15, 15], [15, 15]]
    assert {w for own in client.who_has(engine.parts).values() for w in own} == set(
        client.nthreads()
    )


TERMS = [Term(v, k) for v in ("rows", "columns", "entries") for k in ("mean", "top", "bottom", "worst", "pointwise")]  # fmt: skip


@pytest.mark.slow
def test_the_objective_is_that_of_one_machine(client):
    """All fifteen terms at once, on unequal blocks of which one is empty."""
    x = da.from_array(X, chunks=((7, 30, 0, 23), (4,)))
    engine = Cluster(client, blocks_of(x, da.from_array(Y, chunks=(60, 3))))
    assert len(engine.parts) == 2
    summary = summarise(engine)
    setting = Setting(tuple(TERMS), summary.totals, 1.0)
    problem = BlockProblem(engine, setting, 0.1, summary.n_features)
    W = rng.normal(size=(5, 3))
    point = BlockObjective(problem).start(W)
    expected = naive.loss(Y, X @ W[:-1] + W[-1], TERMS) + 0.05 * (W**2).sum()
    assert point.value == pytest.approx(expected, rel=1e-9)
    assert problem.at_zero() == pytest.approx(naive.loss(Y, 0.0 * Y, TERMS), rel=1e-9)


@pytest.mark.slow
def test_a_block_with_other_labels_is_an_error(client):
    y = da.concatenate([da.from_array(Y, chunks=(20, -1))])
    parts = list(y.to_delayed()[:, 0])
    parts[1] = dask.delayed(lambda one: one[:, :2])(parts[1])
    y = da.concatenate([da.from_delayed(one, (20, 3), int) for one in parts])
    with pytest.raises(ValueError, match="same number of labels: one has .*, another"):
        limo.dask.LIMOClassifier().fit(da.from_array(X, chunks=(20, -1)), y)


@pytest.mark.slow
def test_a_comparison_survives_a_lost_worker(client, tmp_path):
    plan = Plan(
        [Data("toy", "figure1", {"n": 60})],
        ["mlknn", "gfm"],
        ["ranking_loss"],
        splits=Splits(number=4),
    )
    expected = limo.experiment.run(plan, tmp_path / "here.sqlite", n_jobs=1)
    killed = []

    def kill_one(now):
        if now.done and not killed:
            killed.extend(client.run(os.getpid).values())
            os.kill(killed[0], signal.SIGKILL)

    pool = limo.dask.executor(client=client)
    assert pool.n_jobs == 2
    found = limo.experiment.run(
        plan, tmp_path / "there.sqlite", executor=pool, n_jobs=1, progress=kill_one
    )
    assert killed
    assert found["value"].tolist() == expected["value"].tolist()
    assert found["status"].tolist() == ["ok"] * 8


@pytest.mark.slow
def test_compare_on_a_cluster_from_the_command_line(client, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    limo.write(limo.datasets.figure1(60), tmp_path / "square.npz")
    quick = "--methods", "mlknn,gfm", "--measures", "macro_f1", "--repeats", "2"
    here = run("compare", tmp_path / "square.npz", *quick, "-j", "1", "--store", "here.sqlite")
    assert here.exit_code == 0, here.output
    address = client.scheduler.address
    there = run("compare", tmp_path / "square.npz", *quick, "--cluster", address)
    assert there.exit_code == 0, there.output
    rows = [limo.experiment.read_rows(f"{name}.sqlite") for name in ("here", "results")]
    here, there = (one.sort_values(["method", "split"])["value"].tolist() for one in rows)
    assert here == there  # they are stored in the order in which they finish


def test_a_cluster_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    limo.write(limo.datasets.figure1(30), tmp_path / "square.npz")
    refused(run("compare", "square.npz", "--cluster", "nowhere"), 1, "No Dask scheduler answers")
