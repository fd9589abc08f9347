import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier

import limo

DATA = limo.datasets.figure1(150, seed=2)
ALL = {name: limo.make_scorer(name) for name in limo.MEASURES}


@pytest.mark.parametrize(
    "model",
    [
        OneVsRestClassifier(LogisticRegression()),
        MultiOutputClassifier(LogisticRegression()),
        KNeighborsClassifier(),
        RidgeClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_cross_validate_with_all_measures(model):
    found = cross_validate(model, DATA.X, DATA.Y, scoring=ALL, cv=3, error_score="raise")
    for name, measure in limo.MEASURES.items():
        assert np.isfinite(found[f"test_{name}"]).all()
        assert (measure.sign * found[f"test_{name}"] >= 0).all()


def test_the_score_is_the_measure():
    model = OneVsRestClassifier(LogisticRegression()).fit(DATA.X, DATA.Y)
    S, P = model.decision_function(DATA.X), model.predict(DATA.X)
    assert ALL["macro_auc"](model, DATA.X, DATA.Y) == limo.macro_auc(DATA.Y, S)
    assert ALL["ranking_loss"](model, DATA.X, DATA.Y) == -limo.ranking_loss(DATA.Y, S)
    assert ALL["macro_f1"](model, DATA.X, DATA.Y) == limo.macro_f1(DATA.Y, P)
    paper = limo.make_scorer("coverage", conventions="paper")
    assert paper(model, DATA.X, DATA.Y) == -limo.coverage(DATA.Y, S, conventions="paper")


@pytest.mark.slow
def test_grid_search_in_other_processes():
    X, Y = pd.DataFrame(DATA.X, columns=["x", "y"]), pd.DataFrame(DATA.Y, columns=list("ABCD"))
    search = GridSearchCV(
        KNeighborsClassifier(),
        {"n_neighbors": [1, 20]},
        scoring=limo.make_scorer("micro_auc"),
        cv=3,
        n_jobs=2,
    )
    search.fit(X, Y)
    assert search.best_params_ == {"n_neighbors": 20}
    assert 0.5 < search.best_score_ <= 1


def test_sparse_labels():
    """cross_validate itself refuses them; a scorer called directly does not."""
    model = OneVsRestClassifier(LogisticRegression())
    dense, lean = (clone(model).fit(DATA.X, Y) for Y in (DATA.Y, sparse.csr_matrix(DATA.Y)))
    assert sparse.issparse(lean.predict(DATA.X))
    for scorer in ALL.values():
        assert scorer(lean, DATA.X, sparse.csr_matrix(DATA.Y)) == scorer(dense, DATA.X, DATA.Y)


def test_it_is_readable_and_travels():
    assert repr(ALL["macro_auc"]) == "make_scorer('macro_auc', conventions='standard')"
    copy = pickle.loads(pickle.dumps(limo.make_scorer("coverage", conventions="sklearn")))
    assert copy.conventions.undefined["coverage"] == -1
