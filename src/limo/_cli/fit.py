"""``limo fit``: train a model for a measure, and write it to a file."""

import ast
import importlib
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, cast

import typer

import limo
from limo._cli.command import WrongUse, examples
from limo._cli.console import print_json, print_table, print_text, progress
from limo._cli.inputs import Reading, check_file, is_known, open_dataset, output
from limo._cli.options import (
    Data,
    Drop,
    Force,
    Format,
    Json,
    Labels,
    Measure,
    Missing,
    Seed,
    Separator,
    Tags,
    complete_method,
    known_method,
)
from limo._system import importable
from limo._text import counted

_MOST_NAMES = 5  # of models in one sentence

EXAMPLES = examples(
    (
        "the best model for macro-F1",
        "limo fit enron:train -m macro_f1 -o m.skops",
    ),
    ("a file whose last six columns are labels", "limo fit songs.csv --labels 6 -o songs.skops"),
    (
        "a file with a column of labels such as rock;jazz",
        "limo fit songs.csv --tags genres --drop song -o songs.skops",
    ),
    (
        "five minutes at most, and an interrupted search can be resumed",
        "limo fit enron:train --time 5m --cache scores -o m.skops",
    ),
    ("a quick look: linear models only", "limo fit enron:train --quick -o quick.skops"),
    (
        "another method, with one of its settings",
        "limo fit enron --method mlknn --set k=20 -o neighbours.skops",
    ),
)

Method = Annotated[
    str,
    typer.Option(
        "--method",
        help="aimed selects an ensemble for the measure; limo-cv tunes LIMO by cross-validation; "
        "or a single model: limo, limo-label, limo-inst, logistic, rbf, forest, extra-trees, "
        "boosting, br, mlknn, gfm.",
        autocompletion=complete_method,
        callback=known_method,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the method's estimator."),
]

_TIME = "10m"
# The rest is for writing the model; the first model is fitted even if reading took all the time.
_SHARE_FOR_MODEL, _LEAST_SECONDS = 0.95, 1e-3
_UNITS = {"s": 1, "m": 60, "h": 3600}

# Fewer models, losses and folds, and less precision: about a tenth of the time.
_QUICK: dict[str, dict[str, Any]] = {
    "aimed": {"families": ("linear",), "cv": 3},
    "limo-cv": {"cv": 2, "terms": ("entries pointwise", "rows mean + columns mean"), "tol": 0.02},
}


def fit(
    data: Data,
    to: Annotated[Path, typer.Option("--output", "-o", help="The model file, usually .skops.")],
    measure: Measure = "macro_f1",
    method: Method = "aimed",
    alpha: Annotated[
        float | None,
        typer.Option("--alpha", help="LIMO's regularisation strength, instead of a search."),
    ] = None,
    settings: Settings = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Linear models only; limo-cv tries fewer settings.")
    ] = False,
    limit: Annotated[
        str,
        typer.Option("--time", help="The time that aimed may take: 90s, 5m, 2h or none."),
    ] = _TIME,
    cache: Annotated[
        Path | None,
        typer.Option("--cache", help="A folder for scores, from which aimed can resume."),
    ] = None,
    labels: Labels = None,
    tags: Tags = None,
    separator: Separator = None,
    drop: Drop = None,
    missing: Missing = "error",
    format: Format = None,
    seed: Seed = 0,
    json: Json = False,
    force: Force = False,
) -> None:
    """Train a model for a measure of your choice, and write it to a file.

    By default linear models, kernel machines, forests, boosted trees and neighbours are tried, and
    an ensemble of them is selected for the measure, with its thresholds. Features are scaled as the
    models require. The file contains no code, so it is safe to read.
    """
    started = time.monotonic()
    output(to, force=force)
    if not is_known(data):
        check_file(data, or_known=True)
    given = _settings(method, settings or [], alpha, quick)
    given = _limits(method, limit, cache) | given
    importlib.import_module("skops.io")  # takes seconds, which are part of the time
    dataset = open_dataset(data, Reading(labels, drop, missing, format, tags, separator), seed)
    chosen = _chosen(method, _without_rest(given, time.monotonic() - started))
    model = limo.experiment.estimator_for(chosen, measure, seed=seed)
    with progress(f"Fitting {method} for {measure}") as advance, _watched(model, advance):
        model.fit(dataset.X, dataset.Y)
    limo.save_model(
        model,
        to,
        label_names=dataset.label_names,
        feature_names=dataset.feature_names,
        measure=measure,
        method=method,
        data=dataset.source,
        force=force,
    )
    summary = {"file": str(to), "method": method, "measure": measure, **_search(model, measure)}
    if json:
        print_json(summary)
        return
    _say_search(summary, measure)
    print_text(f"The model is in {to}. Next: limo predict {to} DATA -o predictions.csv")


