"""Classifiers fitted on a real cluster, compared with those fitted in memory."""

import os
import signal

import dask.array as da
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import limo
from limo.losses import Term

DATA = limo.datasets.figure1(160)
X, Y = np.asarray(DATA.X), np.asarray(DATA.Y)
SETTINGS = {"entry_weight": 0.5, "alpha": 0.1, "tol": 1e-4, "threshold_measure": None}


def collections(size=50):
    return da.from_array(X, chunks=(size, -1)), da.from_array(Y, chunks=(size, -1))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dense", "sparse", "frame"])
def test_the_model_is_that_of_one_machine(client, kind):
    x, y = collections()
    if kind == "sparse":
        x = x.map_blocks(sparse.csr_array)
    if kind == "frame":
        x, y = (
            dd.from_pandas(pd.DataFrame(one).rename(columns=str), npartitions=3) for one in (X, Y)
        )
    expected = limo.LIMOClassifier(**SETTINGS).fit(X, Y)
    found = limo.dask.LIMOClassifier(**SETTINGS).fit(x, y)
    assert found.solution_.converged
    assert found.solution_.objective == pytest.approx(expected.solution_.objective, rel=1e-4)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-2)
    rows = pd.DataFrame(X).rename(columns=str) if kind == "frame" else X
    lazy = found.decision_function(x)
    np.testing.assert_allclose(lazy.compute(), found.to_local().decision_function(rows), atol=1e-12)
    assert (found.predict(x).compute() == found.predict(rows)).all()
    if kind == "frame":
        assert found.feature_names_in_.tolist() == ["0", "1"]
        with pytest.raises(ValueError, match="columns of X must be those of training"):
            found.predict(x.rename(columns={"0": "other"}))


@pytest.mark.slow
def test_a_worker_lost_in_the_middle_of_a_fit_changes_nothing(client):
    x, y = collections(40)
    expected = limo.dask.LIMOClassifier(**SETTINGS).fit(x, y)
    killed = []

    def kill_one(progress):
        if progress.iteration == 2 and not killed:
            killed.extend(client.run(os.getpid).values())
            os.kill(killed[0], signal.SIGKILL)

    found = limo.dask.LIMOClassifier(**SETTINGS, callback=kill_one).fit(x, y)
    assert killed
    assert found.solution_.objective == pytest.approx(expected.solution_.objective, rel=1e-9)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-6)


@pytest.mark.slow
def test_another_client_unequal_empty_and_unknown_blocks(client):
    """A second client, as after a reconnection, fits the same model."""
    x, y = collections()
    expected = limo.dask.LIMOClassifier(**SETTINGS).fit(x, y)
    sizes = (3, 0, 100, 57)
    unequal = (da.from_array(one, chunks=(sizes, -1)) for one in (X, Y))
    kept = da.from_array(np.ones(len(X), dtype=bool), chunks=50)
    unknown = (one[kept] for one in (x, y))
    with distributed.Client(client.scheduler.address, set_as_default=False) as other:
        for given in (unequal, unknown):
            found = limo.dask.LIMOClassifier(**SETTINGS).fit(*given, client=other)
            assert found.solution_.objective == pytest.approx(
                expected.solution_.objective, rel=1e-3
            )
            np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-2)


@pytest.mark.slow
def test_any_terms_and_thresholds_of_held_out_scores(client):
    x, y = collections(80)
    model = limo.dask.MarginClassifier(
        [Term("rows", "top"), Term("columns", "worst")],
        alpha=0.1,
        tol=0.1,
        threshold_cv=2,
        threshold_measure="macro_f1",
    )
    model.fit(x, y)
    assert limo.macro_f1(Y, model.predict(X)) > 0.8
    with pytest.raises(ValueError, match="number of folds, at least 2, or 'training': got 1.5"):
        limo.dask.LIMOClassifier(threshold_cv=1.5).fit(x, y, client=client)


def test_arrays_in_memory_need_no_cluster():
    model = limo.dask.LIMOClassifier(threshold_measure=None).fit(X, Y)
    expected = limo.LIMOClassifier(threshold_measure=None).fit(X, Y)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))
    assert type(model.to_local()) is limo.LIMOClassifier
