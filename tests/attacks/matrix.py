"""Every public function and class with every argument replaced by nonsense.

The names come from the ``__all__`` of the public packages, the arguments from the signatures, so a
new name is attacked as soon as it exists. A new required argument is best given a good value in
``samples``: without one, only its own checks are reached.

    python tests/attacks/matrix.py                 every name
    python tests/attacks/matrix.py limo.datasets   the names that begin so
"""

import atexit
import importlib
import importlib.util
import inspect
import io
import math
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stdout
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

sys.path.insert(0, str(Path(__file__).parents[1]))

import limo
from attacks.blame import is_sentence
from limo._kernels import compile_seconds
from limo.experiment import COLUMNS, Data, Plan, Splits
from limo.losses import Term

PACKAGES = ("limo", *(f"limo.{name}" for name in (
    "datasets", "displays", "experiment", "losses", "measures", "models", "objectives", "report",
    "reproduce", "thresholds",
)), *(f"limo.{name}" for name, library in (("dask", "distributed"), ("torch", "torch"))
      if importlib.util.find_spec(library)))  # fmt: skip

Y = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 1]])
S = np.linspace(-1, 1, 18).reshape(6, 3)[:, ::-1].copy()
X = np.linspace(0, 1, 12).reshape(6, 2) ** 2

BAD: dict[str, Any] = {
    "None": None,
    "True": True,
    "-1": -1,
    "0": 0,
    "2.5": 2.5,
    "nan": math.nan,
    "inf": math.inf,
    "10**30": 10**30,
    "text": "nonsense",
    "empty text": "",
    "bytes": b"nonsense",
    "object": object(),
    "type": int,
    "function": len,
    "list": [],
    "list of None": [None],
    "ragged": [[1, 0], [1]],
    "dict": {},
    "set": {1},
    "vector": np.arange(3),
    "scalar array": np.array(1.0),
    "cube": np.zeros((2, 2, 2)),
    "empty matrix": np.zeros((0, 3)),
    "no columns": np.zeros((3, 0)),
    "wrong shape": np.zeros((4, 7)),
    "strings": np.array([["a", "b"], ["c", "d"]]),
    "complex": np.ones((6, 3)) * 1j,
    "objects": np.array([[object()] * 3] * 6),
    "nan matrix": np.full((6, 3), np.nan),
    "dates": np.zeros((6, 3), dtype="datetime64[s]"),
    "sparse": sparse.csr_array(np.eye(7)),
    "complex sparse": sparse.csr_array(np.ones((6, 3)) * 1j),
    "frame": pd.DataFrame({"a": ["x", "y"]}),
}


