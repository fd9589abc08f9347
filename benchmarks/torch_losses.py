"""How fast ``limo.torch.MarginLoss`` is, and how much memory it needs.

A batch of 1024 instances and 1000 labels, forward and backward, in one thread unless ``--threads``
says otherwise; with 2 % relevant labels and, where a matrix of pairs is large, with 30 %. Instance
pairs are compared with a loop over labels that stores all pairs of a relevant and an irrelevant
instance, which is what LibAUC's pairwise loss does for one label. All losses are compared with
binary cross-entropy. Needs ``limo-ml[torch]``.
"""

import argparse
from collections.abc import Callable

import torch
from timing import best, peak, verdict

from limo.torch import MarginLoss

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def loop_over_labels(scores: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """The mean over labels of the mean squared hinge of all pairs, as a P x N matrix per label."""
    losses = []
    for j in range(scores.shape[1]):
        up, down = scores[target[:, j] == 1, j], scores[target[:, j] == 0, j]
        if len(up) and len(down):
            losses.append(torch.relu(1 - (up[:, None] - down[None, :])).square().mean())
    return torch.stack(losses).mean()


def step_of(loss: Loss, scores: torch.Tensor, target: torch.Tensor) -> Callable[[], None]:
    """One forward and backward pass."""

    def step() -> None:
        scores.grad = None
        loss(scores, target).backward()

    return step


def compare(dtype: torch.dtype, density: float, repeat: int) -> None:
    """Print seconds, memory and the ratios that have targets."""
    torch.manual_seed(0)
    target = (torch.rand(1024, 1000) < density).to(dtype)
    scores = torch.randn(1024, 1000, dtype=dtype).requires_grad_()
    losses: dict[str, Loss] = {
        "loop": loop_over_labels,
        "cross-entropy": torch.nn.BCEWithLogitsLoss(),
    }
    names = [f"{v} {a}" for v in ("columns", "rows") for a in ("mean", "top", "bottom", "worst")]
    losses |= {name: MarginLoss(name) for name in names}
    few = torch.randn(3, 1000, dtype=dtype).requires_grad_(), torch.eye(3, 1000, dtype=dtype)
    small = {name: step_of(loss, *few) for name, loss in losses.items()}
    for step in small.values():  # compile, or load from the cache
        step()
    steps = {name: step_of(loss, scores, target) for name, loss in losses.items()}
    # Before any large batch, because memory that was freed is not returned to the system; and
    # beyond what a small batch takes, which is what torch needs for itself.
    mebibytes = {name: peak(step) - peak(small[name]) for name, step in steps.items()}
    print(f"1024 x 1000 scores, {dtype}, {density:.1%} relevant")
    seconds = {}
    for name, step in steps.items():
        seconds[name] = best(step, 1 if name == "loop" else repeat)
        print(f"  {name:14} {1e3 * seconds[name]:9.1f} ms {mebibytes[name]:9.1f} MiB")
    gap = abs(losses["loop"](scores, target) - losses["columns mean"](scores, target)).item()
    assert gap < 1e-5, gap
    faster = seconds["loop"] / seconds["columns mean"]
    leaner = mebibytes["loop"] / mebibytes["columns mean"]
    print(f"  columns mean: {faster:.0f}x faster than the loop (target 20: ", end="")
    print(f"{verdict(faster >= 20)}), 1/{leaner:.0f} of its memory", end="")
    gradient = scores.numel() * scores.element_size() / 2**20
    print(f" (target 1/50: {verdict(leaner >= 50)}; the gradient alone: {gradient:.1f} MiB)")
    for name in names:
        ratio, most = seconds[name] / seconds["cross-entropy"], 5 if "mean" in name else 3
        print(f"  {name}: {ratio:.1f}x cross-entropy (target {most}: {verdict(ratio <= most)})")


def main() -> None:
    """Run the comparison for both densities, in both precisions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=10)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    for density in (0.02, 0.3):
        for dtype in (torch.float32, torch.float64):
            compare(dtype, density, given.repeat)


if __name__ == "__main__":
    main()
