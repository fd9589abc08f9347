"""``limo cut``: thresholds for the scores of any model, fitted to a measure and then applied."""

import math
import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

import limo
from limo._cli.command import WrongUse, add_command, examples
from limo._cli.console import print_json, print_table, print_text, progress
from limo._cli.evaluate import Truth, Weights
from limo._cli.files import check_files, pair, read_inputs
from limo._cli.inputs import Matching, check_file, output, read_sample_weight
from limo._cli.options import (
    Drop,
    Force,
    Header,
    Id,
    IdToCopy,
    Json,
    Labels,
    Measure,
    MissingLabels,
    Separator,
    Spreadsheet,
    Tags,
    listed,
)
from limo._text import counted, did_you_mean

cut_app = typer.Typer(
    help="Turn the scores of any model into labels, by thresholds fitted to a measure.",
    epilog=examples(
        (
            "fit thresholds on validation data",
            "limo cut fit --truth val_Y.csv --scores val_S.csv -m macro_f1 -o rule.json",
        ),
        ("apply them to other scores", "limo cut apply rule.json test_S.csv -o labels.csv"),
    ),
    rich_markup_mode="rich",
    no_args_is_help=True,
)

# How a rule is made, and what it is called in a sentence.
_RULES: dict[str, tuple[str, str]] = {
    "auto": ("auto", "the best kind of threshold"),
    "label": ("label", "a threshold per label"),
    "global": ("global", "one threshold for all labels"),
    "instance": ("instance", "a threshold per instance, t(x)"),
    "instance+label": ("mixed", "a threshold per instance and label, t(x) + t_j"),
    "instance+global": ("instance", "a threshold per instance plus a constant, t(x) + t"),
    "top_k": ("top_k", "the k highest scores of each instance"),
    "expected_f1": ("expected_f1", "the labels of highest expected F1 of each instance"),
    "fixed": ("fixed", "a given threshold"),
}


def complete_rule(incomplete: str) -> list[str]:
    """Complete the name of a kind of rule."""
    return [name for name in _RULES if name.startswith(incomplete)]


def known_rule(name: str) -> str:
    """The name of a kind of rule, however it is spelt."""
    spelt = name.lower().replace(" ", "").replace("-", "_")
    spelt = {"mixed": "instance+label", "topk": "top_k"}.get(spelt, spelt)
    if spelt not in _RULES:
        hint = did_you_mean(spelt, _RULES)
        raise typer.BadParameter(
            f"No rule is called {name!r}.{hint} Choose from: {', '.join(_RULES)}."
        )
    return spelt


ValidationScores = Annotated[
    str,
    typer.Option(
        "--scores",
        "-s",
        metavar="FILE",
        help="Scores of these instances, by a model that was not trained on them.",
    ),
]
Rule = Annotated[
    str,
    typer.Option(
        "--rule",
        help="auto tries the kinds that suit the measure on held-out rows; or one of label, "
        "global, instance, instance+label, instance+global, top_k, expected_f1, fixed.",
        autocompletion=complete_rule,
        callback=known_rule,
    ),
]
At = Annotated[
    float | None, typer.Option("--at", help="The threshold of --rule fixed, such as 0.5.")
]
Count = Annotated[
    int | None,
    typer.Option("--k", min=0, help="The k of --rule top_k; by default the best one is found."),
]


