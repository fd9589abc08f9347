"""How fast ``limo.evaluate`` is, and how much memory it needs.

Machines are noisy, so everything is a ratio to something timed in the same run: scikit-learn's ten
measures called one by one, and ``numpy.sort`` of the scores along rows, along columns and as a
whole. Growth is the slope of log time over log size. Memory is measured in a separate process.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn import metrics
from timing import best, verdict

import limo

SKLEARN: dict[str, Callable] = {
    "hamming_loss": lambda Y, S, P: metrics.hamming_loss(Y, P),
    "ranking_loss": lambda Y, S, P: metrics.label_ranking_loss(Y, S),
    "coverage": lambda Y, S, P: metrics.coverage_error(Y, S) - 1,
    "average_precision": lambda Y, S, P: metrics.label_ranking_average_precision_score(Y, S),
    "macro_f1": lambda Y, S, P: metrics.f1_score(Y, P, average="macro", zero_division=0.0),
    "instance_f1": lambda Y, S, P: metrics.f1_score(Y, P, average="samples", zero_division=0.0),
    "micro_f1": lambda Y, S, P: metrics.f1_score(Y, P, average="micro", zero_division=0.0),
    "macro_auc": lambda Y, S, P: metrics.roc_auc_score(Y, S, average="macro"),
    "instance_auc": lambda Y, S, P: metrics.roc_auc_score(Y, S, average="samples"),
    "micro_auc": lambda Y, S, P: metrics.roc_auc_score(Y, S, average="micro"),
}


def data(m: int, l: int, dtype: type = np.float64) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # noqa: E741
    """Labels at 2 %, noisy scores for them, and the 2 % highest scores as predictions."""
    rng = np.random.default_rng(0)
    Y = (rng.random((m, l)) < 0.02).astype(np.int64)
    Y[np.arange(m), rng.integers(l, size=m)] = 1  # scikit-learn's AUCs need a label in every row
    S = (rng.standard_normal((m, l)) + 2 * Y).astype(dtype)
    return Y, S, (np.quantile(S[:100], 0.98) < S).astype(np.int64)


def compare(m: int, l: int) -> None:  # noqa: E741
    """Time evaluate against scikit-learn and against three sorts."""
    Y, S, P = data(m, l)
    limo.evaluate(Y[:50], S[:50], P[:50])  # compile, or load from the cache
    ours = best(lambda: limo.evaluate(Y, S, P))
    sorts = [best(lambda axis=axis: np.sort(S, axis=axis)) for axis in (1, 0, None)]
    single = best(lambda: limo.evaluate(Y, S.astype(np.float32), P))
    document = best(lambda: limo.report.evaluation_document(Y, {"one": S}, {"one": P}), repeat=2)
    evaluation = limo.evaluate(Y, S)
    promised = best(lambda: limo.guarantees(evaluation), repeat=3)
    exact = limo.guarantees(evaluation)["average_precision"].exact_share
    rival = 0.0
    found = limo.evaluate(Y, S, P, conventions="sklearn")
    for name, function in SKLEARN.items():
        start = time.perf_counter()
        value = function(Y, S, P)
        rival += time.perf_counter() - start
        assert abs(value - found[name]) < 1e-9, (name, value, found[name])
    print(f"{m} x {l} scores, 2 % labels")
    print(f"  limo.evaluate, all eleven and the margins  {ours:8.3f} s   (float32: {single:.3f} s)")
    print(f"  scikit-learn, its ten, one by one          {rival:8.3f} s")
    print(f"  numpy.sort by rows, columns, whole         {sum(sorts):8.3f} s   ", end="")
    print(" + ".join(f"{s:.3f}" for s in sorts))
    print(f"  limo.report.evaluation_document            {document:8.3f} s")
    print(f"  limo.guarantees of the evaluation          {promised:8.3f} s   ", end="")
    print(f"(average precision exact on {exact:.2%} of the instances)")
    extra = promised / ours
    print(f"  guarantees over evaluate: {extra:.2f} (target 1: {verdict(extra <= 1)})")
    faster, share = rival / ours, ours / sum(sorts)
    print(f"  faster than scikit-learn: {faster:.0f}x (target 150x: {verdict(faster >= 150)})")
    print(f"  time over three sorts: {share:.2f} (target 1: {verdict(share <= 1)})")


def gaps(m: int, l: int) -> None:  # noqa: E741
    """Time of missing labels and of sample weights, as ratios to an evaluation without them.

    Naming the code of missing labels must cost little if none is missing. Few percent drown in
    what else a machine does, so seconds of the processor are compared here, and in turn.
    """
    Y, S, P = data(m, l)
    rng = np.random.default_rng(1)
    missing, weights = np.where(rng.random(Y.shape) < 0.1, -1, Y), rng.random(m)
    limo.evaluate(Y[:50], S[:50], P[:50], sample_weight=weights[:50])  # compile
    limo.evaluate(Y[:50], S[:50], P[:50], missing=-1)

    def seconds(Y: np.ndarray, **options: object) -> float:
        return best(lambda: limo.evaluate(Y, S, P, **options), 2, time.process_time)

    plain, named = np.inf, np.inf
    for _ in range(5):
        plain, named = min(plain, seconds(Y)), min(named, seconds(Y, missing=-1))
    extra = named / plain - 1
    print(f"  with missing=-1, none missing: {extra:+.1%} (target 5 %: {verdict(extra <= 0.05)})")
    ratio = seconds(missing, missing=-1) / plain
    print(f"  with 10 % of the labels missing: {ratio:.2f} times as long")
    ratio = seconds(Y, sample_weight=weights) / plain
    print(f"  with sample weights: {ratio:.2f} times as long")


def growth(m: int, l: int) -> None:  # noqa: E741
    """Slopes of log time over log m and log l, from an eighth to four times the size."""
    factors = (0.125, 0.25, 0.5, 1, 2, 4)
    for name, sizes in (
        ("m", [(int(m * f), l) for f in factors]),
        ("l", [(m, int(l * f)) for f in factors]),
    ):
        seconds = []
        for size in sizes:
            Y, S, P = data(*size)
            seconds.append(best(lambda Y=Y, S=S, P=P: limo.evaluate(Y, S, P), repeat=3))
        slope = np.polyfit(np.log(factors), np.log(seconds), 1)[0]
        shown = ", ".join(f"{s:.3f}" for s in seconds)
        met = verdict(slope <= 1.1)
        print(f"  growth in {name}: slope {slope:.2f} (target 1.1: {met})  [{shown} s]")


def memory(m: int, l: int) -> None:  # noqa: E741
    """Peak memory of a new process, beyond what it used before, as a multiple of the scores."""
    for dtype in ("float64", "float32"):
        code = f"""
