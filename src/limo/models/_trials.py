"""The search of an aimed classifier: candidates are cross-fitted while there is time.

:class:`ScoreCache` keeps cross-fitted scores in a folder, and :class:`Trials` tries one candidate
after the other.
"""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import joblib
import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

from limo._system import Budget, OutOfTimeError, replacing, versions
from limo._types import Values
from limo.measures._measure import Measure
from limo.models._library import Candidate, Scored, Tried, cross_fit_candidate
from limo.models._selection import Truth, Valued, alone
from limo.thresholds._fit import Folds


class ScoreCache:
    """A folder of cross-fitted scores, so that an interrupted search can be resumed.

    A file is named after everything its scores depend on: data, folds, model and versions.
    """

    def __init__(
        self, folder: Any, X: Any, labels: Any, folds: Folds, weights: Values | None = None
    ) -> None:
        self.folder = None if folder is None else Path(folder)
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.data = joblib.hash((_plain(X), _plain(labels), folds, weights, versions()))

    def load(self, candidate: Candidate) -> Scored | None:
        """The scores of a candidate, if the folder holds them undamaged."""
        if self.folder is None:
            return None
        try:
            with self._file(candidate).open("rb") as file, np.load(file) as found:
                seconds, refit = found["seconds"].tolist()
                return Scored(list(found["scores"]), seconds, refit)
        except (OSError, ValueError, KeyError, EOFError, BadZipFile):
            return None

    def save(self, candidate: Candidate, scored: Scored) -> None:
        """Keep the scores of a candidate. A forest itself is not kept, so it is to be refitted."""
        if self.folder is not None:
            refit = scored.seconds if scored.fitted is not None else scored.refit_seconds
            with replacing(self._file(candidate)) as file:
                np.savez(
                    file, scores=np.stack(scored.scores), seconds=np.array([scored.seconds, refit])
                )

    def _file(self, candidate: Candidate) -> Path:
        assert self.folder is not None
        key = (self.data, _described(candidate.estimator), dict(candidate.members))
        return self.folder / f"{joblib.hash(key)}.npz"


def _plain(A: Any) -> Any:
    """A matrix as arrays, whose hash does not depend on how it is stored."""
    return (A.data, A.indices, A.indptr, A.shape) if sparse.issparse(A) else A


def _described(estimator: Any) -> str:
    """The type and all parameters of a model; threads do not change its scores."""
    if isinstance(estimator, Pipeline):
        return " -> ".join(_described(step) for _, step in estimator.steps)
    params = {k: v for k, v in estimator.get_params().items() if k not in ("n_jobs", "callback")}
    return f"{type(estimator).__module__}.{type(estimator).__qualname__}({params!r})"


# The search

# The first words of the reason if a model was left out for lack of time.
LATE = "out of time"
# No model may use a larger share of the time that is left, so that others can be tried.
_SHARE_OF_REST = 0.5
_SHARE_OF_FIRST = 0.3


@dataclass(frozen=True)
class Trial:
    """Progress of an aimed classifier, passed to its callback after each model.

    Attributes
    ----------
    done, total : int
        Models tried, and to try.
    name : str
        The model tried last.
    best, best_name : float, str
        The best cross-validated value of a single model so far, by the first measure, and the name
        of that model.
    seconds : float
        The time since the start.
    """

    done: int
    total: int
    name: str
    best: float
    best_name: str
    seconds: float


