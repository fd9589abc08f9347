"""Every kind of term against loops and finite differences, and the inequalities it was made for."""

import itertools

import numpy as np
import pytest
from scipy import sparse

import limo
from cases import cases
from limo._views import VIEWS
from limo.losses import Term, _sums, derivatives, loss
from naive import losses as naive

TERMS = [
    *(Term(v, a) for v in VIEWS for a in ("mean", "top", "bottom", "worst")),
    *(Term(v, "pointwise", b, share=s) for v in VIEWS for b in ("logistic", "squared_hinge") for s in ("balanced", "pairs")),
    *(Term("entries", "pointwise", b) for b in ("logistic", "squared_hinge")),
    Term("rows", "mean", share="uniform", weight=2.5),
]  # fmt: skip
CORNERS = [
    *(Term(v, "mean", "hinge") for v in VIEWS),
    *(Term(v, "pointwise", "hinge", 0.5, share="balanced") for v in VIEWS),
    Term("entries", "pointwise", "hinge"),
]


def name(term):
    return f"{term.view}-{term.aggregation}-{term.base}-{term.share}"


def differences(function, S, step):
    """Central differences of a function of scores, by each score."""
    out = np.zeros(S.shape + np.shape(function(S)))
    for place in itertools.product(*map(range, S.shape)):
        move = np.zeros(S.shape)
        move[place] = step
        out[place] = (function(S + move) - function(S - move)) / (2 * step)
    return out


@pytest.mark.parametrize("term", TERMS + CORNERS, ids=name)
def test_the_value_is_that_of_the_definition(term):
    """Among the cases are ties, empty and full rows, constant labels, and one row or column."""
    for Y, S, _ in cases(40, seed=80):
        scores = S / 10 if S.max() > 10 else S
        assert loss(Y, scores, term) == pytest.approx(naive.loss(Y, scores, [term]), abs=1e-12)


@pytest.mark.parametrize("kind", ["mean", "top", "bottom", "worst"])
def test_entries_of_a_large_matrix_are_added_in_blocks(kind, monkeypatch):
    """Small matrices are one row; here none is small."""
    monkeypatch.setattr(_sums, "_FEW_ENTRIES", -1)
    term = Term("entries", kind)
    test_the_value_is_that_of_the_definition(term)
    test_derivatives_are_limits_of_differences(term)


@pytest.mark.parametrize("term", TERMS, ids=name)
def test_derivatives_are_limits_of_differences(term):
    rng = np.random.default_rng(81)
    Y = (rng.random((5, 4)) < 0.5).astype(int)
    Y[0], Y[:, 3] = 1, 0
    S = rng.normal(size=Y.shape)
    found = derivatives(Y, S, term)
    slopes = differences(lambda S: naive.loss(Y, S, [term]), S, 1e-6)
    np.testing.assert_allclose(found.gradient, slopes, atol=1e-8)
    hessian = differences(lambda S: derivatives(Y, S, term).gradient, S, 1e-5)
    T = rng.normal(size=S.shape)
    product = np.einsum("ijkl,kl", hessian, T)
    np.testing.assert_allclose(found.hessian_product(T), product, atol=1e-8)
    diagonal = np.einsum("ijij->ij", hessian)
    np.testing.assert_allclose(found.hessian_diagonal, diagonal, atol=1e-8)
    assert (found.hessian_diagonal >= 0).all()


@pytest.mark.parametrize("term", TERMS, ids=name)
def test_rows_with_many_relevant_items(term):
    """Derivatives of a large matrix, seen along one direction; several blocks of rows."""
    rng = np.random.default_rng(82)
    Y = (rng.random((40, 30)) < np.linspace(0.05, 0.95, 30)).astype(int)
    S, T = rng.normal(size=(2, *Y.shape))
    found, step = derivatives(Y, S, term), 1e-5
    assert found.value == pytest.approx(naive.loss(Y, S, [term]), rel=1e-10)
    ends = [derivatives(Y, S + sign * step * T, term) for sign in (1, -1)]
    slope = (ends[0].value - ends[1].value) / (2 * step)
    assert (found.gradient * T).sum() == pytest.approx(slope, rel=1e-6, abs=1e-9)
    curve = (ends[0].gradient - ends[1].gradient) / (2 * step)
    # a pair may cross the corner of a squared hinge between the ends
    assert np.abs(found.hessian_product(T) - curve).max() < 1e-3 * np.abs(curve).max() + 1e-7


@pytest.mark.parametrize("term", CORNERS, ids=name)
def test_corners(term):
    """The gradient of a hinge where it has one; second derivatives are not defined."""
    rng = np.random.default_rng(83)
    Y = (rng.random((5, 4)) < 0.5).astype(int)
    S = rng.normal(size=Y.shape)
    found = derivatives(Y, S, term)
    slopes = differences(lambda S: naive.loss(Y, S, [term]), S, 1e-7)
    np.testing.assert_allclose(found.gradient, slopes, atol=1e-7)
    with pytest.raises(ValueError, match="The hinge has no second derivatives"):
        found.hessian_product(S)


