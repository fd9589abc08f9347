"""What the tests of the command line share: a command in this process, or as a real one."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from typer.testing import CliRunner

import limo
from limo._cli.app import app

Y = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
S = np.array([[0.9, 0.2, 0.4], [0.5, 0.1, 0.8], [0.3, 0.7, 0.1], [0.2, 0.3, 0.6]])
NAMES = ["calm", "sad", "[bold]loud[/]"]


def run(*arguments, **environment):
    """Run a command here; wide, so that tables keep their lines."""
    env = {"COLUMNS": "200", **environment}
    return CliRunner().invoke(app, [str(a) for a in arguments], env=env)


def process(*arguments, folder, **environment):
    """Run a command as a real process, with nothing but pipes around it."""
    return subprocess.run(
        [sys.executable, "-m", "limo", *map(str, arguments)],
        cwd=folder,
        env=surroundings(**environment),
        capture_output=True,
        text=True,
        check=False,
    )


def surroundings(**environment):
    """The environment of a process that finds this limo from any folder."""
    return {**os.environ, "PYTHONPATH": str(Path(limo.__file__).parent.parent), **environment}


def write_matrices(folder: Path) -> None:
    """Labels, scores and predictions as CSV."""
    for name, matrix in (("Y", Y), ("S", S), ("P", (S > 0.45).astype(int))):
        pd.DataFrame(matrix, columns=NAMES).to_csv(folder / f"{name}.csv", index=False)


def refused(found, code, *words):
    """Assert that a command ended as it should have, with a sentence and without a traceback."""
    assert found.exit_code == code, found.output
    text = " ".join(re.sub("[│─╭╮╰╯]", " ", found.stderr).split())
    for word in words:
        assert word in text, text
    assert "Traceback" not in text
    assert found.stdout == ""
    assert len(text) < 700, text


def names_in(folder: Path) -> set[str]:
    """Every file of a folder, hidden ones too."""
    return {path.name for path in folder.iterdir()}


def printed_json(found):
    """The JSON a command printed, and nothing else."""
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)