@dataclass(eq=False)
class Trials:
    """The search: what to fit on, for which measure, and how long.

    Attributes
    ----------
    left_out : dict of str
        Why candidates were left out, by name.
    values : dict of str to Valued
        The value of each model alone, by the first measure.
    slow : dict of str
        Kinds of models that take too long, with the model that showed it. No other model of such a
        kind is tried.
    """

    X: Any
    truth: Truth
    folds: Folds
    measure: Measure
    budget: Budget
    cache: ScoreCache
    callback: Callable[[Trial], object] | None = None
    left_out: dict[str, str] = field(default_factory=dict)
    values: dict[str, Valued] = field(default_factory=dict)
    slow: dict[str, str] = field(default_factory=dict)

    def run(self, candidates: Sequence[Candidate]) -> list[Tried]:
        """Cross-fit one candidate after the other while there is time."""
        able, found = list(self._able(candidates)), list[Tried]()
        for done, candidate in enumerate(able, start=1):
            for tried in self._members(candidate, found):
                own = alone([self.measure.name], self.truth, tried.S, self._rows)
                self.values[tried.name] = own[self.measure.name]
                found.append(tried)
            self._report(done, len(able), candidate.name)
        self._explain_left_out(found)
        return found

    @property
    def _rows(self) -> list[Any]:
        return [test for _, test in self.folds]

    def _able(self, candidates: Sequence[Candidate]) -> Iterator[Candidate]:
        """Those that take the sample weights, and missing labels if there are any."""
        for one in candidates:
            try:
                one.fit_params(self.truth.weights)
                yield one.with_gaps() if self.truth.has_gaps else one
            except ValueError as error:
                self.left_out[one.name] = f"left out: {error}"

    def _members(self, candidate: Candidate, before: list[Tried]) -> Iterator[Tried]:
        """The models of a candidate or, if it takes too long, of the one to try instead."""
        one: Candidate | None = candidate
        while one is not None:
            scored = self._try(one, before)
            if scored is not None:
                yield from Tried.members(one, scored)
                return
            out_of_time = self.left_out[one.name].startswith(LATE)
            if out_of_time:
                self.slow.setdefault(one.kind, one.name)
            one = one.instead if out_of_time else None

    def _deadline(self, candidate: Candidate, before: list[Tried]) -> float:
        """When a candidate must be done; the first is always fitted."""
        if not before or not np.isfinite(self.budget.seconds):
            return np.inf
        now, end = time.monotonic(), self.budget.end_of_trials(reserved_seconds(before))
        share = candidate.share * self.budget.seconds
        return min(end, now + min(share, _SHARE_OF_REST * max(0.0, end - now)))

    def _seconds_per_fold(self, candidate: Candidate, before: list[Tried]) -> float:
        """The first candidate is never left out, so it stops early where it can."""
        if before or candidate.family != "linear":
            return np.inf
        return _SHARE_OF_FIRST * self.budget.seconds / (len(self.folds) + 1)

    def _try(self, candidate: Candidate, before: list[Tried]) -> Scored | None:
        """The scores of a candidate, or None with the reason in ``left_out``."""
        scored = self.cache.load(candidate)
        if scored is not None:
            return scored
        deadline = self._deadline(candidate, before)
        try:
            if time.monotonic() >= deadline:
                raise OutOfTimeError("it was not tried")
            if candidate.kind in self.slow:
                raise OutOfTimeError(f"{self.slow[candidate.kind]} took too long")
            scored = cross_fit_candidate(
                candidate,
                self.X,
                self.truth.Y,
                self.folds,
                deadline,
                self.truth.weights,
                seconds_per_fold=self._seconds_per_fold(candidate, before),
            )
        except OutOfTimeError as error:
            self.left_out[candidate.name] = f"{LATE}: {error}"
        except Exception as error:  # a base model may fail in any way; the others go on
            self.left_out[candidate.name] = f"failed: {type(error).__name__}: {error}"
        else:
            if not _was_stopped(scored):
                self.cache.save(candidate, scored)
        return scored

    def _report(self, done: int, total: int, name: str) -> None:
        if self.callback is None:
            return
        sign = self.measure.sign
        known = {k: v.value for k, v in self.values.items() if not np.isnan(v.value)}
        best = max(known, key=lambda k: sign * known[k], default="")
        value = known.get(best, np.nan)
        self.callback(Trial(done, total, name, value, best, self.budget.spent))

    def _explain_left_out(self, found: list[Tried]) -> None:
        """Warn if models failed, or if the time was enough for one only."""
        reasons = [f"{name} {why}" for name, why in self.left_out.items()]
        if not found:
            raise ValueError(f"No model could be fitted. {'; '.join(reasons)}")
        failed = [reason for reason in reasons if "failed: " in reason]
        if failed:
            _warn(f"{len(failed)} of the models failed and were left out: {'; '.join(failed)}")
        late = any(why.startswith(LATE) for why in self.left_out.values())
        if len(found) == 1 and late and np.isfinite(self.budget.seconds):
            _warn(
                "The time was enough for one model only, "
                f"{found[0].name}. With more time the ensemble is usually better."
            )


def reserved_seconds(tried: Sequence[Tried]) -> float:
    """The most seconds that fitting the models on all data will take."""
    return sum({id(one.scored): one.scored.refit_seconds for one in tried}.values())


def _was_stopped(scored: Scored) -> bool:
    """Whether a forest has fewer trees than asked for. With more time it would have others."""
    model = None if scored.fitted is None else scored.fitted.estimator
    return getattr(model, "n_estimators_", 0) < getattr(model, "n_estimators", 0)


def _warn(text: str) -> None:
    warnings.warn(text, UserWarning, stacklevel=5)
