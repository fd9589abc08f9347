"""The ``limo`` command: all commands in one application."""

from typing import Annotated

import typer

import limo
from limo._cli import (
    cite,
    compare,
    demo,
    diff,
    evaluate,
    fit,
    measures,
    predict,
    report,
    reproduce,
)
from limo._cli.command import add_command, examples
from limo._cli.cut import cut_app
from limo._cli.datasets import data_app

_HELP = """Multi-label learning: train, evaluate, and explain results by margins.

Start with [bold]limo demo[/]. Every command has examples: [bold]limo evaluate --help[/].
"""

app = typer.Typer(
    name="limo",
    help=_HELP,
    epilog=examples(
        ("try limo on built-in data", "limo demo"),
        ("evaluate any model by its scores", "limo evaluate --truth Y.csv --scores S.csv"),
        ("complete commands, measures and data sets with the tab key", "limo --install-completion"),
    ),
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"limo {limo.__version__}")
        raise typer.Exit


@app.callback()
def _everywhere(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options that go before the command."""


_START, _EVALUATE, _TRAIN, _LOOK_UP = "Start here", "Evaluate", "Train and predict", "Look up"

for _function, _epilog, _panel in (
    (demo.demo, demo.EXAMPLES, _START),
    (evaluate.evaluate, evaluate.EXAMPLES, _EVALUATE),
    (diff.diff, diff.EXAMPLES, _EVALUATE),
    (report.report, report.EXAMPLES, _EVALUATE),
    (compare.compare, compare.EXAMPLES, _EVALUATE),
    (reproduce.reproduce, reproduce.EXAMPLES, _EVALUATE),
    (fit.fit, fit.EXAMPLES, _TRAIN),
    (predict.predict, predict.EXAMPLES, _TRAIN),
    (measures.measures, measures.EXAMPLES, _LOOK_UP),
    (cite.cite, cite.EXAMPLES, _LOOK_UP),
):
    add_command(app, _function, epilog=_epilog, rich_help_panel=_panel)

app.add_typer(cut_app, name="cut", rich_help_panel=_TRAIN)
app.add_typer(data_app, name="datasets", rich_help_panel=_LOOK_UP)