def _rows() -> Any:
    rows = [
        (
            "toy",
            split,
            method,
            "macro_f1",
            0.5 + split / 10,
            0.1,
            0,
            "ok",
            "",
            "",
            "{}",
            f"{method}{split}",
            "",
        )
        for split in range(3)
        for method in ("a", "b")
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


@cache
def samples() -> dict[str, Any]:
    """A good value for each required argument, by its name."""
    folder = Path(tempfile.mkdtemp(prefix="matrix-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    data = limo.Dataset(X, Y, ("p", "q"), ("a", "b", "c"))
    file = limo.write(data, folder / "toy.arff")
    model = limo.MLKNNClassifier(2).fit(X, Y)
    rule = limo.LabelThreshold().fit(Y, S)
    plan = Plan([Data("toy", data)], ["mlknn"], ["macro_f1"], splits=Splits(number=1))
    evaluation = limo.evaluate(Y, S)
    document = limo.report.evaluation_document(Y, {"mine": S})
    pd.DataFrame(S, columns=list("abc")).to_csv(folder / "scores.csv", index=False)
    return {
        "folder": folder, "y_true": Y, "y_score": S, "y_pred": Y, "y": Y, "Y": Y, "X": X, "S": S,
        "dataset": data, "data": data, "path": str(file), "model": model, "estimator": model,
        "rule": rule, "plan": plan, "store": str(folder / "store.sqlite"), "rows": _rows(),
        "evaluation": evaluation, "document": document, "measure": "macro_f1", "name": "macro_f1",
        "terms": [Term("rows", "mean")], "threshold": 0.5, "label_names": ["a", "b", "c"],
        "feature_names": ["p", "q"], "text": limo.thresholds.rule_to_json(rule), "file": folder / "a.csv",
        "scores": {"mine": S}, "models": {"mine": S}, "datasets": ["figure1"], "methods": ["mlknn"],
        "n": 20, "n_labels": 3, "n_features": 2, "n_samples": 6, "permutations": [[0, 1, 2], [2, 1, 0]],
        "values": Y, "source": "figure1", "checksum": "", "function": _procedure, "what": "a thing",
        "method": "LIMO", "view": "rows", "base": "mean", "results": _rows(), "target": "macro_f1",
        "names": ["p", "q"], "wanted": ["p", "q"], "given": ["p", "q"], "found": ["p", "q"],
        "problem": "a problem", "command": "limo", "title": "a title", "parts": [], "alpha": 0.05,
    }  # fmt: skip


def _procedure(data, train, test, seed):
    yield "macro_f1", 0.5


@dataclass(frozen=True)
class Attempt:
    """One call with one bad argument."""

    name: str
    argument: str
    kind: str
    call: Callable[[], Any]

    def __str__(self) -> str:
        return f"{self.name}({self.argument}={self.kind})"


def public() -> dict[str, Any]:
    """Every public function and class by its first name."""
    found: dict[int, tuple[str, Any]] = {}
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            thing = getattr(module, name)
            if callable(thing) and not (
                inspect.isclass(thing) and issubclass(thing, BaseException | Enum)
            ):
                found.setdefault(id(thing), (f"{package}.{name}", thing))
    return dict(found.values())


# Long work, or none that takes arguments: records made by limo itself, and whole reproductions.
LEFT_OUT = (
    "limo.reproduce.",
    "limo.datasets.load",
    "limo.experiment.run",
    "limo.Evaluation",
    "limo.Effectiveness",
    "limo.datasets.Description",
    "limo.datasets.Catalogue",
    "limo.datasets.Entry",
    "limo.datasets.LabelMatrix",
    "limo.experiment.Outcome",
    "limo.experiment.Progress",
    "limo.experiment.Score",
    "limo.experiment.Comparison",
    "limo.models.Solution",
    "limo.models.Iterates",
    "limo.models.SavedModel",
)


def attempts(*names: str) -> Iterator[Attempt]:
    """Every public name (that begins like one of these), every argument, every bad value."""
    for name, thing in public().items():
        if name.startswith(LEFT_OUT) or not name.startswith(names or "limo"):
            continue
        parameters = _parameters(thing)
        use = _use(thing)
        for argument in parameters:
            for kind, value in BAD.items():
                if argument == "callback" and callable(value):
                    continue  # the errors of a user's own function are the user's
                yield Attempt(name, argument, kind, _bind(use, thing, parameters, argument, value))
        if inspect.isclass(thing) and hasattr(thing, "fit"):
            yield from _fits(name, thing, parameters)
    for name, make in MADE.items():
        if name.startswith(names or "limo"):
            yield from _methods(name, make)


def _parameters(thing: Any) -> dict[str, inspect.Parameter]:
    skipped = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    found = inspect.signature(thing).parameters
    return {name: one for name, one in found.items() if one.kind not in skipped}


def _arguments(thing: Any, parameters: dict[str, inspect.Parameter]) -> dict[str, Any]:
    """Good values for all required arguments."""
    required = [name for name, one in parameters.items() if one.default is one.empty]
    own = OWN.get(getattr(thing, "__name__", ""), {})
    return {name: own.get(name, samples().get(name)) for name in required}


def _bind(use: Any, thing: Any, parameters: Any, argument: str, value: Any) -> Callable[[], Any]:
    def call() -> Any:
        return use(thing, _arguments(thing, parameters) | {argument: value})

    return call


def _use(thing: Any) -> Callable[[Any, dict[str, Any]], Any]:
    """How a thing is used: a function is called, an estimator is fitted, a rule too."""
    if inspect.isclass(thing) and hasattr(thing, "fit"):
        return _fit
    return _call


def _call(thing: Any, arguments: dict[str, Any]) -> Any:
    parameters = _parameters(thing)
    only = [n for n, p in parameters.items() if p.kind is p.POSITIONAL_ONLY and n in arguments]
    rest = {name: value for name, value in arguments.items() if name not in only}
    found = thing(*(arguments[name] for name in only), **rest)
    return list(found) if inspect.isgenerator(found) else found


def _fit(kind: Any, arguments: dict[str, Any]) -> Any:
    made = kind(**arguments)
    order = (Y, S, X) if issubclass(kind, limo.thresholds.ThresholdRule) else (X, Y)
    fitted = made.fit(*order) if hasattr(made, "predict") else made
    return fitted.predict(order[1], X) if len(order) == 3 else getattr(fitted, "predict", len)(X)


def _fits(name: str, kind: Any, parameters: Any) -> Iterator[Attempt]:
    """Bad data in ``fit`` and ``predict`` of an estimator with good settings."""
    good = (Y, S, X) if issubclass(kind, limo.thresholds.ThresholdRule) else (X, Y)
    if not hasattr(kind, "predict"):
        return

    def bad_fit(place: int, value: Any) -> Any:
        order = list(good)
        order[place] = value
        return kind(**_arguments(kind, parameters)).fit(*order)

    def bad_predict(value: Any) -> Any:
        fitted = kind(**_arguments(kind, parameters)).fit(*good)
        return fitted.predict(value, *([X] if len(good) == 3 else []))

    for label, value in BAD.items():
        for place in range(2):
            yield Attempt(f"{name}.fit", str(place), label, lambda p=place, v=value: bad_fit(p, v))
        yield Attempt(f"{name}.predict", "0", label, lambda v=value: bad_predict(v))


# Objects whose methods are attacked too.
MADE: dict[str, Callable[[], Any]] = {
    "limo.Dataset": lambda: samples()["dataset"],
    "limo.Evaluation": lambda: samples()["evaluation"],
    "limo.Evaluator": lambda: limo.Evaluator().update(Y, S),
    "limo.StreamEvaluator": lambda: limo.StreamEvaluator().update(Y, S),
    "limo.objectives.MarginObjective": lambda: limo.objectives.MarginObjective(Y),
}


def _methods(name: str, make: Callable[[], Any]) -> Iterator[Attempt]:
    """Every argument of every public method of an object."""

    def attempt(method: str, argument: str, value: Any) -> Callable[[], Any]:
        def call() -> Any:
            bound = getattr(make(), method)
            return _call(bound, _arguments(bound, _parameters(bound)) | {argument: value})

        return call

    for method in (one for one in dir(make()) if not one.startswith("_")):
        if inspect.ismethod(getattr(make(), method)):
            for argument in _parameters(getattr(make(), method)):
                for kind, value in BAD.items():
                    call = attempt(method, argument, value)
                    yield Attempt(f"{name}.{method}", argument, kind, call)


# Good values for single names, where the argument's name means something else.
OWN: dict[str, dict[str, Any]] = {
    "Method": {"name": "mine", "estimator": "mlknn"},
    "Procedure": {"name": "mine"},
    "Data": {"name": "toy"},
    "Term": {"view": "rows"},
    "read_matrix": {"path": "scores.csv"},
    "load_split": {"name": "emotions"},
    "Measure": {"name": "mine"},
    "AveragedClassifier": {"members": [("rows mean", 0.01, 1.0)]},
}


def problem_of(attempt: Attempt) -> str:
    """The foreign error of an attempt; empty if it passed or was refused in a sentence."""
    folder = samples()["folder"]  # some bad values are good file names
    with warnings.catch_warnings(), redirect_stdout(io.StringIO()), chdir(folder):
        warnings.simplefilter("ignore")
        try:
            with _at_most(10):
                attempt.call()
        except Exception as error:
            if not is_sentence(error):
                return f"{attempt}: {type(error).__name__}: {str(error)[:80]}"
    return ""


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise an error that counts as foreign after these seconds of work, or five minutes.

    Work is the time of the processor without compiling, which happens once: a busy machine makes
    no difference to it. A call that only waits is stopped by the clock.
    """
    started, compiled = time.process_time(), compile_seconds()

    def stop(number: int, _: object) -> None:
        worked = time.process_time() - started - (compile_seconds() - compiled)
        if number == signal.SIGPROF and worked < seconds:
            signal.setitimer(signal.ITIMER_PROF, max(seconds - worked, 0.1))
            return
        raise ArithmeticError(f"took more than {seconds} s")

    timers = {signal.SIGPROF: signal.ITIMER_PROF, signal.SIGALRM: signal.ITIMER_REAL}
    before = {number: signal.signal(number, stop) for number in timers}
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 300)
    try:
        yield
    finally:
        for number, timer in timers.items():
            signal.setitimer(timer, 0)
            signal.signal(number, before[number])


def main(names: list[str]) -> None:
    """Print every foreign error, of all names or of those that begin like one of these."""
    chosen = list(attempts(*names))
    found = 0
    for one in chosen:
        if problem := problem_of(one):
            found += 1
            print(problem, flush=True)
    print(f"{len(chosen)} attempts, {found} foreign errors")


if __name__ == "__main__":
    main(sys.argv[1:])
