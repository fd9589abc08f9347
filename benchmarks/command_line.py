"""Time and memory of the command line: starting, the demo, and a large evaluation.

Run ``python benchmarks/command_line.py``; each command runs in its own process.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from timing import verdict

N_INSTANCES, N_LABELS, SHARE = 1_000_000, 100, 0.05


def measure(*words: str, folder: Path) -> tuple[float, float]:
    """Seconds and peak memory in GB of a command."""
    start = time.perf_counter()
    one = subprocess.Popen(
        [sys.executable, "-m", "limo", *words], cwd=folder, stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(one.pid, 0)
    if status:
        raise SystemExit(f"limo {' '.join(words)} failed")
    return time.perf_counter() - start, used.ru_maxrss * 1024 / 1e9


def write_matrices(folder: Path) -> None:
    """Labels, float32 scores and predictions as ``.npy``, written in blocks."""
    shape, step = (N_INSTANCES, N_LABELS), 50_000
    kinds = {"Y": np.uint8, "S": np.float32, "P": np.uint8}
    files = {
        name: np.lib.format.open_memmap(folder / f"{name}.npy", "w+", kind, shape)
        for name, kind in kinds.items()
    }
    rng = np.random.default_rng(0)
    for start in range(0, N_INSTANCES, step):
        Y = rng.random((step, N_LABELS)) < SHARE
        S = rng.normal(size=Y.shape) + 2 * Y
        for name, block in (("Y", Y), ("S", S), ("P", S > 1.5)):
            files[name][start : start + step] = block


def main() -> None:
    """Print one line per command."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for words, budget in ((("--version",), 0.5), (("--help",), 0.5), (("demo",), 60)):
            seconds = min(measure(*words, folder=folder)[0] for _ in range(3))
            line = f"limo {' '.join(words):<12} {seconds:6.2f} s"
            print(f"{line}  budget {budget} s: {verdict(seconds < budget)}")
        write_matrices(folder)
        for words in (("-s", "S.npy"), ("-s", "S.npy", "-p", "P.npy", "--report", "page.html")):
            seconds, memory = measure("evaluate", "-y", "Y.npy", *words, folder=folder)
            line = f"limo evaluate {' '.join(words)}, {N_INSTANCES:,} x {N_LABELS} float32"
            print(f"{line}: {seconds:.0f} s, {memory:.2f} GB  budget 2 GB: {verdict(memory < 2)}")


if __name__ == "__main__":
    main()
