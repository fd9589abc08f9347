"""What all benchmarks share: seconds and memory of a call, and how a figure meets its target."""

import gc
import multiprocessing
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["best", "peak", "verdict"]


def best(
    function: Callable[[], object],
    repeat: int = 5,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Seconds of the fastest of several calls: what the machine can do when it is left alone."""
    seconds = []
    for _ in range(repeat):
        gc.collect()
        start = clock()
        function()
        seconds.append(clock() - start)
    return min(seconds)


def peak(function: Callable[[], object]) -> float:
    """MiB that a call takes at its highest, beyond what the process held before.

    Measured in a copy of this process (Linux), so that one call does not hide another's peak.
    """
    processes = multiprocessing.get_context("fork")
    receiver, sender = processes.Pipe(duplex=False)

    def measure(answer: Any) -> None:
        gc.collect()
        before = _resident("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
        function()
        answer.send(_resident("VmHWM") - before)

    child = processes.Process(target=measure, args=(sender,))
    child.start()
    sender.close()
    mebibytes: float = receiver.recv()
    child.join()
    return mebibytes


def _resident(field: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(field))) / 1024


def verdict(met: bool) -> str:
    """Whether a figure meets its target."""
    return "met" if met else "NOT MET"
