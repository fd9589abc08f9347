"""``limo diff``: what changed between two evaluations, beyond noise."""

import json as json_module
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

import limo
from limo._cli.command import LIMIT, examples
from limo._cli.console import print_error, print_json, print_table, print_text
from limo._cli.inputs import check_file
from limo._cli.options import Json
from limo._text import counted

EXAMPLES = examples(
    ("what changed between two evaluations", "limo diff old.json new.json"),
    (
        "evaluations to compare are stored with intervals",
        "limo evaluate -y Y.csv -s S.csv -p P.csv --intervals 0.95 --json > new.json",
    ),
    ("in CI: exit code 3 if a measure is worse", "limo diff old.json new.json --fail-if-worse"),
)

_STYLES = {"better": "bold green", "worse": "bold red"}


def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="JSON of limo evaluate, earlier.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="JSON of limo evaluate, later.")],
    fail_if_worse: Annotated[
        bool,
        typer.Option(
            "--fail-if-worse", help="Exit with code 3 if a measure is worse beyond noise."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Say which measures changed between two evaluations, and which changes are beyond noise.

    Both must be stored with limo evaluate --intervals 0.95 --json: without intervals nobody can
    tell a change from noise. P-values are adjusted for all changes (Holm). On the same instances
    this is cautious; to find smaller changes, evaluate the scores of both models in one command.
    """
    found = limo.report.changes(_read(old), _read(new))
    worse = [
        line
        for model in found["models"]
        for line in model["measures"]
        if line["verdict"] == "worse"
    ]
    if json:
        print_json(found)
    else:
        _print(found)
    if worse and fail_if_worse:
        titles = ", ".join(line["title"] for line in worse)
        print_error(f"worse beyond noise: {titles}.", prefix="Limit: ")
        raise typer.Exit(LIMIT)


def _read(file: Path) -> Any:
    check_file(str(file))
    try:
        return json_module.loads(file.read_bytes())
    except (ValueError, RecursionError):
        raise ValueError(
            f"{file} is not the JSON that limo evaluate --json prints. Create it with limo "
            "evaluate ... --intervals 0.95 --json."
        ) from None


def _print(found: dict[str, Any]) -> None:
    for model in found["models"]:
        names = dict.fromkeys((model["old"], model["new"]))
        body = [
            [
                line["title"],
                line["better"],
                *(f"{line[when]:.4f}" for when in ("old", "new")),
                f"{line['change']:+.4f}",
                "-" if line["error"] is None else f"{line['error']:.4f}",
                Text(line["verdict"], style=_STYLES.get(line["verdict"], "")),
            ]
            for line in model["measures"]
        ]
        head = ["measure", "better", "old", "new", "change", "error", "verdict"]
        print_table(" and ".join(names), head, body)
    for sentence in _sentences(found):
        print_text(sentence)


def _sentences(found: dict[str, Any]) -> list[str]:
    lines = [line for model in found["models"] for line in model["measures"]]
    count = {
        verdict: sum(line["verdict"] == verdict for line in lines)
        for verdict in ("better", "worse", "within noise", "same", "cannot tell")
    }
    said = [f"{verdict}: {counted(n, 'measure')}" for verdict, n in count.items() if n]
    text = [f"{'; '.join(said) or 'No measure is in both'}."]
    if count["cannot tell"]:
        text.append(
            "Without intervals a change may be noise: store both evaluations with "
            "limo evaluate --intervals 0.95 --json."
        )
    if found["same_truth"] is False:
        text.append("The true labels differ: the two evaluations judge different instances.")
    if not found["same_conventions"]:
        text.append("The conventions differ, which alone can change values.")
    return text
