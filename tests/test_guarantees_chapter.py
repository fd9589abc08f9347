"""Every claim of docs/guarantees.md names tests, and these tests exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CHAPTER = (ROOT / "docs" / "guarantees.md").read_text()
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", CHAPTER)))
CLAIMS = re.split(r"\n(?=\*\*(?:Statement \d+|By logic|On data))", CHAPTER)[1:]


def title(claim):
    return re.match(r"\*\*([^*]+)\*\*", claim).group(1)


@pytest.mark.parametrize("claim", CLAIMS, ids=title)
def test_every_claim_says_its_status_and_names_a_test(claim):
    assert re.search(r"proven|observed|checked", claim, re.IGNORECASE)
    assert re.search(r"Tests?: `tests/[\w/]+\.py::test_\w+`", claim)


def test_statements_are_numbered_without_gaps():
    numbers = [int(n) for n in re.findall(r"\n\*\*Statement (\d+)", CHAPTER)]
    assert numbers == list(range(1, len(numbers) + 1))
    mentioned = {int(n) for n in re.findall(r"Statement (\d+)", CHAPTER)}
    assert mentioned <= set(numbers)


@pytest.mark.parametrize(("file", "test"), NAMED, ids=lambda name: name.split("/")[-1])
def test_every_named_test_exists(file, test):
    assert f"\ndef {test}(" in (ROOT / file).read_text()


def test_pictures_exist_and_are_small():
    for name in re.findall(r"!\[[^]]*\]\(([\w/.]+)\)", CHAPTER):
        picture = ROOT / "docs" / name
        assert 0 < picture.stat().st_size < 300_000
