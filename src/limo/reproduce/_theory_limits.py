"""Imperfect margins: Theorem 3 with violations, and the intervals of misordered pairs on real data.

Models of real data are fitted with several losses, along the regularisation strength and along the
number of training instances. Their measures are compared with all that the labels allow.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import kendalltau
from sklearn.preprocessing import MaxAbsScaler

from limo._checks import check_inputs
from limo._evaluate import evaluate
from limo._explain import guarantees
from limo._guarantees import BOUNDS
from limo._types import Anything, Integers, Values
from limo.datasets import Dataset, is_at_hand, load, split
from limo.losses import Term
from limo.measures._compute import compute
from limo.measures._conventions import CONVENTIONS
from limo.measures._table import PAPER_MEASURES
from limo.models._limo import MarginClassifier
from limo.reproduce._theory_facts import N_LABELS, SIZES

DENSITY = 0.3
VIOLATIONS = ((0.0, 0.0), (0.2, 0.0), (0.0, 0.2), (0.2, 0.2))
"""Shares of instances and of labels whose margin need not be positive."""

# Theorem 3 with violations


def draw_violated(
    rng: np.random.Generator, Y: Anything, rows: Anything, columns: Anything
) -> Values:
    """The scores of Theorem 3's proof, if some rows and columns need not have a positive margin.

    Relevant entries are uniform in (0, 1). An irrelevant entry is uniform below the lowest relevant
    score of its row, unless the row is violated, and of its column, unless the column is.
    """
    relevant = np.where(Y == 1, rng.uniform(size=Y.shape), 1.0)
    by_row = np.where(rows, 1.0, relevant.min(axis=1))
    by_column = np.where(columns, 1.0, relevant.min(axis=0))
    below = np.minimum(by_row[:, np.newaxis], by_column)
    return np.where(Y == 1, relevant, below * rng.uniform(size=Y.shape))


def violated_limit(n_labels: int, density: float, rows: float, columns: float) -> float:
    """The limit of micro-AUC as the number of instances grows, with these shares violated.

    1 - t_c ((1 - t_r) (1 - (1 - d)^l) / (2 l d) + t_r / 2): violated rows alone cost nothing.
    """
    by_row = (1 - (1 - density) ** n_labels) / (2 * n_labels * density)
    return 1 - columns * ((1 - rows) * by_row + rows / 2)


def violation_facts(n_draws: int, seed: int = 0) -> pd.DataFrame:
    """Micro-AUC for growing numbers of instances, its limit, and the fitted rate of approach."""
    rng = np.random.default_rng(seed)
    lines: list[dict[str, float]] = []
    for rows, columns in VIOLATIONS:
        limit = violated_limit(N_LABELS, DENSITY, rows, columns)
        own = [_mean_of_draws(rng, m, rows, columns, n_draws) for m in SIZES]
        gap = np.maximum(limit - np.array(own), 1e-12)
        large = (np.array(SIZES) >= 30) & (gap > 2e-4)
        rate = np.polyfit(np.log(np.array(SIZES)[large]), np.log(gap[large]), 1)[0]
        lines += [
            {"rows": rows, "columns": columns, "instances": m, "mean": mean, "limit": limit,
             "rate": float(rate)}
            for m, mean in zip(SIZES, own, strict=True)
        ]  # fmt: skip
    return pd.DataFrame(lines)


def _mean_of_draws(
    rng: np.random.Generator, m: int, rows: float, columns: float, n_draws: int
) -> float:
    """Mean micro-AUC of draws; the violated columns are a share of all draws' columns."""
    values = []
    for _ in range(n_draws):
        Y = (rng.random((m, N_LABELS)) < DENSITY).astype(np.int64)
        Y[0, 0], Y[1, 1] = 1, 0  # at least one pair
        # an exact share in every draw: with five labels, 0.2 is one of them
        S = draw_violated(rng, Y, *(_share(rng, *x) for x in ((m, rows), (N_LABELS, columns))))
        result = compute([PAPER_MEASURES["micro_auc"]], check_inputs(Y, S), CONVENTIONS["standard"])
        values.append(result.results["micro_auc"].value)
    return float(np.mean(values))


def _share(rng: np.random.Generator, n: int, share: float) -> Anything:
    """A random choice of a share of n rows or columns."""
    chosen = np.zeros(n, dtype=bool)
    chosen[: round(share * n)] = True
    return rng.permutation(chosen)


# Models of real data

DATASETS = ("emotions", "yeast", "CAL500", "medical", "enron")
MODELS: dict[str, tuple[Term, ...]] = {
    "rows mean": (Term("rows", "mean"),),
    "columns mean": (Term("columns", "mean"),),
    "rows + columns mean": (Term("rows", "mean"), Term("columns", "mean")),
    "rows top": (Term("rows", "top"),),
    "rows bottom": (Term("rows", "bottom"),),
    "pointwise": (Term("entries", "pointwise"),),
}
ALPHAS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4)
SHARES = (0.1, 0.2, 0.5)
MIDDLE_ALPHA = 1e-2
_TEST_SHARE = 0.4


def datasets_at_hand() -> list[str]:
    """The data sets of this part that are stored on this machine."""
    return [name for name in DATASETS if is_at_hand(name)]


