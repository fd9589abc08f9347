import numpy as np
import pandas
import polars
import pytest
from scipy import sparse

import limo
from cases import cases
from limo.thresholds import (
    apply_thresholds,
    best_global_threshold,
    best_instance_thresholds,
    best_label_thresholds,
    top_k,
)
from naive import thresholds as naive
from thresholds_cases import stored_case

Y, S = [[1, 0], [0, 1], [1, 1]], [[0.75, 0.25], [0.25, 0.5], [0.5, 1.0]]


def test_by_hand():
    assert best_label_thresholds(Y, S).tolist() == [0.375, 0.375]
    assert best_instance_thresholds(Y, S).tolist() == [0.5, 0.375, -np.inf]
    assert best_global_threshold(Y, S) == 0.375


@pytest.mark.parametrize("form", [np.array, pandas.DataFrame, sparse.csr_array, list])
def test_labels_and_scores_in_any_form(form):
    labels = form(np.array(Y)) if form is not list else Y
    scores = sparse.csr_array(S) if form is sparse.csr_array else form(S)
    assert best_label_thresholds(labels, scores).tolist() == [0.375, 0.375]
    found = apply_thresholds(scores, [0.375, 0.375])
    assert sparse.issparse(found) == (form is sparse.csr_array)
    assert (found.toarray() if sparse.issparse(found) else found).tolist() == Y


def test_polars_frames():
    frame = polars.DataFrame(S, schema=["a", "b"], orient="row")
    assert best_label_thresholds(Y, frame).tolist() == [0.375, 0.375]


def test_apply_is_a_strict_comparison():
    assert apply_thresholds([[0.5, 0.75]], 0.5, by="global").tolist() == [[0, 1]]
    assert apply_thresholds([[0.5, 0.75]], [0.5, 0.5]).tolist() == [[0, 1]]
    assert apply_thresholds([[0.5, 0.75]], [0.5], by="instance").tolist() == [[0, 1]]
    assert apply_thresholds([[0.5, 0.75]], [np.inf, -np.inf]).tolist() == [[0, 1]]


@pytest.mark.parametrize("by", ["instance", "label", "global"])
def test_apply_equals_its_twin(by):
    rng = np.random.default_rng(70)
    for _ in range(30):
        _, T, A = stored_case(rng)
        n = {"instance": A.shape[0], "label": A.shape[1], "global": 1}[by]
        t = rng.choice([-np.inf, -0.5, 0.0, np.inf], size=n)
        assert apply_thresholds(T, t, by=by).toarray().tolist() == naive.cut(A.tolist(), t, by)


def test_scores_are_not_altered():
    scores = np.array(S)
    for function in (best_label_thresholds, best_instance_thresholds, best_global_threshold):
        function(Y, scores)
    top_k(scores, 1)
    apply_thresholds(scores, 0.5)
    assert scores.tolist() == S


@pytest.mark.parametrize("k", [0, 1, 2, 5, 100])
def test_top_k_equals_its_twin(k):
    rng = np.random.default_rng(71)
    for _, A, _ in cases(40, seed=72):
        assert top_k(A, k).tolist() == naive.top_k(A.tolist(), k)
        _, T, B = stored_case(rng)
        expected = np.array(naive.top_k(B.tolist(), k)) * np.isfinite(B)
        assert top_k(T, k).toarray().tolist() == expected.tolist()


def test_wrong_input_is_refused():
    with pytest.raises(ValueError, match="Unknown target 'fl'"):
        best_label_thresholds(Y, S, "fl")
    with pytest.raises(ValueError, match="Unknown kind of threshold 'row'"):
        apply_thresholds(S, 0.5, by="row")
    with pytest.raises(ValueError, match=r"one for each label: expected shape \(2,\), got \(3,\)"):
        apply_thresholds(S, [1, 2, 3])
    with pytest.raises(ValueError, match="must hold numbers, got nan. inf predicts nothing"):
        apply_thresholds(S, np.nan)
    for k in (-1, 1.5, True):
        with pytest.raises(ValueError, match="k must be a whole number from 0 up, got"):
            top_k(S, k)
    with pytest.raises(ValueError, match="y_score must have the shape of y_true"):
        best_label_thresholds(Y, np.ones((3, 3)) / 2)


def test_the_threshold_found_has_the_value_promised():
    """macro-F1 after cutting is the mean of the best F1 of each label, as limo measures it."""
    rng = np.random.default_rng(73)
    labels = (rng.random((60, 4)) < 0.2).astype(int)
    scores = rng.normal(size=(60, 4)) + labels
    found = limo.macro_f1(labels, apply_thresholds(scores, best_label_thresholds(labels, scores)))
    grid = [
        max(limo.macro_f1(labels[:, [j]], (scores[:, [j]] > t).astype(int)) for t in scores[:, j])
        for j in range(4)
    ]
    assert found == pytest.approx(np.mean(grid))
