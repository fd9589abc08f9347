"""Whole files or none."""

import pytest

from limo._system import check_target, replacing


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


def test_force_replaces_files_but_no_folder(tmp_path):
    (tmp_path / "old.txt").touch()
    check_target(tmp_path / "old.txt", force=True)
    with pytest.raises(IsADirectoryError):
        check_target(tmp_path, force=True)
