"""Plain and compressed files, and archives with false claims."""

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import limo
from limo.datasets import DataError, Dataset, Limits
from limo.datasets._source import _read_within, open_source

ARFF = b"@relation 'r: -C -1'\n@attribute n real\n@attribute a {0,1}\n@data\n2.5,1\n"


def zipped(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), content)
    return buffer.getvalue()


PACKED = {
    ".gz": gzip.compress(ARFF),
    ".bz2": bz2.compress(ARFF),
    ".xz": lzma.compress(ARFF),
    ".zip": zipped(toy_dot_arff=ARFF),
}


@pytest.mark.parametrize("suffix", PACKED)
@pytest.mark.parametrize("named", [True, False])
def test_packed_files(tmp_path: Path, suffix: str, named: bool) -> None:
    file = tmp_path / ("toy.arff" + suffix * named)  # recognised by its first bytes
    file.write_bytes(PACKED[suffix])
    data = limo.read(file)
    assert data.X.tolist() == [[2.5]]
    plain = tmp_path / "plain.arff"
    plain.write_bytes(ARFF)
    assert data.checksum == limo.read(plain).checksum


@pytest.mark.parametrize("suffix", PACKED)
def test_a_damaged_or_cut_file(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"toy.arff{suffix}"
    content = PACKED[suffix]
    file.write_bytes(content[: len(content) * 2 // 3])
    with pytest.raises(DataError, match=r"damaged.*Download it again") as caught:
        limo.read(file)
    assert caught.value.path == str(file)


@pytest.mark.parametrize(
    "pack", [gzip.compress, bz2.compress, lzma.compress, lambda data: zipped(toy_dot_arff=data)]
)
def test_a_file_that_unpacks_without_end(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    file = tmp_path / "toy.arff"
    file.write_bytes(pack(b"%" * 5_000_000))
    assert file.stat().st_size < 20_000
    with pytest.raises(
        DataError, match=r"expected at most 1,000,000 bytes after unpacking.*max_bytes=..."
    ):
        limo.read(file, limits=Limits(max_bytes=1_000_000))


def test_mulan_in_a_zip(tmp_path: Path) -> None:
    xml = b'<labels><label name="a"/></labels>'
    plain = ARFF.replace(b": -C -1", b"")
    file = tmp_path / "toy.zip"
    parts = {
        "set__toy_dot_arff": plain,
        "set__toy-train_dot_arff": plain,
        "set__toy_dot_xml": xml,
        "__MACOSX__x": b"",
    }
    file.write_bytes(zipped(**parts))
    data = limo.read(file)  # the one named like the XML
    assert data.label_names == ("a",)
    assert data.source == f"{file}/set/toy.arff"
    assert limo.read(file, member="set/toy-train.arff").label_names == ("a",)
    with pytest.raises(
        DataError, match=r"no member 'x'; the archive holds 'set/toy.arff', 'set/toy-train.arff'"
    ):
        limo.read(file, member="x")


def test_a_zip_with_too_many_or_no_files(tmp_path: Path) -> None:
    file = tmp_path / "many.zip"
    file.write_bytes(zipped(**{f"f{k}_dot_arff": ARFF for k in range(12)}))
    with pytest.raises(
        DataError,
        match=r"expected one data file, got 'f0.arff', .* and 4 more. Choose with member=",
    ):
        limo.read(file)
    file.write_bytes(zipped(readme_dot_md=b"x"))
    with pytest.raises(DataError, match="expected one data file, got none"):
        limo.read(file)


def test_a_packed_file_in_a_zip(tmp_path: Path) -> None:
    file = tmp_path / "toy.zip"
    file.write_bytes(zipped(**{"toy_dot_arff_dot_gz": gzip.compress(ARFF)}))
    assert limo.read(file, format="arff").X.tolist() == [[2.5]]


def test_a_zip_that_climbs_out_writes_nothing(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("../../evil.arff", ARFF)
    (inner / "toy.zip").write_bytes(buffer.getvalue())
    assert limo.read(inner / "toy.zip").X.tolist() == [[2.5]]
    assert [p.name for p in tmp_path.rglob("*")] == ["inner", "toy.zip"]


def test_a_zip_with_a_password(tmp_path: Path) -> None:
    content = bytearray(zipped(toy_dot_arff=ARFF))
    for start in (content.index(b"PK\x03\x04") + 6, content.index(b"PK\x01\x02") + 8):
        content[start] |= 1
    (tmp_path / "toy.zip").write_bytes(bytes(content))
    with pytest.raises(DataError, match="the member cannot be unpacked .*encrypted"):
        limo.read(tmp_path / "toy.zip")


def test_member_needs_a_zip(tmp_path: Path) -> None:
    (tmp_path / "toy.arff").write_bytes(ARFF)
    with pytest.raises(DataError, match="member='x' needs a zip archive"):
        limo.read(tmp_path / "toy.arff", member="x")


def test_an_absent_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        limo.read(tmp_path / "absent.arff")


def test_names_a_set_may_have(tmp_path: Path) -> None:
    file = tmp_path / "Corel5k-train-sparse.arff"
    file.write_bytes(ARFF)
    source = open_source(file, None, Limits())
    assert source.set_names == ["Corel5k-train-sparse", "Corel5k-train", "Corel5k"]


def test_npz_is_not_taken_for_an_archive(
    tmp_path: Path, same: Callable[[Dataset, Dataset], None]
) -> None:
    np.savez(tmp_path / "toy.npz", X=np.eye(2), Y=np.eye(2))
    assert limo.read(tmp_path / "toy.npz").X.tolist() == np.eye(2).tolist()


@pytest.mark.parametrize("suffix", ["", *PACKED])
def test_a_small_file_needs_little_memory(tmp_path: Path, suffix: str) -> None:
    resource = pytest.importorskip("resource")
    file = tmp_path / f"toy.arff{suffix}"
    file.write_bytes(PACKED.get(suffix, ARFF))
    limits = Limits()
    before = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**28, before[1]))
    try:
        source = open_source(file, None, limits)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    assert source.data == ARFF


def test_memory_that_does_not_suffice_is_not_called_damage(tmp_path: Path) -> None:
    class Full:
        def read(self, size: int) -> bytes:
            raise MemoryError

    with pytest.raises(
        DataError, match="toy: there is not enough memory for the file: it was full"
    ):
        _read_within(Full(), "toy", Limits())  # type: ignore[arg-type]
