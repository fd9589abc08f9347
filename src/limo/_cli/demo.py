"""``limo demo``: three parts on built-in data: separable labels, margins, thresholds."""

import base64
import importlib.util
import io
import itertools
from pathlib import Path
from typing import Annotated, Any

import typer

import limo
from limo._cli.command import examples
from limo._cli.console import print_evaluation, print_json, print_table, print_text, progress
from limo._cli.inputs import output, typed_command
from limo._cli.options import Conventions, Force, Json, Seed

EXAMPLES = examples(
    ("four models in three parts, and the report", "limo demo"),
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
    """Try limo on the paper's synthetic data: separable labels, margins, and thresholds.

    First, the triangles of the paper's Figure 1, and which label no line separates. Second, which
    margin gives which measure: LIMO maximises label-wise and instance-wise margins, LIMO-label and
    LIMO-inst one of the two, one-vs-rest logistic regression neither. Cross-validation on the
    training half chooses the regularisation strength of each, and one global threshold is fitted
    for micro-F1, so that only their rankings differ. Third, the same scores cut in four ways.
    """
    to = None if no_report else _target(report, force)
    with progress("Training") as advance:
        document = _evaluate(instances, seed, conventions, advance)
        if to is not None and importlib.util.find_spec("matplotlib"):
            document["pictures"] = [_picture(instances, seed)]
    if to is not None:
        limo.report.write(document, to, force=force)
    if json:
        print_json(document)
        return
    first, third = document["tables"]
    _print_act("1", first)
    print_text("Part 2. Which margin gives which ranking measure?", style="bold")
    print_evaluation(document)
    print_text()
    _print_act("3", third)
    if to is not None:
        print_text(f"The report is in {to.resolve()}: open it in a browser.")


def _print_act(number: str, table: dict[str, Any]) -> None:
    rows = [[c if isinstance(c, str) else f"{c:.3f}" for c in row] for row in table["rows"]]
    print_text(f"Part {number}. {table['title']}", style="bold")
    texts = sum(isinstance(cell, str) for cell in table["rows"][0])
    print_table("", table["columns"], rows, numbers=texts)
    print_text(f"{table['note']}\n")


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
    scores, labels, cuts = {}, {}, {}
    for place, (name, model) in enumerate(models.items()):
        advance(place, len(models), name)
        model.fit(train.X, train.Y)
        scores[name], labels[name] = limo.scores_of(model, test.X), model.predict(test.X)
        if name in _CUT:
            cuts[name] = _cut(limo.scores_of(model, train.X), train, scores[name], test)
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
    document["tables"] = [_separable(document), _four_cuts(cuts)]
    return document


# Part 1: what can be separated

_WHERE = {
    "A": "right, top, bottom",
    "B": "top, left, bottom",
    "C": "top, bottom",
    "D": "left, bottom",
}


def _separable(document: dict[str, Any]) -> dict[str, Any]:
    """The share of pairs in order of each label, by one-vs-rest."""
    place = [model["name"] for model in document["models"]].index("one-vs-rest")
    auc = document["labels"]["models"][place]["auc"]
    return {
        "title": "Which labels can a linear model separate?",
        "note": "Pairs in order (AUC) of one-vs-rest logistic regression. The two triangles of C "
        "are opposite each other: no line has both on one side, so no linear model, whatever its "
        "loss, does much better than chance on C.",
        "columns": ["label", "triangles", "pairs in order"],
        "rows": [
            [name, _WHERE[name], value]
            for name, value in zip(document["labels"]["names"], auc, strict=True)
        ],
    }


def _picture(instances: int, seed: int) -> dict[str, str]:
    figure = limo.datasets.plot_triangles(limo.datasets.figure1(instances, seed=seed))
    with io.BytesIO() as file:
        figure.savefig(file, format="png", dpi=110)
        png = base64.b64encode(file.getvalue()).decode()
    return {"caption": "Part 1: the triangles of Figure 1, and the labels of each.", "png": png}


# Part 3: the same scores, cut in four ways

_CUT = ("LIMO", "one-vs-rest")


def _cut(own: Any, train: Any, scores: Any, test: Any) -> dict[str, float]:
    """Instance-F1 on the test half with each kind of threshold, fitted on the training half."""
    rules = {
        "one threshold": limo.GlobalThreshold("instance_f1"),
        "one per label": limo.LabelThreshold("f1"),
        "t(x) on scores, SVR": limo.InstanceThreshold(regressor=_regression()),
        "t(x) on features, SVR": limo.InstanceThreshold(source="features", regressor=_regression()),
    }
    return {
        name: limo.instance_f1(test.Y, rule.fit(train.Y, own, train.X).predict(scores, test.X))
        for name, rule in rules.items()
    }


def _regression() -> Any:
    """Support vector regression of standardised thresholds, so that their scale does not matter."""
    svm = importlib.import_module("sklearn.svm")
    preprocessing = importlib.import_module("sklearn.preprocessing")
    compose = importlib.import_module("sklearn.compose")
    pipeline = importlib.import_module("sklearn.pipeline")
    scaled = pipeline.make_pipeline(preprocessing.StandardScaler(), svm.SVR())
    return compose.TransformedTargetRegressor(scaled, transformer=preprocessing.StandardScaler())


def _four_cuts(cuts: dict[str, dict[str, float]]) -> dict[str, Any]:
    first = next(iter(cuts.values()))
    return {
        "title": "The same scores, cut in four ways",
        "note": "Instance-F1 on the test half; nothing but the thresholds differs. Support vector "
        "regression (SVR) is a nonlinear model: it can learn from the features which triangle a "
        "point is in, which the linear scores do not show. The threshold was the limit, for LIMO "
        "and for one-vs-rest.",
        "columns": ["threshold", *cuts],
        "rows": [[name, *(own[name] for own in cuts.values())] for name in first],
    }


def _models() -> dict[str, Any]:
    one_vs_rest = limo.BinaryRelevance("logistic")
    return {
        "LIMO": _limo("micro_auc", "rows mean + columns mean"),
        "LIMO-label": _limo("ranking_loss", "rows mean"),
        "LIMO-inst": _limo("macro_auc", "columns mean"),
        "one-vs-rest": limo.ThresholdClassifier(one_vs_rest, "global", measure="micro_f1", cv=3),
    }


def _limo(measure: str, terms: str) -> Any:
    """LIMO with these margins, its regularisation strength chosen for the measure."""
    return limo.LIMOClassifierCV(measure, terms=[terms], alphas=_STRENGTHS)
