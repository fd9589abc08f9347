"""Whole files or none."""

import pytest

import limo
from limo._system import check_target, replacing, write_text


def test_what_is_complete_appears(tmp_path):
    file = tmp_path / "new.txt"
    with replacing(file, force=False) as handle:
        handle.write(b"all of it")
        assert not file.exists()
    assert file.read_bytes() == b"all of it"


def test_a_failure_leaves_nothing(tmp_path):
    def fail():
        with replacing(tmp_path / "new.txt") as handle:
            handle.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_appears_meanwhile_is_left_alone(tmp_path):
    file = tmp_path / "new.txt"

    def write():
        with replacing(file, force=False) as handle:
            handle.write(b"ours")
            file.write_text("theirs")

    with pytest.raises(FileExistsError):
        write()
    assert file.read_text() == "theirs"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("name", "error", "sentence"),
    [
        ("absent/new.txt", FileNotFoundError, "the folder .*absent does not exist; create it"),
        ("folder", IsADirectoryError, "folder is a folder; name a file"),
        ("old.txt", FileExistsError, "old.txt exists; choose another name, or .*force=True"),
    ],
)
def test_targets_that_cannot_be(tmp_path, name, error, sentence):
    (tmp_path / "folder").mkdir()
    (tmp_path / "old.txt").touch()
    with pytest.raises(error, match=sentence):
        check_target(tmp_path / name, force=False)


def test_a_folder_that_cannot_be_written_is_noticed_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)  # root may write anywhere else
    with pytest.raises(PermissionError, match="the folder .* cannot be written; choose another"):
        check_target(tmp_path / "new.txt", force=False)


def test_a_full_disk_leaves_the_old_text(tmp_path, monkeypatch):
    """Also through what users call: ``Evaluation.to_json`` once left an empty file."""

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    evaluation = limo.evaluate([[1, 0], [0, 1]], [[0.5, 0.1], [0.2, 0.3]])
    with pytest.raises(OSError, match="No space left on device"):
        evaluation.to_json(tmp_path / "new.json")
    assert list(tmp_path.iterdir()) == []


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_text(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "text\n"


def test_force_replaces_files_but_no_folder(tmp_path):
    (tmp_path / "old.txt").touch()
    check_target(tmp_path / "old.txt", force=True)
    with pytest.raises(IsADirectoryError):
        check_target(tmp_path, force=True)
