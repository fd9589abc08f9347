"""Every claim of docs/guarantees.md names tests, and these tests exist."""

import re
from pathlib import Path

import pandas as pd
import pytest

from limo.measures import MEASURES
from limo.reproduce import _theory_limits as limits

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


def table(head):
    """The lines of a table of the chapter, as lists of cells, without its head."""
    lines = CHAPTER[CHAPTER.index(head) :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.slow
def test_figures_of_real_data():
    """The chapter's tables of real data are what the models give, but for the last digit."""
    if set(limits.datasets_at_hand()) != set(limits.DATASETS):
        pytest.skip("needs the data sets of the chapter: LIMO_DATA")
    names = {measure.title: name for name, measure in MEASURES.items()}
    models = pd.concat([limits.model_facts(name) for name in limits.DATASETS])
    assert f"{len(models)} linear models" in CHAPTER
    for title, *shares in table("| measure | emotions (6 labels)"):
        fixed = models.groupby("data", sort=False)[f"fixed_{names[title]}"].mean()
        found = [float(share.rstrip("%")) for share in shares]
        assert found == pytest.approx((100 * fixed).tolist(), abs=1.5), title
    taus = limits.redundancy_facts(models).groupby(["first", "second"])["tau"].mean()
    for pair, tau in table("| measures | tau |"):
        first, second = (names[title] for title in pair.split(" and "))
        expected = taus.get((first, second), taus.get((second, first)))
        assert float(tau) == pytest.approx(expected, abs=0.025), pair


@pytest.mark.slow
def test_the_fitted_rates():
    rates = limits.violation_facts(40).groupby(["rows", "columns"])["rate"].first()
    written = re.search(r"exponents of (\S+) and (\S+) over.*, and (\S+) and (\S+) with", CHAPTER)
    keys = [(0.0, 0.0), (0.2, 0.0), (0.0, 0.2), (0.2, 0.2)]
    assert list(map(float, written.groups())) == pytest.approx([rates[k] for k in keys], abs=0.006)
