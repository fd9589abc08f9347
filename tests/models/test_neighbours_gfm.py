import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from estimators import OTHER_THRESHOLD, MultiLabelContract, data, quietly
from limo import GFMClassifier
from limo.thresholds import gfm_labels
from naive import neighbours as naive

# predict maximises expected F1, it does not round probabilities; and a share of neighbours may be 0
EXCUSES = OTHER_THRESHOLD | {
    "check_classifiers_multilabel_output_format_predict_proba": r"(?s)not strictly ordered.*0 \(x\), 0\.0 \(y\)"
}


@pytest.mark.slow
@parametrize_with_checks([GFMClassifier()])
def test_scikit_learn_accepts_it(estimator, check):
    quietly(check, estimator, EXCUSES)


class TestContract(MultiLabelContract):
    grid = property(lambda self: {"k": [1, 5]})

    def model(self):
        return GFMClassifier(k=4)


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("nothing", [0.0, 1.0])
def test_equals_the_enumeration_of_all_label_sets(storage, nothing):
    X, Y = data()
    X, queries = np.round(X), np.round(data(seed=1)[0])[:15]
    model = GFMClassifier(k=6, f1_of_nothing=nothing).fit(storage(X), Y)
    shares, labels = model.predict_proba(storage(queries)), model.predict(storage(queries))
    for query, share, label in zip(queries, shares, labels, strict=True):
        near = naive.nearest(X, 6, query)
        assert share.tolist() == Y[near].mean(axis=0).tolist()
        sets = [set(np.flatnonzero(Y[n])) for n in near]
        value, best = naive.best_set(sets, Y.shape[1], nothing)
        found = set(np.flatnonzero(label))
        assert len(found) == len(best)
        assert np.mean([naive.f1(y, found, nothing) for y in sets]) == pytest.approx(value)


def test_few_instances_are_all_neighbours():
    model = GFMClassifier(k=10).fit([[0.0], [1.0], [5.0]], [[1, 0], [1, 0], [1, 1]])
    assert model.n_neighbors_ == 3
    assert model.predict_proba([[9.0]]).tolist() == [[1, 1 / 3]]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"k": 0}, "k must be an integer from 1 up, got 0"),
        ({"f1_of_nothing": 2.0}, "f1_of_nothing must be a number from 0 to 1, got 2.0"),
    ],
)
def test_wrong_parameters_are_explained(wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        GFMClassifier(**wrong).fit([[0.0], [1.0]], [[1], [0]])


def test_equals_the_maximiser_of_a_whole_gfm_matrix():
    """Two ways to one answer: label sets of neighbours, and the l x l matrix of their shares."""
    X, Y = data()
    model = GFMClassifier(k=6).fit(X, Y)
    labels = model.predict(X)
    joint = np.zeros((len(X), Y.shape[1], Y.shape[1]))
    for i, query in enumerate(X):
        for n in naive.nearest(X, 6, query):
            joint[i, np.flatnonzero(Y[n]), Y[n].sum() - 1] += 1 / 6
    assert labels.tolist() == gfm_labels(joint).tolist()
