"""Loading by name, from a real server that also sends wrong answers."""

import gc
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import limo
from limo.datasets import CATALOGUE, DataError
from limo.datasets._catalogue import DataFile, Entry

ARFF = (
    b"@relation r\n@attribute x real\n@attribute y real\n@attribute b {0,1}\n@attribute a {0,1}\n@data\n"
    + b"1,2,0,1\n" * 3000
)
XML = b'<labels><label name="a"/><label name="b"/></labels>'


class Handler(BaseHTTPRequestHandler):
    """Good files, and the ways in which files go wrong."""

    def do_GET(self) -> None:
        kind, _, name = self.path.strip("/").partition("/")
        content = XML if name.endswith(".xml") else ARFF
        if kind == "absent":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if kind == "short":
            self.wfile.write(content[:1000])
        elif kind == "other":
            self.wfile.write(content[:-2] + b"0\n")
        elif kind == "slow" and name.endswith(".arff"):
            for start in range(0, len(content), 1000):
                self.wfile.write(content[start : start + 1000])
                self.wfile.flush()
                time.sleep(0.04)
        else:
            self.wfile.write(content)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()
        thread.join()


def entry(base: str, kind: str) -> Entry:
    def file(name: str, content: bytes) -> DataFile:
        return DataFile(f"toy/{name}", f"{base}/{kind}/{name}", hashlib.sha256(content).hexdigest())

    parts = {"all": (file("toy.arff", ARFF), 3000)}
    return Entry("toy", "toy", 3000, 2, 2, 1.0, parts, file("toy.xml", XML), "nobody")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.delenv("LIMO_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield tmp_path / "cache" / "limo"
    with warnings.catch_warnings():  # requests leaves broken connections to the collector
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def put(monkeypatch: pytest.MonkeyPatch, entry: Entry) -> None:
    monkeypatch.setitem(CATALOGUE, "toy", entry)


def files(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.rglob("*") if p.is_file())


def test_a_download_is_verified_and_kept(
    server: str, cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put(monkeypatch, entry(server, "good"))
    data = limo.datasets.load("TOY")
    assert data.X.shape == (3000, 2)
    assert data.label_names == ("b", "a")
    assert data.source == "toy"
    assert data.checksum == CATALOGUE["toy"].checksum
    assert files(cache) == ["toy.arff", "toy.xml"]
    assert "100%" in capsys.readouterr().err
    put(monkeypatch, entry("http://127.0.0.1:1", "gone"))
    limo.datasets.load("toy")
    assert capsys.readouterr().err == ""


def test_without_a_progress_bar(
    server: str, cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put(monkeypatch, entry(server, "good"))
    limo.datasets.load("toy", progress=False)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("absent", "404"), ("short", "bytes read|Connection broken|hash"), ("other", "hash")],
)
def test_a_bad_download_leaves_nothing(
    server: str, cache: Path, monkeypatch: pytest.MonkeyPatch, kind: str, reason: str
) -> None:
    put(monkeypatch, entry(server, kind))
    with pytest.raises(DataError, match=reason) as caught:
        limo.datasets.load("toy", progress=False)
    assert files(cache) == []
    sentence = str(caught.value)
    assert "toy is not available locally, and the download failed" in sentence
    assert str(cache / "toy" / "toy.arff") in sentence
    assert f"{server}/{kind}/toy.arff" in sentence
    assert CATALOGUE["toy"].checksum in sentence
    del caught


def test_offline_it_says_what_to_put_where(
    cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put(monkeypatch, entry("http://127.0.0.1:1", "gone"))
    with pytest.raises(
        DataError, match=r"the download failed \(no connection to 127.0.0.1\)"
    ) as caught:
        limo.datasets.load("toy", progress=False)
    assert "toy.xml" in str(caught.value)
    with pytest.raises(
        DataError, match="toy is not available locally, and download=False"
    ) as caught:
        limo.datasets.load("toy", download=False)
    assert "toy.xml" in str(caught.value)
    monkeypatch.setenv("LIMO_DATA", str(tmp_path / "mine"))
    with pytest.raises(DataError, match="or set LIMO_DATA to a folder with these paths") as caught:
        limo.datasets.load("toy", download=False)
    assert str(tmp_path / "mine" / "toy" / "toy.arff") in str(caught.value)
    import gzip

    (tmp_path / "mine" / "toy").mkdir(parents=True)
    (tmp_path / "mine" / "toy" / "toy.arff.gz").write_bytes(gzip.compress(ARFF))
    (tmp_path / "mine" / "toy" / "toy.xml").write_bytes(XML)
    assert limo.datasets.load("toy", download=False).X.shape == (3000, 2)


def test_a_file_that_is_another_version(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, entry("http://127.0.0.1:1", "gone"))
    (cache / "toy").mkdir(parents=True)
    (cache / "toy" / "toy.arff").write_bytes(ARFF + b"\n")
    (cache / "toy" / "toy.xml").write_bytes(XML)
    with pytest.raises(
        DataError,
        match=r"toy.arff: expected the sha256 .*, got .* damaged or another version. Remove it",
    ):
        limo.datasets.load("toy")


def test_a_shape_that_is_not_the_catalogue_s(
    server: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(monkeypatch, replace(entry(server, "good"), n_features=3))
    with pytest.raises(
        DataError, match=r"toy \(all\) must have \(3000, 3, 2\).*got \(3000, 2, 2\)"
    ):
        limo.datasets.load("toy", progress=False)


def test_a_set_without_xml(server: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, replace(entry(server, "good"), xml=None))
    assert limo.datasets.load("toy", progress=False).label_names == ("b", "a")


def test_unknown_names_and_parts() -> None:
    with pytest.raises(
        DataError,
        match=r"no data set is called 'corel'. Did you mean 'Corel5k'\? Choose from: CAL500, enron",
    ):
        limo.datasets.load("corel")
    with pytest.raises(DataError, match="CAL500 has the parts all; got 'train'"):
        limo.datasets.load("CAL500", "train")


def test_a_long_reason_is_cut() -> None:
    from limo.datasets._catalogue import _reason

    file = CATALOGUE["enron"].parts["all"][0]
    assert _reason(ValueError("x" * 500 + "\ny"), file) == "x" * 200 + "..."


def test_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cache: Path) -> None:
    assert limo.datasets.data_folders() == [cache]
    monkeypatch.setenv("LIMO_DATA", str(tmp_path))
    assert limo.datasets.data_folders() == [tmp_path, cache]


LOADER = """
import sys
sys.path.insert(0, sys.argv[1])
import test_catalogue, limo
from limo.datasets import CATALOGUE
CATALOGUE["toy"] = test_catalogue.entry(sys.argv[2], sys.argv[3])
print("go", flush=True)
print(limo.datasets.load("toy", progress=False).X.shape, flush=True)
"""


def start(server: str, kind: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", LOADER, str(Path(__file__).parent), server, kind]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.slow
def test_two_processes_at_once_do_not_spoil_the_cache(server: str, cache: Path) -> None:
    processes = [start(server, "slow") for _ in range(2)]
    for process in processes:
        out, err = process.communicate(timeout=120)
        assert out.decode().split("\n")[1] == "(3000, 2)", err.decode()
    assert files(cache) == ["toy.arff", "toy.xml"]
    assert (cache / "toy" / "toy.arff").read_bytes() == ARFF


@pytest.mark.slow
def test_killing_a_download_leaves_nothing_under_a_final_name(server: str, cache: Path) -> None:
    process = start(server, "slow")
    deadline = time.monotonic() + 60
    while not any(cache.rglob("*")) or not any(
        p.stat().st_size for p in cache.rglob("*") if p.is_file()
    ):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert "toy.arff" not in files(cache)
    again = start(server, "good")
    out, err = again.communicate(timeout=120)
    assert b"(3000, 2)" in out, err.decode()


AT_HAND = ["CAL500", "enron", "medical", "Corel5k", "bibtex", "emotions", "yeast", "scene"]


@pytest.mark.parametrize("name", AT_HAND)
def test_the_sets_from_a_folder(real_data: Path, name: str) -> None:
    known = CATALOGUE[name]
    for part, (_, n_rows) in known.parts.items():
        data = limo.datasets.load(name, part, download=False)
        assert data.X.shape == (n_rows, known.n_features)
    whole = limo.datasets.load(name, download=False)
    assert round(whole.Y.sum() / known.n_samples, 4) == known.cardinality