def _settings(method: str, given: list[str], alpha: float | None, quick: bool) -> dict[str, Any]:
    """Settings of the estimator: those of ``--quick``, then ``--alpha``, then ``--set``."""
    if quick and method not in _QUICK:
        raise WrongUse(f"--quick shortens the search of aimed; {method} does not search.")
    settings = dict(_QUICK[method]) if quick else {}
    if alpha is not None:
        if not method.startswith("limo"):
            raise WrongUse(f"--alpha is LIMO's regularisation strength; {method} has none.")
        settings |= {"alphas": (alpha,)} if method == "limo-cv" else {"alpha": alpha}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise WrongUse(f"--set takes NAME=VALUE, such as --set k=20; got {text}.")
        settings[name] = _value(value)
    return settings


def _limits(method: str, limit: str, cache: Path | None) -> dict[str, Any]:
    """The time and the folder of an aimed search."""
    if method != "aimed":
        if limit != _TIME or cache is not None:
            raise WrongUse(f"--time and --cache are for the method aimed; {method} has neither.")
        return {}
    return {"time_budget": _seconds(limit), "cache": None if cache is None else str(cache)}


def _without_rest(settings: dict[str, Any], spent: float) -> dict[str, Any]:
    """Settings whose time is what reading the data has left, without that of writing the model."""
    whole = settings.get("time_budget")
    if not isinstance(whole, int | float) or whole <= 0:  # the model says what is wrong
        return settings
    return settings | {"time_budget": max(_SHARE_FOR_MODEL * (whole - spent), _LEAST_SECONDS)}


def _seconds(text: str) -> float | None:
    """A duration such as 90s, 5m or 1.5h; none is no limit."""
    if text == "none":
        return None
    number, unit = text[:-1], text[-1:]
    try:
        seconds = float(number) * _UNITS[unit]
    except (KeyError, ValueError):
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise WrongUse(f"--time takes a duration such as 90s, 5m or 2h, or none; got {text}.")
    return seconds


