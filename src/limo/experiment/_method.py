"""A method: a learner, how its features are scaled, and what cuts its scores for each measure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from limo._checks import check_name
from limo.experiment._identity import (
    PlanError,
    check_keys,
    describe,
    file_digest,
    import_object,
    parameters_of,
)
from limo.measures._table import MEASURES
from limo.models._base import SCALINGS
from limo.models._binary_relevance import BinaryRelevance
from limo.models._limo import LIMOClassifier
from limo.models._limo_cv import LIMOClassifierCV
from limo.models._neighbours import GFMClassifier, MLKNNClassifier
from limo.models._paper import paper_limo
from limo.thresholds import (
    RULES,
    InstanceThreshold,
    LabelThreshold,
    ThresholdClassifier,
    ThresholdRule,
)
from limo.thresholds._fit import make_rule

__all__ = ["METHODS", "OWN", "Cut", "Method", "estimator_for"]


OWN = "own"
"""Instead of a threshold rule: what the estimator's own ``predict`` says."""

FittedOn = Literal["cross-fitted scores", "training scores", "test labels"]
Given = ThresholdRule | str | None


@dataclass(frozen=True, eq=False)
class Cut:
    """What turns scores into labels for a measure, and on what it is fitted.

    Attributes
    ----------
    rule : ThresholdRule or None
        The rule; None for the estimator's own ``predict``.
    fitted_on : {"cross-fitted scores", "training scores", "test labels"}
        Scores of training instances by models that have not seen them, or by the model itself. A
        cut chosen on test labels is no result; the paper prints some, and to show them beside
        ours is its only use.

    Examples
    --------
    >>> import limo
    >>> print(Cut(limo.GlobalThreshold("micro_f1"), "training scores"))
    GlobalThreshold(target='micro_f1'), fitted on training scores
    """

    rule: ThresholdRule | None = None
    fitted_on: FittedOn = "cross-fitted scores"

    def __str__(self) -> str:
        if self.rule is None:
            return "own predict"
        text = " ".join(repr(self.rule).split())
        return f"{text}, fitted on {self.fitted_on}" if self.rule.needs_fit else text


