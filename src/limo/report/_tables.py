"""Tables of a document as papers print them: LaTeX with booktabs, Markdown, HTML, or CSV.

Each comparison gives a table per measure: data sets are rows, methods are columns, the best value
is bold and the second best underlined, and the last row has average ranks. An evaluation gives one
table: measures are rows and models are columns. CSV has one value per line, in full precision.
"""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

from limo._text import counted

TableFormat = Literal["latex", "markdown", "html", "csv"]
SUFFIXES: dict[str, TableFormat] = {
    ".tex": "latex",
    ".md": "markdown",
    ".html": "html",
    ".htm": "html",
    ".csv": "csv",
}
_ARROWS = {"high": "↑", "low": "↓"}


@dataclass(frozen=True)
class Cell:
    """A text, and whether it is the best or the second best of its row."""

    text: str
    mark: Literal["best", "second", ""] = ""


@dataclass(frozen=True)
class Table:
    """A caption, the heads of the columns, rows of cells, and a last row set apart."""

    caption: str
    head: Sequence[str]
    body: Sequence[Sequence[Cell]]
    foot: Sequence[Cell] = ()


def tables(document: Mapping[str, Any], format: TableFormat = "latex") -> str:
    r"""Write the values of a document as tables for a paper, or as CSV.

    Parameters
    ----------
    document : dict
        Made by :func:`comparison_document`, :func:`evaluation_document` or
        :func:`document_from_parts`.
    format : {"latex", "markdown", "html", "csv"}, default="latex"
        LaTeX needs the package booktabs. HTML is a fragment without style. CSV has one value
        per line, in full precision.

    Returns
    -------
    str

    Examples
    --------
    >>> from limo.report import comparison_document, tables
    >>> rows = [
    ...     {"dataset": d, "split": k, "method": m, "measure": "macro_f1", "value": v + k / 10}
    ...     for d in ("enron", "yeast") for k in (0, 1) for m, v in (("A", 0.4), ("B", 0.5))
    ... ]
    >>> print(tables(comparison_document(rows), "markdown"))
    macro-F1 ↑, mean ± standard deviation over 2 splits
    <BLANKLINE>
    | data set     | A                    | B                 |
    | ------------ | -------------------- | ----------------- |
    | enron        | <u>0.450 ± 0.071</u> | **0.550 ± 0.071** |
    | yeast        | <u>0.450 ± 0.071</u> | **0.550 ± 0.071** |
    | average rank | <u>2.00</u>          | **1.00**          |
    <BLANKLINE>
    """
    if not isinstance(document, Mapping):
        raise TypeError(
            f"document must be a dict that a function of limo.report made, got {document!r}"
        )
    if not isinstance(format, str) or format not in SUFFIXES.values():
        known = ", ".join(dict.fromkeys(SUFFIXES.values()))
        raise ValueError(f"format must be one of {known}; got {format!r}")
    if format == "csv":
        return _csv(document)
    write = {"latex": _latex, "markdown": _markdown, "html": _html}[format]
    written = [*_comparisons(document), *_evaluation(document)]
    if not written:
        raise ValueError("The document has no comparison and no models, so there is no table.")
    return "\n".join(map(write, written))


# From a document to tables


def _comparisons(document: Mapping[str, Any]) -> Iterable[Table]:
    for part in document.get("comparisons") or ():
        ranks = {one["measure"]: one["average"] for one in part["ranks"]}
        for measure in part["measures"]:
            lines = [line for line in part["means"] if line["measure"] == measure["name"]]
            yield _measure_table(part, measure, lines, ranks[measure["name"]])


def _measure_table(
    part: Mapping[str, Any],
    measure: Mapping[str, str],
    lines: Sequence[Mapping[str, Any]],
    ranks: Sequence[float],
) -> Table:
    """The table of one measure: data sets x methods, and the average ranks."""
    splits = part["splits"]
    spread = f", mean ± standard deviation over {splits} splits" if splits > 1 else ""
    body = [
        [Cell(line["dataset"]), *_marked(line["cells"], _mean_text, lambda cell: cell["rank"])]
        for line in lines
    ]
    foot = [
        Cell("average rank"),
        *_marked(ranks, lambda rank: f"{rank:.2f}", lambda rank: rank),
    ]
    caption = f"{measure['title']} {_ARROWS[measure['better']]}{spread}"
    return Table(caption, ["data set", *part["methods"]], body, foot)


def _evaluation(document: Mapping[str, Any]) -> Iterable[Table]:
    models = document.get("models") or ()
    if not models:
        return
    measures = {m["name"]: m for m in document["measures"]}
    body = []
    for name, measure in measures.items():
        values = [(model["measures"].get(name) or {}).get("value") for model in models]
        order = _high_first if measure["better"] == "high" else _low_first
        cells = _marked(values, lambda value: f"{value:.4f}", order)
        body.append([Cell(f"{measure['title']} {_ARROWS[measure['better']]}"), *cells])
    data = document["data"]
    size = f"{counted(data['instances'], 'instance')}, {counted(data['labels'], 'label')}"
    yield Table(size, ["measure", *(model["name"] for model in models)], body)


