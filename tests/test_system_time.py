import math
import time

import pytest

from limo._system import OutOfTimeError, check_time, stopping_at


def test_work_stops_when_its_time_is_over():
    check_time()
    with stopping_at(math.inf):
        check_time()
    with stopping_at(time.monotonic() - 1):
        with pytest.raises(OutOfTimeError, match="the time was over"):
            check_time()
        # an inner block cannot take longer than the outer one
        with stopping_at(math.inf), pytest.raises(OutOfTimeError):
            check_time()
    check_time()