@pytest.mark.parametrize("term", TERMS + CORNERS, ids=name)
@pytest.mark.parametrize("size", [1e3, 1e150])
def test_large_scores_do_not_overflow(term, size):
    if size > 1e100 and term.base == "squared_hinge":
        size = 1e100
    Y = np.array([[1, 0, 1], [0, 1, 1], [0, 0, 1], [1, 1, 0]])
    for S in (size * (2 * Y - 1.0), size * (1 - 2.0 * Y), np.full(Y.shape, size)):
        found = derivatives(Y, S, term)
        assert np.isfinite(found.value)
        assert np.isfinite(found.gradient).all()
        if term.is_smooth:
            assert np.isfinite(found.hessian_diagonal).all()
            assert np.isfinite(found.hessian_product(np.ones(Y.shape))).all()
    assert loss(Y, size * (2 * Y - 1.0), term) == 0


def test_terms_are_added():
    Y, S, _ = next(cases(1, seed=84))
    S = S / 10
    both = [Term("rows", "top", weight=2.0), Term("columns", "pointwise", weight=0.5)]
    alone = [derivatives(Y, S, term) for term in both]
    found = derivatives(sparse.csr_array(Y), S.astype(np.float32), both)
    assert found.value == pytest.approx(sum(one.value for one in alone), rel=1e-6)
    np.testing.assert_allclose(found.gradient, sum(one.gradient for one in alone), atol=1e-6)


def test_losses_do_not_see_a_common_offset_unless_pointwise():
    Y, S, _ = next(cases(1, seed=85))
    for view, aggregation in itertools.product(VIEWS, ("mean", "top", "bottom", "worst")):
        term = Term(view, aggregation)
        assert loss(Y, S + 3, term) == pytest.approx(loss(Y, S, term))


def test_wrong_input():
    Y = np.eye(3, dtype=int)
    with pytest.raises(ValueError, match="y_score must have the shape of y_true"):
        loss(Y, np.zeros((3, 2)), Term())
    with pytest.raises(ValueError, match=r"direction must have the shape of y_score: expected \(3"):
        derivatives(Y, np.zeros((3, 3)), Term()).hessian_product(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="terms must be a list of limo.losses.Term, got 'rows'"):
        loss(Y, np.zeros((3, 3)), "rows")
    with pytest.raises(ValueError, match="got 3 in it"):
        loss(Y, np.zeros((3, 3)), [3])
    with pytest.raises(ValueError, match="a term whose weight is above 0"):
        loss(Y, np.zeros((3, 3)), [Term(weight=0)])


# The inequalities each term was made for; ties count as errors


def rows_with_pairs(n, seed):
    """Labels and scores of rows with at least one pair."""
    for Y, S, _ in cases(n, seed):
        keep = (Y.sum(axis=1) > 0) & (Y.sum(axis=1) < Y.shape[1])
        yield from zip(Y[keep], S[keep] / (1 if S.max() < 10 else 50), strict=True)


def errors(y, s):
    """How many irrelevant items each relevant one has above it or tied, in ascending order."""
    return np.sort([(s[y == 0] >= one).sum() for one in s[y == 1]])


def row_loss(y, s, aggregation):
    return loss(y[np.newaxis], s[np.newaxis], Term("rows", aggregation))


def test_top_bounds_one_error_and_average_precision():
    for y, s in rows_with_pairs(150, seed=86):
        above, top = errors(y, s), row_loss(y, s, "top")
        k = np.arange(1, above.size + 1)
        assert (above[0] > 0) <= top / np.log(2) + 1e-12
        assert np.mean(above / (k + above)) <= top + 1e-12


def test_bottom_bounds_coverage_and_f1_at_the_best_threshold():
    for y, s in rows_with_pairs(150, seed=87):
        above, p, n = errors(y, s), y.sum(), (1 - y).sum()
        most = n * row_loss(y, s, "bottom") / np.log(2)
        assert above[-1] <= most + 1e-12  # coverage - (p - 1)
        best = max(2 * y[s >= cut].sum() / (p + (s >= cut).sum()) for cut in s)
        assert best >= 2 * p / (2 * p + most) - 1e-12


@pytest.mark.parametrize("view", VIEWS)
def test_worst_bounds_the_share_of_rows_without_a_margin(view):
    margins = {
        "rows": limo.label_wise_margin,
        "columns": limo.instance_wise_margin,
        "entries": lambda Y, S: np.array([limo.entry_wise_margin(Y, S)]),
    }[view]
    for Y, S, _ in cases(100, seed=88):
        found = np.atleast_1d(margins(Y, S))
        found = found[~np.isnan(found)]
        if found.size:
            assert np.mean(found <= 0) <= loss(Y, S, Term(view, "worst")) / np.log(2) + 1e-12


def test_pointwise_logistic_bounds_hamming_loss_at_0():
    for Y, S, _ in cases(100, seed=89):
        wrong = np.where(Y == 1, S <= 0, S >= 0).mean()
        assert wrong <= loss(Y, S, Term("entries", "pointwise")) / np.log(2) + 1e-12


def test_the_mean_bounds_misordered_pairs():
    for y, s in rows_with_pairs(100, seed=90):
        share = errors(y, s).sum() / (y.sum() * (1 - y).sum())
        for base in ("hinge", "squared_hinge"):
            assert share <= loss(y[np.newaxis], s[np.newaxis], Term("rows", "mean", base)) + 1e-12
