import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

import limo
from estimators import MultiLabelContract, data, quietly
from limo import MLKNNClassifier
from limo._checks import check_labels
from limo.models._neighbours import _posterior
from naive import neighbours as naive


@parametrize_with_checks([MLKNNClassifier(k=5)])
def test_scikit_learn_accepts_it(estimator, check):
    quietly(check, estimator)


class TestContract(MultiLabelContract):
    grid = property(lambda self: {"k": [1, 5]})

    def model(self):
        return MLKNNClassifier(k=4)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("k", "smoothing"), [(1, 1.0), (5, 0.5), (10, 1.0), (60, 2.0)])
def test_equals_brute_force(storage, k, smoothing):
    X, Y = data()
    X = np.round(X)  # equal distances and duplicates
    queries = np.round(data(seed=1)[0])[:15]
    model = MLKNNClassifier(k, smoothing=smoothing).fit(storage(X), storage(Y))
    expected = naive.mlknn(X, Y, k, smoothing, queries)
    found = model.predict_proba(storage(queries))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    predicted = model.predict(storage(queries))
    dense = predicted.toarray() if sparse.issparse(predicted) else predicted
    assert np.array_equal(dense, np.array(expected) > 0.5)
    assert model.n_neighbors_ == min(k, len(X) - 1)


def test_an_instance_is_not_its_own_neighbour():
    """Labels that are pure noise: counting itself, each label would look well predicted."""
    X, Y = np.eye(30), np.tile([[1], [0]], (15, 1))
    model = MLKNNClassifier(k=1).fit(X, Y)
    # every row is equally far from all others, so the neighbour is row 0 (for row 0: row 1)
    counts = sparse.csr_array(np.array([[0]] + [[1]] * 29))
    assert np.array_equal(model.posterior_, _posterior(counts, check_labels(Y, "y"), 1, 1.0))


def test_without_smoothing_unseen_counts_give_the_share_of_the_label():
    X, Y = np.arange(8.0)[:, None], np.array([[1]] * 4 + [[0]] * 4)
    model = MLKNNClassifier(k=3, smoothing=0).fit(X, Y)
    assert np.isfinite(model.posterior_).all()
    constant = MLKNNClassifier(k=3, smoothing=0).fit(X, 0 * Y)
    assert constant.predict_proba(X).tolist() == [[0.0]] * 8
    assert constant.posterior_.tolist() == [[0.0] * 4]


def test_one_training_instance():
    model = MLKNNClassifier().fit([[1.0]], [[1, 0]])
    assert model.predict_proba([[5.0]]).tolist() == [[2 / 3, 1 / 3]]


def test_n_jobs_changes_nothing():
    X, Y = data()
    one, two = (MLKNNClassifier(n_jobs=n).fit(X, Y).predict_proba(X) for n in (None, 2))
    assert np.array_equal(one, two)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"k": 0}, "k must be an integer from 1 up, got 0"),
        ({"smoothing": -1}, "smoothing must be a number from 0 up, got -1"),
    ],
)
def test_wrong_parameters_are_explained(wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        MLKNNClassifier(**wrong).fit([[0.0], [1.0]], [[1], [0]])


def test_learns_the_triangles():
    points = limo.datasets.figure1(600)
    model = MLKNNClassifier().fit(points.X[:400], points.Y[:400])
    assert limo.micro_f1(points.Y[400:], model.predict(points.X[400:])) > 0.9
