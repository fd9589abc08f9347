"""What the tests of data sets share: the real data, and small files written for a test."""

import os
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np
import pytest

import limo
from limo.datasets import Dataset


@pytest.fixture
def real_data(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the five Mulan sets; tests that need it are skipped where it is absent."""
    folder = os.environ.get("LIMO_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("LIMO_DATA names no folder with the Mulan sets")
    if numba.config.DISABLE_JIT:
        pytest.skip("megabytes of text take too long without the compiler")
    monkeypatch.setenv("LIMO_DATA", str(Path(folder).resolve()))
    return Path(folder).resolve()


@pytest.fixture
def read_text(tmp_path: Path) -> Callable[..., Dataset]:
    """Write a text (or bytes) to a file and read it."""

    def read(text: str | bytes, name: str = "toy.arff", **options: object) -> Dataset:
        file = tmp_path / name
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return limo.read(file, **options)  # type: ignore[arg-type]

    return read


@pytest.fixture(scope="session")
def same() -> Callable[[Dataset, Dataset], None]:
    """Assert that two data sets hold the same values under the same names."""

    def check(first: Dataset, second: Dataset) -> None:
        assert first.feature_names == second.feature_names
        assert first.label_names == second.label_names
        a, b = first.to_dense(), second.to_dense()
        assert np.array_equal(a.X, b.X, equal_nan=True)
        assert np.array_equal(a.Y, b.Y)

    return check
