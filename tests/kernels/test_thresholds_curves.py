import numpy as np

from limo._kernels.thresholds import count_above


def test_items_above_each_threshold_are_counted():
    # row 0: relevant 2, irrelevant 0.5; row 1: relevant 1, irrelevant 0 and 3
    relevant = np.array([2.0, 1.0]), np.array([0, 1]), np.array([1, 2])
    irrelevant = np.array([0.5, 0.0, 3.0]), np.array([0, 1]), np.array([1, 3])
    thresholds = np.array([0.0, 1.0, 2.5])
    hits, predicted = np.zeros((2, 2, 3), dtype=np.int64)
    count_above(relevant, irrelevant, 0, thresholds, hits, predicted)
    # a score equal to a threshold is not above it
    assert hits.tolist() == [[1, 1, 0], [1, 0, 0]]
    assert predicted.tolist() == [[2, 1, 0], [2, 1, 1]]


def test_counting_can_start_at_any_row():
    rng = np.random.default_rng(0)
    good, bad = np.sort(rng.random((4, 3)))[:, ::-1].copy(), np.sort(rng.random((4, 5)))
    ends = np.arange(5)
    relevant = good.ravel(), ends[:-1] * 3, ends[1:] * 3
    irrelevant = bad.ravel(), ends[:-1] * 5, ends[1:] * 5
    thresholds = np.array([0.25, 0.5])
    hits, predicted = np.zeros((2, 2, 2), dtype=np.int64)
    count_above(relevant, irrelevant, 1, thresholds, hits, predicted)
    assert hits.tolist() == [[(good[i] > t).sum() for t in thresholds] for i in (1, 2)]
    both = np.hstack([good, bad])
    assert predicted.tolist() == [[(both[i] > t).sum() for t in thresholds] for i in (1, 2)]
