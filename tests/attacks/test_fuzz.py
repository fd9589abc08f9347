"""A short run of the fuzzer, and every file it ever found; the long run is a command."""

import os
import sys
from pathlib import Path

import pytest

from attacks.fuzz import attack, campaign
from attacks.targets import TARGETS, mutated, seeds_of

FOUND = sorted((Path(__file__).parent / "found").glob("*/*"))


@pytest.mark.parametrize("file", FOUND, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_files_that_broke_a_reader_once_are_refused(file):
    name = file.parent.name
    attack(name, seeds_of(name)[0])  # loads and compiles what it needs
    assert attack(name, file.read_bytes()) == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_healthy_files_pass_and_damaged_ones_are_refused_in_sentences(name):
    attack(name, seeds_of(name)[0])  # loads and compiles what it needs, which takes its time
    for healthy in seeds_of(name):
        assert attack(name, healthy) == ""
    for number in range(20):
        content = mutated(name, 0, number)
        assert attack(name, content) == "", f"{name}, file {number}"


@pytest.mark.slow
def test_a_campaign_keeps_a_crash_and_goes_on(tmp_path, monkeypatch, capfd):
    """The reader ends its process at the first damaged file; another process reads the second."""
    code = "import attacks.targets as t, os; from attacks import fuzz\n"
    code += (
        "fuzz.attack = lambda name, content: os.abort() if content not in t.seeds_of(name) else ''"
    )
    (tmp_path / "broken.py").write_text(code + "\nfuzz.sys.exit(fuzz.main())\n")
    monkeypatch.setattr("attacks.fuzz.__file__", str(tmp_path / "broken.py"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    campaign("xml", 0, 2, tmp_path / "found")
    why = [file.read_text() for file in sorted((tmp_path / "found").glob("*.txt"))]
    assert why == ["the process ended with code -6"] * 2
