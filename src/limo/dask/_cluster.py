"""Blocks of Dask collections, and the engine that computes where they are.

Blocks stay on the workers that have them. What moves between workers are weights, relevant scores
and sums; ``limo._solvers.blocks`` says which.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from typing import Any, Self

import numpy as np

from limo._solvers.blocks import rows_per_block
from limo._solvers.parts import Block, Part
from limo._system import at_most, memory_limit
from limo._types import check_kind
from limo.models._limo_blocks import checked_block

try:
    # the other modules import dask from here, so that a missing library gives the error below
    import dask as dask
    import dask.array as dask_array
    import dask.dataframe
    import distributed
except ImportError as error:
    raise ImportError(
        "limo.dask needs Dask and its distributed scheduler, which are not installed. Install them "
        "with pip install 'limo-ml[dask]'."
    ) from error

# How often an evaluation is repeated if workers with what it needs are lost.
_MOST_LOSSES = 5
# Arrays of more bytes are sent to the workers once, not with every task.
_LARGE = 100_000
# How many sums one task adds up.
_FAN_IN = 8
_LOST = (CancelledError, distributed.KilledWorker, distributed.comm.CommClosedError)


def is_collection(thing: Any) -> bool:
    """Whether this is an array or a data frame of Dask."""
    return isinstance(thing, dask_array.Array | dask.dataframe.DataFrame)


def client_of(client: Any = None) -> Any:
    """The given client, or the one in use."""
    if client is not None:
        check_kind(client, distributed.Client, "client must be a client of Dask")
        return client
    try:
        return distributed.default_client()
    except ValueError:
        raise ValueError(
            "limo.dask needs a cluster: start one with client = distributed.Client(), which uses "
            "the cores of this machine, or connect to one with distributed.Client(address)."
        ) from None


def executor(address: str | None = None, *, client: Any = None) -> Any:
    """An executor for :func:`limo.experiment.run` that computes on a Dask cluster.

    Parameters
    ----------
    address : str, optional
        The address of the scheduler, such as ``"tcp://10.0.0.1:8786"``; by default the client in
        use.
    client : distributed.Client, optional
        A client of the cluster, instead of its address.

    Returns
    -------
    executor
        With the ``submit`` of ``concurrent.futures``. Its attribute ``n_jobs`` is the number of
        threads of the cluster: pass it as ``n_jobs``.

    Examples
    --------
    >>> from limo.experiment import Plan, run
    >>> plan = Plan(["emotions"], ["limo", "mlknn"], ["macro_f1"])
    >>> pool = limo.dask.executor("tcp://10.0.0.1:8786")        # doctest: +SKIP
    >>> rows = run(plan, "results.sqlite", executor=pool, n_jobs=pool.n_jobs)  # doctest: +SKIP
    """
    if address is not None:
        check_kind(address, str, "address must be a text such as tcp://10.0.0.1:8786")
        client = _connected(address)
    client = client_of(client)
    pool = client.get_executor(pure=False, retries=_MOST_LOSSES)
    pool.n_jobs = max(1, sum(client.nthreads().values()))
    return pool


def _connected(address: str) -> Any:
    try:
        return distributed.Client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"No Dask scheduler answers at {address!r}: expected an address such as "
            f"tcp://10.0.0.1:8786. {error}"
        ) from None


# Blocks


def blocks_of(X: Any, y: Any) -> list[Any]:
    """Delayed blocks of features and labels, in their order."""
    for name, thing in (("X", X), ("y", y)):
        if not is_collection(thing):
            raise TypeError(
                f"{name} must be a Dask array or data frame, as X is, got "
                f"{type(thing).__name__}. dask.array.from_array makes one."
            )
    features, labels = pieces_of(X, "X"), pieces_of(in_the_blocks_of(X, y, "y"), "y")
    if len(features) != len(labels):
        raise ValueError(
            f"y must be divided into as many blocks as X: got {len(labels)} and {len(features)}. "
            "Compute the chunk sizes first: X.compute_chunk_sizes(), or rechunk both alike."
        )
    check = dask.delayed(checked_block)
    pairs = zip(features, labels, strict=True)
    return [check(x, marks, number) for number, (x, marks) in enumerate(pairs)]


def pieces_of(collection: Any, name: str) -> list[Any]:
    """The delayed blocks of rows of a collection."""
    if isinstance(collection, dask.dataframe.DataFrame):
        return list(collection.to_delayed())
    if collection.ndim != 2:
        raise ValueError(
            f"{name} must have two dimensions, got {collection.ndim}. A single label needs "
            "reshape(-1, 1)."
        )
    whole = collection if collection.numblocks[1] == 1 else collection.rechunk({1: -1})
    return list(whole.to_delayed()[:, 0])


def in_the_blocks_of(first: Any, other: Any, name: str) -> Any:
    """A collection in blocks of as many rows as those of the first, where both are known."""
    if not all(isinstance(one, dask_array.Array) for one in (first, other)):
        return other
    sizes, own = first.chunks[0], other.chunks[0]
    if np.isnan(sum(sizes)) or np.isnan(sum(own)) or sizes == own:
        return other
    if sum(sizes) != sum(own):
        raise ValueError(
            f"{name} must have a row for each instance: expected {sum(sizes)}, got {sum(own)}."
        )
    return other.rechunk({0: sizes})


# The engine


class Cluster:
    """The engine of blocks on the workers: one part for each of their threads.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    blocks : list of delayed
        Checked blocks.
    """

    def __init__(self, client: Any, blocks: Sequence[Any]) -> None:
        self.client, self.memo = client, dict[Any, Any]()
        self._blocks = blocks
        self.parts = self._place()

    def _place(self) -> list[Any]:
        """Compute the blocks, and join those of each thread of a worker.

        Blocks are where Dask computed them, or where the user keeps them. Every evaluation waits
        for the worker with the most rows, so some blocks move once, if that makes it faster.
        """
        futures = self.client.compute(list(self._blocks))
        # a wrong block raises its error here
        sizes = self.client.gather(self.client.map(_n_rows, futures, pure=False))
        threads, where = self.client.nthreads(), self.client.who_has(futures)
        homes = [next(iter(where.get(future.key) or threads)) for future in futures]
        own: dict[str, list[Any]] = defaultdict(list)
        for future, worker in zip(futures, balanced(homes, sizes, threads), strict=True):
            own[worker].append(future)
        return [
            self.client.submit(
                _part_of, group, pure=False, workers=[worker], allow_other_workers=True
            )
            for worker, blocks in own.items()
            for group in _divided(blocks, threads.get(worker, 1))
        ]

    def share(self, value: Any) -> Any:
        """Send a large value to all workers; small ones go with the tasks."""
        large = isinstance(value, np.ndarray) and value.nbytes > _LARGE
        large = large or isinstance(value, tuple)
        return self.client.scatter([value], broadcast=True, hash=False)[0] if large else value

    def each(self, function: Callable[..., Any], *inputs: Any) -> list[Any]:
        """Call ``function(part, *inputs)`` where each part is."""
        return [
            self._submit(
                function, part, *(one[k] if isinstance(one, list) else one for one in inputs)
            )
            for k, part in enumerate(self.parts)
        ]

    def apply(self, function: Callable[..., Any], results: list[Any]) -> list[Any]:
        """Call a function of each result, where it is."""
        return [self._submit(function, one) for one in results]

    def once(self, function: Callable[..., Any], *inputs: Any) -> Any:
        """Call a function of results on one worker."""
        return self._submit(function, *inputs)

    def add(self, function: Callable[..., Any], results: list[Any]) -> Any:
        """Add results up, a few at a time."""
        while len(results) > _FAN_IN:
            steps = range(0, len(results), _FAN_IN)
            results = [self._submit(function, results[k : k + _FAN_IN]) for k in steps]
        return self._submit(function, results)

    def result(self, result: Any) -> Any:
        """Bring a result, or a tuple of results, here."""
        return self.client.gather(result)

    def derive(self, function: Callable[..., Any], *inputs: Any) -> Self:
        """The engine of the parts that a function makes from these."""
        other = type(self).__new__(type(self))
        other.client, other.memo = self.client, {}
        other._blocks = self._blocks
        other.parts = self.each(function, *inputs)
        return other

    def retry(self, compute: Callable[[], Any]) -> Any:
        """Compute; repeat it if workers were lost together with results that only they had."""
        for _ in range(_MOST_LOSSES):
            try:
                return compute()
            except _LOST as error:
                lost = error
                self.memo.clear()
        raise RuntimeError(
            f"Workers of the cluster were lost {_MOST_LOSSES} times while they computed the same "
            "thing. They may be out of memory: use more workers, or smaller blocks."
        ) from lost

    def _submit(self, function: Callable[..., Any], *inputs: Any) -> Any:
        return self.client.submit(_alone, function, *inputs, pure=False, retries=_MOST_LOSSES)


def _alone(function: Callable[..., Any], *inputs: Any) -> Any:
    """Call a function in one thread: every thread of a worker has its own part."""
    with at_most(1):
        return function(*inputs)


def balanced(homes: Sequence[str], sizes: Sequence[int], threads: dict[str, int]) -> list[str]:
    """A worker for each block, so that no thread has many more rows than the others.

    Blocks stay where they are, at ``homes``, unless a move takes at least 5 % of the rows off the
    thread that has the most.
    """
    homes = list(homes)
    loads = dict.fromkeys([*threads, *homes], 0.0)
    for worker, size in zip(homes, sizes, strict=True):
        loads[worker] += size / threads.get(worker, 1)
    for _ in homes:
        most, least = max(loads, key=loads.__getitem__), min(loads, key=loads.__getitem__)
        gives, takes = 1.0 / threads.get(most, 1), 1.0 / threads.get(least, 1)
        after = {
            k: max(loads[most] - size * gives, loads[least] + size * takes)
            for k, size in enumerate(sizes)
            if homes[k] == most
        }
        k = min(after, key=after.__getitem__, default=None)
        if k is None or after[k] > 0.95 * loads[most]:
            break
        homes[k] = least
        loads[most] -= sizes[k] * gives
        loads[least] += sizes[k] * takes
    return homes


def _n_rows(block: Block) -> int:
    return block.Y.shape[0]


def _divided(items: list[Any], number: int) -> list[list[Any]]:
    """A list in so many lists of about the same length, none of them empty."""
    return [items[k::number] for k in range(min(number, len(items)))]


def _part_of(blocks: list[Block]) -> Part:
    """The blocks of a thread, without empty ones; scores are kept if they take little memory."""
    filled = [block for block in blocks if block.Y.shape[0]]
    if not filled:
        return Part([])
    n_rows = sum(block.Y.shape[0] for block in filled)
    try:
        worker = distributed.get_worker()
        limit = (worker.memory_manager.memory_limit or memory_limit()) / worker.state.nthreads
    except ValueError:
        limit = memory_limit()
    # a quarter of the memory of the thread for scores, their derivative, and copies of both
    return Part(filled, keep=n_rows <= rows_per_block(limit / 4, filled[0].Y.shape[1]))
