"""Missing labels and sample weights in every measure."""

import inspect

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import metrics

import limo
from cases import cases, times
from limo import _profiles as profiles
from limo.measures._further import LISTED
from naive import known

PUBLIC = [name for name in limo.MEASURES if callable(getattr(limo, name, None))]


def other(name, S, P):
    return P if limo.MEASURES[name].needs == "labels" else S


def masked_cases(n, seed):
    """Labels, scores, predictions, where labels are missing, weights, and conventions."""
    rng = np.random.default_rng(seed)
    for Y, S, P in cases(n, seed):
        U = rng.random(Y.shape) < rng.choice([0.0, 0.2, 0.7])
        weights = rng.integers(0, 4, len(Y)) if rng.random() < 0.5 else np.ones(len(Y), dtype=int)
        if weights.any():
            yield Y, S, P, U, weights, rng.choice(["standard", "paper", "sklearn"])


def agrees_with_brute_force(Y, S, P, U, weights, conventions):
    gaps = np.where(U, np.nan, Y)
    found = limo.evaluate(
        gaps, S, P, conventions=conventions, missing=np.nan, sample_weight=weights
    )
    assert found.n_missing == U.sum()
    for name, (function, view) in known.ALL.items():
        given = (matrix.tolist() for matrix in (Y, other(name, S, P), U, weights))
        expected = known.measure(function, view, *given, conventions)
        assert found[name] == pytest.approx(expected, abs=1e-12, nan_ok=True), name


def further_agree_with_brute_force(Y, S, P, U, weights):
    S = (S - S.min()) / max(np.ptp(S), 1)  # probabilities, 0 and 1 among them
    gaps = np.where(U, np.nan, Y)
    found = limo.evaluate(gaps, S, P, measures=LISTED, missing=np.nan, sample_weight=weights)
    for name in LISTED:
        given = (matrix.tolist() for matrix in (Y, other(name, S, P), U, weights))
        expected = known.further_measure(name, *given)
        assert found[name] == pytest.approx(expected, abs=1e-12, nan_ok=True), name


def test_brute_force_over_the_masked_definition():
    for case in masked_cases(150, seed=1):
        agrees_with_brute_force(*case)


def test_brute_force_over_the_masked_definition_of_further_measures():
    assert set(known.FURTHER) == set(LISTED)
    for *case, _ in masked_cases(60, seed=12):
        further_agree_with_brute_force(*case)


@pytest.mark.slow
def test_brute_force_over_many_cases():
    for case in masked_cases(times(2000), seed=2):
        agrees_with_brute_force(*case)


@pytest.mark.slow
def test_brute_force_of_further_measures_over_many_cases():
    for *case, _ in masked_cases(times(1000), seed=13):
        further_agree_with_brute_force(*case)


def test_blocks_and_tiles_change_nothing(monkeypatch):
    rng = np.random.default_rng(3)
    Y, S = rng.integers(0, 2, (40, 9)), rng.integers(0, 30, (40, 9)) / 4
    gaps = np.where(rng.random(Y.shape) < 0.3, -1, Y)
    weights = rng.random(40)

    def values():
        return [
            dict(limo.evaluate(gaps, scores, Y, missing=-1, sample_weight=given))
            for scores in (S, np.asfortranarray(S))
            for given in (weights, None)
        ]

    whole = values()
    monkeypatch.setattr(profiles, "_BLOCK_ITEMS", 8)
    monkeypatch.setattr(profiles, "_LARGEST_TILE", 8)
    for found, expected in zip(values(), whole, strict=True):
        assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", PUBLIC)
def test_integer_weights_repeat_instances_and_zeros_remove_them(name):
    function = getattr(limo, name)
    rng = np.random.default_rng(4)
    Y = rng.integers(0, 2, (30, 6))
    S, P = rng.integers(1, 9, (30, 6)) / 10, rng.integers(0, 2, (30, 6))
    A, weights = other(name, S, P), rng.integers(0, 4, 30)
    repeated = np.repeat(np.arange(30), weights)
    expected = function(Y[repeated], A[repeated])
    assert function(Y, A, sample_weight=weights) == pytest.approx(expected, abs=1e-12)
    assert function(Y, A, sample_weight=np.ones(30)) == pytest.approx(function(Y, A), abs=1e-12)
    kept = weights > 0
    expected = function(Y[kept], A[kept])
    assert function(Y, A, sample_weight=kept) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", PUBLIC)
def test_missing_rows_and_columns_are_as_if_removed(name):
    function = getattr(limo, name)
    rng = np.random.default_rng(5)
    Y = rng.integers(0, 2, (30, 6))
    S, P = rng.integers(1, 9, (30, 6)) / 10, rng.integers(0, 2, (30, 6))
    A = other(name, S, P)
    gaps = np.array(Y, dtype=float)
    gaps[[3, 7]] = np.nan
    gaps[:, 2] = np.nan
    rows, columns = np.delete(np.arange(30), [3, 7]), np.delete(np.arange(6), 2)
    expected = function(Y[np.ix_(rows, columns)], A[np.ix_(rows, columns)])
    assert function(gaps, A, missing=np.nan) == pytest.approx(expected, abs=1e-12)


