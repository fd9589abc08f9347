"""Profiles: the counts behind every ranking measure, block by block and beyond 2**53."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from cases import cases
from limo import _profiles as profiles
from limo._profiles import Profile, read_profiles
from limo._views import COLUMNS, ENTRIES, ROWS, VIEWS, Pattern
from limo.measures import _rows as ranking
from limo.measures._conventions import CONVENTIONS
from naive.measures import columns, whole

TABLES = {
    ROWS: lambda A: A.tolist(),
    COLUMNS: lambda A: columns(A.tolist()),
    ENTRIES: lambda A: whole(A.tolist()),
}


def pattern(Y):
    return Pattern.from_flat(np.flatnonzero(Y), Y.shape)


def naive_profile(y, s):
    """For each relevant score, best first: (score, irrelevant above, irrelevant tied, top)."""
    good = sorted((b for a, b in zip(y, s, strict=True) if a), reverse=True)
    bad = [b for a, b in zip(y, s, strict=True) if not a]
    return [(g, sum(b > g for b in bad), sum(b == g for b in bad)) for g in good], max(
        bad, default=-np.inf
    )


def cells(profile):
    for i in range(profile.n_relevant.size):
        own = slice(profile.indptr[i], profile.indptr[i + 1])
        triples = zip(profile.relevant[own], profile.above[own], profile.tied[own], strict=True)
        yield [tuple(t) for t in triples], profile.top_irrelevant[i]


@pytest.mark.parametrize("few", [-1, 16])  # sort every row, or compare relevant items with it
@pytest.mark.parametrize("small_blocks", [False, True])
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_profiles_equal_their_twin(view, small_blocks, few, monkeypatch):
    monkeypatch.setattr(profiles, "_FEW", few)
    if small_blocks:  # several blocks, tiles and threads even for a handful of scores
        monkeypatch.setattr(profiles, "_BLOCK_ITEMS", 3)
        monkeypatch.setattr(profiles, "_LEAST_COLUMNS", 2)
    for order in ("C", "F"):
        for Y, S, _ in cases(80, seed=31):
            scores = np.asarray(S, order=order)
            found = read_profiles(view, pattern(Y), scores, lambda p: list(cells(p)))
            expected = [
                naive_profile(y, s) for y, s in zip(TABLES[view](Y), TABLES[view](S), strict=True)
            ]
            assert [row for block in found for row in block] == expected
            assert np.array_equal(scores, S)


def everything(profile):
    """The counts, the sorted scores and the weights of a profile, as plain lists."""
    rows = profile.sorted_rows
    ordered, starts, stops = rows.irrelevant
    apart = [ordered[a:b].tolist() for a, b in zip(starts, stops, strict=True)]
    parts = (profile.indptr, profile.relevant, profile.above, profile.tied, profile.top_irrelevant)
    items = np.broadcast_to(profile.n_items, profile.n_relevant.shape), profile.n_relevant
    weights = () if profile.row_weights is None else profile.row_weights.tolist()
    return [part.tolist() for part in (*parts, *items)], apart, rows.relevant[0].tolist(), weights


@pytest.mark.parametrize("view", [ROWS, COLUMNS], ids=["rows", "columns"])
def test_unsorted_rows_have_the_profiles_of_sorted_ones(view, monkeypatch):
    rng = np.random.default_rng(35)
    for Y, S, _ in cases(80, seed=34):
        hidden = rng.random(Y.shape) < rng.choice([0, 0.3])
        own = replace(
            pattern(np.where(hidden, 0, Y)),
            unknown=pattern(hidden) if hidden.any() else None,
            row_weights=rng.integers(0, 3, Y.shape[0]) + 0.5 if view is ROWS else None,
        )
        found = []
        for few in (-1, 16):
            monkeypatch.setattr(profiles, "_FEW", few)
            found.append(read_profiles(view, own, S, everything))
        assert found[0] == found[1]


@pytest.mark.parametrize("threads", ["1", "2"])
def test_the_number_of_threads_changes_nothing(threads, monkeypatch):
    monkeypatch.setattr(profiles, "_BLOCK_ITEMS", 100)
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    rng = np.random.default_rng(32)
    Y, S = rng.random((60, 20)) < 0.2, rng.integers(0, 50, (60, 20)).astype(float)
    lost = np.concatenate(read_profiles(ROWS, pattern(Y), S, lambda p: p.pairs_lost))
    assert lost.tolist() == [
        sum(a < b for a in s[y] for b in s[~y]) for y, s in zip(Y, S, strict=True)
    ]


def test_an_error_in_a_worker_reaches_the_caller(monkeypatch):
    monkeypatch.setattr(profiles, "_BLOCK_ITEMS", 3)

    def fail(profile):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        read_profiles(ROWS, pattern(np.eye(5)), np.eye(5), fail)


def huge(above, tied, n_items):
    p = len(above)
    return Profile(
        np.array([0, p]),
        np.arange(p, 0, -1.0),
        np.array(above),
        np.array(tied),
        np.array([0.5]),
        n_items,
    )


@pytest.mark.parametrize(
    ("above", "tied", "n_items"),
    [
        ([2**53 + 1, 2**53 + 3, 2**55 + 7], [1, 3, 2**52 + 5], 2**56),
        ([2**61] * 7, [2**60 + 1] * 7, 2**62),  # the sum passes 2**63
    ],
)
def test_pair_counts_beyond_2_to_the_53_stay_exact(above, tied, n_items):
    profile = huge(above, tied, n_items)
    pairs = len(above) * (n_items - len(above))
    auc = 1 - (sum(above) + Fraction(sum(tied), 2)) / pairs
    loss = Fraction(sum(above) + sum(tied), pairs)
    standard = CONVENTIONS["standard"]
    assert abs(Fraction(ranking.auc(profile, standard)[0]) - auc) < Fraction(1, 10**15)
    assert abs(Fraction(ranking.ranking_loss(profile, standard)[0]) - loss) < Fraction(1, 10**15)


def test_sums_of_floats_and_of_empty_rows():
    profile = Profile(
        np.array([0, 0, 2, 2]),
        np.array([2.0, 1.0]),
        np.zeros(2, int),
        np.zeros(2, int),
        np.zeros(3),
        4,
    )
    assert profile.sum(np.array([0.25, 0.5])).tolist() == [0, 0.75, 0]
    np.testing.assert_array_equal(profile.first(np.array([7, 8])), [np.nan, 7, np.nan])
    np.testing.assert_array_equal(profile.last(np.array([7, 8])), [np.nan, 8, np.nan])


@pytest.mark.slow
def test_a_large_matrix_equals_scikit_learn():
    """Several blocks, tiles and threads at their real sizes, in one precision and the other."""
    from sklearn import metrics

    import limo

    rng = np.random.default_rng(33)
    Y = (rng.random((6000, 500)) < 0.02).astype(int)
    S = np.round(rng.normal(size=Y.shape) + Y, 2).astype(np.float32)
    found = limo.evaluate(Y, S, conventions="sklearn")
    assert found["macro_auc"] == pytest.approx(metrics.roc_auc_score(Y, S), abs=1e-12)
    assert found["micro_auc"] == pytest.approx(
        metrics.roc_auc_score(Y, S, average="micro"), abs=1e-12
    )
    assert found["ranking_loss"] == pytest.approx(metrics.label_ranking_loss(Y, S), abs=1e-12)
    assert (
        limo.evaluate(Y, S.astype(np.float64), conventions="sklearn")["micro_auc"]
        == found["micro_auc"]
    )
