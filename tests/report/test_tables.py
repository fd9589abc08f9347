"""Tables of documents: what is bold, what is escaped, and that other programs read them."""

import csv
import io
import re

import numpy as np
import pandas as pd
import pytest

import limo
from limo.report import comparison_document, document_from_parts, evaluation_document, tables
from report.rows import make_rows

WILD = "a_b & 50% #1 {x} ~^|<i> \\\\ $y$"


@pytest.fixture(scope="module")
def compared():
    return comparison_document(make_rows())


def rows_of(text):
    """The cells of the rows of a LaTeX table."""
    inside = re.search(r"toprule\n(.*)\\bottomrule", text, re.DOTALL).group(1)
    lines = [line for line in inside.splitlines() if line.endswith(r"\\")]
    return [line.removesuffix(r" \\").split(" & ") for line in lines]


def test_means_and_marks_are_those_of_the_rows(compared):
    rows = make_rows()
    of_f1 = rows[rows["measure"] == "macro_f1"]
    means = of_f1.pivot_table(index="dataset", columns="method", values="value", sort=False)
    second = tables(compared, "latex").split(r"\begin{table}")[2]
    head, *body, ranks = rows_of(second)
    assert head == ["data set", "A", r"B \textless{}i\textgreater{}", "C"]
    assert [line[0] for line in body] == ["d", "e", "f"]
    for line, (_, values) in zip(body, means[["A", "B <i>", "C"]].iterrows(), strict=True):
        order = np.argsort(-values.to_numpy())
        for k, cell in enumerate(line[1:]):
            assert f"{values.iloc[k]:.3f}" in cell
            assert cell.startswith(r"\textbf") == (k == order[0])
            assert cell.startswith(r"\underline") == (k == order[1])
    expected = (-means).rank(axis=1).mean()
    assert [re.search(r"\d\.\d\d", cell).group() for cell in ranks[1:]] == [
        f"{expected[m]:.2f}" for m in ("A", "B <i>", "C")
    ]


def test_low_is_better_for_losses(compared):
    rows = make_rows()
    own = rows[(rows["measure"] == "ranking_loss") & (rows["dataset"] == "d")]
    means = own.groupby("method", sort=False)["value"].mean()
    line = rows_of(tables(compared, "latex").split(r"\begin{table}")[1])[1]
    best = int(np.argmin(means.to_numpy()))
    assert [cell.startswith(r"\textbf") for cell in line[1:]] == [k == best for k in range(3)]


def test_equal_methods_share_the_mark_and_one_method_has_none():
    row = {"dataset": "d", "split": 0, "measure": "macro_f1", "value": 0.5}
    equal = [row | {"method": name} for name in ("A", "B")]
    assert tables(comparison_document(equal)).count(r"\textbf{0.500}") == 2
    assert r"\textbf" not in tables(comparison_document(equal[:1]))


def test_a_missing_value_is_a_dash():
    rows = make_rows()
    rows = rows[~((rows["method"] == "C") & (rows["dataset"] == "e"))]
    text = tables(comparison_document(rows), "markdown")
    assert re.search(r"\| e +\|.*\| – +\|", text)


def test_csv_has_every_value_in_full(compared):
    found = pd.read_csv(io.StringIO(tables(compared, "csv")))
    expected = make_rows().groupby(["dataset", "measure", "method"])["value"].agg(["mean", "std"])
    joined = found.set_index(["data set", "measure", "method"])[["mean", "std"]].sort_index()
    assert len(joined) == len(expected) == 18
    np.testing.assert_allclose(joined.to_numpy(), expected.sort_index().to_numpy(), rtol=1e-12)


def test_an_evaluation_is_one_table():
    Y, S = [[1, 0], [0, 1], [1, 1]], np.array([[2.0, 1.0], [1.0, 2.0], [0.0, 1.0]])
    document = evaluation_document(Y, {"good": S, "bad": -S}, {"good": S > 0.5, "bad": S > 9})
    text = tables(document, "markdown")
    line = next(line for line in text.splitlines() if line.startswith("| macro-F1"))
    assert f"**{limo.macro_f1(Y, S > 0.5):.4f}**" in line
    assert "<u>0.0000</u>" in line
    read = list(csv.DictReader(io.StringIO(tables(document, "csv"))))
    assert {one["model"] for one in read} == {"good", "bad"}


def test_names_are_escaped():
    row = {"dataset": WILD, "split": 0, "measure": "macro_f1", "value": 0.5, "method": WILD}
    document = comparison_document([row])
    line = rows_of(tables(document))[1][0]
    plain = re.sub(r"\\(text\w+\{\}|[&%$#_{}])", "", line)
    assert not set(plain) & set("&%$#_{}~^|<>\\")
    assert "\n| a\\_b & 50% #1 {x} ~^\\|&lt;i>" in tables(document, "markdown")


@pytest.mark.parametrize("suffix", [".tex", ".md", ".csv"])
def test_write_chooses_by_the_ending(compared, tmp_path, suffix):
    formats = {".tex": "latex", ".md": "markdown", ".csv": "csv"}
    file = limo.report.write(compared, tmp_path / f"table{suffix}")
    assert file.read_text(encoding="utf-8") == tables(compared, formats[suffix])


def test_wrong_input_is_a_sentence(compared, tmp_path):
    with pytest.raises(ValueError, match="ends in .html, its tables end in .tex, .md, .csv"):
        limo.report.write(compared, tmp_path / "table.pdf")
    with pytest.raises(ValueError, match="no comparison and no models"):
        tables(document_from_parts("empty"))
    with pytest.raises(ValueError, match="latex"):
        tables(compared, "tex")
    broken = compared | {"comparisons": [{"measures": 3}]}
    with pytest.raises(ValueError, match="The document is incomplete"):
        limo.report.write(broken, tmp_path / "table.tex")
    assert not list(tmp_path.iterdir())
