"""``limo fit``: train a model for a measure, and write it to a file."""

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

import limo
from limo._cli.command import WrongUse, examples
from limo._cli.console import print_json, print_text, progress
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
    complete_method,
    known_method,
)
from limo._text import counted

EXAMPLES = examples(
    (
        "LIMO trained for macro-F1, by cross-validation",
        "limo fit enron:train -m macro_f1 -o m.skops",
    ),
    ("a file whose last six columns are labels", "limo fit songs.csv --labels 6 -o songs.skops"),
    ("a quick look", "limo fit enron:train --quick -o quick.skops"),
    (
        "another method, with one of its settings",
        "limo fit enron --method mlknn --set k=20 -o neighbours.skops",
    ),
)

Method = Annotated[
    str,
    typer.Option(
        "--method",
        help="limo-cv chooses losses and regularisation by cross-validation; limo, limo-label, "
        "limo-inst, logistic, br, mlknn, gfm.",
        autocompletion=complete_method,
        callback=known_method,
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the method's estimator."),
]

# Two losses instead of six, two folds, and a tenth of the precision.
_QUICK = {"cv": 2, "terms": ("entries pointwise", "rows mean + columns mean"), "tol": 0.02}


def fit(
    data: Data,
    to: Annotated[Path, typer.Option("--output", "-o", help="The model file, usually .skops.")],
    measure: Measure = "macro_f1",
    method: Method = "limo-cv",
    alpha: Annotated[
        float | None,
        typer.Option("--alpha", help="LIMO's regularisation strength, instead of a search."),
    ] = None,
    settings: Settings = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Try fewer settings (limo-cv only).")
    ] = False,
    labels: Labels = None,
    drop: Drop = None,
    missing: Missing = "error",
    format: Format = None,
    seed: Seed = 0,
    json: Json = False,
    force: Force = False,
) -> None:
    """Train a model for a measure of your choice, and write it to a file.

    By default LIMO chooses its margins, its regularisation and its thresholds by cross-validation
    on that measure. Features are scaled as the method requires. The file contains no code, so it is
    safe to read.
    """
    output(to, force=force)
    if not is_known(data):
        check_file(data)
    given = _settings(method, settings or [], alpha, quick)
    found = open_dataset(data, Reading(labels, drop, missing, format), seed)
    chosen = _chosen(method, given)
    model = limo.experiment.estimator_for(chosen, measure, seed=seed)
    with progress(f"Fitting {method} for {measure}") as advance, _watched(model, advance):
        model.fit(found.X, found.Y)
    limo.save_model(
        model,
        to,
        label_names=found.label_names,
        feature_names=found.feature_names,
        measure=measure,
        method=method,
        data=found.source,
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
    if quick and method != "limo-cv":
        raise WrongUse(f"--quick shortens the search of limo-cv; {method} does not search.")
    found = dict(_QUICK) if quick else {}
    if alpha is not None:
        if not method.startswith("limo"):
            raise WrongUse(f"--alpha is LIMO's regularisation strength; {method} has none.")
        found |= {"alphas": (alpha,)} if method == "limo-cv" else {"alpha": alpha}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise WrongUse(f"--set takes NAME=VALUE, such as --set k=20; got {text}.")
        found[name] = _value(value)
    return found


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
    """Let a search report its progress; the callback is removed from the model afterwards."""
    key = next((k for k in model.get_params() if k.endswith("limoclassifiercv__callback")), None)
    if key is None:
        yield
        return
    model.set_params(**{key: advance})
    yield
    model.set_params(**{key: None})
    model.estimator_.set_params(**{key.removeprefix("estimator__"): None})


def _search(model: Any, measure: str) -> dict[str, Any]:
    """What a search found: the chosen settings, and their result in cross-validation."""
    learner = model.estimator_
    search = learner[-1] if hasattr(learner, "steps") else learner
    if not hasattr(search, "cv_results_"):
        return {}
    found, best = search.cv_results_, search.best_params_
    cell = next(k for k in range(len(found["alpha"])) if all(found[n][k] == best[n] for n in best))
    mean, std = (float(found[f"{what}_{measure}"][cell]) for what in ("mean", "std"))
    chosen = {
        "terms": " + ".join(map(str, best["terms"])),
        "alpha": best["alpha"],
        "averaged": int((found[f"share_{measure}"] > 0).sum()),
    }
    return {"chosen": chosen, "cross_validated": {"mean": mean, "std": std}}


def _say_search(found: dict[str, Any], measure: str) -> None:
    if "chosen" in found:
        best, score = found["chosen"], found["cross_validated"]
        others = best["averaged"] - 1
        print_text(
            f"{limo.MEASURES[measure].title} {score['mean']:.4f} ± {score['std']:.4f} in "
            f"cross-validation, with the loss {best['terms']} and alpha {best['alpha']:.3g}"
            + (f"; the model averages it with {counted(others, 'other')}." if others else ".")
        )
