import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import limo
from estimators import OTHER_FOLDS, MultiLabelContract, quietly
from solvers.problems import arrays

X, Y = arrays(seed=3, m=40, d=5, l=4)


def sgd(*weights, **settings):
    return limo.LIMOClassifierSGD(*weights, **({"alpha": 0.1, "random_state": 0} | settings))


@parametrize_with_checks([sgd(n_passes=100, threshold_measure=None)])
def test_it_is_a_scikit_learn_estimator(estimator, check):
    quietly(check, estimator, OTHER_FOLDS)  # equal in distribution only: pairs are drawn


class TestContract(MultiLabelContract):
    grid = property(lambda self: {"step": [1e-3, 1e-2]})

    def model(self):
        return sgd(n_passes=5)


def test_it_is_reproducible_and_can_continue():
    model = sgd(n_passes=2)
    first, again = (clone(model).fit(X, Y).coef_ for _ in range(2))
    assert np.array_equal(first, again)
    parts = clone(model).partial_fit(X[:20], Y[:20])
    steps = parts.solution_.iterations
    parts.partial_fit(X[20:], Y[20:])
    assert parts.n_iter_ == parts.solution_.iterations > steps
    assert parts.predict(X).shape == Y.shape
    with pytest.raises(ValueError, match="the 4 labels of the first batch, got 3"):
        parts.partial_fit(X, Y[:, :3])
    assert not hasattr(limo.LIMOClassifier(), "partial_fit")


def test_a_label_is_constant_only_if_it_is_in_all_batches():
    labels = Y.copy()
    labels[:20, 0], labels[:, 1] = 0, 1
    model = sgd(n_passes=1).partial_fit(X[:20], labels[:20])
    assert model.never_.tolist() == [True, False, False, False]
    model.partial_fit(X[20:], labels[20:])
    assert not model.never_.any()
    assert model.always_.tolist() == [False, True, False, False]


def test_it_starts_from_random_weights_if_the_shape_differs():
    model = sgd(n_passes=1, warm_start=True).fit(X, Y)
    steps = model.solution_.iterations
    assert model.fit(X, Y).solution_.iterations == 2 * steps
    assert model.fit(X[:, :2], Y).solution_.iterations == steps
    assert model.fit(X[:, :2], Y[:, :3]).coef_.shape == (3, 2)


def test_a_half_with_weight_0_does_not_run():
    model = sgd(0.0, 1.0).fit(X, Y)
    assert model.solution_.iterates.n_violations[0] == 0
    assert model.solution_.iterates.n_violations[1] > 0


def test_the_callback_gets_the_progress():
    seen = []
    model = sgd(n_passes=3, callback=seen.append, threshold_measure=None).fit(X, Y)
    assert [p.iteration for p in seen] == [model.n_iter_ // 3 * k for k in (1, 2, 3)]
    assert {p.most for p in seen} == {model.n_iter_}


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"sampling": "pair"}, "Unknown sampling 'pair'. Did you mean 'pairs'?"),
        ({"label_weight": -1}, "label_weight must be a number from 0 up, got -1"),
        ({"alpha": 0}, "alpha must be a number above 0, got 0"),
        ({"step": 0}, "step must be a number above 0, got 0"),
        ({"step": "fast"}, "step must be a number above 0, got 'fast'"),
        ({"step": 10.0}, "step * alpha must be below 1, got 10.0 * 0.1"),
        ({"n_passes": float("nan")}, "n_passes must be a number from 0 to 1e+06, got nan"),
        ({"n_steps": 2.5}, "n_steps must be an integer from 0 to 1e+12, got 2.5"),
        ({"n_steps": -2}, "n_steps must be an integer from 0 to 1e+12, got -2"),
        ({"label_weight": 0, "instance_weight": 0}, "both 0: nothing would be learnt"),
    ],
)
def test_wrong_settings_are_explained(wrong, sentence):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        sgd(**wrong).fit(X, Y)
    assert sentence in str(caught.value)


def test_a_malformed_sparse_batch_is_rejected():
    """Compiled loops would read beyond the features."""
    model = sgd(n_passes=1).partial_fit(sparse.csr_array(X[:20]), Y[:20])
    batch = sparse.csr_array(X[20:])
    batch.indices[0] = X.shape[1] + 5
    with pytest.raises(ValueError, match="X is a malformed csr matrix"):
        model.partial_fit(batch, Y[20:])
