"""Which columns are labels: XML before -C, names before places."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import limo
from limo.datasets import DataError, Dataset
from limo.datasets._columns import meka_labels, xml_labels

Read = Callable[..., Dataset]

ATTRIBUTES = "".join(f"@attribute {name} {{0,1}}\n" for name in "abcde")


def arff(relation: str = "r") -> str:
    return f"@relation '{relation}'\n{ATTRIBUTES}@data\n1,0,0,1,1\n"


def xml(*names: str) -> str:
    return "<labels>" + "".join(f'<label name="{name}"/>' for name in names) + "</labels>"


@pytest.mark.parametrize(
    ("relation", "labels"),
    [
        ("toy: -C 2", ("a", "b")),
        ("toy: -C -2", ("d", "e")),
        ("toy:-C 2 -split-percentage 50", ("a", "b")),
        ("toy: -c 5", ("a", "b", "c", "d", "e")),
    ],
)
def test_meka(read_text: Read, relation: str, labels: tuple[str, ...]) -> None:
    assert read_text(arff(relation)).label_names == labels


@pytest.mark.parametrize("count", [0, 6, -6])
def test_a_wrong_count_in_the_relation(read_text: Read, count: int) -> None:
    with pytest.raises(
        DataError, match=f"the relation says '-C {count}', but there are 5 attributes"
    ):
        read_text(arff(f"toy: -C {count}"))
    assert meka_labels("no-Count, x-C 5", 5, "") is None


def test_xml_beside_the_file_beats_a_stale_count(read_text: Read, tmp_path: Path) -> None:
    (tmp_path / "toy.xml").write_text(xml("e", "d"))
    data = read_text(arff("medical: -C 2"))
    assert data.label_names == ("d", "e")  # by name, in the order of the header
    assert data.Y.tolist() == [[1, 1]]


@pytest.mark.parametrize(
    "name", ["toy-train.arff", "toy-test-sparse.arff", "toy_test.arff", "toy-train.arff.gz"]
)
def test_parts_share_the_xml_of_the_set(tmp_path: Path, name: str) -> None:
    import gzip

    (tmp_path / "toy.xml").write_text(xml("b"))
    content = arff().encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert limo.read(tmp_path / name).label_names == ("b",)


def test_xml_named(read_text: Read, tmp_path: Path) -> None:
    (tmp_path / "other.xml").write_text(xml("c"))
    assert read_text(arff(), xml=tmp_path / "other.xml").label_names == ("c",)
    with pytest.raises(FileNotFoundError):
        read_text(arff(), xml=tmp_path / "absent.xml")


def test_xml_with_quotes_and_escapes(read_text: Read, tmp_path: Path) -> None:
    (tmp_path / "toy.xml").write_text(xml(r"'MacGillivray\'s Warbler'", " b "))
    text = "@attribute x real\n@attribute 'MacGillivray\\'s Warbler' {0,1}\n@attribute b {0,1}\n@data\n"
    assert read_text(text).label_names == ("MacGillivray's Warbler", "b")


def test_xml_of_another_set(read_text: Read, tmp_path: Path) -> None:
    (tmp_path / "toy.xml").write_text(xml("a", "z"))
    with pytest.raises(
        DataError, match=r"toy.xml: no column is named 'z'; there are 'a', 'b'.*Pass xml="
    ) as caught:
        read_text(arff())
    assert "toy.xml" in caught.value.path


def test_nested_labels_and_namespaces() -> None:
    text = '<l:labels xmlns:l="http://x"><l:label name="a"><l:label name="b"/></l:label></l:labels>'
    assert xml_labels(text.encode(), "") == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('<!DOCTYPE l [<!ENTITY a "b">]><labels><label name="&a;"/></labels>', "the XML holds a document type"),
        ('<!DOCTYPE l SYSTEM "http://127.0.0.1:9/x.dtd"><labels/>', "the XML holds a document type"),
        ("<labels><label name='a'></labels>", "line 1: expected XML, but mismatched tag"),
        ("<labels></labels>", "expected <labels><label name=\"...\"/>...</labels>, got no label"),
        ("<labels><label/></labels>", "got a label without a name"),
        ('<?xml version="1.0" encoding="no-such"?><labels/>', "a bad encoding (unknown encoding: no-such)"),
        ("", "expected XML, but no element found"),
    ],
)  # fmt: skip
def test_malformed_or_hostile_xml(text: str, sentence: str) -> None:
    with pytest.raises(DataError) as caught:
        xml_labels(text.encode(), "toy.xml")
    assert sentence in str(caught.value)


def test_a_billion_laughs_are_refused() -> None:
    entities = "".join(f'<!ENTITY e{k} "{f"&e{k - 1};" * 10}">' for k in range(1, 10))
    bomb = f'<!DOCTYPE l [<!ENTITY e0 "ha">{entities}]><labels><label name="&e9;"/></labels>'
    with pytest.raises(DataError, match="a label file needs none"):
        xml_labels(bomb.encode(), "toy.xml")


def test_labels_given(read_text: Read) -> None:
    assert read_text(arff(), labels=["e", "a"]).label_names == ("e", "a")  # the order asked for
    assert read_text(arff(), labels=["e", "a"]).Y.tolist() == [[1, 1]]
    assert read_text(arff(), labels="c").label_names == ("c",)
    assert read_text(arff(), labels=2).label_names == ("d", "e")
    assert read_text(arff(), labels=2, label_location="start").label_names == ("a", "b")
    tagged = "@attribute x real\n@attribute tag_1 {0,1}\n@attribute tag_2 {0,1}\n@data\n"
    assert read_text(tagged, labels="tag_*").label_names == ("tag_1", "tag_2")
    everything = read_text(arff(), labels="*")
    assert everything.X.shape == (1, 0)


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (["z"], "no column is named 'z'; there are 'a', 'b', 'c', 'd', 'e'. Name them: labels=['a', 'b']"),
        ([], "no label is named"),
        (["a", "a"], "the label 'a' is named twice"),
        ("z*", "no column begins with 'z'"),
        (6, "labels=6, but there are 5 columns"),
        (None, "which attributes are the labels? Found no toy.xml beside the file and no '-C n' in its relation."),
    ],
)  # fmt: skip
def test_labels_that_are_not_there(read_text: Read, labels: object, sentence: str) -> None:
    with pytest.raises(DataError) as caught:
        read_text(arff(), labels=labels)
    assert sentence in str(caught.value)


def test_enron_by_name(real_data: Path) -> None:
    # Its XML lists the labels in another order than its header: count each label by its name.
    data = limo.read(real_data / "enron" / "enron.arff")
    order = xml_labels((real_data / "enron" / "enron.xml").read_bytes(), "")
    assert sorted(order) == sorted(data.label_names)
    assert tuple(order) != data.label_names
    lines = (real_data / "enron" / "enron.arff").read_text().splitlines()
    header = [line.split()[1] for line in lines if line.startswith("@attribute")]
    body = [line for line in lines if line.startswith("{")]
    column = header.index("B.B1")
    naive = [f"{column} 1" in line.strip("{}").split(",") for line in body]
    assert np.array_equal(data.Y[:, [data.label_names.index("B.B1")]].toarray().ravel(), naive)


def test_medical_in_spite_of_its_stale_count(real_data: Path) -> None:
    data = limo.read(real_data / "medical" / "medical.arff")
    assert all(name.startswith("Class-") for name in data.label_names)
    assert data.feature_names[:2] == ("-", "/")


def test_a_name_repeated_among_very_many_is_found_soon(tmp_path: Path) -> None:
    names = [f"n{k}" for k in range(60_000)]
    (tmp_path / "a.csv").write_text(",".join([*names, names[-1]]) + "\n")
    with pytest.raises(DataError, match="expected different column names, got 'n59999' twice"):
        limo.read(tmp_path / "a.csv", labels=1)
    header = "".join(f"@attribute {name} {{0,1}}\n" for name in names)
    (tmp_path / "b.arff").write_text(f"@relation r\n{header}@data\n")
    labels = "".join(f'<label name="{name}"/>' for name in [*names, names[-1]])
    (tmp_path / "b.xml").write_text(f"<labels>{labels}</labels>")
    with pytest.raises(DataError, match="the label 'n59999' is named twice"):
        limo.read(tmp_path / "b.arff")
