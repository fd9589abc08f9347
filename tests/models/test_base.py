"""The shared part of the learners; ``estimators.MultiLabelContract`` runs it on each of them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from limo.models._base import MultiLabelClassifier


class Memory(MultiLabelClassifier):
    """Predicts for training instances what they had."""

    def fit(self, X, y):
        self.X_, self.Y_ = self._check_training(X, y)
        return self

    def predict(self, X):
        self._check_instances(X)
        return self._labels(self.Y_.csr)


def test_tags_tell_the_truth():
    tags = get_tags(Memory())
    assert tags.estimator_type == "classifier"
    assert tags.classifier_tags.multi_label
    assert not tags.classifier_tags.multi_class
    assert tags.target_tags.multi_output
    assert tags.target_tags.required
    assert tags.input_tags.sparse


def test_features_become_contiguous_floats():
    X = np.asfortranarray(np.arange(6, dtype=np.int32).reshape(3, 2))
    kept = Memory().fit(X, [[1], [0], [1]]).X_
    assert kept.flags.c_contiguous
    assert kept.dtype == np.float64
    assert Memory().fit(sparse.coo_array(X), [[1], [0], [1]]).X_.format == "csr"


@pytest.mark.parametrize(
    ("y", "form"),
    [
        ([[1, 0], [0, 0]], "dense"),
        (np.array([[1, 0], [0, 0]], dtype=bool), "dense"),
        (sparse.csc_array([[1, 0], [0, 0]]), "sparse"),
        ([1, 0], "classes"),
        (["a", "b"], "classes"),
        ([True, False], "classes"),
    ],
)
def test_labels_come_back_in_the_form_they_came(y, form):
    model = Memory().fit([[1.0], [2.0]], y)
    assert model.target_form_ == form
    found = model.predict([[1.0], [2.0]])
    if form == "sparse":
        assert np.array_equal(found.toarray(), y.toarray())
    else:
        assert np.asarray(found).tolist() == np.asarray(y).tolist()


def test_before_training_there_is_nothing_to_predict():
    with pytest.raises(NotFittedError):
        Memory().predict([[1.0]])


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        ([0.5, 1.5], "type of the target is continuous"),
        ([1, 2, 3], "type of the target is multiclass"),
        (["a", "a"], "got one class only, a.*a label may be constant"),
    ],
)
def test_one_dimensional_targets_are_explained(y, sentence):
    with pytest.raises(ValueError, match=sentence):
        Memory().fit(np.zeros((len(y), 1)), y)