def test_every_measure_function_takes_weights_and_missing_labels():
    assert len(PUBLIC) >= 11
    for name in PUBLIC:
        assert {"sample_weight", "missing"} <= set(
            inspect.signature(getattr(limo, name)).parameters
        )


SKLEARN = {
    "hamming_loss": lambda Y, A, w: metrics.hamming_loss(Y, A, sample_weight=w),
    "ranking_loss": lambda Y, A, w: metrics.label_ranking_loss(Y, A, sample_weight=w),
    "coverage": lambda Y, A, w: metrics.coverage_error(Y, A, sample_weight=w) - 1,
    "average_precision": lambda Y, A, w: metrics.label_ranking_average_precision_score(
        Y, A, sample_weight=w
    ),
    "macro_f1": lambda Y, A, w: metrics.f1_score(Y, A, average="macro", sample_weight=w),
    "instance_f1": lambda Y, A, w: metrics.f1_score(Y, A, average="samples", sample_weight=w),
    "micro_f1": lambda Y, A, w: metrics.f1_score(Y, A, average="micro", sample_weight=w),
    "macro_auc": lambda Y, A, w: metrics.roc_auc_score(Y, A, average="macro", sample_weight=w),
    "instance_auc": lambda Y, A, w: metrics.roc_auc_score(Y, A, average="samples", sample_weight=w),
    "micro_auc": lambda Y, A, w: metrics.roc_auc_score(Y, A, average="micro", sample_weight=w),
}


@pytest.mark.parametrize("name", SKLEARN)
def test_weights_mean_what_they_mean_in_scikit_learn(name):
    rng = np.random.default_rng(6)
    Y = rng.integers(0, 2, (60, 5))
    Y[:, 0], Y[:, 1] = 1 - Y[:, 1], Y[:, 1]  # every row has both kinds of labels
    S = np.round(rng.normal(size=Y.shape) + Y, 1)
    A, weights = other(name, S, (S > 0.5).astype(int)), rng.exponential(size=60)
    found = getattr(limo, name)(Y, A, sample_weight=weights)
    assert found == pytest.approx(SKLEARN[name](Y, A, weights), abs=1e-12)


def test_the_auc_of_each_task_equals_a_loop_over_columns():
    rng = np.random.default_rng(7)
    Y = (rng.random((400, 12)) < 0.2).astype(float)
    S = np.round(rng.normal(size=Y.shape) + Y, 1)
    Y[rng.random(Y.shape) < 0.4] = np.nan
    weights = rng.exponential(size=400)
    for given in (None, weights):
        expected = []
        for y, s in zip(Y.T, S.T, strict=True):
            seen = ~np.isnan(y)
            own = None if given is None else given[seen]
            expected.append(metrics.roc_auc_score(y[seen], s[seen], sample_weight=own))
        found = limo.evaluate(Y, S, missing=np.nan, sample_weight=given)
        assert found.per_label["macro_auc"] == pytest.approx(expected, abs=1e-12)
        assert found["macro_auc"] == pytest.approx(np.mean(expected), abs=1e-12)


def test_a_label_that_all_known_instances_have_is_undefined_whatever_the_weights():
    Y = np.array([[1, 0], [1, 1], [np.nan, 0]])
    S = np.arange(6.0).reshape(3, 2)
    found = limo.evaluate(Y, S, missing=np.nan, sample_weight=[0.1, 0.2, 0.3])
    assert np.isnan(found.per_label["macro_auc"][0])
    assert found.undefined["macro_auc"] == {"every instance positive": 1}


def ways_to_say_it():
    Y = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0]])
    U = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=bool)
    coded, gaps = np.where(U, -1, Y), np.where(U, np.nan, Y)
    nullable = pd.DataFrame(gaps, columns=list("abc")).astype("Int64")
    return {
        "nan": (gaps, np.nan),
        "-1": (coded, -1),
        "list": (coded.tolist(), -1),
        "none": (np.where(U, None, Y), np.nan),
        "mask": (np.where(U, 7, Y), U),
        "mask list": (Y, U.tolist()),
        "sparse mask": (Y, sparse.csr_array(U)),
        "masked array": (np.ma.masked_array(Y, U), None),
        "masked array and nan": (
            np.ma.masked_array(gaps, [[0, 0, 0], [1, 0, 0], [0, 0, 0]]),
            np.nan,
        ),
        "sparse": (sparse.csr_array(coded), -1),
        "sparse nan": (sparse.csr_array(gaps), np.nan),
        "sparse with mask": (sparse.csr_array(gaps), U),
        "pandas": (pd.DataFrame(gaps, columns=list("abc")), np.nan),
        "pandas nullable": (nullable, np.nan),
        "pandas mask": (nullable.fillna(0), nullable.isna()),
        "polars": (pl.DataFrame(gaps, schema=list("abc")).fill_nan(None), np.nan),
    }


