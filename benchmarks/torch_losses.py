"""How fast ``limo.torch.MarginLoss`` is, and how much memory it needs.

A batch of 1024 instances and 1000 labels, 2 % of them relevant, forward and backward, in one thread
unless ``--threads`` says otherwise. Instance pairs are compared with a loop over labels that stores
all pairs of a relevant and an irrelevant instance, which is what LibAUC's pairwise loss does for
one label. All losses are compared with binary cross-entropy. Needs ``limo-ml[torch]``.
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
    aggregations = ("mean", "top", "bottom", "worst")
    losses |= {f"{v} {a}": MarginLoss(f"{v} {a}") for v in ("columns", "rows") for a in aggregations}
    steps = {name: step_of(loss, scores, target) for name, loss in losses.items()}
    gap = abs(losses["loop"](scores, target) - losses["columns mean"](scores, target)).item()
    assert gap < 1e-5, gap
    print(f"1024 x 1000 scores, {dtype}, {density:.1%} relevant")
    seconds, mebibytes = {}, {}
    for name, step in steps.items():
        step()
        seconds[name] = best(step, 2 if name == "loop" else repeat)
        mebibytes[name] = peak(step)
        print(f"  {name:14} {1e3 * seconds[name]:9.1f} ms {mebibytes[name]:9.1f} MiB")
    faster = seconds["loop"] / seconds["columns mean"]
    leaner = mebibytes["loop"] / mebibytes["columns mean"]
    print(f"  columns mean: {faster:.0f}x faster than the loop (target 20: {verdict(faster >= 20)}), ", end="")
    print(f"1/{leaner:.0f} of its memory (target 1/50: {verdict(leaner >= 50)})")
    for name in losses:
        if " " in name:
            ratio, most = seconds[name] / seconds["cross-entropy"], 5 if "mean" in name else 3
            print(f"  {name}: {ratio:.1f}x binary cross-entropy (target {most}: {verdict(ratio <= most)})")


def main() -> None:
    """Run the comparison in both precisions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--density", type=float, default=0.02, help="share of relevant entries")
    parser.add_argument("--repeat", type=int, default=10)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    for dtype in (torch.float32, torch.float64):
        compare(dtype, given.density, given.repeat)


if __name__ == "__main__":
    main()