def _halves(name: str, seed: int) -> tuple[Dataset, Dataset]:
    """Training and test data: a random 60 and 40 per cent."""
    train, test = split(load(name, progress=False), test_size=_TEST_SHARE, seed=seed)
    return train, test


def model_facts(name: str, seed: int = 0) -> pd.DataFrame:
    """Measures on test data: each loss along alpha, and along the number of training instances."""
    train, test = _halves(name, seed)
    order = np.random.default_rng(seed).permutation(train.Y.shape[0])
    lines = []
    for loss, terms in MODELS.items():
        for path, alpha, share in _path():
            chosen = np.sort(order[: max(20, int(share * order.size))])
            fitted = _fit(train, test, chosen, terms, alpha)
            own = {"data": name, "loss": loss, "path": path, "alpha": alpha}
            lines.append(own | {"instances": chosen.size} | fitted)
    return pd.DataFrame(lines)


def _path() -> Iterator[tuple[str, float, float]]:
    for alpha in ALPHAS:
        yield "alpha", alpha, 1.0
    for share in SHARES:
        yield "training", MIDDLE_ALPHA, share


def _fit(
    train: Dataset, test: Dataset, chosen: Integers, terms: tuple[Term, ...], alpha: float
) -> dict[str, float]:
    """Measures of one model, F1 with the best thresholds, and what its pairs allow each to be."""
    scale = MaxAbsScaler().fit(train.X)
    model = MarginClassifier(terms, alpha=alpha, threshold_measure=None)
    model.fit(scale.transform(train.X[chosen]), train.Y[chosen])
    S = model.decision_function(scale.transform(test.X))
    promised = guarantees(evaluate(test.Y, S))
    line: dict[str, float] = {}
    for name, one in promised.items():
        line |= {name: one.value, f"fixed_{name}": one.fixed_share}
        line |= {f"lowest_{name}": one.from_pairs[0], f"highest_{name}": one.from_pairs[1]}
    return line


# What the labels of a data set allow


def band_facts(name: str, seed: int = 0, n_points: int = 40) -> pd.DataFrame:
    """The lowest and the highest mean of each measure that any scores with a ranking loss have.

    Of all ways to divide the misordered pairs among the rows, the extreme ones lie on the convex
    hull: for each price of a misordered pair, every row takes the number of pairs that is cheapest
    for it.
    """
    Y = _halves(name, seed)[1].Y
    p = np.asarray(Y.sum(axis=1)).reshape(-1).astype(np.int64)
    sizes, counts = np.unique(p[(p > 0) & (p < Y.shape[1])], return_counts=True)
    lines = []
    for measure in ("one_error", "coverage", "average_precision", "instance_f1"):
        for end, sign in ((0, 1.0), (1, -1.0)):
            hull = _hull(measure, end, sign, sizes, counts, Y.shape[1])
            shares = np.linspace(0, 1, n_points + 1)
            values = np.interp(shares, *hull)
            lines += [
                {"data": name, "measure": measure, "end": ("lowest", "highest")[end],
                 "ranking_loss": x, "value": v}
                for x, v in zip(shares, values, strict=True)
            ]  # fmt: skip
    return pd.DataFrame(lines)


def _hull(
    measure: str, end: int, sign: float, sizes: Integers, counts: Integers, n_labels: int
) -> tuple[Values, Values]:
    """Corners of the lower (sign 1) or upper hull: ranking loss and value, means over the rows."""
    steps: list[tuple[float, float, float]] = []  # slope, width and height of each edge
    start = 0.0
    for p, count in zip(sizes, counts / counts.sum(), strict=True):
        n = n_labels - p
        b = np.arange(p * n + 1)
        line = BOUNDS[PAPER_MEASURES[measure].family](np.full_like(b, p), np.full_like(b, n), b)[
            end
        ]
        x, y = lower_hull(b / (p * n), sign * line)
        start += count * y[0]
        for width, height in zip(np.diff(x), np.diff(y), strict=True):
            steps.append((height / width, count * width, count * height))
    steps.sort()  # a sum of convex functions takes the cheapest edges first
    edges = np.array(steps)
    x = np.concatenate([[0.0], edges[:, 1].cumsum()])
    return x, sign * (start + np.concatenate([[0.0], edges[:, 2].cumsum()]))


def lower_hull(x: Values, y: Values) -> tuple[Values, Values]:
    """The corners of the largest convex function below the points; x ascends."""
    kept: list[int] = []
    for i in range(x.size):
        while len(kept) > 1:
            a, b = kept[-2], kept[-1]
            if (y[b] - y[a]) * (x[i] - x[a]) < (y[i] - y[a]) * (x[b] - x[a]):
                break
            kept.pop()
        kept.append(i)
    return x[kept], y[kept]


# Which measures are redundant


def redundancy_facts(models: pd.DataFrame) -> pd.DataFrame:
    """For each pair of measures: how alike they order models, as Kendall's tau on each data set."""
    names = [name for name in PAPER_MEASURES if name in models]
    lines: list[dict[str, Any]] = []
    for data, own in models.groupby("data", sort=False):
        for i, first in enumerate(names):
            for second in names[i + 1 :]:
                signs = PAPER_MEASURES[first].sign * PAPER_MEASURES[second].sign
                tau = signs * float(kendalltau(own[first], own[second]).statistic)
                lines.append({"data": data, "first": first, "second": second, "tau": tau})
    return pd.DataFrame(lines)
