"""The command line as a whole: how it starts, ends and completes."""

import os
import signal
import subprocess
import sys
import time

import pytest

from cli.running import process, run, surroundings


def test_no_command_shows_the_help():
    assert "Start here" in run().output


def test_nothing_heavy_is_loaded_for_help():
    code = (
        "import sys, limo._cli.app; "
        "heavy = {'numpy', 'scipy', 'numba', 'sklearn', 'pandas', 'matplotlib', 'jinja2'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


@pytest.mark.slow
def test_processes_start_complete_and_end(tmp_path):
    assert process("--version", folder=tmp_path).stdout.startswith("limo ")
    assert process("--help", folder=tmp_path, NO_COLOR="1").returncode == 0
    wrong = process("evaluat", folder=tmp_path)
    assert wrong.returncode == 2
    assert "Traceback" not in wrong.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("limo ", {"demo", "evaluate", "datasets"}),
        ("limo demo --conventions s", {"standard", "sklearn"}),
        ("limo datasets describe enr", {"enron", "enron:train", "enron:test"}),
    ],
)
def test_completion_in_the_shell(tmp_path, words, expected):
    found = process(
        folder=tmp_path,
        _LIMO_COMPLETE="complete_bash",
        COMP_WORDS=words,
        COMP_CWORD=str(len(words.split(" ")) - 1),
    )
    assert expected <= set(found.stdout.split()), found


@pytest.mark.slow
@pytest.mark.parametrize("after", [1.5, 3])  # seconds: most of them spent loading libraries
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopping_leaves_nothing_behind(tmp_path, number, code, after):
    one = subprocess.Popen(
        [sys.executable, "-m", "limo", "demo", "--instances", "400000"],
        cwd=tmp_path,
        env=surroundings(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(after)
    os.kill(one.pid, number)
    out, err = one.communicate(timeout=30)
    # Python may end by the SIGINT itself, which a shell also reports as 130
    assert one.returncode in (code, -number), err
    assert out == ""
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []
