"""Every measure against its twin, against scikit-learn, and against what must not change it."""

import math
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import metrics
from sklearn.exceptions import UndefinedMetricWarning

import limo
from cases import cases
from naive import measures as naive

RANKING = [name for name, m in limo.MEASURES.items() if m.needs == "scores"]
LABELS = [name for name, m in limo.MEASURES.items() if m.needs == "labels"]
PRESETS = list(limo.CONVENTIONS)


def quiet(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", limo.UndefinedMeasureWarning)
        return function(*args, **kwargs)


def close(a, b):
    return (math.isnan(a) and math.isnan(b)) or abs(a - b) <= 1e-12


@pytest.mark.parametrize("conventions", PRESETS)
@pytest.mark.parametrize("name", list(limo.MEASURES))
def test_equals_its_twin(name, conventions):
    for Y, S, P in cases(150, seed=1):
        A = S if name in RANKING else P
        ours = quiet(getattr(limo, name), Y, A, conventions=conventions)
        assert close(ours, getattr(naive, name)(Y.tolist(), A.tolist(), conventions)), (Y, A)


SKLEARN = {
    "hamming_loss": metrics.hamming_loss,
    "ranking_loss": metrics.label_ranking_loss,
    "coverage": lambda Y, S: metrics.coverage_error(Y, S) - 1,
    "average_precision": metrics.label_ranking_average_precision_score,
    "macro_f1": lambda Y, P: metrics.f1_score(Y, P, average="macro", zero_division=0.0),
    "instance_f1": lambda Y, P: metrics.f1_score(Y, P, average="samples", zero_division=0.0),
    "micro_f1": lambda Y, P: metrics.f1_score(Y, P, average="micro", zero_division=0.0),
    "macro_auc": lambda Y, S: metrics.roc_auc_score(Y, S, average="macro"),
    "instance_auc": lambda Y, S: metrics.roc_auc_score(Y, S, average="samples"),
    "micro_auc": lambda Y, S: metrics.roc_auc_score(Y, S, average="micro"),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("name", list(SKLEARN))
def test_equals_scikit_learn(name):
    compared = 0
    for Y, S, P in cases(120, seed=2):
        if Y.shape[1] < 2 or Y.shape[0] < 2:
            continue  # scikit-learn does not take a single column for multi-label
        A = S if name in RANKING else P
        ours = quiet(getattr(limo, name), Y, A, conventions="sklearn")
        assert close(ours, SKLEARN[name](Y, A)), (Y, A)
        compared += 1
    assert compared > 80


def test_scikit_learn_has_ten_of_the_eleven():
    assert set(limo.MEASURES) - set(SKLEARN) == {"one_error"}


CONSTANT = np.array([[1, 0, 0], [0, 1, 1], [1, 0, 1], [0, 1, 0]])


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_constant_predictor_is_perfect_on_nothing(value):
    S = np.full(CONSTANT.shape, value)
    evaluation = limo.evaluate(CONSTANT, S, np.full(CONSTANT.shape, int(value)))
    for name, result in evaluation.results.items():
        assert abs(result.value - result.best) > 0.01, name


def test_a_constant_predictor_is_perfect_where_the_paper_says():
    S = np.ones(CONSTANT.shape)
    evaluation = limo.evaluate(CONSTANT, S, conventions="paper")
    assert evaluation["one_error"] == 0
    assert evaluation["coverage"] == 0
    for name in ("macro_auc", "instance_auc", "micro_auc"):
        assert evaluation[name] == 1
    assert evaluation["ranking_loss"] == 1


@pytest.mark.parametrize("name", list(limo.MEASURES))
def test_order_of_instances_and_labels_does_not_matter(name):
    rng = np.random.default_rng(3)
    for Y, S, P in cases(60, seed=4):
        A = S if name in RANKING else P
        rows, columns = rng.permutation(Y.shape[0]), rng.permutation(Y.shape[1])
        measure = getattr(limo, name)
        before = quiet(measure, Y, A)
        after = quiet(measure, Y[rows][:, columns], A[rows][:, columns])
        assert close(before, after)


@pytest.mark.parametrize("name", RANKING)
def test_increasing_transforms_change_nothing(name):
    """Any of all scores; of each row its own for measures of rows, and so for columns."""
    rng = np.random.default_rng(5)
    view = limo.MEASURES[name].view.name
    for Y, S, _ in cases(60, seed=6):
        shape = {"rows": (len(S), 1), "columns": (1, S.shape[1]), "entries": (1, 1)}[view]
        stretch, shift = rng.uniform(0.5, 3, shape), rng.normal(size=shape)
        changed = S * stretch + (S * stretch) ** 3 + shift
        assert close(quiet(getattr(limo, name), Y, S), quiet(getattr(limo, name), Y, changed))


def test_ranking_loss_and_instance_auc_part_at_ties():
    Y, S = [[1, 0]], [[0.5, 0.5]]
    assert limo.ranking_loss(Y, S) == 1
    assert limo.instance_auc(Y, S) == 0.5
    assert limo.ranking_loss(Y, S, conventions=limo.Conventions(ranking_loss_tie=0.5)) == 0.5


def test_a_tie_does_not_depend_on_the_order_of_labels():
    for name in RANKING:
        measure = getattr(limo, name)
        S = [[0.5, 0.5], [0.5, 0.5]]
        assert measure([[1, 0], [0, 1]], S) == measure([[0, 1], [1, 0]], S)


def test_rows_without_labels_do_not_raise_average_precision():
    Y, S = [[1, 0, 0]], [[0.1, 0.2, 0.3]]
    more = [*Y, [0, 0, 0]]
    assert limo.average_precision(more, S + S) == limo.average_precision(Y, S)
    assert limo.average_precision(more, S + S, conventions="sklearn") == (1 / 3 + 1) / 2


def test_squeezed_scores_tie_and_lose():
    """Probabilities rounded to 1 lose the order that the raw scores had."""
    Y, S = np.array([[1, 0]]), np.array([[50.0, 40.0]])
    squeezed = 1 / (1 + np.exp(-S))
    assert squeezed[0, 0] == squeezed[0, 1]
    assert limo.instance_auc(Y, S) == 1
    assert limo.instance_auc(Y, squeezed) == 0.5


def test_macro_f1_is_the_mean_of_f1s():
    """And not the F1 of mean precision and mean recall, which some libraries print."""
    Y = np.array([[1, 0], [1, 0], [0, 1]])
    P = np.array([[1, 1], [0, 0], [0, 1]])
    assert limo.macro_f1(Y, P) == pytest.approx((2 / 3 + 2 / 3) / 2)


@pytest.mark.parametrize("name", ["macro_auc", "instance_auc", "micro_auc", "ranking_loss"])
def test_an_undefined_measure_is_nan_and_says_so(name):
    with pytest.warns(limo.UndefinedMeasureWarning, match="undefined here, and nan is returned"):
        assert math.isnan(getattr(limo, name)([[0, 0]], [[0.1, 0.2]]))


def test_the_warning_is_one_of_scikit_learn_too():
    with pytest.warns(UndefinedMetricWarning) as caught:
        limo.macro_auc([[0, 0]], [[0.1, 0.2]])
    assert caught[0].filename == __file__
    assert limo.UndefinedMeasureWarning.__module__ == "limo"


def test_full_rows_can_be_left_out_of_average_precision():
    Y, S = [[1, 1], [0, 1]], [[0.1, 0.2], [0.3, 0.2]]
    assert limo.average_precision(Y, S) == 0.75
    without = limo.Conventions(full_rows_in_average_precision=False)
    assert limo.average_precision(Y, S, conventions=without) == 0.5


@pytest.mark.parametrize("name", list(limo.MEASURES))
def test_containers_and_types_give_the_same(name):
    Y, S, P = next(case for case in cases(100, seed=8) if min(case[0].shape) > 3)
    A = S if name in RANKING else P
    measure = getattr(limo, name)
    expected = quiet(measure, Y, A)
    for y in (
        Y.tolist(),
        Y.astype(bool),
        Y.astype(np.float32),
        sparse.csc_array(Y),
        Y[::1, ::1].T.copy().T,
    ):
        assert close(quiet(measure, y, A), expected)
    others = [np.asfortranarray(A), np.repeat(A, 2, axis=1)[:, ::2]]
    others += [sparse.coo_matrix(A)] if name in LABELS else [A.astype(np.float32), A.tolist()]
    for a in others:
        assert close(quiet(measure, Y, a), expected)
