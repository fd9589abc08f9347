import pytest

from limo.report._drawings import Scale, ticks


def test_scale():
    x = Scale(-1.0, 3.0)
    assert [x(v) for v in (-1, 0, 3)] == [0, 25, 100]
    assert [x(v) for v in (-9, 9)] == [0, 100]
    assert Scale(2, 2)(2) == 50
    assert Scale(1.0, 0.0, 150)(1.0) == 0


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-5.3, 11.2), (-1e-7, 3e-8), (1e6, 1.5e6)])
def test_ticks_are_few_round_and_inside(low, high):
    found = ticks(low, high)
    assert 2 <= len(found) <= 5
    assert all(low <= t <= high for t in found)
    if low < 0 < high:
        assert 0 in found


def test_no_room_for_ticks():
    assert ticks(2.0, 2.0) == [2.0]
