"""Parquet."""

import io
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from limo.datasets import DataError, Dataset, Limits

Read = Callable[..., Dataset]

CORPUS = Path(__file__).parent / "fuzz" / "corpus" / "parquet"
CSV = "x,colour,tag_a,tag_b\n1.5,red,1,0\n-2,blue,0,1\n1e3,red,1,1\n"


def parquet(frame: pd.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    return buffer.getvalue()


def test_parquet(read_text: Read, same: Callable[..., None]) -> None:
    frame = pd.read_csv(io.StringIO(CSV))
    data = read_text(parquet(frame), "toy.parquet", labels="tag_*")
    same(data, read_text(CSV, "toy.csv", labels="tag_*"))
    frame["colour"] = pd.Categorical(frame["colour"], categories=["red", "green", "blue"])
    frame["tag_a"] = frame["tag_a"].astype(bool)
    frame.loc[1, "x"] = np.nan
    data = read_text(parquet(frame), "toy.pq", labels="tag_*", missing="nan")
    assert data.feature_names == ("x", "colour=red", "colour=green", "colour=blue")
    assert np.array_equal(
        data.X, [[1.5, 1, 0, 0], [np.nan, 0, 0, 1], [1000, 1, 0, 0]], equal_nan=True
    )
    assert data.Y.tolist() == [[1, 0], [0, 1], [1, 1]]


def test_parquet_that_is_none(read_text: Read) -> None:
    frame = pd.DataFrame({"when": pd.to_datetime(["2020-01-01"]), "t": [1]})
    with pytest.raises(
        DataError, match=r"the column 'when' holds datetime64.*drop=\['when'\] leaves it out"
    ):
        read_text(parquet(frame), "toy.parquet", labels=1)
    assert read_text(parquet(frame), "toy.parquet", labels=1, drop=["when"]).X.shape == (1, 0)
    infinite = pd.DataFrame({"x": [1.0, np.inf], "t": [0, 1]})
    with pytest.raises(DataError, match="line 2: expected a finite number for 'x', got infinity"):
        read_text(parquet(infinite), "toy.parquet", labels=1)
    with pytest.raises(DataError, match="expected a Parquet file, but"):
        read_text(b"PAR1 nonsense PAR1", "toy.parquet", labels=1)
    with pytest.raises(DataError, match=r"at most 3 values, got 12"):
        read_text(
            parquet(pd.read_csv(io.StringIO(CSV))),
            "toy.parquet",
            labels=1,
            limits=Limits(max_values=3),
        )


def test_parquet_without_pyarrow(read_text: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(DataError, match=r"Parquet needs pyarrow: pip install 'limo-ml\[parquet\]'"):
        read_text(b"PAR1", "toy.parquet", labels=1)


def test_parquet_that_claims_more_rows_than_it_has(read_text: Read) -> None:
    trap = (CORPUS / "claims_rows").read_bytes()[1:]
    with pytest.raises(DataError, match="at most 1,000,000,000 values, got"):
        read_text(trap, "toy.parquet", labels=1)
    with pytest.raises(
        DataError, match="the file contradicts itself: 2 rows in all, 71514912381 in its parts"
    ):
        read_text(trap, "toy.parquet", labels=1, limits=Limits(max_values=10**12))
    lists = pd.DataFrame({"x": [[1, 2], [3]], "t": [0, 1]})
    with pytest.raises(DataError, match=r"the column 'x' holds object.*drop=\['x'\]"):
        read_text(parquet(lists), "toy.parquet", labels=1)


def test_a_long_file_is_read_a_few_rows_at_a_time(
    read_text: Read, same: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pd.read_csv(io.StringIO(CSV)).drop(columns="colour")
    whole = read_text(parquet(frame), "toy.parquet", labels="tag_*")
    monkeypatch.setattr("limo.datasets._parquet._AT_ONCE", 6)
    monkeypatch.setattr(pq.ParquetFile, "read", None)  # numbers are never read all at once
    same(read_text(parquet(frame), "toy.parquet", labels="tag_*"), whole)


@pytest.mark.slow
def test_a_small_file_with_sixty_million_rows_takes_less_than_2_gb(tmp_path: Path) -> None:
    file = tmp_path / "long.parquet"
    pq.write_table(pa.table({"a": np.zeros(60_000_000, np.int8)}), file, compression="zstd")
    assert file.stat().st_size < 500_000
    code = "import limo, resource, sys; print(limo.read(sys.argv[1], labels=1).Y.shape)\n"
    code += "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    words = [sys.executable, "-c", code, str(file)]
    printed = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    shape, kilobytes = printed.splitlines()
    assert shape == "(60000000, 1)"
    assert int(kilobytes) < 2_000_000
