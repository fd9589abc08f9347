import math

import numpy as np

from limo._kernels.profiles import digits_of, exact_mean, rounded


def test_sums_are_those_of_the_standard_library_for_any_grouping():
    rng = np.random.default_rng(0)
    for _ in range(200):
        values = rng.normal(size=rng.integers(0, 50)) * 10.0 ** rng.integers(-300, 300)
        if rng.random() < 0.5:  # cancellation, and the smallest floats
            values = np.concatenate([values, -values, [5e-324, -1e-310, 0.0]])
        assert rounded(digits_of(values)) == math.fsum(values)
        split = rng.integers(values.size + 1)
        shuffled = rng.permutation(values)
        parts = digits_of(shuffled[:split]) + digits_of(shuffled[split:])
        assert rounded(parts) == math.fsum(values)


def test_digits_do_not_overflow():
    values = np.full(3_000_000, math.nextafter(2.0, 1.0))
    assert rounded(digits_of(values)) == math.fsum(values)
    assert rounded(digits_of(np.full(4, 1e308))) == math.inf
    assert rounded(digits_of(np.full(4, -1e308))) == -math.inf


def test_means():
    values = np.array([0.1, 0.2, 0.3, 0.7])
    assert exact_mean(values) == math.fsum(values) / 4
    weights = np.array([1.0, 2.0, 0.5, 0.1])
    assert exact_mean(values, weights) == math.fsum(values * weights) / math.fsum(weights)
    assert math.isnan(exact_mean(np.array([1.0, math.nan])))
    assert exact_mean(np.array([1.0, math.inf])) == math.inf
