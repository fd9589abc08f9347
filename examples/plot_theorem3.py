"""Theorem 3: with double effective scores, micro-AUC grows to 1 with the number of instances.

Scores are drawn as in the theorem's proof: relevant entries uniform in (0, 1), irrelevant ones
uniform below the lowest relevant score of their row and column. The picture shows micro-AUC
over many draws beside the bound.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import limo

N_LABELS = 5
SIZES = np.unique(np.geomspace(4, 4000, 13).astype(int))
DENSITIES = {0.1: "tab:blue", 0.3: "tab:orange", 0.5: "tab:green"}


def draw(rng: np.random.Generator, m: int, density: float) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and scores that are double effective and otherwise random."""
    Y = rng.random((m, N_LABELS)) < density
    Y[0, 0], Y[1, 1] = True, False  # at least one pair
    relevant = np.where(Y, rng.random(Y.shape), 1.0)
    below = np.minimum(relevant.min(axis=1)[:, None], relevant.min(axis=0))
    return Y.astype(int), np.where(Y, relevant, rng.random(Y.shape) * below)


rng = np.random.default_rng(0)
figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
for density, colour in DENSITIES.items():
    found, bound = [], []
    for m in SIZES:
        draws = [draw(rng, m, density) for _ in range(40)]
        assert all(limo.effectiveness(Y, S).double for Y, S in draws)
        found.append([limo.micro_auc(Y, S) for Y, S in draws])
        bound.append(limo.micro_auc_bound(m, N_LABELS, np.mean([Y.sum() for Y, _ in draws])))
        print(f"{density:.0%}, m = {m:4}: {np.mean(found[-1]):.4f}, bound {bound[-1]:.4f}")
    low, middle, high = np.quantile(found, (0.05, 0.5, 0.95), axis=1)
    axes.fill_between(SIZES, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.plot(SIZES, middle, color=colour, label=f"{density:.0%} of entries relevant")
    axes.plot(SIZES, bound, color=colour, linestyle="--")
axes.plot([], [], color="grey", linestyle="--", label="bound of Theorem 3")
axes.set(
    xscale="log",
    xlabel="instances m",
    ylabel="micro-AUC",
    ylim=(0.45, 1.005),
    title=f"Double effective scores, {N_LABELS} labels: median and 90 % of 40 draws",
)
axes.grid(alpha=0.3)
axes.legend(loc="lower right")

output = Path(__file__).parent / "output"
output.mkdir(exist_ok=True)
figure.savefig(output / "theorem3.png", dpi=150)
print(f"picture: {output.name}/theorem3.png")
