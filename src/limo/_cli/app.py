"""All commands under one name."""

from typing import Annotated

import typer

import limo
from limo._cli import compare, demo, evaluate, fit, measures, predict, report, reproduce
from limo._cli.command import add_command, examples
from limo._cli.datasets import data_app

__all__ = ["app"]


_HELP = """Multi-label learning, judged and explained through margins.

Start with [bold]limo demo[/]. Every command has examples: [bold]limo evaluate --help[/].
"""

app = typer.Typer(
    name="limo",
    help=_HELP,
    epilog=examples(
        ("see what limo does, on built-in data", "limo demo"),
        ("judge any model by its scores", "limo evaluate --truth Y.csv --scores S.csv"),
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
    """Options that stand before the command."""


_START, _JUDGE, _LEARN, _LOOK = "Start here", "Judge", "Learn", "Look around"

for _function, _epilog, _panel in (
    (demo.demo, demo.EXAMPLES, _START),
    (evaluate.evaluate, evaluate.EXAMPLES, _JUDGE),
    (report.report, report.EXAMPLES, _JUDGE),
    (compare.compare, compare.EXAMPLES, _JUDGE),
    (reproduce.reproduce, reproduce.EXAMPLES, _JUDGE),
    (fit.fit, fit.EXAMPLES, _LEARN),
    (predict.predict, predict.EXAMPLES, _LEARN),
    (measures.measures, measures.EXAMPLES, _LOOK),
):
    add_command(app, _function, epilog=_epilog, rich_help_panel=_panel)

app.add_typer(data_app, name="datasets", rich_help_panel=_LOOK)
