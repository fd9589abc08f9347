"""Losses over blocks equal the losses of the whole matrix, for any partition."""

import pickle

import numpy as np
import pytest

from limo._checks import check_inputs
from limo._views import Pattern
from limo.losses import Term, derivatives
from limo.losses._blocks import Account, Groups, join, meet, over_rows, survey
from limo.losses._sums import work_of
from limo.losses._term import Totals, Weighted
from naive import losses as naive

TERMS = [
    Term(view, kind)
    for view in ("rows", "columns", "entries")
    for kind in ("mean", "top", "bottom", "worst", "pointwise")
]


def data(m=60, l=5, density=0.3, seed=0):
    """Scores with ties, an empty and a full row, and two constant labels."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((m, l)) < density).astype(int)
    S = rng.integers(-6, 6, (m, l)) / 4
    Y[0], Y[1] = 0, 1
    Y[:, 0], Y[:, 1] = 0, 1
    return Y, S


def pattern(Y):
    return Pattern.from_flat(np.flatnonzero(Y), Y.shape)


def over_blocks(Y, S, terms, cuts, whole=None):
    """Value and gradient, block by block."""
    whole = pattern(Y) if whole is None else whole
    ends = [0, *cuts, len(Y)]
    blocks = [
        (whole.rows(*ends[k : k + 2]), S[slice(*ends[k : k + 2])]) for k in range(len(ends) - 1)
    ]
    totals = Totals.of(blocks[0][0])
    for y, _ in blocks[1:]:
        totals = totals + Totals.of(y)
    spread = [Weighted.of(t, blocks[0][0], totals) for t in terms if t.route != "rows"]
    labels = np.concatenate([y.indices for y, _ in blocks])
    shares = np.concatenate([y.weights_at(y.flat) for y, _ in blocks])
    groups = {view: Groups.of(view, labels, shares, Y.shape[1]) for view in ("columns", "entries")}
    meeting = meet(join([survey(s, y, spread) for y, s in blocks]), groups, spread, 0.0)
    # every block keeps an account of its own, as on another machine
    meeting = pickle.loads(pickle.dumps(meeting))
    value, owed, gradients = meeting.value, meeting.owed.copy(), []
    for y, s in blocks:
        account, G = Account(meeting), np.zeros_like(s)
        for term in terms:
            if term.route == "rows":
                part = Weighted.of(term, y, totals)
                value += over_rows(work_of(part, 0.0), (s,), y, part.weights, G)
        account.add(s, y, G)
        value += account.value
        owed += account.owed
        gradients.append(G)
    G = np.concatenate(gradients)
    G.reshape(-1)[whole.flat] += owed
    return value, G


@pytest.mark.parametrize(
    "terms", [*([t] for t in TERMS), TERMS], ids=lambda t: str(t[0]) if len(t) == 1 else "all"
)
@pytest.mark.parametrize("cuts", [[], [1, 2, 30], [0, 20, 20, 60]], ids=str)  # fmt: skip
def test_any_partition_gives_the_loss_of_the_whole(terms, cuts):
    Y, S = data()
    value, gradient = over_blocks(Y, S, terms, cuts)
    assert value == pytest.approx(naive.loss(Y, S, terms), rel=1e-12)
    np.testing.assert_allclose(gradient, derivatives(Y, S, terms).gradient, atol=1e-13)


def test_groups_of_many_relevant_entries_are_searched():
    """Above FEW relevant entries a label is sorted instead of visited pair by pair."""
    Y, S = data(m=700, l=3, density=0.5, seed=1)
    terms = [Term("columns", "mean"), Term("columns", "mean", "hinge"), Term("entries", "mean")]
    value, gradient = over_blocks(Y, S, terms, [50, 400])
    expected = derivatives(Y, S, terms)
    assert value == pytest.approx(expected.value, rel=1e-12)
    np.testing.assert_allclose(gradient, expected.gradient, atol=1e-13)


@pytest.mark.parametrize("terms", [[t] for t in TERMS], ids=lambda t: str(t[0]))
def test_weights_and_missing_labels(terms):
    Y, S = data(m=30)
    rng = np.random.default_rng(2)
    weights, gone = rng.uniform(0.2, 3.0, 30), rng.random(Y.shape) < 0.2
    gone[:, 1] = False
    marks = np.where(gone, np.nan, Y)
    checked = check_inputs(marks, S, missing=np.nan, sample_weight=weights)
    value, gradient = over_blocks(Y, S, terms, [5, 21], checked.Y)
    expected = derivatives(marks, S, terms, missing=np.nan, sample_weight=weights)
    assert value == pytest.approx(expected.value, rel=1e-11)
    np.testing.assert_allclose(gradient, expected.gradient, atol=1e-12)


@pytest.mark.parametrize("view", ["columns", "entries"])
def test_relevant_entries_may_weigh_1_where_others_do_not(view):
    Y, S = np.array([[1, 0], [0, 0], [0, 1]]), np.array([[0.0, 0.5], [0.25, -0.5], [1.0, 0.0]])
    weights = np.array([1.0, 2.5, 1.0])
    whole = check_inputs(Y, S, sample_weight=weights).Y
    value, _ = over_blocks(Y, S, [Term(view, "mean")], [1], whole)
    assert value == pytest.approx(naive.weighted_term(Y, S, Term(view, "mean"), weights))
