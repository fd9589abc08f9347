"""Evaluate scores and predictions: all measures, the margins, and scorers for scikit-learn."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any, Literal

import numpy as np

from limo._checks import Checked, check_inputs, check_name
from limo._margins import MARGIN_FUNCTIONS, Effectiveness, MarginSummary, summarise
from limo._system import Later
from limo._text import Rows, align, as_html, counted, plain
from limo._types import Values
from limo._views import COLUMNS, ENTRIES, ROWS, VIEWS, View
from limo.measures._compute import Also, Found, ProfileFunction, check_conventions, compute
from limo.measures._conventions import Conventions
from limo.measures._measure import Measure, Result
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
    n_missing : int
        How many true labels are missing.
    weighted : bool
        Whether the instances have weights.
    """

    results: Mapping[str, Result]
    margins: Mapping[str, MarginSummary]
    conventions: Conventions
    n_instances: int
    n_labels: int
    label_names: tuple[str, ...] | None
    undefined: Mapping[str, Mapping[str, int]]
    n_missing: int = 0
    weighted: bool = False

    def __getitem__(self, name: str) -> float:
        if name in self.results:
            return self.results[name].value
        if name in MEASURES:
            needed = "y_score" if MEASURES[name].needs == "scores" else "y_pred"
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
        document = {
            "n_instances": self.n_instances,
            "n_labels": self.n_labels,
            "n_missing": self.n_missing,
            "weighted": self.weighted,
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
            Path(path).write_text(text + "\n", encoding="utf-8")
        return text

    def _record(self, name: str) -> dict[str, Any]:
        result = self.results[name]
        return {
            "value": result.value,
            "best": result.best,
            "better": MEASURES[name].better,
            "view": MEASURES[name].view.name,
            "skipped": result.skipped,
            "filled": int(result.undefined.sum()) - result.skipped,
        }

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
        return ", ".join(parts)

    def measure_rows(self) -> Rows:
        """Rows of the table of measures, starting with its head."""
        head: tuple[str, ...] = ("measure", "value", "best", "better", "undefined rows")
        return [head] + [
            (
                MEASURES[name].title,
                f"{result.value:.4f}",
                f"{result.best:.4f}",
                MEASURES[name].better,
                self._note(name),
            )
            for name, result in self.results.items()
        ]

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

    def _note(self, name: str) -> str:
        fill = self.results[name].filled_with
        rows = MEASURES[name].view.row
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


def evaluate(
    y_true: Any,
    y_score: Any = None,
    y_pred: Any = None,
    *,
    conventions: str | Conventions = "standard",
    label_names: Iterable[str] | None = None,
    sample_weight: Any = None,
    missing: Any = None,
) -> Evaluation:
    """Compute the measures and margins of scores, predicted labels or both.

    The margins and seven of the measures need scores; the other four need predicted labels. The
    rows, the columns and the entries of the scores are sorted once each, for all measures.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like of shape (n_samples, n_labels), optional
        Scores; a higher one means more likely relevant.
    y_pred : array-like or sparse matrix of shape (n_samples, n_labels), optional
        Predicted labels, 0 or 1.
    conventions : str or Conventions, default="standard"
        How ties and undefined rows count: "standard", "paper", "sklearn" or a record.
    label_names : iterable of str, optional
        Names for tables; by default the columns of a data frame, if one is given.
    sample_weight : array-like of shape (n_samples,), optional
        How much each instance counts; an instance of weight 2 counts as two.
    missing : number or array-like of bool, optional
        The number that stands for a missing label in ``y_true`` (nan or -1), or a mask that is true
        where a label is missing. Such entries take no part. Masked entries of a masked array are
        always missing.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import limo
    >>> y_true = [[1, 0, 0], [0, 1, 1], [0, 0, 0]]
    >>> y_score = [[0.9, 0.2, 0.4], [0.5, 0.1, 0.8], [0.3, 0.2, 0.1]]
    >>> evaluation = limo.evaluate(y_true, y_score)
    >>> evaluation["ranking_loss"], evaluation.skipped["ranking_loss"]
    (0.25, 1)
    >>> evaluation["macro_f1"]
    Traceback (most recent call last):
        ...
    KeyError: 'macro_f1 needs y_pred, which was not given.'
    """
    if y_score is None and y_pred is None:
        raise ValueError(
            "evaluate needs y_score, y_pred or both: got neither. "
            "Scores give the ranking measures, predicted labels the others."
        )
    checked = check_inputs(
        y_true, y_score, y_pred, label_names, missing=missing, sample_weight=sample_weight
    )
    return evaluate_checked(checked, check_conventions(conventions))[0]


def evaluate_checked(
    checked: Checked, conventions: Conventions, also: Also | None = None
) -> tuple[Evaluation, Found]:
    """Evaluate checked input, and apply other functions to the same sorted scores.

    ``also`` is explained at :func:`limo.measures._compute.compute`.
    """

    def functions(view: View, found: Found) -> dict[str, ProfileFunction]:
        return {**MARGIN_FUNCTIONS, **(also(view, found) if also else {})}

    inputs = {"scores": checked.S, "labels": checked.P}
    measures = [m for m in MEASURES.values() if inputs[m.needs] is not None]
    computed = compute(measures, checked, conventions, functions)
    evaluation = Evaluation(
        computed.results,
        {
            name: summarise(VIEWS[name], found, VIEWS[name].row_weights(checked.Y))
            for name, found in computed.found.items()
        },
        conventions,
        *checked.Y.shape,
        checked.label_names,
        {m.name: _reasons(m, computed.results[m.name], checked) for m in measures},
        checked.n_missing,
        checked.Y.row_weights is not None,
    )
    return evaluation, computed.found


def _reasons(measure: Measure, result: Result, checked: Checked) -> dict[str, int]:
    """How many rows are undefined, by reason."""
    ones, n_items = measure.view.ones(checked.Y), measure.view.n_items(checked.Y)
    counts = True if result.weights is None else result.weights > 0
    known = result.undefined & counts
    found = {
        measure.view.empty_reason: int((known & (ones == 0)).sum()),
        measure.view.full_reason: int((known & (ones == n_items)).sum()),
        "no known label, or weight 0": int((result.undefined & ~known).sum()),
    }
    return {reason: n for reason, n in found.items() if n}


# Scores of scikit-learn estimators


def scores_of(estimator: Any, X: Any) -> Values:
    """Score every label of every instance with a fitted multi-label estimator.

    ``decision_function`` is preferred, because rounding to probabilities can create ties.
    ``predict_proba`` may return one matrix, or a list with the class probabilities of each label; a
    label that had a single class in training gets probability 0 or 1. For an estimator with
    neither, such as ``MultiOutputClassifier(LinearSVC())``, scores come from its fitted parts.

    Parameters
    ----------
    estimator : fitted estimator
        With ``decision_function`` or ``predict_proba``.
    X : array-like
        Instances.

    Returns
    -------
    array of shape (n_samples, n_labels)
    """
    if hasattr(estimator, "decision_function"):
        return _two_dimensional(estimator.decision_function(X))
    if hasattr(estimator, "predict_proba"):
        return probabilities_of(estimator, X)
    parts = getattr(estimator, "estimators_", ())
    if len(parts) and all(hasattr(part, "decision_function") for part in parts):
        return np.column_stack([part.decision_function(X) for part in parts])
    raise TypeError(
        f"{type(estimator).__name__} gives no scores: expected decision_function or predict_proba. "
        "Measures of predicted labels (such as 'macro_f1') need neither."
    )


def probabilities_of(estimator: Any, X: Any) -> Values:
    """The probability of every label of every instance, from ``predict_proba``."""
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(
            f"{type(estimator).__name__} gives no probabilities: expected predict_proba. "
            "scikit-learn's CalibratedClassifierCV adds it to a classifier with scores."
        )
    found = estimator.predict_proba(X)
    if isinstance(found, list):
        return _from_list(found, getattr(estimator, "classes_", None))
    return _two_dimensional(found)


def _two_dimensional(scores: Any) -> Values:
    matrix: Values = np.asarray(scores)
    return matrix.reshape(-1, 1) if matrix.ndim == 1 else matrix


def _from_list(probabilities: list[Any], classes: Any) -> Values:
    known = classes if isinstance(classes, list) else [None] * len(probabilities)
    columns = [_positive(np.asarray(p), c) for p, c in zip(probabilities, known, strict=True)]
    return np.column_stack(columns)


def _positive(probability: Values, classes: Any) -> Values:
    """The column of class 1; probability 0 if there is none."""
    if classes is None:
        if probability.shape[1] != 2:
            raise TypeError(
                "predict_proba gave a label with other than two classes, and the estimator has no "
                "classes_ that says which is which."
            )
        return probability[:, 1]
    place = np.flatnonzero(np.asarray(classes) == 1)
    return probability[:, place[0]] if place.size else np.zeros(len(probability))


# Scorers


@dataclass(frozen=True)
class MeasureScorer:
    """A callable ``(estimator, X, y) -> float`` that returns higher values for better estimators.

    Measures for which lower is better are negated, as scikit-learn expects.
    """

    measure: str
    conventions: Conventions
    missing: Any = None
    requested: bool | str | None = None

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score a fitted estimator on ``X`` and the true labels ``y``."""
        measure = MEASURES[self.measure]
        if measure.needs == "scores":
            found = {"y_score": scores_of(estimator, X)}
        else:
            found = {"y_pred": estimator.predict(X)}
        checked = check_inputs(y, **found, missing=self.missing, sample_weight=sample_weight)
        result = compute([measure], checked, self.conventions).results[self.measure]
        return measure.sign * result.value

    def set_score_request(self, *, sample_weight: bool | str | None) -> "MeasureScorer":
        """Return a scorer that asks scikit-learn's metadata routing for sample weights, or not.

        Parameters
        ----------
        sample_weight : bool, str or None
            True asks for them, False does without, a string is the name they are passed under, and
            None makes passing them an error.
        """
        return replace(self, requested=sample_weight)

    def get_metadata_routing(self) -> Any:
        """What this scorer asks of scikit-learn's metadata routing."""
        request = routing.MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=self.requested)
        return request

    def _accept_sample_weight(self) -> bool:
        return True  # scikit-learn's searches ask this when metadata routing is off

    def __repr__(self) -> str:
        return f"make_scorer({self.measure!r}, conventions={self.conventions.name!r})"


