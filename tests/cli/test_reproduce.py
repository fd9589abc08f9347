import pytest

import limo
from cli.running import names_in, printed_json, process, refused, run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def calls(monkeypatch):
    """The options each part was called with; nothing is computed."""
    found = {}

    def stand_in(name):
        def function(folder, **options):
            found[name] = options
            options["progress"](limo.experiment.Progress(3, done=1, running=("one",)))
            (folder / "facts").mkdir(parents=True, exist_ok=True)
            page = limo.report.document_from_parts(f"The {name}", verdict=["All of it holds."])
            facts = (folder / "facts",)
            return limo.reproduce.Reproduction(
                f"The {name}", folder, ("It holds.",), {}, facts, page
            )

        return function

    for name in ("synthetic", "benchmark", "theory"):
        monkeypatch.setattr(limo.reproduce, name, stand_in(name))
    return found


@pytest.mark.parametrize("part", ["synthetic", "benchmark", "theory"])
def test_a_part_of_the_paper(folder, calls, part):
    found = run("reproduce", part)
    assert found.exit_code == 0, found.output
    assert f"The {part}\nIt holds.\n" in found.stdout
    assert names_in(folder / f"limo-{part}") == {"facts", "report.html"}
    assert "All of it holds." in (folder / f"limo-{part}" / "report.html").read_text()
    again = printed_json(run("reproduce", part, "--json"))
    assert again["verdict"] == ["All of it holds."]


def test_options_are_passed_on(folder, calls):
    run("reproduce", "synthetic", "--quick", "--jobs", "1")
    run("reproduce", "benchmark", "--quick")
    run("reproduce", "theory", "--quick")
    assert (calls["synthetic"]["n_jobs"], calls["synthetic"]["n_experiments"]) == (1, 2)
    assert calls["benchmark"]["quick"]
    assert calls["theory"]["n_draws"] == 5


def test_folders_with_other_files_are_left_alone(folder, calls):
    (folder / "mine").mkdir()
    (folder / "mine" / "notes.txt").write_text("mine")
    refused(run("reproduce", "theory", "-o", "mine"), 2, "mine has other files", "--force")
    assert names_in(folder / "mine") == {"notes.txt"}
    assert not calls
    assert run("reproduce", "theory", "-o", "mine", "--force").exit_code == 0
    assert (folder / "mine" / "notes.txt").read_text() == "mine"


def test_a_reproduction_that_cannot_start_leaves_no_folder(folder, monkeypatch):
    def fail(place, **_):
        place.mkdir()
        raise ValueError("enron is missing")

    monkeypatch.setattr(limo.reproduce, "benchmark", fail)
    refused(run("reproduce", "benchmark"), 1, "enron is missing")
    assert names_in(folder) == set()


def test_wrong_use(folder):
    (folder / "file").touch()
    refused(run("reproduce", "theory", "-o", "file"), 2, "file is a file; name a folder")
    refused(run("reproduce", "theory", "-o", "no/such"), 2, "folder no does not exist")
    refused(run("reproduce", "magic"), 2, "magic")
    assert names_in(folder) == {"file"}


@pytest.mark.slow
def test_as_a_process(folder):
    good = process("reproduce", "theory", "--quick", folder=folder)
    assert good.returncode == 0, good.stderr
    assert good.stderr == ""
    assert {"report.html", "theory.md", "facts"} <= names_in(folder / "limo-theory")
    (folder / "empty").mkdir()
    for words, code in (
        (("magic",), 2),
        (("theory", "-o", "no/such"), 2),
        (("benchmark", "--quick", "-o", "out"), 1),
    ):
        bad = process("reproduce", *words, folder=folder, LIMO_DATA="empty", XDG_CACHE_HOME="empty")
        assert (bad.returncode, bad.stdout) == (code, ""), bad.stderr
        assert "Traceback" not in bad.stderr
    assert names_in(folder) == {"limo-theory", "empty"}
