import numpy as np
import pytest

from limo._kernels.sgd import Alias, alias_table, below, draw


def probabilities(table):
    """What the table says each number's probability is."""
    n = len(table.keep)
    found = table.keep / n
    np.add.at(found, table.other, (1 - table.keep) / n)
    return found


@pytest.mark.parametrize(
    "weights",
    [
        [1.0],
        [1.0, 1.0, 1.0],
        [1.0, 3.0],
        [1e-9, 1.0, 1e9],
        np.random.default_rng(0).random(200),
        np.random.default_rng(1).integers(1, 5, 199).astype(float),
    ],
)
def test_the_table_holds_the_distribution_exactly(weights):
    weights = np.asarray(weights)
    table = alias_table(weights)
    assert ((table.keep >= 0) & (table.keep <= 1)).all()
    np.testing.assert_allclose(
        probabilities(table), weights / weights.sum(), rtol=1e-12, atol=1e-15
    )


def test_a_table_of_nothing_is_empty():
    table = alias_table(np.empty(0))
    assert table.keep.size == table.other.size == 0


class Scripted:
    """A generator whose numbers are known."""

    def __init__(self, *numbers):
        self.numbers = list(numbers)

    def random(self):
        return self.numbers.pop(0)


def test_a_place_is_kept_or_gives_the_other():
    table = Alias(np.array([0.25, 1.0]), np.array([1, 1]))
    rng = np.random.default_rng(0)
    drawn = [draw(table, rng) for _ in range(2000)]
    assert abs(np.mean(drawn) - 0.875) < 5 * np.sqrt(0.875 * 0.125 / 2000)


def test_below_stays_below():
    almost_one = 1 - 2**-53
    plain = getattr(below, "py_func", below)
    for n in (1, 2, 3, 7, 1000, 2**31 - 1, 3**20, 2**40 + 1):
        assert plain(n, Scripted(almost_one)) == n - 1
        assert plain(n, Scripted(0.0)) == 0