def _high_first(value: float) -> float:
    return -round(value, 4)


def _low_first(value: float) -> float:
    return round(value, 4)


def _marked(
    values: Sequence[Any], text: Callable[[Any], str], order: Callable[[Any], float]
) -> list[Cell]:
    """Cells of a row; the lowest in ``order`` is the best. One value alone is not marked."""
    known = sorted({order(value) for value in values if value is not None})
    marks = dict(zip(known, ("best", "second"), strict=False))
    if sum(value is not None for value in values) < 2:
        marks = {}
    return [
        Cell("–") if value is None else Cell(text(value), marks.get(order(value), ""))  # type: ignore[arg-type]
        for value in values
    ]


def _mean_text(cell: Mapping[str, Any]) -> str:
    spread = cell["std"]
    return f"{cell['mean']:.3f}" + ("" if spread is None else f" ± {spread:.3f}")


# From tables to text

_SPECIAL = {
    "\\": r"\textbackslash{}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "–": "--",
}
_ESCAPES = str.maketrans(_SPECIAL)


def escape_latex(text: str) -> str:
    r"""Escape a text for LaTeX.

    >>> print(escape_latex("A_1 & 50 %"))
    A\_1 \& 50 \%
    """
    return " ".join(text.split()).translate(_ESCAPES)


def _latex(table: Table) -> str:
    marks = {"best": r"\textbf{%s}", "second": r"\underline{%s}", "": "%s"}
    foot = [] if not table.foot else [r"\midrule", *_latex_rows([table.foot], marks)]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escape_latex(table.caption)}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(table.head) - 1)}}}",
            r"\toprule",
            " & ".join(map(escape_latex, table.head)) + r" \\",
            r"\midrule",
            *_latex_rows(table.body, marks),
            *foot,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _latex_rows(rows: Iterable[Sequence[Cell]], marks: Mapping[str, str]) -> list[str]:
    return [
        " & ".join(marks[cell.mark].replace("%s", escape_latex(cell.text)) for cell in row) + r" \\"
        for row in rows
    ]


def _markdown(table: Table) -> str:
    marks = {"best": "**%s**", "second": "<u>%s</u>", "": "%s"}
    rows = [*table.body, *([table.foot] if table.foot else [])]
    texts = [
        [marks[cell.mark].replace("%s", _escape_markdown(cell.text)) for cell in row]
        for row in rows
    ]
    return (
        f"{table.caption}\n\n{markdown_lines([_escape_markdown(h) for h in table.head], texts)}\n"
    )


def _escape_markdown(text: str) -> str:
    escaped = "".join(f"\\{c}" if c in r"\`*_[]|" else c for c in " ".join(text.split()))
    return escaped.replace("<", "&lt;")


def markdown_lines(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table with aligned columns."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = [head, ["-" * width for width in widths], *rows]
    padded = ((c.ljust(width) for c, width in zip(row, widths, strict=True)) for row in lines)
    return "\n".join(f"| {' | '.join(row)} |" for row in padded)


def _html(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in table.head)
    foot = f"<tfoot>\n{_html_row(table.foot)}</tfoot>\n" if table.foot else ""
    return (
        f"<table>\n<caption>{escape(table.caption)}</caption>\n<thead>\n<tr>{head}</tr>\n</thead>\n"
        f"<tbody>\n{''.join(map(_html_row, table.body))}</tbody>\n{foot}</table>\n"
    )


def _html_row(cells: Sequence[Cell]) -> str:
    marks = {"best": "<b>%s</b>", "second": "<u>%s</u>", "": "%s"}
    first, *rest = (marks[cell.mark].replace("%s", escape(cell.text)) for cell in cells)
    values = "".join(f"<td>{text}</td>" for text in rest)
    return f'<tr><th scope="row">{first}</th>{values}</tr>\n'


def _csv(document: Mapping[str, Any]) -> str:
    """One value per line: data set, measure, method, mean, standard deviation, rank, splits."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    parts = document.get("comparisons") or ()
    if parts:
        writer.writerow(["data set", "measure", "method", "mean", "std", "rank", "splits"])
        for part in parts:
            for line in part["means"]:
                for method, cell in zip(part["methods"], line["cells"], strict=True):
                    values = [cell[key] for key in ("mean", "std", "rank", "n")] if cell else []
                    writer.writerow([line["dataset"], line["measure"], method, *values])
        return stream.getvalue()
    writer.writerow(["model", "measure", "value"])
    for model in document.get("models") or ():
        for name, value in model["measures"].items():
            writer.writerow([model["name"], name, value["value"]])
    return stream.getvalue()
