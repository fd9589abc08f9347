"""limo.torch.MarginLoss against limo.losses, gradcheck, and what torch users expect of a loss."""

import itertools

import numpy as np
import pytest
import torch

from cases import cases
from limo._views import VIEWS
from limo.losses import Term, derivatives, loss
from limo.torch import MarginLoss, _rows

AGGREGATIONS = ("mean", "top", "bottom", "worst")
TERMS = [
    *(Term(v, a) for v in VIEWS for a in AGGREGATIONS),
    *(Term(v, "pointwise", b, share=s) for v in VIEWS for b in ("logistic", "squared_hinge") for s in ("balanced", "pairs")),
    *(Term("entries", "pointwise", b) for b in ("logistic", "squared_hinge")),
    Term("rows", "mean", share="uniform", weight=2.5),
    *(Term(v, "mean", "hinge") for v in VIEWS),
    Term("columns", "pointwise", "hinge", 0.5, share="balanced"),
]  # fmt: skip


def name(term):
    return f"{term.view}-{term.aggregation}-{term.base}-{term.share}"


def value_and_gradient(module, S, *others):
    scores = torch.tensor(S, requires_grad=True)
    value = module(scores, *map(torch.tensor, others))
    value.backward()
    return value.item(), scores.grad.numpy()


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(params=["compiled", "sorted"])
def way(request, monkeypatch):
    """How means over pairs are computed: the second way is that of other devices than the CPU."""
    if request.param == "sorted":
        monkeypatch.setattr(_rows, "compiled_mean", _rows.sorted_mean)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("term", TERMS, ids=name)
def test_value_and_gradient_are_those_of_limo_losses(term):
    for Y, S, _ in cases(40, seed=90):
        scores = S / 10 if S.max() > 10 else S
        value, gradient = value_and_gradient(MarginLoss(term), scores, Y)
        expected = derivatives(Y, scores, term)
        assert value == pytest.approx(expected.value, abs=1e-9)
        np.testing.assert_allclose(gradient, expected.gradient, atol=1e-9)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("term", TERMS, ids=name)
def test_gradcheck(term):
    torch.manual_seed(0)
    scores = torch.randn(6, 5, dtype=torch.float64, requires_grad=True)
    labels, mask = torch.rand(6, 5) < 0.5, torch.rand(6, 5) < 0.8
    assert torch.autograd.gradcheck(lambda s: MarginLoss(term)(s, labels, mask), scores)


@pytest.mark.parametrize("view", VIEWS)
def test_several_blocks_of_rows_and_threads(view, monkeypatch):
    monkeypatch.setattr(_rows, "_BLOCK", 64)
    torch.set_num_threads(2)
    rng = np.random.default_rng(91)
    Y, S = (rng.random((50, 30)) < 0.3).astype(float), rng.normal(size=(50, 30))
    terms = [Term(view, a) for a in AGGREGATIONS]
    value, gradient = value_and_gradient(MarginLoss(terms), S, Y)
    expected = derivatives(Y, S, terms)
    assert value == pytest.approx(expected.value, abs=1e-9)
    np.testing.assert_allclose(gradient, expected.gradient, atol=1e-9)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("term", TERMS, ids=name)
def test_unknown_labels_are_as_if_they_were_not_there(term):
    """Unknown are a whole row and a whole column, so that limo.losses can leave them out."""
    rng = np.random.default_rng(92)
    Y, S = (rng.random((6, 5)) < 0.5).astype(float), rng.normal(size=(6, 5))
    mask = np.ones(Y.shape, dtype=bool)
    mask[2], mask[:, 3] = False, False
    rows, columns = np.delete(np.arange(6), 2), np.delete(np.arange(5), 3)
    kept = np.ix_(rows, columns)
    Y[~mask], S[~mask] = -1, np.nan
    value, gradient = value_and_gradient(MarginLoss(term), S, Y, mask)
    expected = derivatives(Y[kept].astype(int), S[kept], term)
    assert value == pytest.approx(expected.value, abs=1e-9)
    np.testing.assert_allclose(gradient[kept], expected.gradient, atol=1e-9)
    assert not gradient[~mask].any()


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("term", TERMS, ids=name)
def test_rows_without_pairs_and_empty_batches_give_0(term):
    pointwise = term.aggregation == "pointwise" and term.share == "uniform"
    for shape in ((0, 3), (3, 0), (4, 3)):
        for fill in (torch.zeros, torch.ones):
            scores = torch.randn(shape, requires_grad=True)
            mask = torch.zeros(shape, dtype=torch.bool) if pointwise else None
            value = MarginLoss(term)(scores, fill(shape), mask)
            value.backward()
            assert value.item() == 0
            assert scores.grad.shape == shape
            assert not scores.grad.any()


