"""Pages of the site that are made from the code: the reference, its pictures, and two live reports.

The reference lists every public name, so a new name gets its page without an edit here.
"""

import inspect
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import matplotlib.pyplot as plt

import limo
from limo.measures import Measure

FIRST = ("measures", "losses", "objectives", "thresholds", "models", "datasets", "experiment")
# Records whose example is that of the function that returns them.
EXAMPLE_OF = {
    "limo.datasets.LabelMatrix": "limo.datasets.read_matrix",
    "limo.datasets.order_features": "limo.datasets.read_instances",
    "limo.datasets.read_weights": "limo.datasets.read_matrix",
    "limo.losses.Derivatives": "limo.losses.derivatives",
    "limo.thresholds.ThresholdReport": "limo.threshold_report",
}


def public_names(package: ModuleType) -> list[str]:
    """The public names of a package that are not packages themselves."""
    return [n for n in package.__all__ if not inspect.ismodule(getattr(package, n))]


def public_packages() -> list[str]:
    """List limo and its public packages, without those whose extra is not installed."""
    parts = [name for name in limo.__all__ if inspect.ismodule(getattr(limo, name))]
    found = ["limo"]
    for part in sorted(parts, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST)):
        try:
            public_names(getattr(limo, part))
        except ImportError:
            continue
        found.append(f"limo.{part}")
    return found


PACKAGES = public_packages()


def write_all(docs: Path) -> None:
    """Write ``reference.md`` and the live pages below ``docs/generated``."""
    live = docs / "generated" / "extra" / "live"
    live.mkdir(parents=True, exist_ok=True)
    write_if_changed(docs / "generated" / "reference.rst", reference())
    write_if_changed(docs / "generated" / "map.md", map_table())
    write_if_changed(docs / "generated" / "map.svg", map_drawing())
    write_if_changed(docs / "generated" / "measures.md", measure_links())
    write_pictures(docs / "generated" / "pictures")
    write_live_pages(live)


def write_if_changed(path: Path, text: str) -> None:
    """Write ``text``, but leave an equal file alone, so that Sphinx does not read it again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def reference() -> str:
    """The page that lists every public name, by package and kind."""
    parts = ["Reference", "=========", "", "Every public name, by package.", ""]
    seen: set[int] = set()
    for name in PACKAGES:
        parts += section(name, seen)
    return "\n".join(parts) + "\n"


def section(name: str, seen: set[int]) -> list[str]:
    """The names of one package that are not listed before, each with a link to its page."""
    package = limo if name == "limo" else getattr(limo, name.removeprefix("limo."))
    names = public_names(package)
    new = [n for n in names if id(getattr(package, n)) not in seen]
    seen.update(id(getattr(package, n)) for n in new)
    if not new:
        return []
    kinds = {"Classes": inspect.isclass, "Functions": callable, "Data": lambda thing: True}
    parts = [name, "-" * len(name), "", first_sentence(package), ""]
    left = list(new)
    for kind, belongs in kinds.items():
        chosen = [n for n in left if belongs(getattr(package, n))]
        left = [n for n in left if n not in chosen]
        if chosen:
            parts += [f".. rubric:: {kind}", "", ".. autosummary::", "   :toctree: reference", ""]
            parts += [f"   {name}.{n}" for n in sorted(chosen)] + [""]
    return parts


def first_sentence(package: ModuleType) -> str:
    """The first line of a package's docstring."""
    return (package.__doc__ or "").strip().splitlines()[0]


def pictures() -> dict[str, Callable[[], Any]]:
    """What draws the picture of each public name that draws: functions that return a figure."""
    data = limo.datasets.make_multilabel(800, 40, 10, cardinality=2, density_of_X=0.5, seed=2)
    train, test = limo.datasets.split(data, 0.5)
    model = limo.BinaryRelevance("logistic").fit(train.X, train.Y)
    displays = limo.displays

    def draw(name: str) -> Callable[[], Any]:
        display = getattr(displays, name)
        return lambda: display.from_estimator(model, test.X, test.Y).figure_

    def skill() -> Any:
        scores, labels = model.decision_function(test.X), model.predict(test.X)
        return limo.evaluate(test.Y, scores, labels, intervals=0.95).plot()

    found = {f"limo.displays.{name}": draw(name) for name in displays.__all__}
    return found | {
        "limo.Evaluation": skill,
        "limo.datasets.Description": lambda: limo.describe(train, test).plot(),
        "limo.datasets.plot_triangles": limo.datasets.plot_triangles,
        "limo.datasets.plot_regions": limo.datasets.plot_regions,
        "limo.LIMOClassifierCV": lambda: tuned().plot().figure,
        "limo.experiment.plot_critical_difference": ranks,
    }


def tuned() -> Any:
    """A small model whose search can be drawn."""
    data = limo.datasets.figure1(200, seed=0)
    return limo.LIMOClassifierCV("macro_f1").fit(data.X, data.Y)


def ranks() -> Any:
    """The critical difference of four methods on eight data sets."""
    values = {"ours": 0.7, "forest": 0.69, "neighbours": 0.6, "guessing": 0.4}
    rows = [
        {
            "dataset": d,
            "split": 0,
            "measure": "macro_f1",
            "method": m,
            "value": v + (d * k % 5) / 40,
        }
        for d in range(8)
        for k, (m, v) in enumerate(values.items(), start=1)
    ]
    compared = limo.experiment.compare_methods(rows, "macro_f1")
    return limo.experiment.plot_critical_difference(compared)


