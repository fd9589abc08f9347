import pytest

from limo.report import evaluation_document, write


@pytest.fixture(scope="module")
def document():
    return evaluation_document([[1, 0], [0, 1]], {"mine": [[3.0, 2.0], [0.0, 1.0]]})


def test_a_page_is_written_and_named(document, tmp_path):
    path = write(document, tmp_path / "a.html")
    assert path == tmp_path / "a.html"
    assert path.read_text(encoding="utf-8").endswith("</html>")
    assert [p.name for p in tmp_path.iterdir()] == ["a.html"]


def test_nothing_is_replaced_unasked(document, tmp_path):
    path = tmp_path / "a.html"
    path.write_text("mine")
    with pytest.raises(
        FileExistsError, match="exists; choose another name, or replace it with force=True"
    ):
        write(document, path)
    assert path.read_text() == "mine"
    write(document, path, force=True)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_where_it_cannot_be(document, tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder; name a file"):
        write(document, tmp_path)
    with pytest.raises(FileNotFoundError, match="does not exist; create it first"):
        write(document, tmp_path / "no" / "a.html")


def test_a_failure_leaves_nothing_behind(document, tmp_path, monkeypatch):
    def fail(self, target):
        raise OSError("disk full")

    old = tmp_path / "a.html"
    old.write_text("mine")
    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write(document, old, force=True)
    assert [p.name for p in tmp_path.iterdir()] == ["a.html"]
    assert old.read_text() == "mine"


def test_a_broken_document_leaves_nothing_behind(tmp_path):
    with pytest.raises(ValueError, match="whose format is limo-report/2: got None"):
        write({}, tmp_path / "a.html")
    assert not list(tmp_path.iterdir())


def test_names_that_are_no_text_are_written_all_the_same(document, tmp_path):
    path = write(document | {"title": "caf\udce9"}, tmp_path / "a.html")
    assert "caf?" in path.read_text(encoding="utf-8")
