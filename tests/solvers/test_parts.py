"""Blocks and what they contribute; test_blocks.py and test_objective.py compare the sums."""

import pickle

import numpy as np
import pytest

from limo._solvers.parts import (
    Block,
    Part,
    Setting,
    add_summaries,
    entries_of,
    scores_of,
    starts_of,
    summary_of,
)
from limo._views import Pattern
from solvers.problems import arrays

X, Y = arrays(m=40, d=5, l=4)


def block(X, Y):
    return Block(X, Pattern.from_flat(np.flatnonzero(Y), Y.shape))


def test_what_products_need_is_kept_but_not_sent():
    own = block(X, Y)
    assert own.features(1.0) is own.features(1.0)
    other = pickle.loads(pickle.dumps(own))
    assert other._known == {}
    np.testing.assert_array_equal(other.X, X)


def test_summaries_and_entries_add_up():
    parts = [Part([block(X[:9], Y[:9])]), Part([]), Part([block(X[9:], Y[9:])])]
    whole = add_summaries([summary_of(part) for part in parts])
    assert whole.squares == pytest.approx((X**2).sum())
    assert whole.totals.ones.tolist() == Y.sum(axis=0).tolist()
    entries = [entries_of(part) for part in parts]
    assert starts_of(entries) == [0, Y[:9].sum(), Y[:9].sum()]
    assert np.concatenate([one.labels for one in entries]).tolist() == np.nonzero(Y)[1].tolist()


def test_scores_are_kept_if_they_fit():
    W, setting = np.ones((5, 4)), Setting((), summary_of(Part([block(X, Y)])).totals, 0.0)
    assert scores_of(Part([block(X, Y)]), W, setting) is None
    (S,) = scores_of(Part([block(X, Y)], keep=True), W, setting)
    np.testing.assert_allclose(S, X @ W)


def test_blocks_must_agree():
    with pytest.raises(ValueError, match="same number of features: one has 5, another 4"):
        summary_of(Part([block(X, Y), block(X[:, :4], Y)]))
    with pytest.raises(ValueError, match="same number of labels: one has 4, another 3"):
        add_summaries([summary_of(Part([block(X, Y)])), summary_of(Part([block(X, Y[:, :3])]))])
    with pytest.raises(ValueError, match="no block has an instance"):
        add_summaries([None])