@pytest.mark.parametrize("term", TERMS, ids=name)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_lower_precision(term, dtype):
    torch.manual_seed(1)
    labels = torch.rand(20, 12) < 0.3
    scores = torch.randn(20, 12).to(dtype).requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        value = MarginLoss(term)(scores, labels)
    value.backward()
    assert value.dtype == torch.float32
    assert scores.grad.dtype == dtype
    expected = derivatives(labels.numpy(), scores.detach().double().numpy(), term)
    assert value.item() == pytest.approx(expected.value, rel=1e-5)
    share = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1e-2}[dtype]
    gap = np.abs(scores.grad.double().numpy() - expected.gradient).max()
    assert gap <= share * np.abs(expected.gradient).max()


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("view", VIEWS)
def test_a_large_offset_does_not_hurt_in_single_precision(view):
    torch.manual_seed(2)
    labels, scores = torch.rand(20, 50) < 0.3, torch.randint(-8, 8, (20, 50)) / 4.0
    for base in ("hinge", "squared_hinge"):
        module = MarginLoss(Term(view, "mean", base))
        assert module(scores + 1024, labels).item() == pytest.approx(
            module(scores, labels).item(), rel=1e-5
        )


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("term", TERMS, ids=name)
def test_scores_that_are_not_finite_are_not_hidden(term):
    """Gradient scalers skip a step if they see nan."""
    labels = torch.tensor([[1, 0, 0], [0, 1, 1]])
    for bad in (torch.nan, torch.inf):
        scores = torch.zeros(2, 3)
        scores[0, 1] = bad
        assert not torch.isfinite(MarginLoss(term)(scores, labels))


def test_large_scores_do_not_overflow():
    labels = torch.tensor([[1, 0, 1], [0, 1, 1], [1, 1, 0]])
    module = MarginLoss([Term(v, a) for v, a in itertools.product(VIEWS, AGGREGATIONS)])
    scores = (1e3 * (1 - 2.0 * labels)).requires_grad_()
    value = module(scores, labels)
    value.backward()
    assert torch.isfinite(value)
    assert torch.isfinite(scores.grad).all()
    assert module(1e3 * (2.0 * labels - 1), labels).item() == 0


def test_binary_cross_entropy_is_a_member():
    scores, labels = torch.randn(7, 4), (torch.rand(7, 4) < 0.5).float()
    ours, theirs = MarginLoss("pointwise"), torch.nn.BCEWithLogitsLoss()
    assert ours(scores, labels).item() == pytest.approx(theirs(scores, labels).item(), rel=1e-6)


# Reductions


@pytest.mark.parametrize("term", TERMS, ids=name)
def test_reductions(term):
    """The parts add up to the sum; the mean divides by the number of rows, pairs or entries."""
    rng = np.random.default_rng(93)
    Y, S = (rng.random((6, 5)) < 0.5).astype(int), rng.normal(size=(6, 5))
    Y[0], Y[:, 1] = 1, 0
    batch = torch.tensor(S), torch.tensor(Y)
    parts = MarginLoss(term, reduction="none")(*batch)
    assert parts.shape == ({"rows": 6, "columns": 5, "entries": 1}[term.view],)
    total = MarginLoss(term, reduction="sum")(*batch)
    assert parts.sum().item() == pytest.approx(total.item())
    table = {"rows": Y, "columns": Y.T, "entries": Y.reshape(1, -1)}[term.view]
    pairs = table.sum(axis=1) * (1 - table).sum(axis=1)
    count = (pairs > 0).sum()
    if term.share == "uniform":
        count = pairs.sum() if term.aggregation == "mean" else Y.size
    assert total.item() / count == pytest.approx(loss(Y, S, term), abs=1e-9)
    # one row alone, as a batch
    if term.view == "rows" and term.share != "uniform":
        for i in range(6):
            assert parts[i].item() == pytest.approx(loss(Y[[i]], S[[i]], term), abs=1e-9)


def test_none_needs_one_view():
    with pytest.raises(ValueError, match="same view.*got columns and rows. Use one MarginLoss"):
        MarginLoss(["rows top", "columns mean"], reduction="none")


# Use


