import numpy as np

from limo._kernels.thresholds import count_above


def test_items_are_counted_at_the_last_threshold_they_pass():
    block = np.array([[0.5, 2.0], [1.0, 0.0]])
    indptr, indices = np.array([0, 1, 2]), np.array([1, 0])
    thresholds = np.array([0.0, 1.0])
    hits, predicted = np.zeros((2, 2, 3), dtype=np.int64)
    row_f1 = np.zeros(2)
    count_above(block, indptr, indices, thresholds, hits, predicted, row_f1)
    # a score equal to a threshold is not above it
    assert predicted.tolist() == [[0, 2, 0], [1, 0, 1]]
    assert hits.tolist() == [[0, 1, 0], [0, 0, 1]]
    # row 0: both above 0 -> 2/3, only the relevant one above 1 -> 1; row 1: 1 above 0, none above 1
    assert row_f1.tolist() == [2 / 3 + 1.0, 1.0]
