"""Training over blocks and on clusters: agreement, traffic and speed; needs limo-ml[dask].

    python benchmarks/scale.py train [--shape 200000,5000,500] [--density 0.01] [--repeat 3]

compares one evaluation of LIMO's objective (label pairs and instance pairs) on generated sparse
data: on one worker process of one thread, and on two. It prints how far values and gradients are
from those of one machine, the numbers that moved between processes, and the seconds: by the clock,
and of the processor, for the busiest worker and for this process, which has the client and the
scheduler. On a machine that is busy with other work only the latter mean something: their sum is
the time that two free cores would need, as far as this process and the workers do not overlap.
"""

import argparse
import time
from typing import Any, NamedTuple

import distributed
import numpy as np
from scipy import sparse

from limo._solvers.blocks import BlockObjective, BlockProblem
from limo._solvers.objective import Resident
from limo._solvers.parts import Setting
from limo._solvers.problem import Features, Problem
from limo._system import at_most
from limo._views import Pattern
from limo.dask._cluster import Cluster, dask
from limo.losses import Term
from limo.models._limo_blocks import checked_block, summarise

TERMS = Term("rows", "mean"), Term("columns", "mean")
N_BLOCKS = 8


def block(number: int, shape: tuple[int, int, int], density: float) -> tuple[Any, Any]:
    """One of the blocks of generated data: sparse features, and labels that depend on them."""
    m, d, l = shape  # noqa: E741
    rng = np.random.default_rng(number)
    n_rows = m // N_BLOCKS
    X = sparse.random_array((n_rows, d), density=density, rng=rng, format="csr")
    wanted = np.random.default_rng(999).integers(0, l, size=d)
    hits = sparse.csr_array((np.ones(d), (np.arange(d), wanted)), shape=(d, l))
    marks = sparse.csr_array(X @ hits)
    marks.data = (marks.data > 0.9).astype(np.int8)
    marks.eliminate_zeros()
    marks.sort_indices()
    return X, marks


class Used(NamedTuple):
    """What an evaluation took: seconds by the clock and of processors, and bytes that moved."""

    clock: float
    worker: float
    client: float
    traffic: float


def on_a_cluster(
    n_workers: int, shape: tuple[int, int, int], density: float, W: Any, repeat: int
) -> tuple[Any, Used]:
    """A point, and what the fastest of its evaluations took."""
    with (
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", memory_limit=0
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        read, check = dask.delayed(block, nout=2), dask.delayed(checked_block)
        pairs = [read(number, shape, density) for number in range(N_BLOCKS)]
        engine = Cluster(client, [check(*pair, k) for k, pair in enumerate(pairs)])
        summary = summarise(engine)
        setting = Setting(TERMS, summary.totals, 1.0)
        objective = BlockObjective(BlockProblem(engine, setting, 1e-3, summary.n_features))
        objective.start(W)  # compiles, and makes the groups
        found = []
        for _ in range(repeat):
            before, busy, bytes_before = _times(), client.run(time.process_time), moved(client)
            point = objective.start(W)
            clock, own = (now - then for now, then in zip(_times(), before, strict=True))
            after = client.run(time.process_time)
            slowest = max(after[name] - then for name, then in busy.items())
            found.append(Used(clock, slowest, own, moved(client) - bytes_before))
        return point, min(found)


def _times() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def moved(client: Any) -> float:
    """Bytes that the workers have received from each other so far."""
    found = client.run(
        lambda dask_worker: [one["total"] for one in dask_worker.transfer_incoming_log]
    )
    return float(sum(map(sum, found.values())))


def train(shape: tuple[int, int, int], density: float, repeat: int) -> None:
    """Print agreement, traffic and speed."""
    m, d, l = shape  # noqa: E741
    W = np.random.default_rng(0).normal(scale=0.1, size=(d + 1, l))
    blocks = [block(number, shape, density) for number in range(N_BLOCKS)]
    X = sparse.csr_array(sparse.vstack([one for one, _ in blocks]))
    Y = Pattern.from_csr(sparse.csr_array(sparse.vstack([one for _, one in blocks])))
    print(f"{m} x {d} x {l}, {X.nnz} features that are not 0, {Y.n_ones} relevant entries")
    objective = Resident(Problem(Features(X, 1.0), Y, TERMS, 1e-3))
    with at_most(1):
        start = time.process_time()
        expected = objective.start(W)
    seconds = time.process_time() - start
    print(f"in memory, one thread: {seconds:.2f} s of the processor, with compilation", flush=True)
    del X, blocks, objective
    used = {}
    for n_workers in (1, 2):
        point, one = on_a_cluster(n_workers, shape, density, W, repeat)
        off = abs(point.value / expected.value - 1)
        far = np.abs(point.gradient - expected.gradient).max() / np.abs(expected.gradient).max()
        print(
            f"{n_workers} worker(s) of one thread: {one.clock:.2f} s by the clock; of processors, "
            f"{one.worker:.2f} s for the busiest worker and {one.client:.2f} s for the client; "
            f"value off by {off:.1e}, gradient by {far:.1e}; between workers "
            f"{one.traffic / 8 / (Y.n_ones + d * l):.2f} x (n + d l) numbers",
            flush=True,
        )
        used[n_workers] = one
    first, second = used[1], used[2]
    busy = (first.worker + first.client) / (second.worker + second.client)
    print(
        f"two workers are {first.clock / second.clock:.2f} times as fast as one by the clock, "
        f"{busy:.2f} times by processors (wanted: 1.6)"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["train"])
    parser.add_argument("--shape", default="200000,5000,500")
    parser.add_argument("--density", type=float, default=0.01)
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    rows, features, labels = map(int, given.shape.split(","))
    train((rows, features, labels), given.density, given.repeat)
