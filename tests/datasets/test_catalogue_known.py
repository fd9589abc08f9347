import json
from importlib import resources

import limo
from limo.datasets import CATALOGUE

SOURCES = (
    "https://raw.githubusercontent.com/tsoumakas/mulan/",
    "https://media.githubusercontent.com/media/mrapp-ke/Boomer-Datasets/",
)


def test_every_entry_is_complete() -> None:
    assert {"CAL500", "enron", "medical", "Corel5k", "bibtex"} <= set(CATALOGUE)
    for name, entry in CATALOGUE.items():
        assert entry.name == name
        assert entry.domain
        assert entry.reference
        assert "licence" in entry.licence
        assert min(entry.n_samples, entry.n_features, entry.n_labels) > 0
        assert entry.cardinality is None or 0 < entry.cardinality < entry.n_labels
        assert entry.parts["all"][1] == entry.n_samples
        if "train" in entry.parts:
            assert entry.parts["train"][1] + entry.parts["test"][1] == entry.n_samples
        assert len({file.path for file in entry.files}) == len(entry.files)
        for file in entry.files:
            assert file.url.startswith(SOURCES)
            assert file.url.endswith(file.path.rpartition("/")[2])
            assert len(file.sha256) == 64
            assert int(file.sha256, 16)


def test_the_table() -> None:
    known = limo.datasets.catalogue()
    assert len(known) == len(CATALOGUE) == len(list(known))
    frame = known.to_frame()
    assert frame.loc["enron", "labels"] == 53
    assert frame.loc["enron", "sha256"] == CATALOGUE["enron"].checksum
    lines = str(known).splitlines()
    assert lines[0].split() == [
        "name",
        "domain",
        "instances",
        "features",
        "labels",
        "cardinality",
        "parts",
        "sha256",
    ]
    assert lines[2].split()[:6] == ["enron", "text", "1702", "1001", "53", "3.3784"]
    assert "<table" in known._repr_html_()
    assert repr(known) == str(known)


def test_the_file_is_plain_json() -> None:
    text = resources.files("limo.datasets").joinpath("catalogue.json").read_text()
    assert [record["name"] for record in json.loads(text)] == list(CATALOGUE)
