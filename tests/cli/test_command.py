import inspect
import re
import warnings

import pytest
import typer
from typer.testing import CliRunner

from cli.running import run
from limo._cli import command
from limo._cli.app import app
from limo._cli.command import WrongUse, add_command, as_options, examples


def fails_with(error, *arguments):
    one = typer.Typer()

    def work(n: int = 1) -> None:
        """Fail."""
        raise error

    add_command(one, work)
    return CliRunner().invoke(one, arguments)


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (WrongUse("do it otherwise."), 2, "Error: do it otherwise.\n"),
        (ValueError("Y must be 0 or 1."), 1, "Error: Y must be 0 or 1.\n"),
        (ValueError("a.csv is odd."), 1, "Error: a.csv is odd.\n"),
        (KeyError("no such measure"), 1, "Error: no such measure\n"),
        (OSError(28, "No space left on device", "x.csv"), 1, "Error: x.csv: No space left on device.\n"),
        (FileExistsError("page.html exists"), 1, "Error: page.html exists\n"),
        (MemoryError(), 1, "Error: Not enough memory. Try fewer instances"),
        (KeyboardInterrupt(), 130, "Stopped.\n"),
        (KeyboardInterrupt("3 runs are kept."), 130, "3 runs are kept.\n"),
        (ImportError("This needs matplotlib."), 1, "Error: This needs matplotlib.\n"),
        (ZeroDivisionError("by zero"), 1, "This is a bug: ZeroDivisionError: by zero."),
        (typer.Exit(7), 7, ""),
    ],
)  # fmt: skip
def test_failures_are_sentences(error, code, sentence):
    found = fails_with(error)
    assert found.exit_code == code
    assert found.stderr.startswith(sentence) or sentence in found.stderr
    assert "Traceback" not in found.output
    assert found.stdout == ""


def test_debug_shows_where():
    found = fails_with(ValueError("odd"), "--debug")
    assert found.exit_code == 1
    assert "Traceback" in found.stderr
    assert "raise error" in found.stderr
    assert found.stderr.endswith("Error: odd\n")


def test_control_characters_are_not_obeyed():
    found = fails_with(ValueError("a\x1b[2Jb\x07"))
    assert "\x1b" not in found.stderr
    assert "\N{REPLACEMENT CHARACTER}[2Jb" in found.stderr


def test_warnings_become_notes():
    one = typer.Typer()

    def work() -> None:
        """Warn."""
        warnings.warn("careful", stacklevel=1)

    add_command(one, work)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert CliRunner().invoke(one).stderr == "Note: careful\n"


def test_wrong_options_are_wrong_use():
    assert run("measures", "--nosuch").exit_code == 2
    assert run("nosuch").exit_code == 2
    assert run("demo", "--instances", "many").exit_code == 2


def commands(group, *names):
    """Every command with its path."""
    for name, one in getattr(group, "commands", {}).items():
        if hasattr(one, "commands"):
            yield from commands(one, *names, name)
        else:
            yield (*names, name), one


EVERY = list(commands(typer.main.get_command(app)))


def lines_of(epilog):
    """The commands of a list of examples."""
    plain = re.sub(r"\[/?[a-z]*\]", "", epilog).replace("\\[", "[")
    return [line for line in plain.splitlines() if line.startswith("limo ")]


@pytest.mark.parametrize(("names", "one"), EVERY, ids=[" ".join(names) for names, _ in EVERY])
def test_help_teaches_by_examples_that_parse(names, one):
    found = run(*names, "--help")
    assert found.exit_code == 0
    assert "Examples" in found.stdout
    assert lines_of(one.epilog)
    for line in lines_of(one.epilog):
        for part in line.split(" && "):
            words = part.partition(" > ")[0].replace("'", "").split()[1:]
            _, parsed = next((n, c) for n, c in EVERY if list(n) == words[: len(n)])
            path = next(n for n, c in EVERY if c is parsed)
            parsed.make_context(words[0], words[len(path) :])


def test_every_command_explains_itself():
    for names, one in EVERY:
        assert one.help, names
        for parameter in one.params:
            assert getattr(parameter, "help", None) or parameter.name == "help", (names, parameter)


def test_help_and_version():
    assert "Start here" in run("--help").stdout
    assert "Usage" in run().output
    assert re.fullmatch(r"limo \d+\.\d+\S*\n", run("--version").stdout)


def test_examples_are_text():
    assert "\\[wish]" in examples(("a [wish]", "limo x"))


def test_signature_is_kept():
    one = typer.Typer()

    def work(n: int = 1) -> None:
        """Work."""

    add_command(one, work)
    callback = one.registered_commands[0].callback
    assert list(inspect.signature(callback).parameters) == ["n", "debug"]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        (
            "Choose what to do with missing values: missing='mean', 'zero' or 'nan'",
            "Choose what to do with missing values: --missing mean, zero or nan",
        ),
        ("drop=['row id'] leaves it out", "--drop 'row id' leaves it out"),
        ("Pass format= one of arff, csv", "Pass --format one of arff, csv"),
        ("Say which: header=True or header=False", "Say which: --header or --no-header"),
        ("replace it with force=True", "replace it with --force"),
        ("Read labels with kind='predictions'", "Read labels with --predictions"),
        ("nothing of the kind: alpha=3", "nothing of the kind: alpha=3"),
    ],
)
def test_arguments_become_options(sentence, expected):
    assert as_options(sentence) == expected


FLAGS = {"labels": "--labels", "missing_labels": "--missing", "id": "--id", "tags": "--tags"}


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("unrecognised. Pass format= one of arff, csv", "unrecognised. Give the file the suffix of its format, such as .csv"),
        ("got 9. If you trust the file, pass limits=limo.datasets.Limits(max_bytes=9)", "got 9. If you trust the file, read it in Python, where limo.read takes other limits"),
        ("drop=['x'] leaves it out, nominal='codes' keeps it as one column", "drop=['x'] leaves it out"),
        ("or labels=6 for the last six, or xml='labels.xml'", "or --labels 6 for the last six"),
        ("or allow missing labels with missing_labels=nan", "or allow missing labels with --missing nan"),
        ("match by it with id='row id'", "match by it with --id 'row id'"),
        ("Say so: tags='genres'", "Say so: --tags genres"),
        ("y_score must be finite, and y_pred 0 or 1", "the scores must be finite, and the predictions 0 or 1"),
    ],
)  # fmt: skip
def test_only_options_of_the_command_are_named(sentence, expected):
    assert as_options(sentence, FLAGS) == expected


@pytest.mark.parametrize(
    ("seconds", "terminal", "said"), [(9.4, True, 1), (0.1, True, 0), (9, False, 0)]
)
def test_a_terminal_is_told_about_compiling(monkeypatch, capsys, seconds, terminal, said):
    monkeypatch.setattr(command.sys.stderr, "isatty", lambda: terminal, raising=False)
    monkeypatch.setattr("limo._kernels._stopwatch.seconds", seconds)
    command._note_compilation()
    found = capsys.readouterr().err
    assert found.count("9 s of this were spent compiling, once: the next call is faster.") == said