import resource, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import numpy as np, limo
from measures import data
limo.evaluate(*data(50, 20, np.{dtype}))
Y, S, P = data({m}, {l}, np.{dtype})
before = int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
open("/proc/self/clear_refs", "w").write("5")  # forget the peak of making the data
limo.evaluate(Y, S, P)
peak = next(int(x.split()[1]) for x in open("/proc/self/status") if x.startswith("VmHWM")) * 1024
print((peak - before) / S.nbytes)
"""
        run = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
        )
        extra = float(run.stdout)
        print(
            f"  peak memory, {dtype}: {1 + extra:.2f} x the scores, themselves included "
            f"(target 3: {verdict(1 + extra <= 3)})"
        )


def start_up() -> None:
    """Time of the import and of the first call of a process, with and without compiled code."""
    first = "import limo; limo.evaluate([[1, 0]], [[0.5, 0.2]], [[1, 0]])"

    def run(code: str, **environment: str) -> None:
        subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | environment)

    empty = best(lambda: run(""))
    print(f"  import limo: {best(lambda: run('import limo')) - empty:.2f} s (target 0.5)")
    print(f"  import and first evaluation: {best(lambda: run(first)) - empty:.2f} s")
    with tempfile.TemporaryDirectory() as cache:
        seconds = best(lambda: run(first, NUMBA_CACHE_DIR=cache), repeat=1) - empty
    print(f"  the same if nothing is compiled yet: {seconds:.2f} s (target 10)")


def main() -> None:
    """Print every figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=20_000)
    parser.add_argument("--labels", type=int, default=500)
    size = parser.parse_args()
    compare(size.instances, size.labels)
    gaps(size.instances, size.labels)
    growth(size.instances, size.labels)
    memory(size.instances, size.labels)
    start_up()


if __name__ == "__main__":
    main()
