import numpy as np
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import limo
from estimators import MultiLabelContract, data, quietly
from limo import BinaryRelevance
from limo._checks import check_labels
from limo.models import _binary_relevance as binary_relevance


def skip_weights_of_liblinear(check):
    """LIBLINEAR draws instances at random: scikit-learn's own LinearSVC fails this check, too."""
    if check.func.__name__.startswith("check_sample_weight_equivalence"):
        pytest.skip("LIBLINEAR's optimum is approximate")


@pytest.mark.slow
@parametrize_with_checks([BinaryRelevance(), BinaryRelevance(LogisticRegression())])
def test_scikit_learn_accepts_it(estimator, check):
    if estimator.estimator is None:
        skip_weights_of_liblinear(check)
    quietly(check, estimator)


@pytest.mark.slow
@parametrize_with_checks([BinaryRelevance("logistic")])
def test_scikit_learn_accepts_it_with_logistic_regression(estimator, check):
    skip_weights_of_liblinear(check)
    quietly(check, estimator)


class TestContract(MultiLabelContract):
    grid = property(lambda self: {"estimator": [LinearSVC(C=0.1), LinearSVC(C=1)]})

    def model(self):
        return BinaryRelevance()


@pytest.mark.slow
class TestContractOfLogistic(MultiLabelContract):
    grid = property(lambda self: {"estimator": ["logistic", LogisticRegression(C=0.1)]})

    @pytest.fixture(autouse=True)
    def few_candidates(self, monkeypatch):
        monkeypatch.setattr(binary_relevance, "_CS", (0.1, 1.0))

    def model(self):
        return BinaryRelevance("logistic")


@pytest.mark.parametrize(
    "learner",
    [
        LinearSVC(random_state=0),
        LogisticRegression(C=0.3),
        DecisionTreeClassifier(max_depth=2, random_state=0),
    ],
)
def test_equals_one_versus_rest(learner):
    X, Y = data()
    Y = Y[:, 2:]  # scikit-learn's has its own way with constant labels
    ours, theirs = BinaryRelevance(learner).fit(X, Y), OneVsRestClassifier(learner).fit(X, Y)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    for method in ("decision_function", "predict_proba"):
        assert hasattr(ours, method) == hasattr(learner, method)
        if hasattr(ours, method):
            assert np.array_equal(getattr(ours, method)(X), getattr(theirs, method)(X))


def test_the_default_is_the_svm_of_the_paper():
    X, Y = data()
    model = BinaryRelevance().fit(X, Y)
    assert [type(e) for e in model.estimators_] == [type(None)] * 2 + [LinearSVC] * 3
    assert model.estimators_[2].C == 1
    assert not hasattr(model, "predict_proba")


def test_constant_labels_stand_at_the_ends_even_far_from_the_training_data():
    X, Y = data()
    model = BinaryRelevance().fit(X, Y)
    near = model.decision_function(X)
    assert len(set(near[:, 0])) == len(set(near[:, 1])) == 1  # no information, no ranking
    assert near[:, 0].max() < near[:, 2:].min() - 1
    assert near[:, 1].min() > near[:, 2:].max() + 1
    for S in (model.decision_function(1000 * X), model.decision_function(0 * X)):
        assert (S[:, 0] < S[:, 1:].min(axis=1)).all()
        assert (S[:, 1] > S[:, 2:].max(axis=1)).all()
    assert model.predict(X)[:, :2].tolist() == [[0, 1]] * len(X)
    P = BinaryRelevance(LogisticRegression()).fit(X, Y).predict_proba(X)
    assert P[:, :2].tolist() == [[0.0, 1.0]] * len(X)


def test_scores_of_an_instance_do_not_depend_on_the_others():
    X, Y = data()
    model = BinaryRelevance().fit(X, Y)
    alone = np.vstack([model.decision_function(x[None]) for x in X])
    np.testing.assert_allclose(alone, model.decision_function(X), rtol=1e-12)


def test_logistic_chooses_its_c_by_the_log_loss_of_all_labels(monkeypatch):
    monkeypatch.setattr(binary_relevance, "_CS", (0.01, 1.0, 100.0))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    noise = rng.integers(0, 2, (60, 4))
    signal = (X @ rng.normal(size=(3, 4)) > 0).astype(int)
    weak = BinaryRelevance("logistic").fit(X, noise)
    strong = BinaryRelevance("logistic").fit(X, signal)
    assert weak.C_ < strong.C_
    assert weak.log_loss_[weak.C_] == min(weak.log_loss_.values())
    assert all(e.C == strong.C_ for e in strong.estimators_)
    assert weak.log_loss_[0.01] == pytest.approx(np.log(2), abs=0.05)
    assert list(weak.log_loss_) == [0.01, 1.0]  # from there on it would only get worse


