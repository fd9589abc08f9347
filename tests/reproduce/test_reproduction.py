import json
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.figure import Figure

import limo
from limo.reproduce import Reproduction
from limo.reproduce._benchmark_tables import printed_benchmark
from limo.reproduce._reproduction import Picture, ResultTable, latex, markdown, write_page
from limo.reproduce._synthetic import printed_synthetic, synthetic_spread

SHOWN = pd.DataFrame({"measure": ["macro-F1 ↑", "a|b"], "50 % & more": [".5±.1", "✓"]})
TABLE = ResultTable("scores", "Scores_1", "A note.", SHOWN, pd.DataFrame({"value": [0.1, 1 / 3]}))


def test_markdown_has_one_line_per_row_and_escapes_bars():
    assert markdown(SHOWN).splitlines() == [
        "| measure    | 50 % & more |",
        "| ---------- | ----------- |",
        "| macro-F1 ↑ | .5±.1       |",
        r"| a\|b       | ✓           |",
    ]


def test_latex_escapes_what_it_must():
    text = latex(TABLE)
    assert r"\caption{Scores\_1}" in text
    assert r"measure & 50 \% \& more \\" in text
    assert r"macro-F1 $\uparrow$ & .5$\pm$.1 \\" in text
    assert r"\begin{tabular}{lr}" in text


def test_all_files_are_written_and_the_document_is_plain(tmp_path):
    figure = Figure()
    found = write_page(
        tmp_path / "new" / "folder",
        "page",
        "A page",
        findings=["It works."],
        tables=[TABLE],
        pictures=[Picture("drawn", "A caption.", lambda: figure)],
    )
    assert [path.name for path in found.paths] == [
        "page.md", "scores.csv", "scores.tex", "drawn.svg", "drawn.png",
    ]  # fmt: skip
    page = found.paths[0].read_text()
    assert page.startswith("# A page\n\n- It works.\n\n![A caption.](drawn.svg)")
    read = pd.read_csv(found.paths[1])["value"].tolist()
    assert read == pytest.approx([0.1, 1 / 3], rel=1e-15)
    document = json.loads(json.dumps(found.document, allow_nan=False))
    assert document["tables"][0]["rows"][0] == ["macro-F1 ↑", ".5±.1"]


def test_a_reproduction_reads_as_sentences():
    found = Reproduction("A title", Path("out"), ("One.", "Two."), {}, (Path("out/a.md"),), {})
    assert str(found).splitlines()[:3] == ["A title", "One.", "Two."]
    assert str(found).endswith("a.md.")


def test_all_cells_are_there_once():
    benchmark, synthetic, spread = printed_benchmark(), printed_synthetic(), synthetic_spread()
    assert len(benchmark) == 5 * 6 * 11
    assert len(synthetic) == 3 * 7 + 6 * 4
    assert len(spread) == 3 * 7
    for table, keys in (
        (benchmark, ["dataset", "method", "measure"]),
        (synthetic, ["method", "measure"]),
    ):
        assert set(table["measure"]) == set(limo.MEASURES)
        assert not table.duplicated(keys).any()


def test_some_cells_typed_from_the_paper():
    table = printed_benchmark().set_index(["dataset", "method", "measure"])
    assert table.loc[("CAL500", "LIMO", "ranking_loss")].tolist() == [0.178, 0.004, 1]
    assert table.loc[("bibtex", "GFM", "micro_auc")].tolist() == [0.626, 0.003, 6]
    synthetic = printed_synthetic().set_index(["method", "measure"])
    assert synthetic.loc[("LIMO-t(x)", "instance_f1")].tolist() == [0.9, 0.96]


def test_the_ranks_printed_are_those_of_the_papers_own_example():
    """Its text: LIMO on ranking loss ranks (1 + 1 + 1 + 2 + 2) / 5 = 1.4."""
    table = printed_benchmark()
    own = table[table["method"].eq("LIMO") & table["measure"].eq("ranking_loss")]
    assert own["rank"].mean() == 1.4
