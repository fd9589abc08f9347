import pytest

from limo.report._page import are_decimals, are_numbers, fixed, p_value, percent, short, whole


@pytest.mark.parametrize(
    ("made", "text", "value"),
    [
        (fixed(0.83125), "0.8313", "0.83125"),
        (fixed(-0.5, 2), "−0.50", "-0.5"),
        (fixed(571.45678), "571.46", "571.45678"),
        (fixed(12345.6789, 3), "12345.7", "12345.6789"),
        (fixed(-0.00001), "0.0000", "-1e-05"),
        (percent(0.12345), "12.3\u202f%", "0.12345"),
        (short(-1234.5678), "−1235", "-1234.5678"),
        (short("Infinity"), "∞", "Infinity"),
        (short("-Infinity"), "−∞", "-Infinity"),
        (whole(1234567), "1\u202f234\u202f567", "1234567"),
        (whole(0), "0", "0"),
    ],
)
def test_text_is_rounded_and_the_value_whole(made, text, value):
    assert made == f'<data value="{value}">{text}</data>'


def test_p_values():
    assert p_value(0.0) == 'p < <data value="0.0">0.0001</data>'
    assert p_value(0.01234) == 'p = <data value="0.01234">0.0123</data>'


def test_what_is_undefined_is_said_to_be():
    assert fixed(None) == '<span class="none" title="undefined">–</span>'


def test_columns_of_numbers_are_known():
    rows = [["a", 1.5, "0.25", "12 %", "1/2"], ["b", None, "−1e-05", "3%", "2"]]
    assert are_numbers(rows) == [False, True, True, True, False]
    assert are_numbers([]) == []


def test_columns_of_fractions_have_four_decimals():
    rows = [[1.0, 3, "a", 1e-7, 0.937, None], [0.5, 2, 0.25, 0.5, 12.5, 0.25]]
    assert are_decimals(rows) == [True, False, True, False, False, True]
    assert are_decimals([]) == []