@dataclass(frozen=True, eq=False)
class Method:
    """A learner under a name, with all that decides its results.

    Parameters
    ----------
    name : str
        What the rows call it. The seed of a run depends on it.
    estimator : estimator or str
        A scikit-learn estimator for multi-label data; or where to import its class from:
        ``"package.module:Class"`` or ``"file.py:Class"``.
    settings : mapping of str to object, default={}
        Parameters set on the estimator.
    scaling : str, transformer or None, default=None
        ``"max_abs"``, ``"standard"``, ``"unit_rows"``, or a scikit-learn transformer of the
        features; fitted on training data.
    threshold : rule, str, mapping or None, default=None
        What cuts the scores for measures of labels: by default the rule that suits each measure
        (:func:`limo.suggest_threshold`); or one rule for all, by name or as an object; or
        ``"own"``, the estimator's ``predict``; or a mapping from measures to these or to
        :class:`Cut`. Measures not named keep the rule that suits them.
    cv : int or "prefit", default=3
        Fit rules on cross-fitted scores, in so many folds; or on the training scores.
    targeted : bool, default=False
        Whether the estimator is fitted once for all measures of the plan, as its parameter
        ``measure``, and has a model for each, ``model_for(measure)``.

    Examples
    --------
    >>> import limo
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> method = Method("neighbours", KNeighborsClassifier(20), scaling="max_abs")
    >>> {measure: str(cut) for measure, cut in method.cuts(["micro_f1", "macro_auc"]).items()}
    {'micro_f1': "GlobalThreshold(target='micro_f1'), fitted on cross-fitted scores"}
    >>> Method("neighbours", "sklearn.neighbors:KNeighborClassifier")
    Traceback (most recent call last):
        ...
    limo.experiment.PlanError: sklearn.neighbors has no 'KNeighborClassifier',
    named by 'sklearn.neighbors:KNeighborClassifier'. Did you mean 'KNeighborsClassifier'?
    """

    name: str
    estimator: Any
    settings: Mapping[str, Any] = field(default_factory=dict)
    scaling: Any = None
    threshold: Given | Mapping[str, Given | Cut] = None
    cv: int | Literal["prefit"] = 3
    targeted: bool = False

    def __post_init__(self) -> None:
        if not self.name or not isinstance(self.name, str):
            raise PlanError(f"a method needs a name, got {self.name!r}")
        if self.cv != "prefit" and (not isinstance(self.cv, int) or self.cv < 2):
            raise PlanError(
                f"cv of method {self.name!r} must be a number of folds from 2 up or 'prefit', "
                f"got {self.cv!r}"
            )
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))
        self.scaler()
        self._check_estimator()
        if isinstance(self.threshold, Mapping):
            for measure in self.threshold:
                check_name(measure, MEASURES, "measure")
        self.cuts(list(MEASURES))

    def build(self, measures: Sequence[str] = (), seed: int | None = None) -> Any:
        """A new, unfitted estimator; what draws at random and has no seed gets this one."""
        model = self._new()
        if self.targeted:
            model.set_params(measure=list(measures))
        if seed is None:
            return model
        settings = model.get_params()
        free = [key for key in settings if key.endswith("random_state") and settings[key] is None]
        return model.set_params(**dict.fromkeys(free, seed))

    def scaler(self) -> Any:
        """A new, unfitted transformer of the features, or None."""
        if isinstance(self.scaling, str):
            return SCALINGS[check_name(self.scaling, SCALINGS, "scaling")]()
        if self.scaling is not None and not hasattr(self.scaling, "transform"):
            raise PlanError(
                f"scaling of method {self.name!r} must be one of {', '.join(SCALINGS)} or a "
                f"transformer, got {self.scaling!r}"
            )
        return None if self.scaling is None else clone(self.scaling)

    def cuts(self, measures: Sequence[str]) -> dict[str, Cut]:
        """The cut for each of the measures that judge labels."""
        of_labels = [name for name in measures if MEASURES[name].needs == "labels"]
        return {name: self._cut(name) for name in of_labels}

    def describe(self) -> dict[str, Any]:
        """All that decides the results, as plain JSON."""
        given = self.estimator
        found = {
            "name": self.name,
            "estimator": describe(given),
            "settings": describe(self.settings),
            "scaling": describe(self.scaling),
            "cuts": {name: str(cut) for name, cut in self.cuts(list(MEASURES)).items()},
            "cv": self.cv,
            "targeted": self.targeted,
        }
        return found | ({"file": file_digest(given)} if isinstance(given, str) else {})

    def __reduce__(self) -> tuple[Any, ...]:
        # a mapping proxy cannot be pickled
        settings = dict(self.settings)
        values = (self.name, self.estimator, settings, self.scaling, self.threshold, self.cv)
        return Method, (*values, self.targeted)

    def _cut(self, measure: str) -> Cut:
        threshold = self.threshold
        given = threshold.get(measure) if isinstance(threshold, Mapping) else threshold
        if isinstance(given, Cut):
            return given
        if self.targeted or given == OWN:
            return Cut()
        if isinstance(given, str):
            check_name(given, [*RULES, OWN], "threshold rule")
        rule = make_rule(given, measure)
        return Cut(rule, "training scores" if self.cv == "prefit" else "cross-fitted scores")

    def _new(self) -> Any:
        given = self.estimator
        if isinstance(given, str):
            return import_object(given)(**self.settings)
        return clone(given).set_params(**self.settings)

    def _check_estimator(self) -> None:
        """Build it once: a wrong import path or setting is found before anything runs."""
        given, who = self.estimator, f"method {self.name!r}"
        if isinstance(given, str):
            check_keys(self.settings, parameters_of(import_object(given)), f"{given} of {who}")
        else:
            _must_have(given, ("fit", "get_params"), who)
            check_keys(self.settings, given.get_params(), f"{type(given).__name__} of {who}")
        try:
            model = self._new()
        except (TypeError, ValueError) as error:
            raise PlanError(f"the estimator of {who} cannot be made: {error}") from error
        _must_have(model, ("fit", "get_params", *["model_for"] * self.targeted), who)


def _must_have(model: Any, attributes: Sequence[str], who: str) -> None:
    for attribute in attributes:
        if not hasattr(model, attribute):
            raise PlanError(
                f"{who} needs an estimator with {attribute}, got {type(model).__name__}; "
                "sklearn.base.BaseEstimator gives a class scikit-learn's interface"
            )


# The methods a plan can name without saying how they are made.

Kind = Literal["LIMO", "LIMO-label", "LIMO-inst"]
_F1 = ("instance_f1", "micro_f1", "macro_f1")


def _exact(name: str, label: float, instance: float) -> Method:
    # the plan's cuts serve every measure, so the model need not fit one of its own
    model = LIMOClassifier(label, instance, threshold_measure=None)
    return Method(name, model, scaling="unit_rows")