@pytest.mark.parametrize("way", ways_to_say_it())
def test_all_ways_to_say_that_labels_are_missing(way):
    y_true, missing = ways_to_say_it()[way]
    S = np.array([[3.0, 5.0, 2.0], [4.0, 2.0, 1.0], [1.0, 2.0, 3.0]])
    found = limo.evaluate(y_true, S, missing=missing)
    assert found.n_missing == 2
    # row 0 has no irrelevant label left, row 1 is in order, row 2 has both pairs wrong
    assert found.per_instance["instance_auc"] == pytest.approx([np.nan, 1.0, 0.0], nan_ok=True)
    assert str(found).startswith("3 instances x 3 labels, 2 labels missing (22.2%), conventions")
    assert "22.2% of the true labels are missing" in limo.explain(found)


def refused(*given, **settings):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        limo.macro_auc(*given, **settings)
    return str(error.value)


def test_errors_about_missing_labels_and_weights():
    Y, S = [[1, 0], [0, 1]], [[0.5, 0.1], [0.2, 0.3]]
    assert refused([[1, np.nan], [0, 1]], S) == (
        "y_true must hold only 0 and 1: found nan at row 0, column 1. "
        "If it is a missing label, pass missing=nan."
    )
    assert refused([[1, 3], [0, -1]], S, missing=-1).startswith(
        "y_true must hold only 0 and 1: found 3 at row 0, column 1."
    )
    assert refused(Y, S, missing=0).startswith("missing=0 is a label")
    assert refused(Y, S, missing=[[True]]) == (
        "missing must have the shape of y_true: expected (2, 2), got (1, 1)."
    )
    assert refused(Y, S, sample_weight=[1]) == (
        "sample_weight must hold one weight for each of the 2 instances, got shape (1,)."
    )
    assert refused(Y, S, sample_weight=[1, -2]) == (
        "sample_weight must hold finite numbers, not negative: found -2 for instance 1."
    )
    assert refused(Y, S, sample_weight=[0, 0]) == (
        "sample_weight is zero for every instance, so nothing is left."
    )
    assert "must hold numbers" in refused(Y, S, sample_weight=["a", "b"])


def test_rows_without_known_labels_and_rows_of_weight_0_are_counted_apart():
    Y, S = [[1, 0], [-1, -1], [0, 1], [1, 1]], np.arange(8.0).reshape(4, 2)
    for conventions in ("standard", "sklearn"):
        found = limo.evaluate(
            Y, S, np.maximum(Y, 0), conventions=conventions, missing=-1,
            sample_weight=[1, 1, 0, 2],
        )  # fmt: skip
        assert found.skipped["hamming_loss"] == 2
        assert np.isnan(found.per_instance["instance_f1"][[1, 2]]).all()
        assert found.undefined["instance_f1"] == {"no known label, or weight 0": 2}
        assert found["instance_f1"] == 1


def test_shares_of_margins_use_weights():
    rng = np.random.default_rng(8)
    Y, S = rng.integers(0, 2, (25, 4)), rng.integers(0, 5, (25, 4)) / 4
    weights = rng.integers(0, 4, 25)
    repeated = np.repeat(np.arange(25), weights)
    found = limo.evaluate(Y, S, sample_weight=weights)
    expected = limo.evaluate(Y[repeated], S[repeated])
    for view, summary in expected.margins.items():
        own = found.margins[view]
        for share in ("pairs", "positive_share", "tied_share", "ordered_share"):
            assert getattr(own, share) == pytest.approx(getattr(summary, share), abs=1e-12)
        lower = np.quantile(summary.defined, 0.3, method="inverted_cdf")
        assert own.quantile(0.3) == pytest.approx(lower)
    assert found.effectiveness == expected.effectiveness
    assert limo.effectiveness(Y, S, sample_weight=weights) == expected.effectiveness


def test_margins_leave_missing_labels_out():
    Y = np.array([[1, 0, np.nan], [np.nan, 1, 0]])
    S = np.array([[1.0, 2.0, 9.0], [0.0, 5.0, 3.0]])
    assert limo.label_wise_margin(Y, S, missing=np.nan).tolist() == [-1.0, 2.0]
    columns = limo.instance_wise_margin(Y, S, missing=np.nan)
    assert columns == pytest.approx([np.nan, 3.0, np.nan], nan_ok=True)
    assert limo.entry_wise_margin(Y, S, missing=np.nan) == -2.0
    assert limo.effectiveness(Y, S, missing=np.nan).label_wise_share == 0.5
