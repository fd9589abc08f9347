"""Boosted trees for any loss of limo, by LightGBM or XGBoost."""

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from limo._evaluate import evaluate
from limo._settings import check_n_jobs, check_name, check_number
from limo._system import Later, at_most, n_workers, need
from limo._types import Integers, Values
from limo._views import Pattern
from limo.measures._table import MEASURES
from limo.models._base import MOST_TREES, MultiLabelClassifier
from limo.objectives._objective import MarginObjective
from limo.thresholds._fit import ConstantLabels

_lightgbm = Later("lightgbm")
_xgboost = Later("xgboost")

_DEFAULT = ("pointwise", "rows mean", "columns mean")
# Added to the numbers of instances with and without a label, so that log-odds stay moderate.
_PRIOR = 0.5


class BoostedMarginClassifier(MultiLabelClassifier):
    """Gradient-boosted trees that minimise any loss of :mod:`limo.losses`.

    Every round adds a tree for each label, and all of them together take a step against the loss,
    so that pairs across labels count. Trees work best with the pointwise term, with pairs beside
    it: see ``docs/boosting.md``. Needs the extra ``limo-ml[boosting]``.

    Parameters
    ----------
    terms : Term, str, or sequence of these
        The terms of the loss, as for :class:`MarginClassifier`, without the hinge. By default the
        logistic loss of each entry plus means over label pairs and over instance pairs.
    library : {"lightgbm", "xgboost"}, default="lightgbm"
        Which library grows the trees. XGBoost takes the absent entries of a sparse X as missing,
        LightGBM as 0.
    n_estimators : int, default=100
        How many rounds at most.
    learning_rate : float, default=0.1
        How much of each tree is added.
    early_stopping : str or None, default=None
        A measure. With it, a part of the instances is held out, and training stops when their
        measure has not improved for ``patience`` rounds; the best round is kept.
    patience : int, default=20
        Rounds without improvement before training stops.
    validation_fraction : float, default=0.15
        The share of instances to hold out for early stopping.
    settings : mapping or None, default=None
        More parameters for the library, under its own names, such as ``{"max_depth": 4}``.
    random_state : int, RandomState or None, default=0
        The seed of the held-out part and of the library.
    n_jobs : int or None, default=None
        The number of threads; None for what the library chooses.

    Attributes
    ----------
    booster_ : lightgbm.Booster, xgboost.Booster or None
        The trees of the labels that vary; None if none does, or if all features are 0.
    offset_ : array
        The log-odds of each label that varies, to which the scores of the trees are added.
    best_iteration_ : int
        How many rounds are used for prediction.
    never_, always_ : array of shape (n_labels,)
        Which labels no training instance has, and which all have.

    Examples
    --------
    >>> import limo
    >>> limo.BoostedMarginClassifier(["pointwise", "rows top"], early_stopping="one_error")
    BoostedMarginClassifier(early_stopping='one_error',
                            terms=['pointwise', 'rows top'])
    """

    __module__ = "limo"  # the public name

    def __init__(
        self,
        terms: Any = _DEFAULT,
        *,
        library: str = "lightgbm",
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        early_stopping: str | None = None,
        patience: int = 20,
        validation_fraction: float = 0.15,
        settings: Mapping[str, Any] | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.terms = terms
        self.library = library
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.early_stopping = early_stopping
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.settings = settings
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features.
        y : array-like or sparse matrix of shape (n_samples, n_labels)
            Labels, 0 or 1 (or -1 and 1, or two strings); or one label with two classes.

        Returns
        -------
        self
        """
        self._check_settings()
        X, Y = self._check_training(X, y)
        random = check_random_state(self.random_state)
        labels = Y.csr
        kept, held_out = self._split(Y.shape[0], random)
        constant = ConstantLabels.of(labels[kept].sum(axis=0), len(kept))
        self.never_, self.always_ = constant.never, constant.always
        self.booster_: Any = None
        self.best_iteration_ = 0
        n_labels = int(constant.varying.sum())
        part = Pattern.from_csr(labels[kept][:, constant.varying].tocsr())
        self.offset_ = _log_odds(part)
        if n_labels and (X != 0).sum():  # LightGBM fails if all features are 0
            objective = MarginObjective(part, self.terms, offset=self.offset_)
            judge = self._judge(labels[held_out]) if self.early_stopping else None
            seed = int(random.randint(2**31 - 1))
            run = {"lightgbm": self._with_lightgbm, "xgboost": self._with_xgboost}[self.library]
            run(_native(X[kept]), _native(X[held_out]), objective, judge, seed)
        return self

    def decision_function(self, X: Any) -> Values:
        """Scores of the labels; the higher, the more likely relevant."""
        return self._scores(self._raw_scores(self._check_instances(X)))

    def predict(self, X: Any) -> Any:
        """Labels whose scores exceed 0; :class:`ThresholdClassifier` finds better thresholds."""
        S = self._raw_scores(self._check_instances(X))
        return self._labels(self._constant.complete((S > 0).astype(float), 0.0, 1.0))

    @property
    def _constant(self) -> ConstantLabels:
        return ConstantLabels(self.never_, self.always_)

    def _check_settings(self) -> None:
        check_name(self.library, ("lightgbm", "xgboost"), "library")
        check_number(self.n_estimators, "n_estimators", least=1, most=MOST_TREES, integer=True)
        check_number(self.learning_rate, "learning_rate", above=0)
        check_number(self.patience, "patience", least=1, integer=True)
        check_number(self.validation_fraction, "validation_fraction", above=0, most=0.9)
        check_n_jobs(self.n_jobs)
        if self.early_stopping is not None:
            check_name(self.early_stopping, MEASURES, "measure")
        if self.settings is not None and not isinstance(self.settings, Mapping):
            raise ValueError(
                f"settings must be a dict of settings of {self.library}, got {self.settings!r}."
            )
        need(self.library)

    def _n_threads(self) -> int:
        """At most one per core: for far too many, the libraries end the whole process."""
        with at_most(self.n_jobs):
            return n_workers()

    def _split(self, n: int, random: Any) -> tuple[Integers, Integers]:
        """Instances to train on, and those held out."""
        everything = np.arange(n)
        if self.early_stopping is None or n < 2:
            return everything, everything[:0]
        held_out = max(1, min(n - 1, round(self.validation_fraction * n)))
        order = random.permutation(n)
        return np.sort(order[held_out:]), np.sort(order[:held_out])

    def _judge(self, Y: Any) -> Callable[..., float] | None:
        """A function of raw scores of the held-out instances that gives the measure."""
        if not Y.shape[0]:
            return None
        name = str(self.early_stopping)

        def judge(scores: Any, data: Any = None) -> float:
            raw = np.asarray(scores, dtype=np.float64).reshape(Y.shape[0], -1) + self.offset_
            S = self._constant.complete(raw)
            marks = self._constant.complete((raw > 0).astype(float), 0.0, 1.0)
            value = float(evaluate(Y, S, marks.astype(int))[name])
            if np.isnan(value):
                raise ValueError(
                    f"{name} is not defined on the instances held out for early stopping, which "
                    f"are {Y.shape[0]}. Hold out more, or stop by another measure."
                )
            return value

        return judge

    def _with_lightgbm(
        self, X: Any, X_held_out: Any, objective: MarginObjective, judge: Any, seed: int
    ) -> None:
        n_labels = len(self.offset_)
        own = {
            "objective": objective,
            "num_class": n_labels,
            "learning_rate": self.learning_rate,
            "metric": "None",
            "verbosity": -1,
            "seed": seed,
            "deterministic": True,
            "feature_pre_filter": False,  # few instances would leave no feature, which is an error
        }
        if self.n_jobs is not None:
            own["num_threads"] = self._n_threads()
        data = _lightgbm.Dataset(X, label=np.zeros(X.shape[0]))
        more: dict[str, Any] = {}
        if judge is not None:
            better = MEASURES[str(self.early_stopping)].sign > 0
            held_out = data.create_valid(X_held_out, label=np.zeros(X_held_out.shape[0]))
            more = {
                "valid_sets": [held_out],
                "feval": lambda scores, data: ("measure", judge(scores), better),
                "callbacks": [_lightgbm.early_stopping(self.patience, verbose=False)],
            }
        settings = own | dict(self.settings or {})
        self.booster_ = _lightgbm.train(settings, data, self.n_estimators, **more)
        self.best_iteration_ = self.booster_.best_iteration or self.booster_.current_iteration()

    def _with_xgboost(
        self, X: Any, X_held_out: Any, objective: MarginObjective, judge: Any, seed: int
    ) -> None:
        own = {
            "learning_rate": self.learning_rate,
            "base_score": 0.0,
            "disable_default_eval_metric": True,
            "seed": seed,
        }
        if self.n_jobs is not None:
            own["nthread"] = self._n_threads()
        n_labels, more = len(self.offset_), {}
        data = _xgboost.DMatrix(X, label=np.zeros((X.shape[0], n_labels)))
        if judge is not None:
            better = MEASURES[str(self.early_stopping)].sign > 0
            label = np.zeros((X_held_out.shape[0], n_labels))
            stop = _xgboost.callback.EarlyStopping(
                rounds=self.patience, maximize=better, save_best=True
            )
            more = {
                "evals": [(_xgboost.DMatrix(X_held_out, label=label), "held_out")],
                "custom_metric": lambda scores, data: ("measure", judge(scores)),
                "callbacks": [stop],
                "verbose_eval": False,
            }
        settings = own | dict(self.settings or {})
        self.booster_ = _xgboost.train(settings, data, self.n_estimators, obj=objective, **more)
        self.best_iteration_ = self.booster_.num_boosted_rounds()

    def _raw_scores(self, X: Any) -> Values:
        """Scores of all labels."""
        X = _native(X)
        S = np.tile(self.offset_, (X.shape[0], 1))
        if self.booster_ is not None:
            if self.library == "lightgbm":
                raw = self.booster_.predict(X, num_iteration=self.best_iteration_)
            else:
                raw = self.booster_.predict(_xgboost.DMatrix(X), output_margin=True)
            S += np.reshape(raw, S.shape)
        return self._constant.complete(S)


def _native(X: Any) -> Any:
    """Features as both libraries take them."""
    return sparse.csr_matrix(X) if sparse.issparse(X) else X


def _log_odds(Y: Pattern) -> Values:
    """The log-odds of each label, from which trees start."""
    ones = Y.ones_per_column + _PRIOR
    odds: Values = np.log(ones / (Y.shape[0] + 2 * _PRIOR - ones))
    return odds
