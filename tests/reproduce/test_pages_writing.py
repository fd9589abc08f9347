import json

import pandas as pd
import pytest
from matplotlib.figure import Figure

from limo.reproduce._pages import Picture, Table, latex, markdown, write

SHOWN = pd.DataFrame({"measure": ["macro-F1 ↑", "a|b"], "50 % & more": [".5±.1", "✓"]})
TABLE = Table("scores", "Scores_1", "A note.", SHOWN, pd.DataFrame({"value": [0.1, 1 / 3]}))


def test_markdown_has_one_line_a_row_and_escapes_bars():
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
    found = write(
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