def write_pictures(folder: Path) -> None:
    """Draw the pictures of the reference that are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in pictures().items():
        if not (folder / f"{name}.png").exists():
            draw().savefig(folder / f"{name}.png", dpi=110, bbox_inches="tight")
    plt.close("all")  # the gallery shows every figure that is open


def additions(name: str, docs: Path) -> list[str]:
    """Lines to add to the docstring of a public name: where its example is, and a picture."""
    lines: list[str] = []
    if name in EXAMPLE_OF:
        lines += ["", f"See the example of :obj:`{EXAMPLE_OF[name]}`."]
    if (docs / "generated" / "pictures" / f"{name}.png").exists():
        lines += ["", f".. image:: /generated/pictures/{name}.png", f"   :alt: A drawing by {name}"]
    return lines


def measure_links() -> str:
    """The eleven measures in a line, each a link to its definition."""
    links = (f"[{limo.MEASURES[n].title}](generated/reference/limo.{n}.rst)" for n in LOSSES)
    return " · ".join(links) + "\n"


def write_live_pages(folder: Path) -> None:
    """Write a report of two models, and the report of a small comparison."""
    if not (folder / "report.html").exists():
        limo.report.write(model_document(), folder / "report.html", force=True)
    if not (folder / "comparison.html").exists():
        limo.report.write(comparison_document(), folder / "comparison.html", force=True)


def model_document() -> dict[str, Any]:
    """The report of two models on the same test data."""
    train, test = limo.datasets.split(limo.datasets.figure1(1500, seed=0), seed=0)
    models = {"LIMO": limo.LIMOClassifier(), "ML-kNN": limo.MLKNNClassifier()}
    fitted = {name: model.fit(train.X, train.Y) for name, model in models.items()}
    return limo.report.evaluation_document(
        test.Y,
        {name: limo.scores_of(model, test.X) for name, model in fitted.items()},
        {name: model.predict(test.X) for name, model in fitted.items()},
        label_names=test.label_names,
    )


def comparison_document() -> dict[str, Any]:
    """The report of three methods on three generated data sets."""
    experiment = limo.experiment
    seeds = range(3)
    sets = [experiment.Data(f"figure1-{k}", "figure1", {"n": 300, "seed": k}) for k in seeds]
    plan = experiment.Plan(sets, ["limo", "logistic", "mlknn"], splits=experiment.Splits(number=3))
    with tempfile.TemporaryDirectory() as temporary:
        rows = experiment.run(plan, Path(temporary) / "results.sqlite", n_jobs=1)
    return limo.report.comparison_document(rows)


# Which loss suits which measure, and why: the measure adds up the pairs of a row in the same way.
LOSSES = {
    "ranking_loss": "mean",
    "instance_auc": "mean",
    "one_error": "top",
    "average_precision": "top",
    "coverage": "bottom",
    "instance_f1": "pointwise",
    "hamming_loss": "pointwise",
    "macro_auc": "mean",
    "macro_f1": "pointwise",
    "micro_auc": "mean",
    "micro_f1": "pointwise",
}
COLOURS = {"rows": "#0072B2", "columns": "#D55E00", "entries": "#009E73"}
VIEWS = {
    "rows": "labels of an instance",
    "columns": "instances of a label",
    "entries": "all entries",
}


def map_table() -> str:
    """The map as a table: a line per measure."""
    lines = ["| measure | view | margin | loss | threshold |", "|---|---|---|---|---|"]
    for name, loss in LOSSES.items():
        measure = limo.MEASURES[name]
        threshold = "none" if measure.needs == "scores" else f"`{limo.suggest_threshold(name)!r}`"
        link = f"[{measure.title}](generated/reference/limo.{name}.rst)"
        cells = [link, VIEWS[measure.view.name], measure.view.margin, loss, threshold]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def map_drawing() -> str:
    """The map as a picture: four columns of words, joined by lines."""
    columns = {"measure": 20, "margin": 270, "loss": 480, "threshold": 690}
    measures = [limo.MEASURES[name] for name in LOSSES]
    words: dict[str, list[str]] = {"measure": [m.title for m in measures]}
    words["margin"] = ["label-wise", "instance-wise", "entry-wise"]
    words["loss"] = ["mean", "top", "bottom", "pointwise"]
    words["threshold"] = ["none", "per instance", "per label", "one for all"]
    height = 40 + 34 * len(measures)
    places = {
        (column, word): 60 + (height - 80) * (k + 0.5) / len(these)
        for column, these in words.items()
        for k, word in enumerate(these)
    }
    lines: list[str] = []
    for measure, loss in zip(measures, LOSSES.values(), strict=True):
        stations = [measure.title, measure.view.margin, loss, threshold_word(measure)]
        joined = list(zip(columns, stations, strict=True))
        for (left, a), (right, b) in pairwise(joined):
            x, y, u, v = columns[left] + 130, places[left, a], columns[right] - 8, places[right, b]
            colour = COLOURS[measure.view.name]
            curve = f"M{x} {y:.0f} C{x + 40} {y:.0f} {u - 40} {v:.0f} {u} {v:.0f}"
            lines.append(f'<path stroke="{colour}" d="{curve}"/>')
    texts = [
        f'<text x="{columns[column]}" y="{y:.0f}" dy="0.35em">{word}</text>'
        for (column, word), y in places.items()
    ]
    bold = 'y="24" font-weight="bold"'
    heads = [f'<text x="{x}" {bold}>{name}</text>' for name, x in columns.items()]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 840 {height}" '
        'font-family="sans-serif" font-size="15">'
        '<rect width="100%" height="100%" fill="white"/>'
        f'<g fill="none" stroke-width="1.6">{"".join(lines)}</g>'
        f"<g>{''.join(heads + texts)}</g></svg>\n"
    )


def threshold_word(measure: Measure) -> str:
    """The kind of threshold that suits a measure."""
    kinds = {"instance": "per instance", "label": "per label", "global": "one for all"}
    return "none" if measure.needs == "scores" else kinds[measure.view.threshold]