def _value(text: str) -> Any:
    """A number, list, True, False or None in Python's notation; anything else is text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _chosen(method: str, settings: dict[str, Any]) -> Any:
    """The method with its settings; unknown settings are rejected."""
    try:
        return replace(limo.experiment.METHODS[method], settings=settings)
    except ValueError as error:
        raise WrongUse(str(error)) from None


@contextmanager
def _watched(model: Any, advance: Any) -> Iterator[None]:
    """Let a search report its progress; then remove callback and cache from the model."""
    params = model.get_params()
    key = next((k for k in params if k.rpartition("__")[2] == "callback" and _searches(k)), None)
    if key is None:
        yield
        return
    aimed = key == "estimator__callback"
    model.set_params(**{key: _reporter(advance) if aimed else advance})
    yield
    without: dict[str, Any] = {key: None}
    if aimed:
        without["estimator__cache"] = None
    model.set_params(**without)
    model.estimator_.set_params(**{k.removeprefix("estimator__"): None for k in without})


def _searches(key: str) -> bool:
    return key == "estimator__callback" or key.endswith("limoclassifiercv__callback")


def _reporter(advance: Any) -> Any:
    """Show the model tried last and the best so far."""

    def report(trial: Any) -> None:
        advance(
            trial.done,
            trial.total,
            f"tried {trial.name}; best so far {trial.best_name} {trial.best:.4f}",
        )

    return report


def _search(model: Any, measure: str) -> dict[str, Any]:
    """The result of a search: the chosen settings, and their value in cross-validation."""
    learner = model.estimator_
    if hasattr(learner, "leaderboard_"):
        return _ensemble(learner, measure)
    search = learner[-1] if hasattr(learner, "steps") else learner
    if not hasattr(search, "cv_results_"):
        return {}
    cells, best = search.cv_results_, search.best_params_
    cell = next(k for k in range(len(cells["alpha"])) if all(cells[n][k] == best[n] for n in best))
    mean, std = (float(cells[f"{what}_{measure}"][cell]) for what in ("mean", "std"))
    chosen = {
        "terms": " + ".join(map(str, best["terms"])),
        "alpha": best["alpha"],
        "averaged": int((cells[f"share_{measure}"] > 0).sum()),
    }
    return {"chosen": chosen, "cross_validated": {"mean": mean, "std": std}}


def _ensemble(learner: Any, measure: str) -> dict[str, Any]:
    """The members of an aimed ensemble, its values, and all models tried."""
    _, *tried = learner.leaderboard_
    result = {
        "weights": learner.weights_[measure],
        "threshold": learner.thresholds_.get(measure),
        "held_out": learner.held_out_,
        "tried": tried,
    }
    return cast(dict[str, Any], _known(result))


def _known(item: Any) -> Any:
    """None instead of nan, which JSON does not have."""
    if isinstance(item, dict):
        return {key: _known(value) for key, value in item.items()}
    if isinstance(item, list | tuple):
        return [_known(value) for value in item]
    return None if isinstance(item, float) and math.isnan(item) else item


def _say_search(result: dict[str, Any], measure: str) -> None:
    title = limo.MEASURES[measure].title
    if "chosen" in result:
        best, score = result["chosen"], result["cross_validated"]
        others = best["averaged"] - 1
        print_text(
            f"{title} {score['mean']:.4f} ± {score['std']:.4f} in "
            f"cross-validation, with the loss {best['terms']} and alpha {best['alpha']:.3g}"
            + (f"; the model averages it with {counted(others, 'other')}." if others else ".")
        )
    if "weights" in result:
        own = result["held_out"][measure]
        print_text(f"{title} {_with_interval(own)} on held-out instances.")
        _say_ensemble(result, measure)
        others_found = [
            [limo.MEASURES[name].title, _number(one["value"]), _interval(one)]
            for name, one in result["held_out"].items()
        ]
        print_table(
            f"On held-out instances, cut for {_cut_for(measure)}",
            ("measure", "value", "95 % interval"),
            others_found,
            numbers=1,
        )


def _cut_for(measure: str) -> str:
    """The measure whose threshold ``predict`` uses."""
    chosen = limo.MEASURES[measure]
    return chosen.title if chosen.threshold else limo.MEASURES["micro_f1"].title


def _number(value: float | None) -> str:
    return "not defined" if value is None else f"{value:.4f}"


def _interval(value: dict[str, Any]) -> str:
    return "" if value["low"] is None else f"{value['low']:.4f} to {value['high']:.4f}"


def _with_interval(value: dict[str, Any]) -> str:
    ends = _interval(value)
    return _number(value["value"]) + (f" (95 % interval {ends})" if ends else "")


def _say_ensemble(result: dict[str, Any], measure: str) -> None:
    """The members, the best single model, the kind of threshold, and what was left out."""
    by_weight = sorted(result["weights"].items(), key=lambda item: -item[1])
    members = "; ".join(f"{name} {weight:.0%}" for name, weight in by_weight)
    print_text(f"The ensemble: {members}.")
    tried = [line for line in result["tried"] if "value" in line]
    if len(tried) > 1:
        print_text(
            f"The best of {len(tried)} single models is {tried[0]['model']}, "
            f"{_number(tried[0]['value'][measure])} on held-out instances. The model was "
            "chosen by this value, so expect a little less of it."
        )
    if result["threshold"]:
        kind = _KINDS.get(result["threshold"], f"{result['threshold']}, chosen by cross-validation")
        print_text(f"Threshold: {kind}.")
    boosted = any(line.get("family") == "boosting" for line in tried)
    if boosted and not importable("lightgbm"):
        print_text(
            "scikit-learn grew the boosted trees, because LightGBM cannot be imported. It is "
            "several times faster: pip install 'limo-ml[boosting]'."
        )
    for text in _left_out(result["tried"]):
        print_text(text)


def _left_out(lines: list[dict[str, Any]]) -> Iterator[str]:
    """Why models were left out: those without time together, others with their reasons."""
    notes = {line["model"]: line["note"] for line in lines if "note" in line}
    late = [name for name, note in notes.items() if note.startswith("out of time")]
    if late:
        yield f"No time was left for {_some(late)}. --time none tries everything."
    for name, note in notes.items():
        if name not in late:
            yield f"{name}: {note}."


def _some(names: list[str]) -> str:
    """The first names, and how many there are beyond them; ``--json`` has them all."""
    shown, others = names[:_MOST_NAMES], names[_MOST_NAMES:]
    return "; ".join(shown) + (f" and {counted(len(others), 'other model')}" if others else "")


_KINDS = {
    "label": "one per label, chosen by cross-validation",
    "instance": "one per instance, chosen by cross-validation",
    "global": "one for all scores, chosen by cross-validation",
    "expected F1": "one per label, of the highest expected F1",
}
