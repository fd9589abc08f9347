"""The commands of the documentation, run in their order."""

import re
import shlex
from pathlib import Path

import pytest

from cli.running import run

PAGE = Path(__file__).parents[2] / "docs" / "command_line.md"


def commands():
    for block in re.findall(r"```sh\n(.*?)```", PAGE.read_text(), flags=re.S):
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
        "page.html",
        "results.json",
        "again.html",
        "results.sqlite",
        "comparison.html",
        "limo-theory",
    }
