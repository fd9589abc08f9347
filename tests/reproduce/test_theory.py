import pandas as pd
import pytest

from limo.reproduce import theory
from limo.reproduce._theory import _table2_finding as table2_finding

SIZE = {"n_predictors": 4, "n_draws": 2, "n_worlds": 6, "real_data": False}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return theory(tmp_path_factory.mktemp("theory"), **SIZE)


@pytest.mark.slow
def test_every_format_is_written(found):
    names = {path.name for path in found.paths}
    for stem in ("table2", "theorem3", "bounds", "violations", "map"):
        assert {f"{stem}.{kind}" for kind in ("csv", "tex", "svg", "png")} <= names
    assert found.paths[0].name == "theory.md"
    assert all(path.stat().st_size > 100 for path in found.paths)


@pytest.mark.slow
def test_the_findings_in_sentences(found):
    assert found.findings[0].startswith("Table 2: all 43 ticks hold on all 20 generated")
    assert "at 4000 instances micro-AUC" in found.findings[1]
    assert found.findings[2] == "Theorems 4 and 5: the bounds hold on 4 predictors each."
    assert "the bound of instance-F1" in found.findings[3]
    assert str(found).startswith("The theory, checked by computation\nTable 2")


@pytest.mark.slow
def test_the_page_shows_every_table_and_picture(found):
    page = found.paths[0].read_text()
    assert "| ranking loss      | ✓ 4/4" in page
    assert page.count("![") == 5
    assert page.count("\n## ") == 7
    tables = {path.name: path for path in found.paths if path.suffix == ".csv"}
    pd.testing.assert_frame_equal(pd.read_csv(tables["table2.csv"]), found.tables["table2"])


@pytest.mark.slow
def test_the_same_call_again_only_draws(found):
    kept = sorted((found.folder / "facts").iterdir())
    before = [path.stat().st_mtime_ns for path in kept]
    page = found.paths[0].read_bytes()
    picture = found.paths[-2].read_bytes()
    reports = []
    again = theory(found.folder, **SIZE, progress=reports.append)
    assert [now.running for now in reports] == [
        ("Table 2",), ("Theorem 3",), ("Theorems 4 and 5",), ("Theorem 3, violated",),
        ("consistency map",), (),
    ]  # fmt: skip
    assert reports[-1].left == 0
    assert [path.stat().st_mtime_ns for path in kept] == before
    assert again.paths == found.paths
    assert again.paths[0].read_bytes() == page
    assert again.paths[-2].suffix == ".svg"
    assert again.paths[-2].read_bytes() == picture


@pytest.mark.slow
def test_without_data_the_page_says_so(found):
    assert found.findings[-1] == "Real data: skipped, as it was not asked for."


@pytest.mark.slow
def test_a_tick_that_fails_is_named(found):
    cells = found.tables["table2"].copy()
    first = cells.index[cells["measure"].eq("ranking_loss") & cells["perfect"].eq(4)][0]
    cells.loc[first, "perfect"] = 3
    assert "1 of 43 ticks fail (ranking_loss (label-wise))" in table2_finding(cells)
