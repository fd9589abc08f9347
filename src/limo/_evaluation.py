"""The record of an evaluation: values, margins, intervals, and how they are shown."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from html import escape
from numbers import Real
from pathlib import Path
from typing import Any, Literal

import numpy as np

from limo._drawing import INK, draw_dots, new_axes
from limo._frames import as_names
from limo._margins import Effectiveness, MarginSummary
from limo._settings import check_name
from limo._system import Later, write_text
from limo._text import Rows, align, as_html, counted, plain
from limo._types import Values, check_kind
from limo._views import COLUMNS, ENTRIES, ROWS, View
from limo.measures._conventions import Conventions
from limo.measures._intervals import (
    Interval,
    Sample,
    interval_title,
)
from limo.measures._measure import Measure, Result, skill
from limo.measures._table import MEASURES

pandas = Later("pandas")
routing = Later("sklearn.utils.metadata_routing")


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Mapping[str, float]):
    """The measures of one predictor: a mapping from the name of a measure to its value.

    Attributes
    ----------
    results : mapping of str to Result
        Value, best possible value, rows and undefined rows of each measure.
    margins : mapping of str to MarginSummary
        By the name of the view (``"rows"``, ``"columns"``, ``"entries"``); empty without scores.
    conventions : Conventions
        The conventions used.
    n_instances, n_labels : int
        Size of the label matrix.
    label_names : tuple of str or None
        Names of the labels, if the input had any.
    undefined : mapping of str to mapping of str to int
        For each measure, why rows are undefined, and how many.
    measures : mapping of str to Measure
        The record of each measure.
    blind : mapping of str to float
        The value of blind guessing on these labels; nan where it is unknown.
    sample : Sample or None
        How the measures vary from sample to sample; None unless intervals were asked for.
    n_missing : int
        How many true labels are missing.
    weighted : bool
        Whether the instances have weights.
    bounds : mapping of str to tuple of float
        For measures that are not known exactly, the lowest and the highest possible value. Empty
        unless scores are sparse and some relevant label has none, or a stream was binned.
    n_absent : int
        How many relevant labels have no score, because scores are sparse.

    Examples
    --------
    >>> import limo
    >>> Y, S = [[1, 0, 1], [0, 1, 0]], [[0.9, 0.1, 0.4], [0.5, 0.3, 0.2]]
    >>> evaluation = limo.evaluate(Y, S)
    >>> evaluation["ranking_loss"], len(evaluation)
    (0.25, 7)
    """

    results: Mapping[str, Result]
    margins: Mapping[str, MarginSummary]
    conventions: Conventions
    n_instances: int
    n_labels: int
    label_names: tuple[str, ...] | None
    undefined: Mapping[str, Mapping[str, int]]
    measures: Mapping[str, Measure]
    blind: Mapping[str, float]
    sample: Sample | None = None
    n_missing: int = 0
    weighted: bool = False
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    n_absent: int = 0

    def __getitem__(self, name: str) -> float:
        name = MEASURES.canonical(name)
        if isinstance(name, str) and name in self.results:
            return self.results[name].value
        if isinstance(name, str) and name in MEASURES:
            needed = "y_score" if MEASURES[name].needs == "scores" else "y_pred"
            if name not in tuple(MEASURES):
                raise KeyError(f"{name} was not computed: ask for it with measures=[{name!r}].")
            raise KeyError(f"{name} needs {needed}, which was not given.")
        try:
            check_name(name, MEASURES, "measure")
        except ValueError as error:
            raise KeyError(str(error)) from None
        raise AssertionError  # pragma: no cover

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @property
    def is_plain(self) -> bool:
        """Whether every label is known and every instance counts once."""
        return not (self.weighted or self.n_missing)

    @property
    def intervals(self) -> dict[str, Interval]:
        """The standard error and the interval of each measure; empty unless asked for."""
        intervals = {name: self.interval(name) for name in self}
        return {name: interval for name, interval in intervals.items() if interval is not None}

    def interval(self, name: str) -> Interval | None:
        """The standard error and the interval of one measure; None unless asked for."""
        if self.sample is None:
            return None
        return self.sample.interval(self.measures[name], self[name])

    def limited_to(self, names: Iterable[str]) -> "Evaluation":
        """The same with these measures only."""
        kept = [self._computed(name) for name in as_names(names, "names")]
        return replace(
            self,
            results={name: self.results[name] for name in kept},
            undefined={name: self.undefined[name] for name in kept},
            measures={name: self.measures[name] for name in kept},
            bounds={name: self.bounds[name] for name in kept if name in self.bounds},
        )

    @property
    def skill(self) -> dict[str, float]:
        """The skill on each measure: 0 for blind guessing, 1 for the best possible value."""
        return {name: self.skill_of(name, value) for name, value in self.items()}

    def skill_of(self, name: str, value: float) -> float:
        """The skill that corresponds to a value of a measure, on these labels.

        Parameters
        ----------
        name : str
            The measure.
        value : float
            Its value, such as the end of an interval.
        """
        check_kind(value, Real, "value must be a number")
        name = self._computed(name)
        return skill(value, self.blind[name], self.results[name].best)

    def _computed(self, name: str) -> str:
        """The usual name of a measure; an error if it was not computed."""
        _ = self[name]
        return MEASURES.canonical(name)

    def plot(self, ax: Any = None) -> Any:
        """Draw the skill on all measures, with intervals if they were asked for.

        Measures without a known value of blind guessing are left out.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Figure
        """
        shown = {name: one for name, one in self.skill.items() if not math.isnan(one)}
        ax = new_axes(ax, 6.0, 1.1 + 0.27 * len(shown))
        ends = [
            sorted((self.skill_of(name, one.low), self.skill_of(name, one.high)))
            for name, one in self.intervals.items()
            if name in shown
        ]
        low, high = np.array(ends).T if ends else (None, None)
        titles = [self.measures[name].title for name in shown]
        draw_dots(ax, titles, np.array(list(shown.values())), low, high)
        ax.axvline(0, color=INK, linewidth=0.8)
        ax.axvline(1, color=INK, linewidth=0.8)
        ax.set_xlabel("skill: 0 is blind guessing, 1 the best possible value")
        return ax.figure

    @property
    def skipped(self) -> dict[str, int]:
        """How many rows each measure left out of its mean."""
        return {name: result.skipped for name, result in self.results.items()}

    @property
    def tied_share(self) -> dict[str, float]:
        """Share of tied pairs in each view."""
        return {name: summary.tied_share for name, summary in self.margins.items()}

    @property
    def effectiveness(self) -> Effectiveness:
        """How far the predictor is effective; needs scores."""
        if not self.margins:
            raise ValueError("Effectiveness needs y_score, which was not given.")
        rows, columns, entries = (self.margins[view.name] for view in (ROWS, COLUMNS, ENTRIES))
        whole = float(entries.margins[0]), float(entries.absolute[0])
        return Effectiveness(rows.positive_share, columns.positive_share, *whole)

    @property
    def per_instance(self) -> dict[str, Values]:
        """The values of each instance, for each measure that has them, and label-wise margins."""
        return self._per_row(ROWS)

    @property
    def per_label(self) -> dict[str, Values]:
        """The values of each label, for each measure that has them, and instance-wise margins."""
        return self._per_row(COLUMNS)

    def _per_row(self, view: View) -> dict[str, Values]:
        values = {n: r.rows[view.name] for n, r in self.results.items() if view.name in r.rows}
        if self.margins:
            values[f"{view.margin.replace('-', '_')}_margin"] = self.margins[view.name].margins
        return values

    def to_frame(self, of: Literal["measures", "instances", "labels"] = "measures") -> Any:
        """Make a data frame of the measures, or of the values of each instance or label."""
        check_name(of, ("measures", "instances", "labels"), "table")
        if of == "instances":
            return pandas.DataFrame(self.per_instance).rename_axis("instance")
        if of == "labels":
            index = pandas.Index(self.label_names or range(self.n_labels), name="label")
            return pandas.DataFrame(self.per_label, index=index)
        rows = {name: self._record(name) for name in self}
        return pandas.DataFrame.from_dict(rows, orient="index").rename_axis("measure")

    def to_json(self, path: str | Path | None = None, *, per_instance: bool = False) -> str:
        """Write everything as JSON; values of single instances only with ``per_instance``.

        nan is written as null.
        """
        check_kind(per_instance, bool, "per_instance must be True or False")
        document = {
            "n_instances": self.n_instances,
            "n_labels": self.n_labels,
            "n_missing": self.n_missing,
            "weighted": self.weighted,
            "n_absent": self.n_absent,
            "label_names": self.label_names,
            "conventions": self.conventions.to_dict(),
            "measures": {n: self._record(n) | {"undefined": self.undefined[n]} for n in self},
            "margins": {name: summary.to_dict() for name, summary in self.margins.items()},
            "per_label": self.per_label,
        }
        if per_instance:
            document["per_instance"] = self.per_instance
        text = json.dumps(plain(document), indent=2, allow_nan=False)
        if path is not None:
            write_text(path, text)
        return text

    def _record(self, name: str) -> dict[str, Any]:
        result, measure = self.results[name], self.measures[name]
        record: dict[str, Any] = {
            "value": result.value,
            "best": result.best,
            "better": measure.better,
            "view": measure.view.name,
            "skipped": result.skipped,
            "filled": result.n_undefined - result.skipped,
        }
        if name in self.bounds:
            record |= dict(zip(("lower_bound", "upper_bound"), self.bounds[name], strict=True))
        interval = self.interval(name)
        if interval is None:
            return record
        return record | {"error": interval.error, "low": interval.low, "high": interval.high}

    @property
    def heading(self) -> str:
        """One line about what was evaluated."""
        size = f"{self.n_instances} instances x {self.n_labels} labels"
        parts = [size, f"conventions: {self.conventions.name}"]
        if self.n_missing:
            share = self.n_missing / (self.n_instances * self.n_labels)
            parts.insert(1, f"{counted(self.n_missing, 'label')} missing ({share:.1%})")
        if self.weighted:
            parts.insert(1, "weighted")
        if self.n_absent:
            parts.insert(1, f"{counted(self.n_absent, 'relevant label')} without a score")
        return ", ".join(parts)

    def measure_rows(self) -> Rows:
        """Rows of the table of measures, starting with its head."""
        head: tuple[str, ...] = ("measure", "value", "best", "better", "undefined rows")
        rows = [head] + [
            (
                self.measures[name].title,
                f"{result.value:.4f}",
                f"{result.best:.4f}",
                self.measures[name].better,
                self._note(name),
            )
            for name, result in self.results.items()
        ]
        if self.bounds:
            limits = ["between", *(self._between(name) for name in self)]
            rows = [(*row[:2], new, *row[2:]) for row, new in zip(rows, limits, strict=True)]
        if self.sample is None:
            return rows
        added = [(interval_title(self.sample.sampling.level), "error")] + [
            (str(one), f"{one.error:.4f}") for one in self.intervals.values()
        ]
        return [(*row[:2], *new, *row[2:]) for row, new in zip(rows, added, strict=True)]

    def margin_rows(self) -> Rows:
        """Rows of the table of margins, starting with its head."""
        head: tuple[str, ...] = (
            "margin",
            "positive",
            "lowest",
            "median",
            "highest",
            "pairs in order",
            "tied",
        )
        return [head] + [
            (
                summary.view.margin,
                f"{summary.positive_share:.1%}",
                *(f"{summary.quantile(q):.4g}" for q in (0.0, 0.5, 1.0)),
                f"{summary.ordered_share:.1%}",
                f"{summary.tied_share:.1%}",
            )
            for summary in self.margins.values()
        ]

    def _between(self, name: str) -> str:
        low, high = self.bounds.get(name, (self[name], self[name]))
        return f"{low:.4f} and {high:.4f}" if low < high else ""

    def _note(self, name: str) -> str:
        fill = self.results[name].filled_with
        rows = self.measures[name].view.row
        parts = [f"{counted(n, rows)}: {why}" for why, n in self.undefined[name].items()]
        ending = "" if fill is None else f" (counted as {fill:g})"
        return "; ".join(parts) + ending if parts else ""

    def __str__(self) -> str:
        tables = [self.measure_rows()] + ([self.margin_rows()] if self.margins else [])
        return "\n\n".join([self.heading, *map(align, tables)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        tables = [self.measure_rows()] + ([self.margin_rows()] if self.margins else [])
        return f"<p>{escape(self.heading)}</p>" + "".join(map(as_html, tables))
