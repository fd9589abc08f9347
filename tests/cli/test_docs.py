"""The commands of the documentation, run in their order."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from cli.running import run, surroundings

DOCS = Path(__file__).parents[2] / "docs"


def commands():
    for block in re.findall(r"```sh\n(.*?)```", (DOCS / "command_line.md").read_text(), flags=re.S):
        yield from block.strip().splitlines()


@pytest.mark.slow
def test_every_command_of_the_page_works(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for line in commands():
        typed, _, to = line.partition(" > ")
        found = run(*shlex.split(typed)[1:])
        assert found.exit_code == 0, (line, found.output)
        if to:
            Path(to).write_text(found.stdout)
    assert {path.name for path in tmp_path.iterdir()} >= {
        "limo-demo.html",
        "square.arff",
        "square.xml",
        "model.skops",
        "predictions.csv",
        "labels.csv",
        "page.html",
        "results.json",
        "again.html",
        "results.sqlite",
        "comparison.html",
        "limo-theory",
    }


# The three tasks: files are saved under the names that the page gives them, lines run in a shell

TASKS = {
    "task_csv.md": {"rule.json", "test_P.csv", "report.html", "rule_from_tags.json"},
    "task_compare.md": {"results.sqlite", "table.tex", "table.html", "references.bib"},
    "task_ci.md": {"old.json", "new.json"},
}


def saved_and_typed(page):
    """The files and the shell commands of a page, in their order."""
    pattern = r"`([\w.]+)`[^`]*?\n+```(?:python|toml)\n(.*?)```|```sh\n(.*?)```"
    for name, content, typed in re.findall(pattern, page, flags=re.S):
        yield (name, content, None) if name else (None, None, typed)


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_a_task_works_from_first_line_to_last(tmp_path, name):
    """As a reader would: real processes in an empty folder, limo and python as commands."""
    tools, work = tmp_path / "bin", tmp_path / "work"
    tools.mkdir()
    work.mkdir()
    for tool, module in (("limo", "-m limo"), ("python", "")):
        shim = tools / tool
        shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
        shim.chmod(0o755)
    env = surroundings(PATH=f"{tools}{os.pathsep}{os.environ['PATH']}")
    page = (DOCS / name).read_text()
    blocks = list(saved_and_typed(page))
    fences = re.findall(r"```(?:sh|python|toml)\n", page)
    assert len(blocks) == len(fences), "a block of the page is not run"
    for file, content, typed in blocks:
        if file:
            (work / file).write_text(content)
            continue
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", typed],
            cwd=work,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (typed, done.stdout, done.stderr)
        if "|| echo" in typed:
            assert "exit code 3" in done.stdout
    assert {path.name for path in work.iterdir()} >= TASKS[name]
    if name == "task_compare.md":
        assert "\\toprule" in (work / "table.tex").read_text()
        assert (work / "table.html").read_text().startswith("<table>")
