"""A search on a real cluster: its value is that of the held-out scores, computed in memory."""

import dask.array as da
import numpy as np
import pytest

import limo
from limo.dask._models import LIMOClassifierCV
from limo.models._limo_blocks import Fold, checked_block

DATA = limo.datasets.figure1(150)
X, Y = np.asarray(DATA.X), np.asarray(DATA.Y)
SIZE = 50


def collections():
    return da.from_array(X, chunks=(SIZE, -1)), da.from_array(Y, chunks=(SIZE, -1))


def held_out(params, n_folds=2):
    """Scores of instances by a model of the others, with the folds of the blocks.

    Alpha is for all instances: half of them take twice as much.
    """
    inside = np.zeros((n_folds, len(X)), dtype=bool)
    for number, start in enumerate(range(0, len(X), SIZE)):
        block = checked_block(X[start : start + SIZE], Y[start : start + SIZE], number)
        for k in range(n_folds):
            inside[k, start + Fold(k, n_folds, inside=True).rows(block)] = True
    assert (inside.sum(axis=0) == 1).all()
    S = np.empty(Y.shape)
    for rows in inside:
        own = params | {"alpha": params["alpha"] * len(X) / np.sum(~rows)}
        model = limo.MarginClassifier(**own, tol=1e-4, threshold_measure=None)
        S[rows] = model.fit(X[~rows], Y[~rows]).decision_function(X[rows])
    return S


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["macro_auc", "macro_f1"])
def test_the_search_is_that_of_one_machine(client, measure):
    seen = []
    search = LIMOClassifierCV(
        measure, alphas=[1e-1, 1e-3], cv=2, tol=1e-4, callback=lambda *now: seen.append(now)
    )
    x, y = collections()
    search.fit(x, y)
    assert seen[-1][0] == seen[-1][1] == len(seen)
    results = search.cv_results_
    assert len(results["value"]) == 2 * len(seen)
    assert search.best_score_ == max(results["value"])
    S = held_out(search.best_params_)
    if measure == "macro_auc":
        assert search.best_score_ == pytest.approx(limo.macro_auc(Y, S), abs=0.01)
    else:
        rule = limo.LabelThreshold("macro_f1").fit(Y, S)
        assert search.best_score_ == pytest.approx(limo.macro_f1(Y, rule.predict(S)), abs=0.02)
    lazy = search.decision_function(x)
    assert isinstance(lazy, da.Array)
    np.testing.assert_allclose(lazy.compute(), search.to_local().decision_function(X), atol=1e-12)
    assert (search.predict(x).compute() == search.predict(X)).all()
    assert limo.macro_f1(Y, search.predict(X)) > 0.75


def test_wrong_settings():
    x, y = collections()
    with pytest.raises(ValueError, match="no measure|measure"):
        LIMOClassifierCV("macro_auk").fit(x, y)
    with pytest.raises(ValueError, match="cv must be an integer from 2 up, got 1"):
        LIMOClassifierCV(cv=1).fit(x, y)
