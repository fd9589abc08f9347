import math
import time

import pytest

from limo._system import (
    Budget,
    OutOfTimeError,
    check_time,
    current_deadline,
    stopping_at,
    time_is_over,
)


def test_work_stops_when_its_time_is_over():
    check_time()
    with stopping_at(math.inf):
        check_time()
    with stopping_at(time.monotonic() - 1):
        with pytest.raises(OutOfTimeError, match="the time limit was reached"):
            check_time()
        # an inner block cannot take longer than the outer one
        with stopping_at(math.inf), pytest.raises(OutOfTimeError):
            check_time()
    check_time()


def test_the_deadline_can_be_passed_to_other_threads():
    assert current_deadline() == math.inf
    with stopping_at(5.0):
        assert current_deadline() == 5.0
        assert time_is_over()
    assert not time_is_over()


def test_the_parts_of_a_budget_follow_each_other():
    budget = Budget(100.0, 60.0)
    parts = [budget.end_of_trials(6.0), budget.end_of_weights(6.0), budget.end_of_fits, 160.0]
    assert parts == [139.0, 148.0, 157.0, 160.0]
    assert Budget.of(None).end_of_fits == math.inf
