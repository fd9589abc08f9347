import json

import pytest

from limo._cli import console


def test_results_and_notes_go_to_different_streams(capsys):
    console.print_text("result [bold]x[/]")
    console.print_note("careful")
    console.print_error("why")
    found = capsys.readouterr()
    assert found.out == "result [bold]x[/]\n"
    assert found.err == "Note: careful\nError: why\n"


def test_tables_keep_their_lines_in_pipes(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    console.print_table("Title", ["name", "value"], [["[red]a[/]", "x" * 100]], numbers=1)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].strip() == "Title"
    assert sum("x" * 100 in line and "[red]a[/]" in line for line in lines) == 1
    assert "\x1b" not in "".join(lines)


def test_json_is_pure(capsys):
    console.print_json({"a": [1, None, "ü"]})
    assert json.loads(capsys.readouterr().out) == {"a": [1, None, "ü"]}
    with pytest.raises(ValueError, match="not JSON compliant"):
        console.print_json({"a": float("nan")})


def test_progress_is_silent_without_a_terminal(capsys):
    with console.progress("Working") as advance:
        advance(1, 2, "half")
    found = capsys.readouterr()
    assert (found.out, found.err) == ("", "")


def test_progress_is_shown_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    with console.progress("Working") as advance:
        advance(1, 2, "half\x1b[2J")
    found = capsys.readouterr()
    assert found.out == ""
    assert "Working: half" in found.err
    assert "1/2" in found.err
    assert "half\x1b" not in found.err


def test_no_color_is_respected(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    console.print_error("why")
    assert "\x1b[1;31m" in capsys.readouterr().err
    monkeypatch.setenv("NO_COLOR", "1")
    console.print_error("why")
    assert "31m" not in capsys.readouterr().err


def test_a_narrow_terminal_still_shows_the_values(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    console.print_table("Title", ["measure", "value"], [["average precision", "0.1234"]], numbers=1)
    assert "0.1234" in capsys.readouterr().out


def test_closed_streams(monkeypatch):
    monkeypatch.setattr("sys.stdout", None)
    monkeypatch.setattr("sys.stderr", None)
    console.print_note("nobody reads this")
    with pytest.raises(OSError, match="standard output is closed"):
        console.print_text("result")
