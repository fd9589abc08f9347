import numpy as np

from limo._views import Counts
from limo.measures import _rows as labels
from limo.measures._conventions import CONVENTIONS

COUNTS = Counts(np.array([1, 0, 2]), np.array([2, 0, 2]), np.array([3, 0, 2]), 4)


def test_by_hand():
    standard = CONVENTIONS["standard"]
    assert labels.f1(COUNTS, standard).tolist() == [2 / 5, 0, 1]
    assert labels.hamming(COUNTS, standard).tolist() == [3 / 4, 0, 0]
