"""What a reproduction is made of, and what it leaves behind."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd

from limo.report import document_from_parts

__all__ = [
    "Picture",
    "Reproduction",
    "Table",
    "printed_benchmark",
    "printed_synthetic",
    "synthetic_spread",
    "write",
]


@dataclass(frozen=True, eq=False)
class Table:
    """One table: how it reads, and the facts behind it.

    Attributes
    ----------
    name : str
        Of its files.
    title, note : str
        What stands above it.
    shown : DataFrame
        Text, as it is printed.
    facts : DataFrame
        Numbers, as they are stored in CSV.
    """

    name: str
    title: str
    note: str
    shown: pd.DataFrame
    facts: pd.DataFrame


@dataclass(frozen=True, eq=False)
class Picture:
    """One picture, drawn when it is written.

    Attributes
    ----------
    name : str
        Of its files.
    caption : str
        What it shows.
    draw : callable
        Gives a matplotlib figure.
    """

    name: str
    caption: str
    draw: Callable[[], Any]


@dataclass(frozen=True, eq=False)
class Reproduction:
    """A part of the paper, reproduced into a folder.

    Attributes
    ----------
    title : str
        What was reproduced.
    folder : Path
        Where.
    findings : tuple of str
        What came out, in sentences.
    tables : mapping of str to DataFrame
        The numbers of every table, by the name of its file.
    paths : tuple of Path
        Every file written: the Markdown page first, then tables and pictures.
    document : dict
        The same as plain JSON, for ``limo.report``.
    """

    title: str
    folder: Path
    findings: tuple[str, ...]
    tables: Mapping[str, pd.DataFrame]
    paths: tuple[Path, ...]
    document: dict[str, Any]

    def __str__(self) -> str:
        return "\n".join([self.title, *self.findings, f"Written to {self.paths[0]}."])


# Tables and pictures -> files: Markdown, CSV, LaTeX, SVG and PNG.

_LATEX = {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "±": r"$\pm$", "→": r"$\to$"}
_LATEX |= {"✓": r"$\checkmark$", "✗": r"$\times$", "↓": r"$\downarrow$", "↑": r"$\uparrow$"}
_LATEX |= {"≥": r"$\geq$", "≤": r"$\leq$", "–": "--", "−": "$-$"}
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "limo",  # the same picture is the same file
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def write(
    folder: str | Path,
    name: str,
    title: str,
    *,
    findings: Sequence[str],
    tables: Sequence[Table] = (),
    pictures: Sequence[Picture] = (),
    comparisons: Sequence[Mapping[str, Any]] = (),
) -> Reproduction:
    """Write one page with its tables and pictures, each in all its formats.

    Comparisons, parts that ``limo.report`` made, stand in the document only: a report draws them.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    page = place / f"{name}.md"
    page.write_text(_page(title, findings, tables, pictures), encoding="utf-8")
    paths = [page]
    for table in tables:
        paths += _write_table(place, table)
    for picture in pictures:
        paths += _write_picture(place, picture)
    facts = {table.name: table.facts for table in tables}
    document = document_from_parts(
        title, verdict=findings, comparisons=comparisons, tables=map(_plain, tables)
    )
    return Reproduction(title, place, tuple(findings), facts, tuple(paths), document)


def _page(
    title: str, findings: Sequence[str], tables: Sequence[Table], pictures: Sequence[Picture]
) -> str:
    parts = [f"# {title}", "\n".join(f"- {line}" for line in findings)]
    for picture in pictures:
        parts += [f"![{picture.caption}]({picture.name}.svg)", f"*{picture.caption}*"]
    for table in tables:
        parts += [f"## {table.title}", table.note, markdown(table.shown)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _write_table(folder: Path, table: Table) -> list[Path]:
    csv, tex = (folder / f"{table.name}.{kind}" for kind in ("csv", "tex"))
    table.facts.to_csv(csv, index=False)
    tex.write_text(latex(table), encoding="utf-8")
    return [csv, tex]


def _write_picture(folder: Path, picture: Picture) -> list[Path]:
    paths = [folder / f"{picture.name}.{kind}" for kind in ("svg", "png")]
    with mpl.rc_context(_STYLE):
        figure = picture.draw()
        figure.savefig(paths[0], metadata={"Date": None})
        figure.savefig(paths[1], dpi=160)
    return paths


def markdown(shown: pd.DataFrame) -> str:
    """A table in Markdown, its columns of one width."""
    lines = [list(map(str, shown.columns)), *shown.astype(str).to_numpy().tolist()]
    cells = [[cell.replace("|", r"\|") for cell in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    padded = [
        [cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in cells
    ]
    padded.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(line) + " |" for line in padded)


def latex(table: Table) -> str:
    """A table in LaTeX that needs no package but amssymb, for its ticks."""
    shown = table.shown.astype(str)
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_escaped(table.title)}}}",
            rf"\begin{{tabular}}{{l{'r' * (shown.shape[1] - 1)}}}",
            r"\hline",
            _line(shown.columns),
            r"\hline",
            *map(_line, shown.to_numpy().tolist()),
            r"\hline",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _line(cells: Iterable[Any]) -> str:
    return " & ".join(_escaped(str(cell)) for cell in cells) + r" \\"


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)


def _plain(table: Table) -> dict[str, Any]:
    """A table as a report takes it."""
    return {
        "title": table.title,
        "note": table.note,
        "columns": list(map(str, table.shown.columns)),
        "rows": table.shown.astype(str).to_numpy().tolist(),
    }


# The numbers printed in the paper's appendix, as tables.


def _read(name: str) -> pd.DataFrame:
    with files("limo.reproduce").joinpath("printed", name).open(encoding="utf-8") as file:
        return pd.read_csv(file).rename(columns={"algorithm": "method"})


def printed_synthetic() -> pd.DataFrame:
    """Both synthetic tables: measure, method, value, relative."""
    tables = [_read(f"synthetic_{kind}.csv") for kind in ("ranking", "classification")]
    return pd.concat(tables, ignore_index=True)


def synthetic_spread() -> pd.DataFrame:
    """How far experiments on the synthetic data lie apart: measure, method, sd."""
    return _read("synthetic_spread.csv")


def printed_benchmark() -> pd.DataFrame:
    """The big table: dataset, method, measure, mean, std, rank."""
    return _read("benchmark.csv")
