import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import limo
from limo.losses import Term
from limo.models import AveragedClassifier

DATA = limo.datasets.figure1(200, seed=2)
MEMBERS = [(Term("rows", "top"), 1e-2, 0.3), ([Term("rows"), Term("columns")], 1e-3, 2.0)]


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_scores_are_the_weighted_sum_of_those_of_the_members(fit_intercept):
    settings = {"fit_intercept": fit_intercept, "tol": 1e-10, "threshold_measure": None}
    found = AveragedClassifier(MEMBERS, **settings).fit(DATA.X, DATA.Y)
    expected = sum(
        weight
        * limo.MarginClassifier(terms, alpha=alpha, **settings)
        .fit(DATA.X, DATA.Y)
        .decision_function(DATA.X)
        for terms, alpha, weight in MEMBERS
    )
    np.testing.assert_allclose(found.decision_function(DATA.X), expected, atol=1e-3)
    assert found.relative_gap_ <= 1e-10
    assert found.n_iter_ > 0


def test_the_threshold_is_cross_fitted():
    found = AveragedClassifier(MEMBERS, threshold_measure="macro_f1").fit(DATA.X, DATA.Y)
    assert isinstance(found.threshold_, limo.LabelThreshold)
    assert limo.macro_f1(DATA.Y, found.predict(DATA.X)) > 0.7


def test_constant_labels():
    Y = np.column_stack([DATA.Y, np.zeros(200, int), np.ones(200, int)])
    found = AveragedClassifier(MEMBERS).fit(DATA.X, Y)
    assert found.predict(DATA.X)[:, 4:].tolist() == [[0, 1]] * 200


def test_wrong_members():
    with pytest.raises(ValueError, match="at least one model"):
        AveragedClassifier([]).fit(DATA.X, DATA.Y)
    with pytest.raises(ValueError, match="the alpha of a member must be a number above 0"):
        AveragedClassifier([(Term(), 0.0, 1.0)]).fit(DATA.X, DATA.Y)


def test_a_member_that_does_not_converge_is_a_warning():
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        AveragedClassifier(MEMBERS, max_iter=1, threshold_measure=None).fit(DATA.X, DATA.Y)