def _paper(name: str, kind: Kind, cuts: Mapping[str, Cut]) -> Method:
    """LIMO as the authors ran it, with a cut for each measure of labels."""
    model = paper_limo(kind, "benchmark").set_params(threshold_measure=None)
    return Method(name, model, scaling="max_abs", threshold=cuts, cv="prefit")


def _per_instance(target: str) -> ThresholdRule:
    """t(x) of the paper: support vector regression of the best cuts of the training rows."""
    return InstanceThreshold(target, source="features", regressor="svr", end_gap=0, ties="most")


def _per_label(target: str) -> ThresholdRule:
    return LabelThreshold(target, min_positives=0)


def _on_training(rules: Mapping[str, ThresholdRule]) -> dict[str, Cut]:
    return {measure: Cut(rule, "training scores") for measure, rule in rules.items()}


def _with_test_labels(cuts: Mapping[str, Cut], *measures: str) -> dict[str, Cut]:
    return {**cuts, **{name: Cut(_per_label("macro_f1"), "test labels") for name in measures}}


def _cuts_of_label() -> dict[str, Cut]:
    best_f1, best_hamming = _per_instance("instance_f1"), _per_instance("hamming_loss")
    return _on_training({**dict.fromkeys(_F1, best_f1), "hamming_loss": best_hamming})


def _cuts_of_both() -> dict[str, Cut]:
    per_label = {"macro_f1": _per_label("macro_f1"), "hamming_loss": _per_label("hamming_loss")}
    return {**_cuts_of_label(), **_on_training(per_label)}


def _cuts_of_instance() -> dict[str, Cut]:
    best_f1, best_hamming = _per_label("macro_f1"), _per_label("hamming_loss")
    return _on_training({**dict.fromkeys(_F1, best_f1), "hamming_loss": best_hamming})


def _own(name: str, model: Any) -> Method:
    return Method(name, model, scaling="max_abs", threshold=OWN)


_ENTRIES: tuple[Method, ...] = (
    _exact("limo", 1, 1),
    _exact("limo-label", 1, 0),
    _exact("limo-inst", 0, 1),
    Method("limo-cv", LIMOClassifierCV(), scaling="unit_rows", targeted=True),
    Method("logistic", BinaryRelevance("logistic"), scaling="unit_rows"),
    _own("br", BinaryRelevance()),
    _own("mlknn", MLKNNClassifier()),
    _own("gfm", GFMClassifier()),
    _paper("paper:LIMO", "LIMO", _cuts_of_both()),
    _paper("paper:LIMO-label", "LIMO-label", _cuts_of_label()),
    _paper("paper:LIMO-inst", "LIMO-inst", _cuts_of_instance()),
    _paper("paper:LIMO, test cuts", "LIMO", _with_test_labels(_cuts_of_both(), "macro_f1")),
    _paper("paper:LIMO-inst, test cuts", "LIMO-inst", _with_test_labels(_cuts_of_instance(), *_F1)),
)

METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _ENTRIES})
"""By name. The exact LIMOs, LIMO aimed at each measure by cross-validation (``limo-cv``), the tuned
logistic rival, the paper's three baselines, and LIMO as the authors ran it (``paper:``). Where
the paper's cuts were chosen on test labels, an entry of that name shows it."""


# From a method to an estimator of its own: scaled, fitted for a measure, cut as it should be.

# What predict cuts for where the measure judges scores and needs no cut.
_ANY_CUT = "micro_f1"


def estimator_for(method: Method, measure: str, *, seed: int | None = None) -> Any:
    """Make an estimator that does all that a comparison does with a method, for one measure.

    Parameters
    ----------
    method : Method
        One of ``limo.experiment.METHODS``, or of your own.
    measure : str
        What the model is for: the cut of ``predict`` suits it, and a method that aims at a measure
        aims at this one.
    seed : int, optional
        For what draws at random.

    Returns
    -------
    estimator
        Unfitted: the scaling and the learner in a pipeline, with a cross-fitted threshold
        unless the learner has its own.

    Examples
    --------
    >>> import limo
    >>> from limo.experiment import METHODS, estimator_for
    >>> estimator_for(METHODS["mlknn"], "macro_f1")
    Pipeline(steps=[('maxabsscaler', MaxAbsScaler()), ('mlknnclassifier', MLKNNClassifier())])
    """
    check_name(measure, MEASURES, "measure")
    model, scaler = method.build([measure], seed), method.scaler()
    learner = model if scaler is None else make_pipeline(scaler, model)
    judged = measure if MEASURES[measure].needs == "labels" else _ANY_CUT
    cut = method.cuts([judged])[judged]
    if cut.rule is None:
        return learner
    return ThresholdClassifier(learner, cut.rule, cv=method.cv)
