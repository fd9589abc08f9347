"""A method: a learner, the scaling of its features, and the threshold for each measure.

:data:`METHODS` holds the built-in ones. :func:`estimator_for` makes an estimator of a method, whose
predictions are those that a comparison evaluates.
"""

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import SVR

from limo._settings import check_name
from limo._types import check_kind
from limo.experiment._identity import (
    PlanError,
    check_keys,
    check_named,
    describe,
    file_digest,
    import_object,
    parameters_of,
)
from limo.measures._table import MEASURES
from limo.models._aimed import AimedClassifier
from limo.models._base import SCALINGS, KernelFeatures
from limo.models._binary_relevance import BinaryRelevance
from limo.models._boosted_trees import BoostingClassifier
from limo.models._limo import LIMOClassifier
from limo.models._limo_cv import LIMOClassifierCV
from limo.models._limo_sgd import paper_limo
from limo.models._neighbours import GFMClassifier, MLKNNClassifier
from limo.models._trees import ForestClassifier
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
class ThresholdSetting:
    """The threshold rule for a measure, and what it is fitted on.

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
    >>> print(ThresholdSetting(limo.GlobalThreshold("micro_f1"), "training scores"))
    GlobalThreshold(target='micro_f1'), fitted on training scores
    """

    rule: ThresholdRule | None = None
    fitted_on: FittedOn = "cross-fitted scores"

    def __str__(self) -> str:
        if self.rule is None:
            return "own predict"
        text = one_line(self.rule)
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
        How scores become labels for measures of labels: by default the rule that suits each measure
        (:func:`limo.suggest_threshold`); or one rule for all, by name or as an object; or
        ``"own"``, the estimator's ``predict``; or a mapping from measures to these or to
        :class:`ThresholdSetting`. Measures that are not in the mapping get the rule that suits
        them.
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
    >>> print(method.thresholds(["micro_f1", "macro_auc"])["micro_f1"])
    GlobalThreshold(target='micro_f1'), fitted on cross-fitted scores
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
    threshold: Given | Mapping[str, Given | ThresholdSetting] = None
    cv: int | Literal["training"] = 3
    targeted: bool = False

    def __post_init__(self) -> None:
        check_named(self.name, self.settings, "method")
        folds = isinstance(self.cv, int) and self.cv >= 2
        if not folds and not (isinstance(self.cv, str) and self.cv == "training"):
            raise PlanError(
                f"cv of method {self.name!r} must be a number of folds, at least 2, or 'training', "
                f"got {self.cv!r}"
            )
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))
        self.scaler()
        self._check_estimator()
        if isinstance(self.threshold, Mapping):
            known = {check_name(m, MEASURES, "measure"): t for m, t in self.threshold.items()}
            object.__setattr__(self, "threshold", known)
        self.thresholds(list(MEASURES))

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

    def thresholds(self, measures: Sequence[str]) -> dict[str, ThresholdSetting]:
        """The threshold for each of the measures of labels."""
        of_labels = [name for name in measures if MEASURES[name].needs == "labels"]
        return {name: self._threshold(name) for name in of_labels}

    def describe(self) -> dict[str, Any]:
        """Everything that determines the results, as plain JSON."""
        given, thresholds = self.estimator, self.thresholds(list(MEASURES))
        description = {
            "name": self.name,
            "estimator": describe(given),
            "settings": describe(self.settings),
            "scaling": describe(self.scaling),
            "thresholds": {name: str(setting) for name, setting in thresholds.items()},
            "cv": self.cv,
            "targeted": self.targeted,
        }
        return description | ({"file": file_digest(given)} if isinstance(given, str) else {})

    def __reduce__(self) -> tuple[Any, ...]:
        # A mapping proxy cannot be pickled.
        settings = dict(self.settings)
        values = (self.name, self.estimator, settings, self.scaling, self.threshold, self.cv)
        return Method, (*values, self.targeted)

    def _threshold(self, measure: str) -> ThresholdSetting:
        threshold = self.threshold
        given = threshold.get(measure) if isinstance(threshold, Mapping) else threshold
        if isinstance(given, ThresholdSetting):
            return given
        if self.targeted or given == OWN:
            return ThresholdSetting()
        if isinstance(given, str):
            check_name(given, [*RULES, OWN], "threshold rule")
        rule = make_rule(given, measure)
        fitted_on: FittedOn = "training scores" if self.cv == "training" else "cross-fitted scores"
        return ThresholdSetting(rule, fitted_on)

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


def one_line(rule: ThresholdRule) -> str:
    """The rule as text without line breaks."""
    return " ".join(repr(rule).split())


def _must_have(model: Any, attributes: Sequence[str], who: str) -> None:
    for attribute in attributes:
        if not hasattr(model, attribute):
            raise PlanError(
                f"{who} needs an estimator with {attribute}, got {type(model).__name__}; "
                "sklearn.base.BaseEstimator gives a class scikit-learn's interface"
            )


# The thresholds of the paper

Variant = Literal["LIMO", "LIMO-label", "LIMO-inst"]
F1 = ("instance_f1", "macro_f1", "micro_f1")


def paper_label_rule(target: str) -> ThresholdRule:
    """The paper's t_j: the threshold that is best for each label on its own."""
    return LabelThreshold(target, shrinkage=0)


def paper_instance_rule(target: str, regressor: Any = "svr") -> ThresholdRule:
    """The paper's t(x): support vector regression of the best thresholds of the training rows."""
    return InstanceThreshold(target, source="features", regressor=regressor, end_gap=0, ties="most")


