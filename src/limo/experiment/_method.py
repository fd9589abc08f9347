"""A method: a learner, the scaling of its features, and the threshold for each measure.

:data:`METHODS` holds the built-in ones. :func:`estimator_for` makes an estimator of a method, which
gives the predictions that a comparison judges.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import SVR

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
from limo.models._limo_sgd import paper_limo
from limo.models._neighbours import GFMClassifier, MLKNNClassifier
from limo.thresholds import (
    RULES,
    InstanceThreshold,
    LabelThreshold,
    ThresholdClassifier,
    ThresholdRule,
)
from limo.thresholds._fit import OWN, make_rule

FittedOn = Literal["cross-fitted scores", "training scores", "test labels"]
Given = ThresholdRule | str | None


@dataclass(frozen=True, eq=False)
class Cut:
    """What turns scores into labels for a measure, and what it is fitted on.

    Attributes
    ----------
    rule : ThresholdRule or None
        The rule; None for the estimator's own ``predict``.
    fitted_on : {"cross-fitted scores", "training scores", "test labels"}
        Scores of training instances by models that have not seen them, or by the model itself.
        Thresholds chosen on test labels give no valid result. The paper prints some; this option
        exists to show them beside ours.

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
    """A named learner, with everything that determines its results.

    Parameters
    ----------
    name : str
        The name in the results. The seed of a run depends on it.
    estimator : estimator or str
        A scikit-learn estimator for multi-label data, or the place to import its class from:
        ``"package.module:Class"`` or ``"file.py:Class"``.
    settings : mapping of str to object, default={}
        Parameters set on the estimator.
    scaling : str, transformer or None, default=None
        ``"max_abs"``, ``"standard"``, ``"unit_rows"``, or a scikit-learn transformer of the
        features. It is fitted with the learner, on training data, and on the training part of
        each fold if thresholds are cross-fitted. Threshold rules see the features unscaled.
    threshold : rule, str, mapping or None, default=None
        What cuts the scores for measures of labels: by default the rule that suits each measure
        (:func:`limo.suggest_threshold`); or one rule for all, by name or as an object; or
        ``"own"``, the estimator's ``predict``; or a mapping from measures to these or to
        :class:`Cut`. Measures that are not in the mapping get the rule that suits them.
    cv : int or "training", default=3
        The number of folds for cross-fitted scores that rules are fitted on; ``"training"`` fits
        them on training scores.
    targeted : bool, default=False
        Whether the estimator has a parameter ``measure``, which takes all measures of the plan,
        and a method ``model_for(measure)``, which gives the model for each.

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
    cv: int | Literal["training"] = 3
    targeted: bool = False

    def __post_init__(self) -> None:
        if not self.name or not isinstance(self.name, str):
            raise PlanError(f"a method needs a name, got {self.name!r}")
        if self.cv != "training" and (not isinstance(self.cv, int) or self.cv < 2):
            raise PlanError(
                f"cv of method {self.name!r} must be a number of folds from 2 up or 'training', "
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
        """A new, unfitted estimator; a random_state that is None becomes the seed."""
        model = self._new()
        if self.targeted:
            model.set_params(measure=list(measures))
        if seed is None:
            return model
        settings = model.get_params()
        free = [key for key in settings if key.endswith("random_state") and settings[key] is None]
        return model.set_params(**dict.fromkeys(free, seed))

    def learner(self, measures: Sequence[str] = (), seed: int | None = None) -> Any:
        """The new estimator behind its scaling, in a pipeline."""
        model, scaler = self.build(measures, seed), self.scaler()
        return model if scaler is None else make_pipeline(scaler, model)

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
        """The cut for each of the measures of labels."""
        of_labels = [name for name in measures if MEASURES[name].needs == "labels"]
        return {name: self._cut(name) for name in of_labels}

    def describe(self) -> dict[str, Any]:
        """Everything that determines the results, as plain JSON."""
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
        # A mapping proxy cannot be pickled.
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
        return Cut(rule, "training scores" if self.cv == "training" else "cross-fitted scores")

    def _new(self) -> Any:
        given = self.estimator
        if isinstance(given, str):
            return import_object(given)(**self.settings)
        return clone(given).set_params(**self.settings)

    def _check_estimator(self) -> None:
        """Build it once, so that a wrong import path or setting is found before anything runs."""
        given, who = self.estimator, f"method {self.name!r}"
        if isinstance(given, str):
            check_keys(self.settings, parameters_of(import_object(given)), f"{given} of {who}")
        else:
            _must_have(given, ("fit", "get_params"), who)
            check_keys(self.settings, given.get_params(), f"{type(given).__name__} of {who}")
        try:
            model = self._new()
        except (TypeError, ValueError) as error:
            raise PlanError(f"the estimator of {who} cannot be created: {error}") from error
        _must_have(model, ("fit", "get_params", *["model_for"] * self.targeted), who)


def _must_have(model: Any, attributes: Sequence[str], who: str) -> None:
    for attribute in attributes:
        if not hasattr(model, attribute):
            raise PlanError(
                f"{who} needs an estimator with {attribute}, got {type(model).__name__}; "
                "sklearn.base.BaseEstimator gives a class scikit-learn's interface"
            )


# The built-in methods

Kind = Literal["LIMO", "LIMO-label", "LIMO-inst"]
_F1 = ("instance_f1", "micro_f1", "macro_f1")


def _exact(name: str, label: float, instance: float) -> Method:
    # The method has a threshold for each measure, so the model needs none of its own.
    model = LIMOClassifier(label, instance, threshold_measure=None)
    return Method(name, model, scaling="unit_rows")


def _paper(name: str, kind: Kind, cuts: Mapping[str, Cut]) -> Method:
    """LIMO as the authors ran it, with a threshold for each measure of labels."""
    model = paper_limo(kind, "benchmark").set_params(threshold_measure=None)
    return Method(name, model, scaling="max_abs", threshold=cuts, cv="training")


def _per_instance(target: str) -> ThresholdRule:
    """The paper's t(x): support vector regression of the best thresholds of the training rows.

    It reads the features as the paper's learner does: each divided by its largest absolute value.
    """
    regressor = make_pipeline(MaxAbsScaler(), SVR(C=1.0, gamma="auto"))
    return InstanceThreshold(target, source="features", regressor=regressor, end_gap=0, ties="most")


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
"""The built-in methods by name: the exact LIMOs, LIMO trained for each measure by cross-validation
(``limo-cv``), tuned logistic regression, the paper's three baselines, and LIMO as the authors ran
it (``paper:``). Those with ``test cuts`` in their name repeat thresholds that the paper chose on
test labels."""


# Where the measure needs no threshold, ``predict`` cuts for this one.
_DEFAULT_TARGET = "micro_f1"


def estimator_for(method: Method, measure: str, *, seed: int | None = None) -> Any:
    """Make an estimator that predicts as a method does in a comparison, for one measure.

    Fitted on the same training data with the same seed, its scores and predictions equal those that
    a comparison judges by this measure.

    Parameters
    ----------
    method : Method
        One of ``limo.experiment.METHODS``, or your own.
    measure : str
        The measure that the threshold of ``predict`` suits, and for which a targeted method is
        trained.
    seed : int, optional
        For estimators that draw at random.

    Returns
    -------
    ThresholdClassifier
        Unfitted. Its ``estimator`` is the learner, in a pipeline with the scaling if there is one.

    Examples
    --------
    >>> from limo.experiment import METHODS, estimator_for
    >>> estimator_for(METHODS["mlknn"], "macro_f1").estimator
    Pipeline(steps=[('maxabsscaler', MaxAbsScaler()), ('mlknnclassifier', MLKNNClassifier())])
    >>> estimator_for(METHODS["limo"], "macro_f1").threshold
    LabelThreshold(target='macro_f1')
    """
    check_name(measure, MEASURES, "measure")
    judged = measure if MEASURES[measure].needs == "labels" else _DEFAULT_TARGET
    cut = method.cuts([judged])[judged]
    if cut.fitted_on == "test labels":
        raise ValueError(
            f"{method.name!r} chooses its threshold for {judged} on test labels, which an "
            "estimator does not have. It can only be compared."
        )
    learner = method.learner([measure], seed)
    if cut.rule is None:
        return ThresholdClassifier(learner, OWN)
    cv = "training" if cut.fitted_on == "training scores" else method.cv
    return ThresholdClassifier(learner, cut.rule, cv=cv)
