"""Pages of the site that are made from the code: the reference, its pictures, and two live reports.

The reference lists every public name, so a new name gets its page without an edit here.
"""

import inspect
import tempfile
import warnings
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
FILTERS = list(warnings.filters)


def forbid_warnings(gallery_conf: dict[str, Any], fname: str | None, when: str) -> None:
    """Let a warning stop an example of the gallery, and only there: readers copy examples."""
    warnings.resetwarnings()
    warnings.filters.extend(FILTERS)
    if when == "before":
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*non-interactive", category=UserWarning)


def write_all(docs: Path) -> None:
    """Write ``reference.md`` and the live pages below ``docs/generated``."""
    live = docs / "generated" / "extra" / "live"
    live.mkdir(parents=True, exist_ok=True)
    write_if_changed(docs / "generated" / "reference.rst", reference())
    write_if_changed(docs / "generated" / "map.md", map_table())
    write_if_changed(docs / "generated" / "map.html", map_drawing())
    write_if_changed(docs / "generated" / "measures.md", measure_table())
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
            parts += [f".. rubric:: {kind}", "", ".. autosummary::"]
            parts += ["   :toctree: reference", "   :nosignatures:", ""]
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
PER = {"rows": "instances", "columns": "labels", "entries": "all entries"}
ITEMS = {"rows": "label", "columns": "instance", "entries": "entry"}
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
    """The map as a picture: four columns of words, joined by lines in the colour of the view.

    It is part of the page, so that its measures are links and it follows the light or dark theme.
    """
    columns = {"measure": 0, "margin": 250, "loss": 450, "threshold": 620}
    measures = [limo.MEASURES[name] for name in LOSSES]
    words: dict[str, list[str]] = {"measure": [m.title for m in measures]}
    words["margin"] = ["label-wise", "instance-wise", "entry-wise"]
    words["loss"] = ["mean", "top", "bottom", "pointwise"]
    words["threshold"] = ["none", "per instance", "per label", "one for all"]
    height = 40 + 34 * len(measures)
    places = {
        (column, word): 40 + (height - 40) * (k + 0.5) / len(these)
        for column, these in words.items()
        for k, word in enumerate(these)
    }
    lines: list[str] = []
    for number, (measure, loss) in enumerate(zip(measures, LOSSES.values(), strict=True)):
        stations = [measure.title, measure.view.margin, loss, threshold_word(measure)]
        shift = 1.4 * (number - (len(measures) - 1) / 2)  # lines that run together stay visible
        for (left, a), (right, b) in pairwise(zip(columns, stations, strict=True)):
            x, u = columns[left] + 12 + 8.2 * len(a), columns[right] - 8
            y = places[left, a] + (shift if left != "measure" else 0)
            v = places[right, b] + shift
            curve = f"M{x:.0f} {y:.1f} C{x + 40:.0f} {y:.1f} {u - 40} {v:.1f} {u} {v:.1f}"
            lines.append(f'<path class="{measure.view.name}" d="{curve}"/>')
    links = {limo.MEASURES[n].title: f"generated/reference/limo.{n}.html" for n in LOSSES}
    texts = [
        _word(word, columns[column], y, links.get(word) if column == "measure" else None)
        for (column, word), y in places.items()
    ]
    bold = 'y="20" font-weight="bold"'
    heads = [f'<text x="{x}" {bold}>{name}</text>' for name, x in columns.items()]
    return (
        f'<div class="map"><svg viewBox="0 0 720 {height}" role="img" '
        'aria-label="A map from the eleven measures to margins, losses and thresholds">'
        f"<g>{''.join(lines)}</g>{''.join(heads + texts)}</svg></div>\n"
    )


def _word(word: str, x: int, y: float, link: str | None) -> str:
    """A word of the map, and a link if it has a page."""
    text = f'<text x="{x}" y="{y:.0f}" dy="0.35em">{word}</text>'
    return f'<a href="{link}">{text}</a>' if link else text


def measure_table() -> str:
    """The eleven measures, each with a link to its definition and what it says."""
    lines = ["| measure | averaged over | in words |", "|---|---|---|"]
    for name in LOSSES:
        measure = limo.MEASURES[name]
        link = f"[{measure.title}](generated/reference/limo.{name}.rst)"
        words = measure.meaning.replace("items whose label is predicted", "items predicted")
        words = words.replace("item", ITEMS[measure.view.name])
        lines.append(f"| {link} | {PER[measure.view.name]} | {words} |")
    return "\n".join(lines) + "\n"


def threshold_word(measure: Measure) -> str:
    """The kind of threshold that suits a measure: that of the rule in the table."""
    kinds = {
        limo.InstanceThreshold: "per instance",
        limo.LabelThreshold: "per label",
        limo.GlobalThreshold: "one for all",
    }
    if measure.needs == "scores":
        return "none"
    return kinds[type(limo.suggest_threshold(measure.name))]
