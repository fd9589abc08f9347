"""Sample weights in ThresholdClassifier and scorers, with and without metadata routing."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.tree import DecisionTreeClassifier

import limo

DATA = limo.datasets.figure1(90, seed=5)
WEIGHTS = np.random.default_rng(0).integers(0, 4, 90)


def test_weights_reach_the_model_and_the_rule():
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    repeated = np.repeat(np.arange(90), WEIGHTS)
    given = {"cv": "training", "threshold": limo.LabelThreshold(shrinkage=0)}
    found = limo.ThresholdClassifier(tree, **given).fit(DATA.X, DATA.Y, sample_weight=WEIGHTS)
    expected = limo.ThresholdClassifier(tree, **given).fit(DATA.X[repeated], DATA.Y[repeated])
    assert found.rule_.thresholds_ == pytest.approx(expected.rule_.thresholds_)
    assert (found.predict(DATA.X) == expected.predict(DATA.X)).all()
    with pytest.raises(ValueError, match="sample_weight must hold one weight for each of the 90"):
        limo.ThresholdClassifier(tree, **given).fit(DATA.X, DATA.Y, sample_weight=[1])


def test_thresholds_are_fitted_to_known_labels():
    rng = np.random.default_rng(1)
    gaps = np.where(rng.random(DATA.Y.shape) < 0.3, -1, DATA.Y)
    inner = limo.BinaryRelevance(LogisticRegression(), missing=np.nan)
    rule = limo.LabelThreshold(shrinkage=0)
    model = limo.ThresholdClassifier(inner, rule, cv="training", missing=-1).fit(DATA.X, gaps)
    for j in range(gaps.shape[1]):
        seen = gaps[:, j] >= 0
        alone = limo.ThresholdClassifier(
            limo.BinaryRelevance(LogisticRegression()), rule, cv="training"
        ).fit(DATA.X[seen], DATA.Y[seen][:, [j]])
        assert model.rule_.thresholds_[j] == pytest.approx(alone.rule_.thresholds_[0])
    folded = limo.ThresholdClassifier(inner, "label", measure="macro_f1", missing=-1)
    folded.fit(DATA.X, gaps, sample_weight=WEIGHTS + 1)
    assert limo.macro_f1(gaps, folded.predict(DATA.X), missing=-1) > 0.7


@pytest.mark.slow
def test_metadata_routing():
    with sklearn.config_context(enable_metadata_routing=True):
        inner = MultiOutputClassifier(LogisticRegression().set_fit_request(sample_weight=True))
        model = limo.ThresholdClassifier(inner, cv=3).set_fit_request(sample_weight=True)
        scorer = limo.make_scorer("macro_f1").set_score_request(sample_weight=True)
        weights = WEIGHTS + 1.0
        found = cross_validate(
            model, DATA.X, DATA.Y, scoring=scorer, cv=3, params={"sample_weight": weights},
            return_estimator=True, return_indices=True,
        )  # fmt: skip
        for k, fitted in enumerate(found["estimator"]):
            test = found["indices"]["test"][k]
            value = limo.macro_f1(
                DATA.Y[test], fitted.predict(DATA.X[test]), sample_weight=weights[test]
            )
            assert found["test_score"][k] == pytest.approx(value)
        plain = limo.make_scorer("macro_f1").set_score_request(sample_weight=False)
        other = cross_validate(
            model, DATA.X, DATA.Y, scoring=plain, cv=3, params={"sample_weight": weights}
        )
        assert other["test_score"] != pytest.approx(found["test_score"], abs=1e-9)
        unset = limo.make_scorer("macro_f1")
        with pytest.raises(Exception, match="sample_weight.* not explicitly set as requested"):
            cross_validate(
                model, DATA.X, DATA.Y, scoring=unset, cv=3, params={"sample_weight": weights}
            )


def test_without_routing_weights_go_to_the_estimator():
    model = OneVsRestClassifier(LogisticRegression())
    search = GridSearchCV(
        limo.ThresholdClassifier(DecisionTreeClassifier(random_state=0), cv=3),
        {"estimator__max_depth": [1, 3]}, scoring=limo.make_scorer("macro_f1"), cv=3,
    )  # fmt: skip
    search.fit(DATA.X, DATA.Y, sample_weight=WEIGHTS + 1.0)
    assert 0 < search.best_score_ <= 1
    scorer = limo.make_scorer("macro_auc", missing=-1)
    model.fit(DATA.X, DATA.Y)
    gaps = np.where(np.random.default_rng(0).random(DATA.Y.shape) < 0.2, -1, DATA.Y)
    expected = limo.macro_auc(
        gaps, model.decision_function(DATA.X), missing=-1, sample_weight=WEIGHTS
    )
    assert scorer(model, DATA.X, gaps, sample_weight=WEIGHTS) == expected
