"""The memory of a real process: ``limo evaluate --memory`` stays below what it was given."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux"),
]

# the peak of a process as the system knows it, from its start to its end
COMMAND = """
import sys
from pathlib import Path
from limo._cli import main
try:
    main()
finally:
    print(Path("/proc/self/status").read_text(), file=sys.stderr)
"""
rng = np.random.default_rng(0)


def write_dense(folder, n_rows, n_labels, share, dtype, round_to=5):
    for k in range(4):
        Y = (rng.random((n_rows // 4, n_labels)) < share).astype(np.int8)
        S = (rng.standard_normal(Y.shape) + 2 * Y).round(round_to).astype(dtype)
        for name, matrix in (("Y", Y), ("S", S), ("P", (S > 1).astype(np.int8))):
            np.save(folder / f"{name}{k}.npy", matrix)


def write_sparse(folder, n_rows, n_labels, n_scores):
    for k in range(4):
        rows = np.repeat(np.arange(n_rows // 4), n_scores)
        columns = rng.integers(0, n_labels, rows.size)
        parts = rng.random(rows.size, np.float32), (rows, columns)
        S = sparse.csr_array(parts, shape=(n_rows // 4, n_labels))
        S.sum_duplicates()
        true = rows[::n_scores], columns[::n_scores]
        Y = sparse.csr_array((np.ones(true[0].size, np.int8), true), shape=S.shape)
        for name, matrix in (("Y", Y), ("S", S)):
            sparse.save_npz(folder / f"{name}{k}.npz", matrix)


def run(folder, megabytes, more):
    """The exit code, what was printed, and the peak in megabytes."""
    suffix = next(folder.glob("S0.*")).suffix
    words = ["--truth", f"{folder}/Y*{suffix}", "--scores", f"{folder}/S*{suffix}", *more]
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "evaluate", *words, "--memory", f"{megabytes}MB"],
        capture_output=True,
        text=True,
    )
    peak = re.search(r"VmHWM:\s+(\d+) kB", done.stderr)
    return done.returncode, done.stdout + done.stderr, int(peak[1]) * 1024 / 1e6


CASES = {
    "hundred labels": (write_dense, 240_000, 100, 0.02, np.float32),
    "few labels, many relevant": (write_dense, 800_000, 5, 0.3, np.float64),
    "ties": (write_dense, 200_000, 60, 0.2, np.float32, 0),
    "many labels": (write_dense, 6000, 4000, 0.002, np.float32),
    "sparse": (write_sparse, 20_000, 100_000, 50),
}


@pytest.mark.parametrize("case", CASES)
def test_a_process_keeps_to_its_memory(case, tmp_path):
    write, *size = CASES[case]
    write(tmp_path, *size)
    more = ["--predictions", f"{tmp_path}/P*.npy"] if case == "few labels, many relevant" else []
    megabytes, tried = 1.0, []
    for _ in range(4):  # an error says how much is needed, first for the program, then for all
        code, text, peak = run(tmp_path, megabytes, more)
        tried.append(megabytes)
        if code == 0:
            break
        least = re.search(r"needs at least (\d+\.\d+) GB of memory in all", text)
        assert least, text
        megabytes = float(least[1]) * 1000
    assert code == 0, (tried, text)
    assert peak < megabytes
    code, text, peak = run(tmp_path, megabytes + 200, more)
    assert code == 0, text
    assert peak < megabytes + 200
