"""The scanner by itself; what it means is tested in tests/datasets/test_arff.py."""

import numpy as np
import pytest

from limo._kernels import arff as kernels


def scan(text: bytes) -> tuple[int, int, list[tuple[float, int]], int]:
    """Read rows of one number and one {0,1}: the problem, its place, the cells, the noted ones."""
    n = len(text) + 2
    cells = kernels.Cells(
        np.empty(n),
        np.empty(n, np.int32),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty((n, 3), np.int64),
        np.zeros(4, np.int64),
    )
    keys = np.array([int.from_bytes(b"\x010"), int.from_bytes(b"\x011")], dtype=np.uint64)
    attributes = kernels.Attributes(
        np.array([kernels.NUMERIC, kernels.NOMINAL], np.int8),
        np.array([0, 0, 2]),
        keys,
        np.array([0, 1]),
    )
    position, problem, _ = kernels.read_rows(np.frombuffer(text, np.uint8), attributes, cells)
    used = int(cells.used[0])
    pairs = list(zip(cells.values[:used].tolist(), cells.columns[:used].tolist(), strict=True))
    return problem, position, pairs, int(cells.used[1])


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        (b"1.5,1\n", [(1.5, 0), (1, 1)]),
        (b"{1 1, 0 2}", [(1, 1), (2, 0)]),
        (b"{ }\n%x\n\n{0 1}", [(1, 0)]),
        (b"", []),
        (b"   \t\n", []),
    ],
)
def test_cells(text: bytes, pairs: list[tuple[float, int]]) -> None:
    problem, _, found, noted = scan(text)
    assert (problem, found, noted) == (kernels.END, pairs, 0)


def test_values_that_need_care_are_noted() -> None:
    assert scan(b"?,'1'\n")[3] == 2
    assert scan(b"1e400,maybe\n")[3] == 2


def test_problems_have_a_place() -> None:
    assert scan(b"1,1\n1\n")[:2] == (kernels.WRONG_WIDTH, 5)
    assert scan(b"{0 1,\\")[0] == kernels.NO_INDEX
    assert scan(b"'\\\n',1")[0] == kernels.UNCLOSED_QUOTE
    assert scan(b"'\\")[0] == kernels.UNCLOSED_QUOTE


def test_keys_tell_values_apart() -> None:
    def key(value: bytes) -> int:
        return int(kernels.pack(np.frombuffer(value, np.uint8), 0, len(value)))

    values = [b"a", b"aa", b"\x00a", b"ab", b"ba", b"1234567"]
    assert len({key(value) for value in values}) == len(values)
    assert key(b"12345678") == 0
    assert key(b"ab") == int.from_bytes(b"\x02ab")