def fit(
    truth: Truth,
    scores: ValidationScores,
    to: Annotated[Path, typer.Option("--output", "-o", help="The rule, usually .json.")],
    measure: Measure = "macro_f1",
    rule: Rule = "auto",
    at: At = None,
    k: Count = None,
    weights: Weights = None,
    missing_labels: MissingLabels = None,
    labels: Labels = None,
    tags: Tags = None,
    separator: Separator = None,
    id: Id = None,
    drop: Drop = None,
    header: Header = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Fit thresholds for a measure to the scores of any model, and write them as JSON.

    Give the scores of instances that the model was not trained on: thresholds fitted to training
    scores are too high. The rule holds plain numbers by the names of the labels. The value printed
    is that of held-out rows, each cut by thresholds fitted on other rows.
    """
    models = pair([scores], [])
    check_files(truth, models)
    output(to, force=force)
    chosen = _make(rule, measure, at, k)
    with progress("Reading"):
        weights_column, sample_weight = read_sample_weight(weights, truth)
        how = Matching([*listed(drop), *weights_column], header, id, tags, separator)
        inputs = read_inputs(truth, models, labels, how, missing_labels)
    S = next(iter(inputs.scores.values()))
    given: dict[str, Any] = {"missing": None if missing_labels is None else math.nan}
    given["sample_weight"] = sample_weight
    with progress("Fitting thresholds"):
        chosen.fit(inputs.truth.values, S.values, **given)
        chosen.label_names_ = inputs.truth.label_names or S.label_names
        result = _judge(chosen, measure, inputs.truth.values, S.values, given)
    limo.thresholds.rule_to_json(chosen, to)
    result = {"file": str(to), "rule": rule, "measure": measure, **result}
    if json:
        print_json(result | {"instances": S.values.shape[0], "labels": S.values.shape[1]})
        return
    _say(chosen, result, scores)
    carried = {"--id": id, "--drop": drop}
    more = [part for flag, one in carried.items() if one is not None for part in (flag, one)]
    typed = shlex.join(["limo", "cut", "apply", str(to), "SCORES", *more, "-o", "labels.csv"])
    print_text(f"The rule is in {to}. Next: {typed}")


def apply(
    rule: Annotated[Path, typer.Argument(metavar="RULE", help="A file that limo cut fit wrote.")],
    scores: Annotated[
        Path, typer.Argument(metavar="SCORES", help="Scores: CSV, TSV, Parquet, NPY or NPZ.")
    ],
    to: Annotated[
        Path, typer.Option("--output", "-o", help="Ends in .csv, .tsv, .parquet, .npz or .npy.")
    ],
    id: IdToCopy = None,
    drop: Drop = None,
    header: Header = None,
    spreadsheet: Spreadsheet = False,
    json: Json = False,
    force: Force = False,
) -> None:
    """Cut scores into labels by a rule, and write the labels.

    Columns are matched with the labels of the rule by name, in any order; other or missing labels
    are rejected. A file without names has the labels in the order of the rule. With --id, the
    column that names the rows is carried into the labels.
    """
    check_file(str(rule))
    check_file(str(scores))
    try:
        limo.datasets.check_suffix(to, ids=id is not None)
    except ValueError as error:
        raise WrongUse(str(error)) from None
    output(to, force=force)
    with progress("Cutting"):
        fitted = _read_rule(rule)
        S = limo.datasets.read_matrix(scores, "scores", drop=listed(drop), header=header, id=id)
        names = getattr(fitted, "label_names_", None)
        S = S.ordered_as(names)
        P = fitted.predict(S.values)
        names = names or S.label_names or tuple(f"y{j}" for j in range(P.shape[1]))
        rows = {} if S.ids is None or id is None else {"ids": S.ids, "id_column": id or "id"}
        how: Any = {**rows, "spreadsheet": spreadsheet, "force": force}
        limo.datasets.write_predictions(to, names, labels=P, **how)
    size = {"instances": P.shape[0], "labels": P.shape[1]}
    per_instance = float(P.sum() / max(P.shape[0], 1))
    if json:
        print_json({"file": str(to), **size, "labels_per_instance": per_instance})
        return
    print_text(
        f"Wrote the labels of {P.shape[0]:,} instances x {P.shape[1]:,} labels to {to}: "
        f"{per_instance:.2f} per instance."
    )


for _function, _epilog in (
    (
        fit,
        examples(
            (
                "thresholds for macro-F1",
                "limo cut fit --truth val_Y.csv --scores val_S.csv -m macro_f1 -o rule.json",
            ),
            (
                "a threshold per instance, t(x)",
                "limo cut fit -y Y.csv -s S.csv -m instance_f1 --rule instance -o rule.json",
            ),
            (
                "the three highest scores of each instance",
                "limo cut fit -y Y.csv -s S.csv --rule top_k --k 3 -o rule.json",
            ),
            (
                "files whose rows have ids, in any order",
                "limo cut fit -y songs.csv --tags genres -s S.csv --id song -o rule.json",
            ),
        ),
    ),
    (
        apply,
        examples(
            ("labels as a table", "limo cut apply rule.json test_S.csv -o labels.csv"),
            (
                "with ids, then evaluated",
                "limo cut apply rule.json S.csv --id song -o P.csv && "
                "limo evaluate -y Y.csv -s S.csv -p P.csv --id song",
            ),
        ),
    ),
):
    add_command(cut_app, _function, epilog=_epilog)


def _make(rule: str, measure: str, at: float | None, k: int | None) -> Any:
    """The rule, ready to be fitted; reject options that it does not have."""
    if (at is None) == (rule == "fixed"):
        raise WrongUse("--rule fixed needs its threshold: --at 0.5." if at is None else _NO_AT)
    if k is not None and rule != "top_k":
        raise WrongUse("--k is the number of labels of --rule top_k.")
    if limo.MEASURES[measure].threshold is None:
        names = [name for name, one in limo.MEASURES.items() if one.threshold is not None]
        raise WrongUse(
            f"{measure} judges scores, so it needs no threshold. Choose one of {', '.join(names)}."
        )
    if rule == "label" and limo.MEASURES[measure].view is limo.measures.ROWS:
        raise WrongUse(
            f"A threshold per label cannot be fitted to {measure}, which judges each instance. "
            "Choose --rule instance, --rule instance+label or --rule global; or -m micro_f1."
        )
    if rule == "instance" and limo.MEASURES[measure].view is not limo.measures.ROWS:
        raise WrongUse(
            f"A threshold per instance cannot serve {measure}, which judges no single instance. "
            "Add a threshold per label: --rule instance+label."
        )
    if rule == "fixed":
        return limo.FixedThreshold(at)
    chosen = limo.thresholds.RULES[_RULES[rule][0]]()
    settings: dict[str, Any] = {"target": measure, "k": k}
    if rule == "instance+global":
        chosen.set_params(offset="global")
    known = chosen.get_params()
    return chosen.set_params(**{name: one for name, one in settings.items() if name in known})


_NO_AT = "--at is the threshold of --rule fixed; the other rules find theirs."


def _judge(rule: Any, measure: str, Y: Any, S: Any, given: dict[str, Any]) -> dict[str, Any]:
    """The measure on held-out rows, and with the usual threshold."""
    tried = next((one for one in getattr(rule, "tried_", ()) if one.chosen), None)

    def value(P: Any) -> float:
        return float(limo.evaluate(Y, y_pred=P, measures=[measure], **given)[measure])

    if tried is None or math.isnan(tried.value):
        held_out = value(limo.thresholds.held_out_labels(rule, Y, S, **given))
    else:
        held_out = float(tried.value)
    usual = 0.5 if S.min() >= 0 and S.max() <= 1 else 0.0
    result: dict[str, Any] = {
        "value": held_out,
        "usual_threshold": usual,
        "usual": value(usual < S),
    }
    if tried is not None:
        result["kind"] = rule.kind_
    return result


def _say(rule: Any, result: dict[str, Any], scores: str) -> None:
    title = limo.MEASURES[result["measure"]].title
    tried = getattr(rule, "tried_", ())
    if len(tried) > 1:
        body = [
            [t.kind, f"{t.value:.4f}", f"{t.gain:+.4f}", f"{t.error:.4f}", "chosen" * t.chosen]
            for t in tried
        ]
        head = ["threshold", title, "gain", "error of the gain", ""]
        print_table("Kinds of threshold, on held-out rows", head, body)
    what = _RULES[known_rule(result.get("kind", result["rule"]))][1]
    if result["rule"] == "fixed":
        print_text(f"{title} {result['value']:.4f} on these rows, cut at {rule.threshold:g}.")
        return
    print_text(
        f"{title} {result['value']:.4f} on held-out rows, with {what}; "
        f"{result['usual']:.4f} if {scores} is cut at {result['usual_threshold']:g}."
    )
    never = int(sum(math.isinf(one) for one in _thresholds(rule)))
    if never:
        print_text(f"{counted(never, 'label')} will never, or always, be predicted.")


def _thresholds(rule: Any) -> list[float]:
    """The thresholds of labels, if the rule has any."""
    inner = getattr(rule, "rule_", rule)
    return [float(one) for one in getattr(inner, "thresholds_", ())]


def _read_rule(file: Path) -> Any:
    try:
        return limo.thresholds.rule_from_json(file)
    except ValueError as error:
        why = "" if "JSONDecodeError" in str(error) else f": {error}"
        raise ValueError(
            f"{file} is not a rule that limo cut fit wrote{why}. The rule comes first: limo cut "
            "apply RULE SCORES -o labels.csv"
        ) from None
