"""How fast and how small evaluation in parts is: a folder of shards against one matrix in memory.

Both sides run in processes of their own, on the same files: one loads the shards and calls
``limo.evaluate``, the other one calls ``limo.evaluate_files`` with ``--memory``. With ``--once``,
the first one loads the first shards only, and speed is compared per row. Time is that of all
threads, so that other programs on the machine matter little. Memory is the peak of the whole
process, with Python and libraries. Sparse scores are timed alone.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import sparse

import limo


def write_shards(folder: Path, n_rows: int, n_labels: int, n_shards: int) -> None:
    """Labels at 2 % and noisy float32 scores for them, in files of equal size."""
    rng = np.random.default_rng(0)
    for k in range(n_shards):
        Y = (rng.random((n_rows // n_shards, n_labels)) < 0.02).astype(np.int8)
        S = rng.standard_normal(Y.shape, dtype=np.float32) + 2 * Y
        np.save(folder / f"Y{k:03}.npy", Y)
        np.save(folder / f"S{k:03}.npy", S)


def shards(folder: Path) -> list[tuple[Path, Path]]:
    """The files of labels and scores."""
    return [(file, folder / file.name.replace("Y", "S")) for file in sorted(folder.glob("Y*.npy"))]


def at_once(folder: Path, most: int | None, memory: str) -> limo.Evaluation:
    """Load everything, or so many shards, then evaluate."""
    parts = [(np.load(labels), np.load(scores)) for labels, scores in shards(folder)[:most]]
    return limo.evaluate(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def in_parts(folder: Path, most: int | None, memory: str) -> limo.Evaluation:
    """Read the shards in blocks of rows, twice."""
    labels, scores = zip(*shards(folder)[:most], strict=True)
    return limo.evaluate_files(labels, scores, memory=memory)


def measure(side: str, folder: Path, most: int | None, memory: str) -> None:
    """Print time, memory and values of one side; runs in a process of its own."""
    small = folder / "small"
    if not small.exists():
        small.mkdir()
        write_shards(small, 200, 5, 2)
    run = {"at once": at_once, "in parts": in_parts}[side]
    run(small, None, memory)  # compile, or load from the cache
    start = time.process_time()
    found = run(folder, most, memory)
    seconds = time.process_time() - start
    used = {"seconds": seconds, "gigabytes": _peak(), "rows": found.n_instances}
    print(json.dumps(used | {"values": dict(found)}))


def _peak() -> float:
    """The peak of this process so far, in gigabytes of 1e9 bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def compare(folder: Path, n_once: int | None, memory: str) -> None:
    """Both sides on the same shards."""
    sides = {}
    for side, most in (("at once", n_once), ("in parts", None)):
        command = [sys.executable, __file__, "--side", side, "--folder", str(folder)]
        command += ["--memory", memory]
        command += [] if most is None else ["--once", str(most)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        sides[side] = json.loads(output)
    for side, found in sides.items():
        print(
            f"  {side}: {found['rows']} rows, {found['seconds']:.1f} s of all threads "
            f"({1e6 * found['seconds'] / found['rows']:.2f} µs per row), "
            f"{found['gigabytes']:.2f} GB"
        )
    one, parts = (found["seconds"] / found["rows"] for found in sides.values())
    print(f"  speed per row in parts: {one / parts:.0%} of that at once")
    if n_once is None:
        print(f"  same bits: {len({str(found['values']) for found in sides.values()}) == 1}")


def sparse_scores(n_rows: int, n_labels: int, k: int) -> None:
    """All measures that are defined, of the k highest scores of very many labels."""
    rng = np.random.default_rng(0)
    rows, columns = np.repeat(np.arange(n_rows), k), rng.integers(0, n_labels, n_rows * k)
    S = sparse.csr_array((rng.random(n_rows * k, np.float32), (rows, columns)), (n_rows, n_labels))
    S.sum_duplicates()
    true = columns.reshape(n_rows, k)[:, :3].copy()
    true[:, 2] = rng.integers(0, n_labels, n_rows)
    Y = sparse.csr_array(
        (np.ones(true.size), (np.repeat(np.arange(n_rows), 3), true.ravel())), (n_rows, n_labels)
    )
    Y.sum_duplicates()
    Y.data[:] = 1
    limo.evaluate(Y[:50], S[:50], measures="all")
    before, start = _peak(), time.process_time()
    found = limo.evaluate(Y, S, measures="all")
    used, memory = time.process_time() - start, _peak() - before
    print(f"{n_rows} x {n_labels}, {k} scores a row, {len(found)} measures")
    print(
        f"  {used:.1f} s, {memory:.2f} GB, {found.n_absent / Y.nnz:.0%} of relevant labels absent"
    )


def main() -> None:
    """Run all comparisons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--labels", type=int, default=100)
    parser.add_argument("--shards", type=int, default=20)
    parser.add_argument("--once", type=int, help="how many shards to evaluate at once")
    parser.add_argument("--memory", default="1GB", help="what evaluation in parts may use")
    parser.add_argument("--folder", type=Path, help="where shards are, or are written and kept")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        measure(options.side, options.folder, options.once, options.memory)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = options.folder or Path(name)
        folder.mkdir(exist_ok=True)
        if not shards(folder):
            write_shards(folder, options.rows, options.labels, options.shards)
        print(f"{options.rows} x {options.labels} float32, {options.shards} shards")
        compare(folder, options.once, options.memory)
    sparse_scores(20_000, 100_000, 50)


if __name__ == "__main__":
    main()
