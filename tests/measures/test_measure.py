import math

import numpy as np
import pytest

import limo
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
