"""What all benchmarks share: the fastest of several calls, and how a figure meets its target."""

import gc
import time
from collections.abc import Callable

__all__ = ["best", "verdict"]


def best(function: Callable[[], object], repeat: int = 5) -> float:
    """Seconds of the fastest of several calls: what the machine can do when it is left alone."""
    seconds = []
    for _ in range(repeat):
        gc.collect()
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def verdict(met: bool) -> str:
    """How a figure stands to its target."""
    return "met" if met else "NOT MET"