def test_names_and_records():
    module = MarginLoss(["rows top", Term("columns", "mean", weight=2.0), "pointwise hinge"])
    assert module.terms == (
        Term("rows", "top"),
        Term("columns", "mean", weight=2.0),
        Term("entries", "pointwise", "hinge"),
    )
    assert "aggregation='top'" in repr(module)
    assert "reduction='mean'" in repr(module)


def test_a_network_learns():
    torch.manual_seed(3)
    X, W = torch.randn(200, 6), torch.randn(6, 5)
    labels = (X @ W > 1).float()
    model, module = torch.nn.Linear(6, 5), MarginLoss()
    optimiser = torch.optim.Adam(model.parameters(), lr=0.05)
    first = module(model(X), labels).item()
    for _ in range(60):
        optimiser.zero_grad()
        module(model(X), labels).backward()
        optimiser.step()
    assert module(model(X), labels).item() < first / 3


def test_the_loss_weights_other_losses_and_is_differentiated_once():
    scores, labels = torch.randn(3, 4, requires_grad=True), torch.eye(3, 4)
    (gradient,) = torch.autograd.grad(3 * MarginLoss("rows top")(scores, labels), scores)
    (alone,) = torch.autograd.grad(MarginLoss("rows top")(scores, labels), scores)
    torch.testing.assert_close(gradient, 3 * alone)
    (again,) = torch.autograd.grad(
        MarginLoss("rows top")(scores, labels), scores, create_graph=True
    )
    with pytest.raises(RuntimeError, match="does not require grad"):
        again.sum().backward()


@pytest.mark.parametrize("term", TERMS, ids=name)
def test_a_retained_graph_can_be_used_again_and_others_not(term):
    """The first backward pass uses up the stored derivatives; the second computes them again."""
    labels, scores = torch.rand(4, 5) < 0.5, torch.randn(4, 5, requires_grad=True)
    value = MarginLoss(term)(scores, labels)
    value.backward(retain_graph=True)
    once = scores.grad.clone()
    (2 * value).backward(retain_graph=True)
    torch.testing.assert_close(scores.grad, 3 * once)
    value.backward()
    torch.testing.assert_close(scores.grad, 4 * once)
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        value.backward()


def test_gradients_of_one_batch_do_not_share_memory():
    """Two losses of the same scores, and of a part of them."""
    scores, labels = torch.randn(4, 5, requires_grad=True), torch.eye(4, 5)
    hidden = 2 * scores
    (MarginLoss("rows top")(hidden, labels) + MarginLoss("rows top")(hidden, labels)).backward()
    both = scores.grad.clone()
    scores.grad = None
    MarginLoss("rows top")(2 * scores, labels).backward()
    torch.testing.assert_close(both, 2 * scores.grad)


def test_scores_that_were_changed_before_the_backward_pass_are_refused():
    scores = torch.randn(4, 5, requires_grad=True) * 1.0
    value = MarginLoss("rows mean")(scores, torch.eye(4, 5))
    scores.add_(1.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        value.backward()


@pytest.mark.parametrize(
    ("scores", "target", "mask", "message"),
    [
        (torch.zeros(3), torch.zeros(3), None, r"two dimensions.*got shape \(3,\)"),
        (torch.zeros(2, 2).long(), torch.zeros(2, 2), None, "floats, got torch.int64"),
        (torch.zeros(2, 2), torch.zeros(2, 3), None, r"expected \(2, 2\), got \(2, 3\)"),
        (torch.zeros(2, 2), torch.zeros(2, 2), torch.zeros(2, 2), r"mask\.bool\(\)"),
        (torch.zeros(2, 2), torch.full((2, 2), 0.9), None, "target must hold only 0 and 1"),
        (torch.zeros(2, 2), -torch.ones(2, 2), None, r"with \(target > 0\)"),
        (torch.zeros(2, 2), torch.full((2, 2), torch.nan), None, "unknown labels need a mask"),
    ],
)
def test_wrong_batches(scores, target, mask, message):
    with pytest.raises(ValueError, match=message):
        MarginLoss()(scores, target, mask)


def test_wrong_settings():
    with pytest.raises(ValueError, match="Unknown reduction 'avg'"):
        MarginLoss(reduction="avg")
    with pytest.raises(ValueError, match="got 'rows' in it. A name consists of a view"):
        MarginLoss("rows")
    with pytest.raises(ValueError, match="Unknown view 'row'. Did you mean"):
        MarginLoss("row top")
