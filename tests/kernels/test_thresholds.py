import numpy as np

from limo._kernels.thresholds import mark_hull, pick_best, sort_stored, walk


def walked(relevant, irrelevant, *, every):
    """Cuts of one row as (hits, misses, upper, lower), unused cells included."""
    good = np.array(sorted(relevant, reverse=True))
    bad = np.array(sorted(irrelevant))
    size = good.size + 1 + (bad.size if every else 0)
    hits, misses, upper, lower = np.empty((4, size))
    ends = [np.array([0]), np.array([good.size]), np.array([0]), np.array([bad.size])]
    walk(
        (good, ends[0], ends[1]), (bad, ends[2], ends[3]), every, np.array([0, size]),
        hits, misses, upper, lower,
    )  # fmt: skip
    return list(zip(hits, misses, upper, lower, strict=True))


def test_walk_passes_equal_scores_together():
    inf = np.inf
    assert walked([3.0, 2.0], [2.0, 1.0], every=True) == [
        (0, 0, inf, 3),
        (1, 0, 3, 2),
        (2, 1, 2, 1),
        (2, 2, 1, -inf),
        (2, 2, 1, -inf),  # an unused cell
    ]


def test_walk_stops_below_relevant_items_only():
    inf = np.inf
    assert walked([1.0], [3.0, 2.0, 0.0], every=False) == [(0, 0, inf, 3), (1, 2, 1, 0)]


def test_walk_without_any_score():
    assert walked([], [], every=True) == [(0, 0, np.inf, -np.inf)]


def test_sort_stored():
    indptr, indices = np.array([0, 4, 4]), np.array([0, 2, 3, 5])
    ordered, middle = np.empty(4), np.empty(2, dtype=np.int64)
    relevant = np.array([0, 3, 3]), np.array([1, 2, 5])  # label 1 is relevant and absent
    sort_stored(indptr, indices, np.array([4.0, 1.0, 3.0, 2.0]), *relevant, ordered, middle)
    assert ordered.tolist() == [2, 1, 3, 4]
    assert middle.tolist() == [2, 4]


def picked(values, last):
    best = np.empty(1, dtype=np.int64)
    pick_best(np.array(values), np.array([0, len(values)]), last, best)
    return best[0]


def test_pick_best_takes_the_first_or_last_of_equals():
    assert picked([0.0, 1.0, 1.0 - 1e-15, 0.5], False) == 1
    assert picked([0.0, 1.0, 1.0 - 1e-15, 0.5], True) == 2


def test_pick_best_passes_over_nan_and_knows_infinity():
    assert picked([np.nan, 0.0], False) == 1
    assert picked([np.nan, np.nan], False) == 0
    assert picked([0.0, np.inf, np.inf], False) == 1
    assert picked([-np.inf, -np.inf], False) == 0


def test_hull_keeps_what_no_mixture_beats():
    # hits over misses: (0,0) (1,0) (2,3) (3,4) (4,4): the third lies below the line to the last
    hits, misses = np.array([0.0, 1, 2, 3, 4, 4]), np.array([0.0, 0, 3, 4, 4, 4])
    corner, previous = np.zeros(6, dtype=bool), np.zeros(6, dtype=np.int64)
    mark_hull(hits, misses, np.array([0, 6]), corner, previous)
    assert corner.tolist() == [False, True, False, False, True, False]
    assert previous[1] == 0
    assert previous[4] == 1
