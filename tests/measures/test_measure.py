import math

import numpy as np
import pytest

import limo
from limo.measures import COLUMNS, Measure, Optimised
from limo.measures._measure import reduce

ROWS = {"rows": np.array([[0.5, np.nan, 0.25], [1.0, np.nan, 1.0]])}
MEASURE = limo.MEASURES["instance_auc"]


def test_undefined_rows_are_left_out_and_counted():
    result = reduce(MEASURE, ROWS, limo.Conventions())
    assert (result.value, result.best, result.skipped) == (0.375, 1.0, 1)
    assert result.undefined.tolist() == [False, True, False]


def test_undefined_rows_are_filled_in():
    result = reduce(MEASURE, ROWS, limo.Conventions(undefined={"instance_auc": 0.0}))
    assert (result.value, result.best, result.skipped) == (0.25, pytest.approx(2 / 3), 0)
    assert result.rows["rows"].tolist() == [0.5, 0.0, 0.25]


def test_nan_can_spoil_the_mean_on_purpose():
    assert math.isnan(reduce(MEASURE, ROWS, limo.CONVENTIONS["sklearn"]).value)


def test_nothing_left():
    nothing = {"rows": np.full((2, 3), np.nan)}
    assert math.isnan(reduce(MEASURE, nothing, limo.Conventions()).value)


def test_signs():
    assert limo.MEASURES["macro_auc"].sign == 1
    assert limo.MEASURES["coverage"].sign == -1


def test_a_record_completes_itself():
    def mine(counts, conventions):
        """Share of hits.

        And more.
        """

    measure = Measure("macro_mine", "mine", mine, COLUMNS, "labels", "high")
    assert measure.threshold == "label"
    assert measure.family == "mine"
    assert measure.meaning == measure.formula == "Share of hits."
    assert set(measure.optimised_by.values()) == {Optimised.NO}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"optimised_by": {"row-wise": Optimised.YES}}, "must use label-wise, .*: got row-wise"),
        ({"needs": "scores", "threshold": "label"}, "'x' judges scores, so it has no threshold"),
        ({"threshold": "instance"}, "a threshold per instance needs the view 'rows'"),
    ],
)
def test_records_that_contradict_themselves_are_rejected(wrong, message):
    given = {"needs": "labels", "better": "high", **wrong}
    with pytest.raises(ValueError, match=message):
        Measure("x", "x", lambda counts, conventions: counts.both, COLUMNS, **given)
