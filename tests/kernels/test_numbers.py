import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from limo._kernels.numbers import EXACT, UNDECIDED, WRONG, decimal, number


def parse(text: str) -> tuple[float, int]:
    data = np.frombuffer(b"," + text.encode() + b",", dtype=np.uint8)
    value, verdict = number(data, 1, len(data) - 1)
    return float(value), int(verdict)


@settings(deadline=None)  # the first call compiles
@given(st.floats(allow_nan=False, allow_infinity=False))
@example(5e-324)
@example(2.2250738585072014e-308)
@example(1.7976931348623157e308)
@example(-0.0)
def test_every_float_comes_back(x: float) -> None:
    value, verdict = parse(repr(x))
    assert verdict == UNDECIDED or (value == x and math.copysign(1, value) == math.copysign(1, x))


@settings(deadline=None)  # the first call compiles
@given(
    st.from_regex(
        r"[+-]?([0-9]{1,25}\.?[0-9]{0,25}|\.[0-9]{1,25})([eE][+-]?[0-9]{1,3})?", fullmatch=True
    )
)
@example("9007199254740993")  # exactly between two floats
@example("9007199254740995")
@example("4503599627370497.5")
@example("0.000000000000000000000000000000012345678901234567890123")
@example("8.41e21")
@example("9223372036854775807")
@example("18446744073709551616")
def test_agrees_with_float(text: str) -> None:
    value, verdict = parse(text)
    assert verdict in (EXACT, UNDECIDED)
    assert verdict == UNDECIDED or value == float(text)


@settings(deadline=None)  # the first call compiles
@given(st.integers(1, 2**64 - 1), st.integers(-345, 320))
@example(2**64 - 1, -27)
@example(1, 400)
@example(1, -400)
def test_decimal_is_the_nearest_float(w: int, q: int) -> None:
    value, certain = decimal(np.uint64(w), q)
    assert not certain or value == float(f"{w}e{q}")


def test_nearly_all_numbers_are_decided() -> None:
    rng = np.random.default_rng(0)
    texts = [repr(x) for x in rng.normal(size=300).tolist()] + [
        f"{x:.25f}" for x in rng.uniform(size=300)
    ]
    verdicts = [parse(text)[1] for text in texts]
    assert verdicts.count(EXACT) >= 595


@pytest.mark.parametrize(
    "text",
    [
        "",
        "+",
        "-",
        ".",
        "e5",
        "1e",
        "1e+",
        "1.2.3",
        "nan",
        "inf",
        "1_000",
        "0x1p3",
        "1 2",
        "--1",
        "1e5.0",
        "é",
    ],
)
def test_other_text_is_no_number(text: str) -> None:
    assert parse(text)[1] == WRONG


@pytest.mark.parametrize(
    ("text", "value"), [("1.", 1.0), (".5", 0.5), ("+3", 3.0), ("-0", -0.0), ("1E2", 100.0)]
)
def test_short_forms(text: str, value: float) -> None:
    assert parse(text) == (value, EXACT)
