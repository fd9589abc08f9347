"""Rows and columns in another order are an error, not a silent comparison by position."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import limo
from limo._frames import Frame, column_names, first_names

Y = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
S = np.array([[0.9, 0.2, 0.4], [0.5, 0.1, 0.8], [0.3, 0.7, 0.1], [0.2, 0.3, 0.6]])


def refused(*given, **settings):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        limo.evaluate(*given, **settings)
    return str(error.value)


@pytest.mark.parametrize("index", [list("abcd"), [7, 3, 5, 9], [0, 1, 2, 3]])
def test_shuffled_rows(index):
    y_true = pd.DataFrame(Y, index=index)
    y_score = pd.DataFrame(S, index=index)
    expected = limo.macro_auc(Y, S)
    assert limo.macro_auc(y_true, y_score) == expected
    for mixed in (y_score.iloc[::-1], y_score.sample(frac=1, random_state=1)):
        message = refused(y_true, mixed)
        assert message.startswith("The rows of y_score are those of y_true in another order")
        assert "Reorder them with y_score.loc[y_true.index]" in message
        assert limo.macro_auc(y_true, mixed.loc[y_true.index]) == expected
        assert limo.macro_auc(mixed.loc[index] * 0 + Y, S) == expected
        assert limo.evaluate(y_true, mixed.to_numpy()) is not None


def test_a_shuffled_truth_against_scores_numbered_anew():
    """The index of a shuffled frame is not the default one of a new frame."""
    y_true = pd.DataFrame(Y).iloc[[2, 0, 3, 1]]
    assert "in another order: expected [2, 0, 3, 1], got [0, 1, 2, 3]" in refused(
        y_true, pd.DataFrame(S)
    )
    part = pd.DataFrame(Y, index=[12, 5, 40, 7])  # rows of a split: no numbers to compare with
    assert limo.macro_auc(part, pd.DataFrame(S)) == limo.macro_auc(Y, S)


@pytest.mark.parametrize("kind", ["pandas", "polars", "lazy", "pyarrow"])
def test_every_kind_of_data_frame_gives_the_same(kind):
    import pyarrow

    make = {
        "pandas": lambda A: pd.DataFrame(A, columns=list("xyz")),
        "polars": lambda A: pl.DataFrame(A, schema=list("xyz")),
        "lazy": lambda A: pl.LazyFrame(A, schema=list("xyz")),
        "pyarrow": lambda A: pyarrow.table(dict(zip("xyz", A.T, strict=True))),
    }[kind]
    found = limo.evaluate(make(Y), make(S), make((S > 0.5).astype(int)))
    assert found.label_names == ("x", "y", "z")
    assert dict(found) == dict(limo.evaluate(Y, S, (S > 0.5).astype(int)))
    X = make(S)
    labels = limo.LIMOClassifier().fit(X, make(Y)).predict(X)
    np.testing.assert_array_equal(labels, limo.LIMOClassifier().fit(S, Y).predict(S))
    other = pd.DataFrame(S, columns=list("xzy"))
    assert "The columns of y_score are those of y_true in another order" in refused(make(Y), other)


def test_shuffled_predictions_weights_and_masks():
    y_true = pd.DataFrame(Y, index=list("abcd"), columns=list("xyz"))
    assert "rows of y_pred" in refused(y_true, y_pred=y_true.iloc[::-1])
    weights = pd.Series([1, 2, 3, 4], index=list("dcba"))
    assert "rows of sample_weight are those of y_true" in refused(y_true, S, sample_weight=weights)
    mask = pd.DataFrame(Y == 2, index=list("abcd"), columns=list("zyx"))
    assert "columns of missing are those of y_true" in refused(y_true, S, missing=mask)
    right = weights.loc[y_true.index]
    expected = limo.evaluate(Y, S, sample_weight=[4, 3, 2, 1])
    assert dict(limo.evaluate(y_true, S, sample_weight=right)) == dict(expected)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_columns_in_another_order(make):
    y_true = make({name: Y[:, j] for j, name in enumerate("xyz")})
    turned = make({name: S[:, j] for j, name in zip((2, 0, 1), "zxy", strict=True)})
    message = refused(y_true, turned)
    assert "The columns of y_score are those of y_true in another order" in message
    assert "y_score[y_true.columns]" in message
    assert limo.macro_auc(y_true, turned[y_true.columns]) == limo.macro_auc(Y, S)


def test_names():
    assert column_names(pl.DataFrame(Y, schema=["a", "b", "c"])) == ("a", "b", "c")
    assert column_names(pd.DataFrame(Y)) is None
    frames = [Frame("a", Y), Frame("b", pd.DataFrame(S, columns=list("xyz")))]
    assert first_names(frames) == ("x", "y", "z")
    assert first_names(frames[:1]) is None


KINDS = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy": pl.LazyFrame,
    "pyarrow": lambda columns: pytest.importorskip("pyarrow").table(columns),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "model",
    [limo.BinaryRelevance(), limo.ThresholdClassifier(limo.BinaryRelevance(), cv=2)],
    ids=["learner", "thresholds"],
)
def test_models_learn_from_every_kind_of_data_frame(kind, model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    labels = (X[:, :2] + rng.normal(size=(40, 2)) > 0).astype(int)
    features, target = (
        KINDS[kind]({name: A[:, j] for j, name in enumerate("abc"[: A.shape[1]])})
        for A in (X, labels)
    )
    expected = clone(model).fit(X, labels)
    found = clone(model).fit(features, target)
    np.testing.assert_allclose(found.decision_function(features), expected.decision_function(X))
    assert found.predict(features).tolist() == expected.predict(X).tolist()
    assert limo.macro_f1(target, found.predict(features)) == limo.macro_f1(
        labels, expected.predict(X)
    )
