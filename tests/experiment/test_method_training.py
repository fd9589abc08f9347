"""An estimator does what a comparison does with its method."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

import limo
from limo.experiment import METHODS, Method, estimator_for
from limo.models import _files as files

DATA = limo.datasets.figure1(60)
QUICK = {
    "limo-cv": {"alphas": (0.1,), "weights": ((1, 1, 0),), "cv": 2},
    "logistic": {"estimator": LogisticRegression()},
}
NAMES = [name for name in METHODS if not name.startswith("paper")]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("measure", ["macro_f1", "ranking_loss"])
def test_every_method_fits_predicts_and_is_kept(name, measure, tmp_path):
    method = Method(**{**vars(METHODS[name]), "settings": QUICK.get(name, {})})
    model = estimator_for(method, measure, seed=0).fit(DATA.X, DATA.Y)
    S, P = limo.scores_of(model, DATA.X), model.predict(DATA.X)
    assert S.shape == P.shape == DATA.Y.shape
    saved = limo.load_model(limo.save_model(model, tmp_path / "m.skops")).model
    assert np.array_equal(limo.scores_of(saved, DATA.X), S)
    assert np.array_equal(saved.predict(DATA.X), P)


def test_the_cut_suits_the_measure():
    assert estimator_for(METHODS["limo"], "macro_f1").threshold.target == "macro_f1"
    assert estimator_for(METHODS["limo"], "macro_auc").threshold.target == "micro_f1"
    assert isinstance(estimator_for(METHODS["br"], "macro_f1"), Pipeline)
    aimed = estimator_for(METHODS["limo-cv"], "coverage")[-1]
    assert aimed.measure == ["coverage"]


def test_a_method_without_scaling_needs_no_pipeline():
    model = estimator_for(Method("mine", limo.MLKNNClassifier(), threshold="own"), "macro_f1")
    assert type(model) is limo.MLKNNClassifier


def test_unknown_measures_are_refused():
    with pytest.raises(ValueError, match="Unknown measure 'f1'"):
        estimator_for(METHODS["limo"], "f1")


def test_scaling_is_trusted_in_model_files():
    assert "limo.models._base.UnitRows" in files._TRUSTED
