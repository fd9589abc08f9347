import numpy as np
import pytest
from scipy import sparse

import limo
from limo.models._linear import row_length

DATA = limo.datasets.figure1(150, seed=4)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_the_length_of_rows(make):
    """Squared lengths 25, 0 and 2: the root of their mean is 3."""
    assert row_length(make([[3.0, 4.0], [0.0, 0.0], [1.0, 1.0]])) == pytest.approx(3)
    assert row_length(make([[0.0, 0.0]])) == 1


def test_one_threshold_for_all_scores_is_part_of_the_intercept():
    plain = limo.MarginClassifier(threshold_measure=None).fit(DATA.X, DATA.Y)
    cut = limo.MarginClassifier(threshold="global").fit(DATA.X, DATA.Y)
    offsets = plain.intercept_ - cut.intercept_
    np.testing.assert_allclose(offsets, offsets[0])
    np.testing.assert_array_equal(cut.predict(DATA.X), cut.decision_function(DATA.X) > 0)


def test_thresholds_per_label_stay_outside():
    plain = limo.MarginClassifier(threshold_measure=None).fit(DATA.X, DATA.Y)
    cut = limo.MarginClassifier(threshold_measure="macro_f1").fit(DATA.X, DATA.Y)
    np.testing.assert_allclose(plain.intercept_, cut.intercept_)
    assert isinstance(cut.threshold_, limo.LabelThreshold)
