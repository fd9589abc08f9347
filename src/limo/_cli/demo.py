"""``limo demo``: train, evaluate and report on built-in data."""

import itertools
from pathlib import Path
from typing import Annotated, Any

import typer

import limo
from limo._cli.command import examples
from limo._cli.console import print_evaluation, print_json, print_text, progress
from limo._cli.inputs import output, typed_command
from limo._cli.options import Conventions, Force, Json, Seed

EXAMPLES = examples(
    ("train four models, evaluate them, write the report", "limo demo"),
    ("name the report", "limo demo --report mine.html"),
    ("for programs, without a report", "limo demo --no-report --json"),
)

_STEM = "limo-demo"
_STRENGTHS = (1e-2, 1e-4, 1e-6)  # two features need little regularisation


def demo(
    instances: Annotated[
        int,
        typer.Option(
            "--instances", min=40, help="Instances to generate; half of them are for training."
        ),
    ] = 2000,
    seed: Seed = 0,
    conventions: Conventions = "standard",
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            help="The HTML file; by default limo-demo.html, or the next free name.",
            show_default=False,
        ),
    ] = None,
    no_report: Annotated[bool, typer.Option("--no-report", help="Do not write a report.")] = False,
    json: Json = False,
    force: Force = False,
) -> None:
    """Train four models on the paper's synthetic data, and see which measures each is good on.

    LIMO maximises label-wise and instance-wise margins, LIMO-label and LIMO-inst one of the two;
    one-vs-rest logistic regression maximises neither. Cross-validation on the training half
    chooses the regularisation strength of each. All use one global threshold, cross-fitted for
    micro-F1, so that only their rankings differ.
    """
    to = None if no_report else _target(report, force)
    with progress("Training") as advance:
        document = _evaluate(instances, seed, conventions, advance)
    if to is not None:
        limo.report.write(document, to, force=force)
    if json:
        print_json(document)
        return
    print_evaluation(document)
    if to is not None:
        print_text(f"\nThe report is in {to.resolve()}: open it in a browser.")


def _target(report: Path | None, force: bool) -> Path:
    """The file asked for, or the first free default name."""
    if report is not None:
        return output(report, force=force)
    names = itertools.chain([_STEM], (f"{_STEM}-{k}" for k in itertools.count(2)))
    first = Path(f"{_STEM}.html")
    free = first if force else next(p for n in names if not (p := Path(f"{n}.html")).exists())
    return output(free, force=force)


def _evaluate(instances: int, seed: int, conventions: str, advance: Any) -> dict[str, Any]:
    data = limo.datasets.figure1(instances, seed=seed)
    train, test = limo.datasets.split(data, 0.5, seed=seed)
    models = _models()
    scores, labels = {}, {}
    for place, (name, model) in enumerate(models.items()):
        advance(place, len(models), name)
        model.fit(train.X, train.Y)
        scores[name], labels[name] = limo.scores_of(model, test.X), model.predict(test.X)
    advance(len(models), len(models), "evaluating")
    document: dict[str, Any] = limo.report.evaluation_document(
        test.Y,
        scores,
        labels,
        conventions=conventions,
        label_names=data.label_names,
        title="Four models on the triangles of the paper's Figure 1",
        provenance=limo.report.collect_provenance(typed_command(), seeds=seed),
    )
    return document


def _models() -> dict[str, Any]:
    one_vs_rest = limo.BinaryRelevance("logistic")
    return {
        "LIMO": _limo("micro_auc", 1, 1),
        "LIMO-label": _limo("ranking_loss", 1, 0),
        "LIMO-inst": _limo("macro_auc", 0, 1),
        "one-vs-rest": limo.ThresholdClassifier(one_vs_rest, "global", measure="micro_f1", cv=3),
    }


def _limo(measure: str, label_weight: float, instance_weight: float) -> Any:
    """LIMO with these margin weights, its regularisation strength chosen for the measure."""
    weights = [(label_weight, instance_weight, 0)]
    return limo.LIMOClassifierCV(measure, weights=weights, alphas=_STRENGTHS)
