"""Profiles of sparse scores, cell by cell, from the definition."""

import math

import numpy as np
from scipy import sparse

from limo._checks import check_labels
from limo._sparse import check_sparse_scores
from limo._sparse_profiles import read_any_profiles
from limo._views import COLUMNS, ENTRIES, ROWS


def test_every_cell():
    rng = np.random.default_rng(0)
    for _ in range(50):
        shape = rng.integers(1, 7), rng.integers(1, 7)
        Y = rng.integers(0, 2, shape)
        S = np.where(rng.random(shape) < 0.5, rng.integers(1, 4, shape), -math.inf)
        stored = sparse.csr_array(np.where(np.isfinite(S), S, 0))
        for view, marks, scores in (
            (ROWS, Y, S),
            (COLUMNS, Y.T, S.T),
            (ENTRIES, Y.reshape(1, -1), S.reshape(1, -1)),
        ):
            (profile,) = read_any_profiles(
                view, check_labels(Y, "y"), check_sparse_scores(stored), lambda profile: profile
            )
            cells = []
            for y, s in zip(marks, scores, strict=True):
                others = s[y == 0]
                for own in sorted(s[y == 1], reverse=True):
                    cells.append((own, (others > own).sum(), (others == own).sum()))
            found = zip(profile.relevant, profile.above, profile.tied, strict=True)
            assert list(found) == cells
            tops = [max(s[y == 0], default=-math.inf) for y, s in zip(marks, scores, strict=True)]
            assert profile.top_irrelevant.tolist() == tops
            lengths = np.diff(profile.indptr)
            assert lengths.tolist() == marks.sum(axis=1).tolist()
