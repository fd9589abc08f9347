import numpy as np

from cases import cases
from limo._views import COLUMNS, ENTRIES, ROWS, VIEWS, Pattern, count


def test_counts_equal_sums_of_the_matrices():
    for Y, _, P in cases(50, seed=30):
        found = count(
            *(Pattern.from_flat(np.flatnonzero(A), A.shape) for A in (Y, P)), VIEWS.values()
        )
        for view, axis in ((ROWS.name, 1), (COLUMNS.name, 0), (ENTRIES.name, None)):
            assert found[view].both.tolist() == np.atleast_1d((Y & P).sum(axis)).tolist()
            assert found[view].true.tolist() == np.atleast_1d(Y.sum(axis)).tolist()
            assert found[view].predicted.tolist() == np.atleast_1d(P.sum(axis)).tolist()
            assert found[view].wrong.tolist() == np.atleast_1d((Y != P).sum(axis)).tolist()
            assert not found[view].perfect.wrong.any()
