"""What every multi-label estimator must do, to be run on each of them."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import skops.io
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import limo


def data(m=40, d=6, l=5, seed=0):
    """Sparse-ish features with an empty row; labels with an empty row and two constant labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)) * (rng.random((m, d)) < 0.6)
    Y = (X @ rng.normal(size=(d, l)) + 0.3 * rng.normal(size=(m, l)) > 0.4).astype(int)
    X[0] = 0
    Y[1] = 0
    Y[:, 0], Y[:, 1] = 0, 1
    return X, Y


class MultiLabelContract:
    """A subclass gives ``model()``, unfitted, and ``grid``, some of its parameters to search."""

    def test_storage_makes_no_difference(self):
        X, Y = data()
        expected = self.model().fit(X, Y)
        for of_X in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, np.asfortranarray):
            found = clone(expected).fit(of_X(X), Y)
            np.testing.assert_allclose(
                limo.scores_of(found, of_X(X)), limo.scores_of(expected, X), atol=1e-5
            )
            assert np.array_equal(found.predict(of_X(X)), expected.predict(X))

    def test_predictions_come_in_the_form_of_the_labels(self):
        X, Y = data()
        dense = self.model().fit(X, Y).predict(X)
        assert dense.dtype == np.int64
        assert dense.shape == Y.shape
        assert np.array_equal(self.model().fit(X, Y.tolist()).predict(X), dense)
        assert np.array_equal(self.model().fit(X, pd.DataFrame(Y)).predict(X), dense)
        for form in (sparse.csr_array, sparse.csc_matrix):
            found = self.model().fit(X, form(Y)).predict(X)
            assert found.format == "csr"
            assert np.array_equal(found.toarray(), dense)

    @pytest.mark.parametrize("values", [[-1, 1], ["no", "yes"]])
    def test_predictions_are_coded_as_the_labels(self, values):
        X, Y = data()
        plain, values = self.model().fit(X, Y), np.array(values)
        coded = self.model().fit(X, values[Y])
        assert np.array_equal(coded.predict(X), values[plain.predict(X)])
        assert np.array_equal(limo.scores_of(coded, X), limo.scores_of(plain, X))

    def test_one_dimension_is_one_label_with_two_classes(self):
        X, Y = data()
        column = self.model().fit(X, Y[:, 2:3])
        flat = self.model().fit(X, np.array(["no", "yes"])[Y[:, 2]])
        assert flat.classes_.tolist() == ["no", "yes"]
        assert np.array_equal(flat.predict(X) == "yes", column.predict(X)[:, 0] == 1)
        if hasattr(flat, "predict_proba"):
            both, one = flat.predict_proba(X), column.predict_proba(X)
            assert both.shape == (len(X), 2)
            np.testing.assert_allclose(both, np.hstack([1 - one, one]))
        if hasattr(flat, "decision_function"):
            assert np.array_equal(flat.decision_function(X), column.decision_function(X)[:, 0])

    def test_works_with_every_label_constant_and_more_features_than_instances(self):
        X, Y = data(m=5, d=50)
        for labels in (Y, 0 * Y, 0 * Y + 1):
            model = self.model().fit(X, labels)
            S = limo.scores_of(model, X)
            assert np.isfinite(S).all()
            assert model.predict(X).shape == Y.shape
        assert model.predict(X).all()

    def test_a_label_nobody_has_ranks_last_and_one_all_have_first(self):
        X, Y = data()
        S = limo.scores_of(self.model().fit(X, Y), 20 * data(seed=1)[0])
        assert (S[:, [0]] <= S[:, 1:]).all()
        assert (S[:, [1]] >= S[:, 2:]).all()

    def test_lives_in_pipelines_and_searches(self):
        X, Y = data()
        pipe = make_pipeline(MaxAbsScaler(), self.model())
        name, values = next(iter(self.grid.items()))
        step = pipe.steps[-1][0]
        search = GridSearchCV(
            pipe, {f"{step}__{name}": values}, scoring=limo.make_scorer("micro_auc"), cv=3
        )
        assert 0 <= search.fit(X, Y).best_score_ <= 1
        assert search.predict(X).shape == Y.shape

    def test_pipelines_may_pass_data_frames_on(self):
        X, Y = data()
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
        pipeline = make_pipeline(MaxAbsScaler(), self.model()).set_output(transform="pandas")
        found = pipeline.fit(frame, Y).predict(frame)
        assert pipeline[-1].feature_names_in_.tolist() == list(frame)
        plain = make_pipeline(MaxAbsScaler(), self.model()).fit(X, Y).predict(X)
        assert np.array_equal(found, plain)

    def test_feature_names_are_kept_and_checked(self):
        X, Y = data()
        frame = pd.DataFrame(X, columns=list("abcdef"))
        model = self.model().fit(frame, Y)
        assert model.feature_names_in_.tolist() == list("abcdef")
        assert np.array_equal(model.predict(frame), self.model().fit(X, Y).predict(X))
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(frame.rename(columns={"a": "z"}))

    @pytest.mark.parametrize(
        ("X", "y", "sentence"),
        [
            ([[np.nan], [1.0]], [[1], [0]], "NaN"),
            ([[0.0], [1.0]], [[1, 0]], "y must have a row for each row of X: expected 2, got 1"),
            ([[0.0], [1.0]], [[1, 2], [0, 0]], "y must hold only 0 and 1: found 2 at row 0"),
            ([[0.0], [1.0]], [[1, 0], [1]], "rows of different lengths"),
            ([[0.0], [1.0], [2.0]], [1, 2, 3], "one label with two classes.*MultiLabelBinarizer"),
            ([[0.0], [1.0]], [1, 1], "must hold two classes, got one class only, 1"),
            ([[0.0], [1.0]], None, "requires y to be passed"),
        ],
    )
    def test_bad_input_is_explained(self, X, y, sentence):
        with pytest.raises(ValueError, match=sentence):
            self.model().fit(X, y)

    def test_a_wrong_width_is_explained(self):
        X, Y = data()
        with pytest.raises(ValueError, match="X has 5 features, but .* is expecting 6"):
            self.model().fit(X, Y).predict(X[:, :5])

    def test_is_saved_and_loaded_without_pickle(self, tmp_path):
        """Only our own classes have to be trusted, and predictions stay the same to the last bit."""
        for form in (np.asarray, sparse.csr_array):
            X, Y = data()
            model = self.model().fit(form(X), form(Y))
            file = tmp_path / "model.skops"
            skops.io.dump(model, file)
            types = skops.io.get_untrusted_types(file=file)
            assert f"{type(model).__module__}.{type(model).__qualname__}" in types
            assert all(name.startswith("limo.") for name in types)
            loaded = skops.io.load(file, trusted=types)
            assert np.array_equal(limo.scores_of(loaded, X), limo.scores_of(model, X))
            assert (loaded.predict(X) != model.predict(X)).sum() == 0

    @pytest.mark.slow
    def test_a_fresh_process_predicts_the_same(self, tmp_path):
        X, Y = data()
        model = self.model().fit(X, Y)
        skops.io.dump(model, tmp_path / "model.skops")
        np.save(tmp_path / "X.npy", X)
        code = """
import limo, numpy as np, skops.io
trusted = skops.io.get_untrusted_types(file="model.skops")
assert all(name.startswith("limo.") for name in trusted)
model = skops.io.load("model.skops", trusted=trusted)
np.save("S.npy", limo.scores_of(model, np.load("X.npy")))
"""
        subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
        assert np.array_equal(np.load(tmp_path / "S.npy"), limo.scores_of(model, X))


def quietly(check, estimator, excuses=None):
    """Run one of scikit-learn's checks; some warn on purpose.

    ``excuses`` maps the names of checks that do not fit an estimator to the error they must then
    raise: an excused check that passes, or fails for another reason, fails the test.
    """
    excuse = (excuses or {}).get(check.func.__name__)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if excuse is None:
            check(estimator)
        else:
            with pytest.raises(AssertionError, match=excuse):
                check(estimator)


# scikit-learn's checks expect a label where its score is above 0, or its probability above a half.
# They report the differences, one per line: "[5, 0]: 0 (ACTUAL), 1 (DESIRED)".
OTHER_THRESHOLD = dict.fromkeys(
    ["check_classifier_multioutput", "check_classifiers_train"],
    r"(?s)Arrays are not equal.*\]: (0 \(ACTUAL\), 1|1 \(ACTUAL\), 0) \(DESIRED\)",
)

# Thresholds are fitted on scores of folds, and repeated instances fall into other folds than one of
# the same weight; trees draw rows, or count them in leaves. The weights of LIMO itself are equal,
# which test_limo_weights.py checks.
OTHER_FOLDS = dict.fromkeys(
    [
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ],
    "not equivalent to fitting with removed or repeated data points",
)
