import json

import pytest

import limo
from cli.running import S, Y, names_in, process, refused, run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    document = limo.report.evaluation_document(Y, {"mine": S})
    (tmp_path / "found.json").write_text(json.dumps(document, allow_nan=False))
    return tmp_path


def test_from_json(folder):
    assert "The report is in page.html" in run("report", "found.json", "-o", "page.html").stdout
    document = json.loads((folder / "found.json").read_text())
    assert (folder / "page.html").read_text() == limo.report.render(document)
    refused(run("report", "found.json", "-o", "page.html"), 2, "page.html exists", "--force")
    assert run("report", "found.json", "-o", "page.html", "--force").exit_code == 0


def test_tables(folder):
    document = json.loads((folder / "found.json").read_text())
    run("report", "found.json", "-o", "table.tex")
    assert (folder / "table.tex").read_text() == limo.report.tables(document)
    refused(run("report", "found.json", "-o", "table.pdf"), 1, ".tex, .md, .csv")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "neither a store of results nor the JSON"),
        (b"[" * 100_000, "neither a store of results nor the JSON"),
        (b'{"format": "limo-report/2", "kind": 1, "title": []}', "The document "),
        (b"\xff\xfe\x00", "neither a store of results nor the JSON"),
        (b"[1, 2]", "neither a store of results nor the JSON"),
        (b"{}", "neither a store of results nor the JSON"),
        (b'{"format": "else"}', "format"),
    ],
)
def test_other_files(folder, content, sentence):
    (folder / "odd.json").write_bytes(content)
    refused(run("report", "odd.json", "-o", "page.html"), 1, sentence)
    assert names_in(folder) == {"found.json", "odd.json"}


def test_missing(folder):
    refused(run("report", "no.json", "-o", "page.html"), 2, "There is no file no.json")
    refused(run("report", "found.json"), 2, "--output")
    refused(run("report", "found.json", "-o", "no/page.html"), 2, "folder no does not exist")


@pytest.mark.slow
def test_as_a_process(folder):
    (folder / "odd.json").write_text("{")
    for words, code in (
        (("found.json", "-o", "page.html"), 0),
        (("found.json", "-o", "page.html"), 2),
        (("found.json", "-o", "table.md"), 0),
        (("odd.json", "-o", "other.html"), 1),
        (("no.json", "-o", "other.html"), 2),
    ):
        found = process("report", *words, folder=folder)
        assert found.returncode == code, found.stderr
        assert "Traceback" not in found.stderr
    assert names_in(folder) == {"found.json", "odd.json", "page.html", "table.md"}
