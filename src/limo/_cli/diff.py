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
        "evaluations to compare, instance by instance",
        "limo evaluate -y Y.csv -s S.csv -p P.csv --keep-instances --json > new.json",
    ),
    ("in CI: exit code 3 if a measure is worse", "limo diff old.json new.json --fail-if-worse"),
)

_STYLES = {"better": "bold green", "worse": "bold red"}


def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The earlier JSON of limo evaluate.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The later JSON of limo evaluate.")],
    fail_if_worse: Annotated[
        bool,
        typer.Option(
            "--fail-if-worse", help="Exit with code 3 if a measure is worse beyond noise."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Say which measures changed between two evaluations, and which changes are beyond noise.

    Evaluations of the same instances are compared instance by instance if both were stored with
    limo evaluate --keep-instances --json; otherwise by their standard errors, which finds only
    larger changes. P-values are adjusted for all changes (Holm).
    """
    document = limo.report.changes(_read(old), _read(new))
    worse = [
        line
        for model in document["models"]
        for line in model["measures"]
        if line["verdict"] == "worse"
    ]
    if json:
        print_json(document)
    else:
        _print(document)
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
            "evaluate ... --keep-instances --json."
        ) from None


def _print(document: dict[str, Any]) -> None:
    for model in document["models"]:
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
    for sentence in _sentences(document):
        print_text(sentence)


def _sentences(document: dict[str, Any]) -> list[str]:
    lines = [line for model in document["models"] for line in model["measures"]]
    count = {
        verdict: sum(line["verdict"] == verdict for line in lines)
        for verdict in ("better", "worse", "within noise", "same", "cannot tell")
    }
    said = [f"{verdict}: {counted(n, 'measure')}" for verdict, n in count.items() if n]
    text = [f"{'; '.join(said) or 'No measure is in both'}."]
    if count["cannot tell"]:
        text.append(
            "Without intervals a change may be noise: store both evaluations with "
            "limo evaluate --keep-instances --json."
        )
    if document["same_truth"] is False:
        text.append(
            "The true labels differ: the two evaluations judge different instances, so they are "
            "compared by their standard errors, not in pairs."
        )
    elif not all(line["paired"] for line in lines):
        text.append(
            "Not paired: compared by the standard errors of both, which is cautious on the same "
            "instances. Store both with limo evaluate --keep-instances --json to find smaller "
            "changes."
        )
    elif lines:
        text.append("Compared instance by instance.")
    if not document["same_conventions"]:
        text.append("The conventions differ, which alone can change values.")
    return text
