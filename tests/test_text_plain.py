import json
import math

import numpy as np
import pytest

from limo._text import plain, shortened


def test_only_what_json_has():
    found = plain(
        {"a": np.array([1.5, np.nan]), 2: (np.int64(3), math.inf), "c": np.float32(-np.inf)}
    )
    assert found == {"a": [1.5, None], "2": [3, "Infinity"], "c": "-Infinity"}
    json.dumps(found, allow_nan=False)
    assert float(found["c"]) == -math.inf


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.123456789, 0.12346), (-1234567.0, -1234600), (1.0, 1), (0.0, 0), (7, 7), (12345678, 12345678),
     (1e-9, 1e-9), (math.nan, None), (math.inf, "Infinity"), (1e300, 1e300)],
)  # fmt: skip
def test_five_digits(value, expected):
    assert shortened([value]) == [expected]


def test_whole_numbers_lose_their_point():
    assert json.dumps(shortened(np.array([1.0, 0.0, -2.0, 1e5]))) == "[1, 0, -2, 100000.0]"
