"""``limo reproduce``: the paper's tables and figures beside the printed numbers."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import limo
from limo._cli.command import WrongUse, examples
from limo._cli.compare import progress_bar
from limo._cli.console import print_json, print_text, progress
from limo._cli.options import Force, Jobs, Json

EXAMPLES = examples(
    ("the synthetic data: Figures 1 to 3 and both tables", "limo reproduce synthetic"),
    ("the benchmark, fewer splits and data sets", "limo reproduce benchmark --quick -o benchmark"),
    ("the theory, checked by computation", "limo reproduce theory -o theory"),
)

# Either of these marks the folder of an earlier run, which may be written to again.
_MARKS = ("rows.sqlite", "facts")


def reproduce(
    part: Annotated[
        Literal["synthetic", "benchmark", "theory"],
        typer.Argument(metavar="synthetic|benchmark|theory", help="Which part of the paper."),
    ],
    to: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The folder; by default limo-PART."),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Fewer repetitions and smaller data: minutes, not an hour."),
    ] = False,
    jobs: Jobs = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Reproduce a part of the paper: its tables and figures beside the printed numbers.

    Writes Markdown, CSV, LaTeX, pictures and a report to a folder. Results are stored there: the
    same command resumes an interrupted run, and only draws if all runs are stored. The benchmark
    needs five data sets; limo datasets fetch downloads them.
    """
    folder = to or Path(f"limo-{part}")
    _check_folder(folder, force)
    with progress(f"Reproducing {part}") as advance, _no_empty_folder(folder):
        result = _run(part, folder, quick, jobs, advance)
        page = limo.report.write(result.document, folder / "report.html", force=True)
    if json:
        print_json(result.document)
        return
    print_text(result.title, style="bold")
    for sentence in result.findings:
        print_text(sentence)
    print_text(f"Tables and pictures are in {folder}; the report is {page}.")


def _run(part: str, folder: Path, quick: bool, jobs: int | None, advance: Any) -> Any:
    """Reproduce the part, in full or quickly."""
    show = progress_bar(advance)
    if part == "benchmark":
        return limo.reproduce.benchmark(folder, quick=quick, n_jobs=jobs, progress=show)
    if part == "synthetic":
        size = {"n_experiments": 2, "n_splits": 2} if quick else {}
        return limo.reproduce.synthetic(folder, n_jobs=jobs, progress=show, **size)
    fewer: dict[str, Any] = {"n_predictors": 100, "n_draws": 5, "n_worlds": 60} if quick else {}
    return limo.reproduce.theory(folder, progress=show, **fewer)


@contextmanager
def _no_empty_folder(folder: Path) -> Iterator[None]:
    """Remove the folder if nothing was written to it."""
    try:
        yield
    finally:
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def _check_folder(folder: Path, force: bool) -> None:
    """Reject a folder with other files than those of an earlier run."""
    if folder.exists() and not folder.is_dir():
        raise WrongUse(f"{folder} is a file; name a folder.")
    if not folder.parent.is_dir():
        raise WrongUse(f"The folder {folder.parent} does not exist; create it first.")
    occupied = folder.is_dir() and any(folder.iterdir())
    if occupied and not force and not any((folder / name).exists() for name in _MARKS):
        raise WrongUse(f"{folder} has other files in it. Choose another folder, or use --force.")
