"""What all reproductions share: run plans, read printed numbers, write a page with its files."""

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd

from limo._system import Later, need
from limo.experiment import Plan, Progress, run
from limo.report import document_from_parts

mpl = Later("matplotlib")

OnProgress = Callable[[Progress], object]


@dataclass(frozen=True, eq=False)
class ResultTable:
    """One table of a page: as it is shown, and its numbers.

    Attributes
    ----------
    name : str
        The name of its files.
    title, note : str
        Shown above the table.
    shown : DataFrame
        Text, for Markdown and LaTeX.
    facts : DataFrame
        Numbers, for CSV.
    """

    name: str
    title: str
    note: str
    shown: pd.DataFrame
    facts: pd.DataFrame


@dataclass(frozen=True, eq=False)
class Picture:
    """One picture of a page, drawn when it is written.

    Attributes
    ----------
    name : str
        The name of its files.
    caption : str
        What it shows.
    draw : callable
        Returns a matplotlib figure.
    """

    name: str
    caption: str
    draw: Callable[[], Any]


@dataclass(frozen=True, eq=False)
class Reproduction:
    """A part of the paper, reproduced in a folder.

    Attributes
    ----------
    title : str
        What was reproduced.
    folder : Path
        Where the files are.
    findings : tuple of str
        The results, in sentences.
    tables : mapping of str to DataFrame
        The numbers of every table, by the name of its file.
    paths : tuple of Path
        All files written: the Markdown page first, then tables and pictures.
    document : dict
        The same as plain JSON, for ``limo.report``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from limo.reproduce import Reproduction
    >>> page = Path("theory.md")
    >>> print(Reproduction("The theory", page.parent, ("Table 2 holds.",), {}, (page,), {}))
    The theory
    Table 2 holds.
    Written to theory.md.
    """

    title: str
    folder: Path
    findings: tuple[str, ...]
    tables: Mapping[str, pd.DataFrame]
    paths: tuple[Path, ...]
    document: dict[str, Any]

    def __str__(self) -> str:
        return "\n".join([self.title, *self.findings, f"Written to {self.paths[0]}."])


def run_plans(
    plans: Sequence[Plan], folder: str | Path, n_jobs: int | None, progress: OnProgress | None
) -> pd.DataFrame:
    """Run plans into the store ``rows.sqlite`` of a folder, and return all their rows."""
    store = Path(folder) / "rows.sqlite"
    need("matplotlib")  # now, rather than at the end of a long reproduction
    store.parent.mkdir(parents=True, exist_ok=True)
    rows = [run(plan, store, n_jobs=n_jobs, progress=progress) for plan in plans]
    return pd.concat(rows, ignore_index=True)


def read_printed(name: str) -> pd.DataFrame:
    """Read a table of numbers printed in the paper's appendix."""
    with files("limo.reproduce").joinpath("printed", name).open(encoding="utf-8") as file:
        return pd.read_csv(file).rename(columns={"algorithm": "method"})


# Pages: Markdown, with each table as CSV and LaTeX and each picture as SVG and PNG.

# Letters that LaTeX's default fonts lack.
_LATEX = str.maketrans(
    {
        "±": r"$\pm$",
        "→": r"$\to$",
        "↓": r"$\downarrow$",
        "↑": r"$\uparrow$",
        "✓": r"$\checkmark$",
        "✗": r"$\times$",
        "≥": r"$\geq$",
        "≤": r"$\leq$",
        "–": "--",
        "−": "$-$",
    }
)
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "limo",  # the same picture is the same file
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def write_page(
    folder: str | Path,
    name: str,
    title: str,
    *,
    findings: Sequence[str],
    tables: Sequence[ResultTable] = (),
    pictures: Sequence[Picture] = (),
    comparisons: Sequence[Mapping[str, Any]] = (),
) -> Reproduction:
    """Write a page with its tables and pictures, each in all its formats.

    Comparisons, made by ``limo.report``, are only part of the document: a report draws them.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    page = target / f"{name}.md"
    page.write_text(_page(title, findings, tables, pictures), encoding="utf-8")
    paths = [page]
    for table in tables:
        paths += _write_table(target, table)
    drawn = [_write_picture(target, picture) for picture in pictures]
    paths += [path for both in drawn for path in both]
    facts = {table.name: table.facts for table in tables}
    document = document_from_parts(
        title,
        verdict=findings,
        comparisons=comparisons,
        tables=map(_document_part, tables),
        pictures=[
            {"caption": one.caption, "png": base64.b64encode(png.read_bytes()).decode()}
            for one, (_, png) in zip(pictures, drawn, strict=True)
        ],
    )
    return Reproduction(title, target, tuple(findings), facts, tuple(paths), document)


def _page(
    title: str, findings: Sequence[str], tables: Sequence[ResultTable], pictures: Sequence[Picture]
) -> str:
    parts = [f"# {title}", "\n".join(f"- {line}" for line in findings)]
    for picture in pictures:
        parts += [f"![{picture.caption}]({picture.name}.svg)", f"*{picture.caption}*"]
    for table in tables:
        parts += [f"## {table.title}", table.note, markdown(table.shown)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _write_table(folder: Path, table: ResultTable) -> list[Path]:
    csv, tex = (folder / f"{table.name}.{suffix}" for suffix in ("csv", "tex"))
    table.facts.to_csv(csv, index=False)
    tex.write_text(latex(table), encoding="utf-8")
    return [csv, tex]


def _write_picture(folder: Path, picture: Picture) -> list[Path]:
    paths = [folder / f"{picture.name}.{suffix}" for suffix in ("svg", "png")]
    with mpl.rc_context(_STYLE):
        figure = picture.draw()
        figure.savefig(paths[0], metadata={"Date": None})
        figure.savefig(paths[1], dpi=160)
    return paths


def markdown(shown: pd.DataFrame) -> str:
    """A table in Markdown. By hand: pandas would need one more dependency, tabulate."""
    lines = [list(map(str, shown.columns)), *shown.astype(str).to_numpy().tolist()]
    cells = [[cell.replace("|", r"\|") for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    padded = [
        [cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in cells
    ]
    padded.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(line) + " |" for line in padded)


def latex(table: ResultTable) -> str:
    """A table in LaTeX; it needs the packages booktabs and amssymb."""
    shown = table.shown.astype(str)
    style = shown.style.hide(axis="index").format(escape="latex")
    text: str = style.format_index(escape="latex", axis="columns").to_latex(
        column_format="l" + "r" * (shown.shape[1] - 1),
        position_float="centering",
        hrules=True,
        caption=table.title.replace("_", r"\_"),  # pandas does not escape the caption
    )
    return text.translate(_LATEX)


def _document_part(table: ResultTable) -> dict[str, Any]:
    """A table as ``limo.report`` takes it."""
    return {
        "title": table.title,
        "note": table.note,
        "columns": list(map(str, table.shown.columns)),
        "rows": table.shown.astype(str).to_numpy().tolist(),
    }
