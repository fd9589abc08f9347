"""``limo reproduce``: the paper's tables and figures, beside its own numbers."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import limo
from limo._cli.command import WrongUse, examples
from limo._cli.compare import watching
from limo._cli.console import print_json, print_text, progress
from limo._cli.options import Force, Jobs, Json

__all__ = ["EXAMPLES", "reproduce"]


EXAMPLES = examples(
    ("the synthetic data: Figures 1 to 3, both tables", "limo reproduce synthetic"),
    ("the big table, in a quick form", "limo reproduce benchmark --quick -o benchmark"),
    ("the theory, executed", "limo reproduce theory -o theory"),
)

_PARTS = {
    "synthetic": "limo-synthetic",
    "benchmark": "limo-benchmark",
    "theory": "limo-theory",
}
# What a folder of an earlier run holds, so that it may be written into again.
_OURS = ("rows.sqlite", "facts")


def reproduce(
    part: Annotated[
        Literal["synthetic", "benchmark", "theory"],
        typer.Argument(metavar="synthetic|benchmark|theory", help="Which part of the paper."),
    ],
    to: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="A folder; by default limo-PART here.", show_default=False
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer repetitions, smaller sets: minutes, not an hour.")
    ] = False,
    jobs: Jobs = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Reproduce a part of the paper: tables and figures beside the printed numbers.

    Writes Markdown, CSV, LaTeX, pictures and a report into a folder. Results are kept there: a run
    that was stopped goes on, and the same command again only draws. The benchmark needs the five
    data sets; limo datasets fetch gets them.
    """
    folder = to or Path(_PARTS[part])
    _check_folder(folder, force)
    with progress(f"Reproducing {part}") as advance, _no_empty_folder(folder):
        found = _run(part, folder, quick, jobs, advance)
        page = limo.report.write(found.document, folder / "report.html", force=True)
    if json:
        print_json(found.document)
        return
    print_text(found.title, style="bold")
    for sentence in found.findings:
        print_text(sentence)
    print_text(f"Tables and pictures are in {folder}; the report is {page}.")


def _run(part: str, folder: Path, quick: bool, jobs: int | None, advance: Any) -> Any:
    """Call what reproduces the part, in its full size or a small one."""
    tell = watching(advance)
    if part == "benchmark":
        return limo.reproduce.benchmark(folder, quick=quick, n_jobs=jobs, progress=tell)
    if part == "synthetic":
        size = {"n_experiments": 2, "n_splits": 2} if quick else {}
        return limo.reproduce.synthetic(folder, n_jobs=jobs, progress=tell, **size)
    size = {"n_predictors": 100, "n_draws": 5} if quick else {}
    return limo.reproduce.theory(folder, progress=tell, **size)


@contextmanager
def _no_empty_folder(folder: Path) -> Iterator[None]:
    """Leave no folder behind that nothing was written into."""
    try:
        yield
    finally:
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def _check_folder(folder: Path, force: bool) -> None:
    """Refuse a folder that holds something else than an earlier run."""
    if folder.exists() and not folder.is_dir():
        raise WrongUse(f"{folder} is a file; name a folder.")
    if not folder.parent.is_dir():
        raise WrongUse(f"The folder {folder.parent} does not exist; create it first.")
    strange = folder.is_dir() and any(folder.iterdir())
    if strange and not force and not any((folder / name).exists() for name in _OURS):
        raise WrongUse(
            f"{folder} holds other files. Choose another folder, or write into it with --force."
        )
