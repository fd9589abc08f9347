"""Which reader gets which file, and what every reader guarantees."""

from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import limo
from limo.datasets import DataError, Dataset
from limo.datasets._read import FORMATS
from naive.datasets_fuzz import TARGETS

Read = Callable[..., Dataset]

CORPUS = Path(__file__).parent / "fuzz" / "corpus"
SEEDS = sorted(CORPUS.glob("*/*"))
NPZ = (CORPUS / "npz" / "dense").read_bytes()[1:]
PARQUET = (CORPUS / "parquet" / "plain").read_bytes()[1:]


@pytest.mark.parametrize(
    ("name", "content", "options", "shape"),
    [
        ("toy.ARFF", b"@attribute a {0,1}\n@attribute x real\n@data\n", {"labels": ["a"]}, (0, 1)),
        ("toy", b"% note\n@relation 'r: -C 1'\n@attribute a {0,1}\n@data\n{}\n", {}, (1, 0)),
        ("toy.txt", b"2 3 4\n1 0:1\n2 1:1\n", {}, (2, 3)),
        ("toy.svm", b"2 3 4\n1 0:1\n2 1:1\n", {}, (2, 3)),
        ("toy.txt", b"1,2 1:1 3:1\n", {}, (1, 3)),
        ("toy.tab", b"x\ta\n1\t0\n", {"labels": 1}, (1, 1)),
        ("toy", NPZ, {}, (2, 2)),
        ("toy", PARQUET, {"labels": ["a"]}, (2, 3)),
        ("toy.data", b"x,a\n1,0\n", {"labels": 1, "format": "csv"}, (1, 1)),
    ],
)  # fmt: skip
def test_the_format_is_recognised(
    read_text: Read, name: str, content: bytes, options: dict[str, object], shape: tuple[int, int]
) -> None:
    assert read_text(content, name, **options).X.shape == shape


def test_an_unknown_format(read_text: Read) -> None:
    with pytest.raises(
        DataError,
        match=r"the format is not recognised by name or content. Pass format= one of arff, csv",
    ):
        read_text("what is this?", "toy.doc")
    with pytest.raises(DataError, match="not recognised"):
        read_text("", "toy")
    with pytest.raises(DataError, match=r"format must be one of arff, csv, .*; got 'excel'"):
        read_text("", "toy", format="excel")


def test_an_option_the_format_does_not_know(read_text: Read) -> None:
    with pytest.raises(
        DataError, match="xml= has no meaning for a file in the csv format; leave it out"
    ):
        read_text("x,a\n1,0\n", "toy.csv", labels=1, xml="x.xml")


@pytest.mark.parametrize("seed", SEEDS, ids=lambda p: f"{p.parent.name}-{p.name}")
def test_stored_finds_of_the_fuzzer(seed: Path) -> None:
    TARGETS[seed.parent.name](seed.read_bytes())


def mutations(seeds: list[bytes]) -> st.SearchStrategy[bytes]:
    """Seeds with pieces cut out, doubled and overwritten."""

    @st.composite
    def mutate(draw: st.DrawFn) -> bytes:
        data = bytearray(draw(st.sampled_from(seeds)))
        for _ in range(draw(st.integers(0, 4))):
            at, length = draw(st.integers(0, len(data))), draw(st.integers(0, 8))
            data[at : at + length] = draw(
                st.binary(max_size=8)
                | st.sampled_from([b"{", b"}", b"'", b",", b"\n", b"?", b":", b"e9", b"\\"])
            )
        return bytes(data)

    return mutate() | st.binary(max_size=200)


@pytest.mark.parametrize("target", TARGETS)
def test_no_bytes_break_a_promise(target: str) -> None:
    seeds = [path.read_bytes() for path in SEEDS if path.parent.name == target]

    @settings(deadline=None, derandomize=True, max_examples=25 if numba.config.DISABLE_JIT else 60)
    @given(mutations(seeds))
    def check(data: bytes) -> None:
        TARGETS[target](data)

    check()


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_no_bytes_break_a_promise_for_long(target: str) -> None:
    seeds = [path.read_bytes() for path in SEEDS if path.parent.name == target]

    @settings(deadline=None, derandomize=True, max_examples=800)
    @given(mutations(seeds))
    def check(data: bytes) -> None:
        TARGETS[target](data)

    check()


def test_every_format_is_fuzzed() -> None:
    assert set(FORMATS) < set(TARGETS)
    assert {path.parent.name for path in SEEDS} == set(TARGETS)


FACTS = {  # DATA.md: rows, features, labels, cardinality, labels without a positive
    "CAL500/cal500.arff": (502, 68, 174, 26.0438, 0),
    "enron/enron.arff": (1702, 1001, 53, 3.3784, 0),
    "enron/enron-train.arff": (1123, 1001, 53, 3.3865, 1),
    "enron/enron-test.arff": (579, 1001, 53, 3.3627, None),
    "medical/medical.arff": (978, 1449, 45, 1.2454, 0),
    "medical/medical-train.arff": (333, 1449, 45, 1.2553, 7),
    "medical/medical-test.arff": (645, 1449, 45, 1.2403, 6),
    "Corel5k/Corel5k-sparse.arff": (5000, 499, 374, 3.5220, 0),
    "Corel5k/Corel5k-train-sparse.arff": (4500, 499, 374, 3.5216, 3),
    "Corel5k/Corel5k-test-sparse.arff": (500, 499, 374, 3.5260, 111),
    "bibtex/bibtex.arff.xz": (7395, 1836, 159, 2.4019, 0),
    "bibtex/bibtex-train.arff.xz": (4880, 1836, 159, 2.3803, None),
    "bibtex/bibtex-test.arff.xz": (2515, 1836, 159, 2.4437, None),
}


@pytest.mark.parametrize("name", FACTS)
def test_the_five_sets(real_data: Path, name: str) -> None:
    data = limo.read(real_data / name)
    m, d, n_labels, cardinality, unused = FACTS[name]
    assert data.X.shape == (m, d)
    assert data.Y.shape == (m, n_labels)
    assert round(data.Y.sum() / m, 4) == cardinality
    assert np.asarray(data.Y.sum(axis=1)).min() >= 1
    assert unused is None or int((np.asarray(data.Y.sum(axis=0)) == 0).sum()) == unused
