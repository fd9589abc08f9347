"""The line reader by itself; what it means is tested in tests/datasets/test_libsvm.py."""

import numpy as np

from limo._kernels import libsvm as kernels


def scan(text: bytes) -> tuple[int, list[tuple[int, float]], list[int], list[list[int]]]:
    n = len(text) + 2
    pairs = kernels.Pairs(
        np.empty(n),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty((n, 2), np.int64),
        np.empty(n, np.int64),
        np.empty((n, 3), np.int64),
        np.zeros(4, np.int64),
    )
    _, problem = kernels.read_lines(np.frombuffer(text, np.uint8), pairs)
    used, labels, rows, _ = pairs.used.tolist()
    cells = list(zip(pairs.indices[:used].tolist(), pairs.values[:used].tolist(), strict=True))
    return problem, cells, pairs.labels[:labels].tolist(), pairs.ends[:rows].tolist()


def test_lines() -> None:
    problem, cells, labels, ends = scan(b"3,-1 2:0.5\t7:1\n\n# note\n 1:2 # 9:9\n+4")
    assert problem == kernels.END
    assert cells == [(2, 0.5), (7, 1.0), (1, 2.0)]
    assert labels == [3, -1, 4]
    assert ends == [[2, 2], [2, 2], [3, 2], [3, 3]]


def test_problems() -> None:
    assert scan(b"x 1:1")[0] == kernels.BAD_LABEL
    assert scan(b"1 1")[0] == kernels.BAD_PAIR
    assert scan(b"1 1:x")[0] == kernels.BAD_VALUE
    assert scan(b"1 " + b"9" * 30 + b":1")[0] == kernels.HUGE_INDEX
    assert scan(b"")[0] == kernels.END
