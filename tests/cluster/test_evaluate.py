"""Evaluation of collections equals that of arrays, bit for bit."""

import os
import signal

import dask
import dask.array as da
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest

import limo

rng = np.random.default_rng(0)
Y = (rng.random((50, 4)) < 0.4).astype(int)
S = rng.integers(-8, 8, (50, 4)) / 4
P = (S > 0).astype(int)
Y[0], Y[1] = 0, 1


@pytest.fixture(autouse=True)
def here():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.parametrize("chunks", [50, 7, (10, 0, 39, 1), 1], ids=str)
def test_any_division_gives_the_same_bits(chunks):
    given = (da.from_array(one, chunks=(chunks, (2, 2))) for one in (Y, S, P))
    found, expected = limo.dask.evaluate(*given), limo.evaluate(Y, S, P)
    for name in limo.MEASURES:
        assert found[name] == expected[name], name


@pytest.mark.slow
def test_one_to_a_hundred_blocks_in_any_order():
    """Any division of the rows, some blocks empty, gives the same bits."""
    draw = np.random.default_rng(7)
    y = (draw.random((400, 3)) < 0.3).astype(int)
    s = (draw.integers(-99, 99, y.shape) / 7 + y).astype(np.float32)
    p = (s > 2).astype(int)
    expected = limo.evaluate(y, s, p).to_json()
    for n_blocks in range(1, 101):
        rows = draw.permutation(400)
        ends = np.sort(draw.integers(0, 401, n_blocks - 1))
        sizes = tuple(np.diff([0, *ends, 400]).tolist())
        given = (da.from_array(one[rows], chunks=(sizes, (3,))) for one in (y, s, p))
        assert limo.dask.evaluate(*given).to_json() == expected


@pytest.mark.slow
def test_on_a_real_cluster_with_a_lost_worker_and_a_new_client(client):
    given = [da.from_array(one, chunks=((7, 0, 30, 13), (4,))) for one in (Y, S, P)]
    expected = limo.evaluate(Y, S, P).to_json()
    first = next(iter(client.run(os.getpid).values()))
    with dask.config.set(scheduler=client):
        assert limo.dask.evaluate(*given).to_json() == expected

        def losing(block, pid=first):
            """The worker with this process is lost while it has a block."""
            if block.size and os.getpid() == pid:
                os.kill(pid, signal.SIGKILL)
            return block

        lost = [one.map_blocks(losing, meta=np.empty((0, 0), one.dtype)) for one in given]
        assert limo.dask.evaluate(*lost).to_json() == expected
    with (
        distributed.Client(client.scheduler.address, set_as_default=False) as other,
        dask.config.set(scheduler=other),
    ):
        assert limo.dask.evaluate(*given).to_json() == expected
    assert first not in client.run(os.getpid).values()


def test_frames_unknown_sizes_and_single_inputs():
    frames = (
        dd.from_pandas(pd.DataFrame(one, columns=list("abcd")), npartitions=3) for one in (Y, S)
    )
    assert limo.dask.evaluate(*frames)["macro_auc"] == limo.evaluate(Y, S)["macro_auc"]
    kept = S[:, 0] > 0
    mask = da.from_array(kept, chunks=20)
    y, p = (da.from_array(one, chunks=(20, 4))[mask] for one in (Y, P))
    found = limo.dask.evaluate(y, y_pred=p, measures=["micro_f1"])
    assert found["micro_f1"] == limo.evaluate(Y[kept], y_pred=P[kept])["micro_f1"]


def test_clear_errors():
    y, s = da.from_array(Y, chunks=(20, 4)), da.from_array(S, chunks=(20, 4))
    with pytest.raises(TypeError, match="y_score must be a Dask array.*limo.evaluate"):
        limo.dask.evaluate(y, S)
    with pytest.raises(ValueError, match="y_score must have a row for each instance"):
        limo.dask.evaluate(y, s[:40])
    with pytest.raises(ValueError, match="neither"):
        limo.dask.evaluate(y)
    parts = [da.from_array(Y[:25], chunks=(25, 4)), da.from_array(Y[25:, :3], chunks=(25, 3))]
    odd = da.concatenate([da.from_delayed(p.to_delayed()[0, 0], (25, 4), int) for p in parts])
    scores = [da.from_array(S[:25], chunks=(25, 4)), da.from_array(S[25:, :3], chunks=(25, 3))]
    odd_scores = da.concatenate(
        [da.from_delayed(p.to_delayed()[0, 0], (25, 4), float) for p in scores]
    )
    with pytest.raises(ValueError, match="same labels"):
        limo.dask.evaluate(odd, odd_scores)