def test_the_log_loss_is_that_of_cross_validation(monkeypatch):
    X, Y = data()
    monkeypatch.setattr(binary_relevance, "_CS", (1.0,))
    found = BinaryRelevance("logistic").fit(X, Y[:, 2:]).log_loss_[1.0]
    learner = LogisticRegression(solver="liblinear", intercept_scaling=10.0)
    folds = KFold(3, shuffle=True, random_state=0)
    expected = [
        log_loss(y, cross_val_predict(learner, X, y, cv=folds, method="predict_proba"))
        for y in Y.T[2:]
    ]
    assert found == pytest.approx(np.mean(expected))


def test_logistic_regression_is_that_of_scikit_learn():
    """Up to the penalty on the intercept, which is made small."""
    X, Y = data()
    ours = binary_relevance.logistic(0.5).fit(X, Y[:, 2]).predict_proba(X)
    theirs = LogisticRegression(C=0.5).fit(X, Y[:, 2]).predict_proba(X)
    np.testing.assert_allclose(ours, theirs, atol=0.01)


def test_rare_labels_do_not_upset_the_choice(monkeypatch):
    monkeypatch.setattr(binary_relevance, "_CS", (0.1, 1.0))
    X, Y = data()
    Y[:, 2] = 0
    Y[3, 2] = 1  # without a positive in two of three training parts
    assert np.isfinite(list(BinaryRelevance("logistic").fit(X, Y).log_loss_.values())).all()
    assert BinaryRelevance("logistic").fit(X[:1], Y[:1]).C_ == 1  # nothing to choose by


@pytest.mark.slow
def test_n_jobs_acts_and_changes_nothing(monkeypatch):
    X, Y = data()
    asked = []
    real = binary_relevance.Parallel
    monkeypatch.setattr(
        binary_relevance,
        "Parallel",
        lambda n_jobs, **more: asked.append(n_jobs) or real(n_jobs, **more),
    )
    one, two = (BinaryRelevance(n_jobs=n).fit(X, Y).decision_function(X) for n in (None, 2))
    assert set(asked) == {None, 2}
    assert np.array_equal(one, two)


def test_what_a_learner_takes_is_for_it_to_say():
    texts = ["red wine", "white wine", "red house", "white house", "red", "house"]
    Y = [[1, 0], [0, 1], [1, 0], [0, 0], [1, 1], [0, 0]]
    model = BinaryRelevance(make_pipeline(CountVectorizer(), LogisticRegression())).fit(texts, Y)
    assert model.predict(["red red"])[0, 0] == 1
    assert model.decision_function(["red", "house"]).shape == (2, 2)
    holes = np.where(np.eye(40, 3), np.nan, data()[0][:, :3])
    boosted = BinaryRelevance(HistGradientBoostingClassifier(max_iter=3)).fit(holes, data()[1])
    assert np.isfinite(boosted.predict_proba(holes)).all()
    assert get_tags(boosted).input_tags.allow_nan
    assert not get_tags(BinaryRelevance(GaussianNB())).input_tags.sparse
    with pytest.raises((TypeError, ValueError), match="[Ss]parse"):
        BinaryRelevance(GaussianNB()).fit(sparse.csr_array(data()[0]), data()[1])


def test_a_learner_without_scores_predicts_all_the_same():
    class Mute(DummyClassifier):
        predict_proba = property()

    X, Y = data()
    model = BinaryRelevance(Mute()).fit(X, Y)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "decision_function")
    assert model.predict(X)[:, :2].tolist() == [[0, 1]] * len(X)


def test_an_unknown_name_is_explained():
    with pytest.raises(ValueError, match="Unknown estimator 'logistics'. Did you mean 'logistic'"):
        BinaryRelevance("logistics").fit([[0.0], [1.0]], [[1], [0]])


def test_a_label_is_given_to_its_learner_as_it_is():
    Y = np.array([[1, 0], [0, 1], [1, 1]])
    pattern = check_labels(Y, "y")
    assert np.array_equal(np.column_stack([binary_relevance._marks(pattern, j) for j in (0, 1)]), Y)


def test_scorers_understand_it():
    X, Y = data()
    assert 0 <= limo.make_scorer("macro_auc")(BinaryRelevance().fit(X, Y), X, Y) <= 1
