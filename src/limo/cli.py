"""The command line: arguments in, one call per verb, tables out."""

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier

from limo.datasets import figure1
from limo.diagnosis import explain
from limo.evaluation import evaluate
from limo.measures.table import EFFECTIVENESS, MEASURES
from limo.responses import scores_of
from limo.tables import Rows

__all__ = ["app", "main"]

app = typer.Typer(
    help="Multi-label learning, judged and explained through margins.",
    no_args_is_help=True,
    add_completion=False,
)

_CONVENTIONS_HELP = "What ties and empty rows count: standard, paper or sklearn."
_MARKS = {"YES": "yes", "IN_THE_LIMIT": "limit", "NO": "-"}


@app.command()
def demo(
    instances: Annotated[int, typer.Option(min=10, help="How many points to draw.")] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same table.")] = 0,
    conventions: Annotated[str, typer.Option(help=_CONVENTIONS_HELP)] = "standard",
) -> None:
    """Evaluate a scikit-learn model on the paper's synthetic data, and say why.

    Example: limo demo --instances 500 --conventions sklearn
    """
    data = figure1(instances, seed=seed)
    X_train, X_test, Y_train, Y_test = train_test_split(
        data.X, data.Y, test_size=0.5, random_state=seed
    )
    model = OneVsRestClassifier(LogisticRegression()).fit(X_train, Y_train)
    try:
        evaluation = evaluate(
            Y_test,
            scores_of(model, X_test),
            model.predict(X_test),
            conventions=conventions,
            label_names=data.label_names,
        )
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    console = Console()
    console.print("One-vs-rest logistic regression on the triangles of the paper's Figure 1")
    console.print(_table(evaluation.heading, evaluation.measure_rows()))
    console.print(_table("margins", evaluation.margin_rows()))
    console.print(explain(evaluation))


@app.command()
def measures() -> None:
    """List the measures, and which effectiveness of a predictor makes each as good as can be.

    Example: limo measures
    """
    rows: Rows = [("name", "judges", "better", "threshold", *EFFECTIVENESS)]
    rows += [
        (
            m.name,
            m.needs,
            m.better,
            m.threshold or "-",
            *(_MARKS[m.optimised_by[kind].name] for kind in EFFECTIVENESS),
        )
        for m in MEASURES.values()
    ]
    Console().print(_table("measures", rows))


def _table(title: str, rows: Rows) -> Table:
    head, *body = rows
    table = Table(title=title, title_justify="left")
    for number, name in enumerate(head):
        table.add_column(name, no_wrap=number == 0)
    for row in body:
        table.add_row(*row)
    return table


def main() -> None:
    """Run the command line."""
    app()