def make_scorer(
    measure: str, *, conventions: str | Conventions = "standard", missing: float | None = None
) -> MeasureScorer:
    """Make a scorer for ``cross_validate``, ``GridSearchCV`` and similar functions.

    Works with any multi-label estimator: measures of scores use ``decision_function``, or else
    ``predict_proba``, which may return one matrix or a list of arrays; measures of labels use
    ``predict``.

    Parameters
    ----------
    measure : str
        Name of a measure, such as ``"macro_auc"``; ``limo.MEASURES`` lists them.
    conventions : str or Conventions, default="standard"
        How ties and undefined rows count.
    missing : float, optional
        The number that stands for a missing label in the true labels: nan or -1.

    Returns
    -------
    MeasureScorer
        Higher is better: losses are negative. ``set_score_request(sample_weight=True)`` lets
        metadata routing pass weights on.

    Examples
    --------
    >>> import limo
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.multiclass import OneVsRestClassifier
    >>> data = limo.datasets.figure1(200)
    >>> model = OneVsRestClassifier(LogisticRegression())
    >>> scores = cross_val_score(model, data.X, data.Y, scoring=limo.make_scorer("ranking_loss"))
    >>> bool((scores <= 0).all())
    True
    """
    name = check_name(measure, MEASURES, "measure")
    return MeasureScorer(name, check_conventions(conventions), missing)
