import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import limo
from limo._scores import probabilities_of

DATA = limo.datasets.figure1(120, seed=1)
MODELS = {
    "one-vs-rest": OneVsRestClassifier(LogisticRegression()),
    "one-vs-rest, probabilities": OneVsRestClassifier(BernoulliNB(binarize=0.0)),
    "multi-output": MultiOutputClassifier(LogisticRegression()),
    "chain": ClassifierChain(LogisticRegression()),
    "forest": RandomForestClassifier(10, random_state=0),
    "neighbours": KNeighborsClassifier(),
    "network": MLPClassifier((8,), solver="lbfgs", random_state=0, max_iter=50),
    "ridge": RidgeClassifier(),
    "pipeline": make_pipeline(StandardScaler(), MultiOutputClassifier(LogisticRegression())),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", list(MODELS))
def test_every_kind_of_estimator(name):
    model = MODELS[name].fit(DATA.X, DATA.Y)
    S = limo.scores_of(model, DATA.X)
    assert S.shape == DATA.Y.shape
    # scores of class 1, not of class 0: they agree with the labels they were fitted to
    assert limo.micro_auc(DATA.Y, S) > 0.6
    P = model.predict(DATA.X)
    assert limo.micro_auc(P, S) > 0.95


def test_a_label_seen_with_one_class_only():
    Y = DATA.Y.copy()
    Y[:, 1], Y[:, 2] = 0, 1
    S = limo.scores_of(KNeighborsClassifier().fit(DATA.X, Y), DATA.X)
    assert S[:, 1].tolist() == [0.0] * len(Y)
    assert S[:, 2].tolist() == [1.0] * len(Y)


def test_a_single_label():
    model = LogisticRegression().fit(DATA.X, DATA.Y[:, 0])
    assert limo.scores_of(model, DATA.X).shape == (120, 1)


class Bare:
    pass


class OneClass:
    def predict_proba(self, X):
        return [np.ones((3, 1))]


class TwoClasses:
    def predict_proba(self, X):
        return [np.array([[0.25, 0.75]])]


def test_parts_are_scored_where_the_whole_is_not():
    model = MultiOutputClassifier(RidgeClassifier()).fit(DATA.X, DATA.Y)
    S = limo.scores_of(model, DATA.X)
    assert (S[:, 2] == model.estimators_[2].decision_function(DATA.X)).all()
    assert (model.predict(DATA.X) == (S > 0)).all()


def test_no_scores():
    with pytest.raises(
        TypeError, match="Bare gives no scores: expected decision_function or predict_proba"
    ):
        limo.scores_of(Bare(), None)


def test_classes_nobody_names():
    assert limo.scores_of(TwoClasses(), None).tolist() == [[0.75]]
    with pytest.raises(TypeError, match="no classes_ that says which is which"):
        limo.scores_of(OneClass(), None)


def test_probabilities_even_where_there_are_scores():
    model = OneVsRestClassifier(LogisticRegression()).fit(DATA.X, DATA.Y)
    assert (probabilities_of(model, DATA.X) == model.predict_proba(DATA.X)).all()
    with pytest.raises(TypeError, match="RidgeClassifier gives no probabilities"):
        probabilities_of(RidgeClassifier().fit(DATA.X, DATA.Y), DATA.X)


# What other libraries give, with small stand-ins that have their attributes


class Tensor:
    """As torch.Tensor: no gradient, no other device and no bfloat16 may reach numpy."""

    def __init__(self, values, dtype="torch.float32", requires_grad=False, device="cpu"):
        self.values, self.dtype = np.asarray(values), dtype
        self.requires_grad, self.device, self.ndim = requires_grad, device, np.ndim(values)
        self.shape = self.values.shape

    def detach(self):
        return Tensor(self.values, self.dtype, False, self.device)

    def cpu(self):
        return Tensor(self.values, self.dtype, self.requires_grad, "cpu")

    def float(self):
        return Tensor(self.values, "torch.float32", self.requires_grad, self.device)

    def __array__(self, dtype=None, copy=None):
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        if self.device != "cpu":
            raise TypeError("can't convert cuda:0 device type tensor to numpy.")
        if self.dtype == "torch.bfloat16":
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.values.astype(dtype or self.values.dtype)


TRUE = np.array([[1, 0], [0, 1], [1, 1]])
GIVEN = np.array([[0.75, 0.5], [0.25, 0.5], [0.5, 0.125]])


@pytest.mark.parametrize(
    "options",
    [{}, {"requires_grad": True}, {"device": "cuda:0"}, {"dtype": "torch.bfloat16"}],
    ids=str,
)
def test_tensors_are_read(options):
    expected = dict(limo.evaluate(TRUE, GIVEN))
    assert dict(limo.evaluate(Tensor(TRUE), Tensor(GIVEN, **options))) == expected


def test_bfloat16_arrays_are_read():
    class Numbers:
        dtype = "bfloat16"

        def __array__(self, dtype=None, copy=None):
            return GIVEN.astype(np.float32)

    assert dict(limo.evaluate(TRUE, Numbers())) == dict(limo.evaluate(TRUE, GIVEN))


def test_lazy_frames_are_collected():
    polars = pytest.importorskip("polars")
    lazy = polars.LazyFrame({"a": GIVEN[:, 0], "b": GIVEN[:, 1]})
    evaluation = limo.evaluate(polars.LazyFrame(TRUE, schema=["a", "b"]), lazy)
    assert dict(evaluation) == dict(limo.evaluate(TRUE, GIVEN))
    assert evaluation.label_names == ("a", "b")


def test_a_list_of_class_probabilities_is_one_matrix():
    parts = [np.column_stack([1 - column, column]) for column in GIVEN.T]
    assert dict(limo.evaluate(TRUE, parts)) == dict(limo.evaluate(TRUE, GIVEN))
    tensors = [Tensor(part, requires_grad=True) for part in parts]
    assert dict(limo.evaluate(TRUE, tensors)) == dict(limo.evaluate(TRUE, GIVEN))
    with pytest.raises(ValueError, match=r"got shape \(3, 1\) for label 1. Use limo.scores_of"):
        limo.evaluate(TRUE, [parts[0], parts[1][:, :1]])
    with pytest.raises(ValueError, match="expected the probabilities of two classes"):
        limo.evaluate(TRUE, [2 * part for part in parts])


def test_lists_of_rows_stay_lists_of_rows():
    assert dict(limo.evaluate(TRUE, GIVEN.tolist())) == dict(limo.evaluate(TRUE, GIVEN))
    rows = [Tensor(row, requires_grad=True) for row in GIVEN]
    assert dict(limo.evaluate(TRUE, rows)) == dict(limo.evaluate(TRUE, GIVEN))