def paper_rules(variant: Variant, regressor: Any = "svr") -> dict[str, ThresholdRule]:
    """The rule behind each printed column: t(x) for label-wise margins, t_j for instance-wise ones.

    LIMO has both margins. The paper then takes t_j for macro-F1 and Hamming loss, t(x) for the
    others.
    """
    per_label = {
        **dict.fromkeys(F1, paper_label_rule("macro_f1")),
        "hamming_loss": paper_label_rule("hamming_loss"),
    }
    per_instance = {
        **dict.fromkeys(F1, paper_instance_rule("instance_f1", regressor)),
        "hamming_loss": paper_instance_rule("hamming_loss", regressor),
    }
    both = per_instance | {name: per_label[name] for name in ("macro_f1", "hamming_loss")}
    return {"LIMO": both, "LIMO-label": per_instance, "LIMO-inst": per_label}[variant]


def fitted_on_training(rules: Mapping[str, ThresholdRule]) -> dict[str, ThresholdSetting]:
    """The rules, by measure, fitted on training scores as the paper does."""
    return {name: ThresholdSetting(rule, "training scores") for name, rule in rules.items()}


# The built-in methods


def _exact(name: str, label: float, instance: float) -> Method:
    # The method has a threshold for each measure, so the model itself needs none.
    model = LIMOClassifier(label, instance, threshold_measure=None)
    return Method(name, model, scaling="unit_rows")


def _paper(variant: Variant, suffix: str = "", *, test_labels: Sequence[str] = ()) -> Method:
    """LIMO as the authors ran it, with a threshold for each measure of labels.

    Thresholds for the measures ``test_labels`` are chosen on test labels.
    """
    # Methods give rules unscaled features: scaled as the learner's, they are as in the paper.
    regressor = make_pipeline(MaxAbsScaler(), SVR(C=1.0, gamma="auto"))
    best = ThresholdSetting(paper_label_rule("macro_f1"), "test labels")
    thresholds = fitted_on_training(paper_rules(variant, regressor))
    thresholds |= dict.fromkeys(test_labels, best)
    model = paper_limo(variant, "benchmark").set_params(threshold_measure=None)
    name = f"paper:{variant}{suffix}"
    return Method(name, model, scaling="max_abs", threshold=thresholds, cv="training")


def _own(name: str, model: Any) -> Method:
    return Method(name, model, scaling="max_abs", threshold=OWN)


def _rbf() -> Any:
    """Kernel logistic regression."""
    return make_pipeline(KernelFeatures(), BinaryRelevance("logistic"))


_ENTRIES: tuple[Method, ...] = (
    _exact("limo", 1, 1),
    _exact("limo-label", 1, 0),
    _exact("limo-inst", 0, 1),
    Method("limo-cv", LIMOClassifierCV(), scaling="unit_rows", targeted=True),
    Method("aimed", AimedClassifier(), targeted=True),
    Method("logistic", BinaryRelevance("logistic"), scaling="unit_rows"),
    Method("rbf", _rbf(), scaling="unit_rows"),
    Method("forest", ForestClassifier("random")),
    Method("extra-trees", ForestClassifier("extra")),
    Method("boosting", BoostingClassifier(min_samples_leaf=20)),
    _own("br", BinaryRelevance()),
    _own("mlknn", MLKNNClassifier()),
    _own("gfm", GFMClassifier()),
    _paper("LIMO"),
    _paper("LIMO-label"),
    _paper("LIMO-inst"),
    # Seeds and stored results depend on these names.
    _paper("LIMO", ", test cuts", test_labels=["macro_f1"]),
    _paper("LIMO-inst", ", test cuts", test_labels=F1),
)

METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _ENTRIES})
"""The built-in methods by name: the exact LIMOs, LIMO trained for each measure by cross-validation
(``limo-cv``), an ensemble selected for each measure (``aimed``), tuned logistic regression, the
same with a radial kernel (``rbf``), forests and boosted trees, the paper's three baselines, and
LIMO as the authors ran it (``paper:``). Those with ``test cuts`` in their name repeat thresholds
that the paper chose on test labels."""


BOOMER = "boomer"
"""The name of a method that needs a package limo does not install; see :func:`boomer`."""


def boomer() -> Method:
    """BOOMER: boosted rules for several labels (Rapp et al., 2020), if it is installed."""
    try:
        return Method(BOOMER, "mlrl.boosting:BoomerClassifier")
    except PlanError as error:
        if importlib.util.find_spec("mlrl") is not None:
            raise
        raise PlanError(
            "The method boomer needs the package mlrl-boomer, which is not installed. It requires "
            "certain versions of other packages, so it is best installed together with limo in a "
            "separate environment: python -m venv boomer && boomer/bin/pip install limo-ml "
            "mlrl-boomer"
        ) from error


# Where the measure needs no threshold, ``predict`` cuts for this one.
_DEFAULT_TARGET = "micro_f1"


def estimator_for(method: Method, measure: str, *, seed: int | None = None) -> Any:
    """Make an estimator that predicts as a method does in a comparison, for one measure.

    Fitted on the same training data with the same seed, its scores and predictions equal those that
    a comparison evaluates by this measure.

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
    measure = check_name(measure, MEASURES, "measure")
    check_kind(method, Method, "method must be a Method, such as METHODS['limo']")
    judged = measure if MEASURES[measure].needs == "labels" else _DEFAULT_TARGET
    setting = method.thresholds([judged])[judged]
    if setting.fitted_on == "test labels":
        raise ValueError(
            f"{method.name!r} chooses its threshold for {judged} on test labels, which an "
            "estimator does not have. It can only be compared."
        )
    learner = method.learner([measure], seed)
    if setting.rule is None:
        return ThresholdClassifier(learner, OWN)
    cv = "training" if setting.fitted_on == "training scores" else method.cv
    return ThresholdClassifier(learner, setting.rule, cv=cv)
