"""Models as files, written with skops: reading one runs no code from it.

A pickle can run any code on the machine that opens it. A skops file lists the types it needs, and
only limo's own estimators and the types that skops trusts (scikit-learn, NumPy, SciPy) are
accepted. Files name limo's types by their public names, such as ``limo.LIMOClassifier``.

Being safe types is not enough: compiled code would crash on arrays that do not fit together. So
what a file unpacks to is limited, every sparse matrix is checked, and a model predicts for three
made-up instances before it is returned.
"""

import io
import os
import warnings
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import limo
from limo._frames import as_names
from limo._settings import check_number
from limo._solvers.problem import Iterates, Solution
from limo._sparse import check_sparse
from limo._system import Later, as_path, replacing
from limo.losses._term import Term
from limo.models._base import all_estimators
from limo.models._neighbours import GFMClassifier, MLKNNClassifier, check_stored

_skops = Later("skops.io")

_FORMAT = "limo model"
_VERSION = 1
# A file may unpack to this many times its size, plus some bytes: zeros and ones in a model compress
# # by so much. Files that limo writes are not compressed at all.
_UNPACKED_TIMES, _UNPACKED_PLUS = 20, 1 << 28
_MOST_FEATURES = 10_000_000
# Parts of models in plain Python, without compiled code, which skops does not list.
_PLAIN = {
    "limo._scorer.MeasureScorer",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split.StratifiedKFold",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
}
_TREES = (
    "sklearn.tree._tree.Tree",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
)
# Estimators that take any numbers as features, so that made-up ones can be predicted for.
_NUMERIC = (
    "limo",
    "sklearn.ensemble",
    "sklearn.linear_model",
    "sklearn.multiclass",
    "sklearn.multioutput",
    "sklearn.pipeline",
    "sklearn.preprocessing._data",
    "sklearn.svm",
    "sklearn.tree",
)


class ModelFileError(ValueError):
    """A model file that cannot be read, or is not safe to read.

    Examples
    --------
    >>> import limo, pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.skops"
    >>> _ = file.write_bytes(b"no model")
    >>> limo.load_model(file)
    Traceback (most recent call last):
    ...
    limo.ModelFileError: ...
    """

    __module__ = "limo"  # the name that users see and import


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A fitted model, and a description of its training data.

    Attributes
    ----------
    model : estimator
        The fitted estimator.
    label_names, feature_names : tuple of str or None
        The columns of its training data, where they had names.
    measure : str or None
        The measure it was fitted for.
    method, data : str or None
        The name of the method, and the source of the training data.
    limo_version : str
        The version of limo that wrote the file.

    Examples
    --------
    >>> import limo
    >>> data = limo.datasets.figure1(50)
    >>> saved = limo.models.SavedModel(limo.LIMOClassifier().fit(data.X, data.Y), data.label_names)
    >>> saved.label_names
    ('A', 'B', 'C', 'D')
    """

    model: Any
    label_names: tuple[str, ...] | None = None
    feature_names: tuple[str, ...] | None = None
    measure: str | None = None
    method: str | None = None
    data: str | None = None
    limo_version: str = ""


def save_model(
    model: Any,
    path: str | os.PathLike[str],
    *,
    label_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    measure: str | None = None,
    method: str | None = None,
    data: str | None = None,
    trusted: Sequence[str] = (),
    force: bool = False,
) -> Path:
    """Write a fitted model to a file that is safe to read.

    Parameters
    ----------
    model : estimator
        Any that :func:`load_model` can read: it is rejected if it needs types that are not trusted.
    path : path
        The file, usually ending in .skops. It appears when it is complete.
    label_names, feature_names : sequence of str, optional
        Names of the columns it was fitted on.
    measure, method, data : str, optional
        The measure it was fitted for, the name of the method, and the source of the data.
    trusted : sequence of str, optional
        More types to allow, such as ``"sklearn.tree._tree.Tree"`` for a random forest of
        scikit-learn. Whoever reads the file must trust you, and pass the same list.
    force : bool, default=False
        Whether to replace a file that exists.

    Returns
    -------
    Path

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> import limo
    >>> data = limo.datasets.figure1(100)
    >>> model = limo.LIMOClassifier().fit(data.X, data.Y)
    >>> file = limo.save_model(model, mkdtemp() + "/square.skops", label_names=data.label_names)
    >>> saved = limo.load_model(file)
    >>> (saved.model.predict(data.X) == model.predict(data.X)).all(), saved.label_names
    (np.True_, ('A', 'B', 'C', 'D'))
    """
    document = {
        "format": _FORMAT,
        "version": _VERSION,
        "limo": limo.__version__,
        "model": model,
        "label_names": _listed(label_names, "label_names"),
        "feature_names": _listed(feature_names, "feature_names"),
        "measure": measure,
        "method": method,
        "data": data,
    }
    file, content = as_path(path), _dumps(document, model)
    _reject_unreadable(content, model, set(check_types(trusted)))
    with replacing(file, force=force) as handle:
        handle.write(content)
    return file


def _dumps(document: dict[str, Any], model: Any) -> bytes:
    try:
        content: bytes = _skops.dumps(document)
    except Exception as error:  # skops raises anything for what it cannot store
        raise ModelFileError(
            f"{type(model).__name__} cannot be stored: {_summary(error)}. Store the part that "
            "predicts, such as best_estimator_ of a search"
        ) from error
    return content


def _reject_unreadable(content: bytes, model: Any, more: set[str]) -> None:
    """Reject a model that :func:`load_model` would not read, before the file is written."""
    unknown = sorted(set(_skops.get_untrusted_types(data=content)) - _trusted() - more)
    if not unknown:
        return
    names = ", ".join(unknown[:3])
    boosters = [name for name in unknown if name.startswith(("lightgbm.", "xgboost."))]
    if boosters:
        raise ModelFileError(
            f"limo does not store the trees of other libraries ({', '.join(boosters)}), because "
            "reading them from a file is not safe. Save the booster in its own format, such as "
            "model.booster_.save_model(path), or use limo.models.BoostingClassifier"
        )
    trees = any(name in _TREES for name in unknown)
    instead = "limo.models.ForestClassifier needs none of them. " if trees else ""
    raise ModelFileError(
        f"{type(model).__name__} needs types that limo does not trust in a file ({names}), so that "
        f"load_model would reject it. {instead}If those who read the file trust you, save and load "
        f"it with trusted={unknown}"
    )


def check_types(trusted: Any) -> list[str]:
    """The names of types that a caller trusts."""
    names = list(trusted) if isinstance(trusted, list | tuple | set | frozenset) else [trusted]
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"trusted must be a list of names of types, got {trusted!r}.")
    return names


def load_model(
    path: str | os.PathLike[str], *, max_bytes: int | None = None, trusted: Sequence[str] = ()
) -> SavedModel:
    """Read a model that :func:`save_model`, or skops itself, wrote.

    A file is rejected if it needs types other than limo's and those that skops trusts, if its
    arrays do not fit together, or if it unpacks to far more than its size.

    Parameters
    ----------
    path : path
        The file.
    max_bytes : int, optional
        How many bytes the file may unpack to; by default 20 times its size plus 256 MiB.
    trusted : sequence of str, optional
        More types to allow, if you trust the author of the file. They may run code, or crash on
        damaged arrays.

    Returns
    -------
    SavedModel

    Examples
    --------
    >>> import limo, pathlib, tempfile
    >>> data = limo.datasets.figure1(50)
    >>> model = limo.LIMOClassifier().fit(data.X, data.Y)
    >>> file = limo.save_model(model, pathlib.Path(tempfile.mkdtemp()) / "model.skops")
    >>> saved = limo.load_model(file)
    >>> bool((saved.model.predict(data.X) == model.predict(data.X)).all())
    True
    """
    if max_bytes is not None:
        check_number(max_bytes, "max_bytes", least=1, integer=True)
    file = as_path(path)
    content, allowed = file.read_bytes(), _trusted() | set(check_types(trusted))
    _check_size(content, file, max_bytes)
    try:
        unknown = sorted(set(_skops.get_untrusted_types(data=content)) - allowed)
    except Exception as error:  # a hostile file may raise anything
        raise ModelFileError(f"{file} is not a model file: {_summary(error)}. {_ADVICE}") from None
    if unknown:
        raise ModelFileError(
            f"{file} contains types that limo does not trust ({', '.join(unknown[:3])}), "
            f"so it was not opened. If you trust its author, allow them with trusted={unknown}"
        )
    try:
        stored = _skops.loads(content, trusted=sorted(allowed))
    except Exception as error:  # a damaged part may raise anything
        raise ModelFileError(f"{file} cannot be restored: {_summary(error)}. {_ADVICE}") from error
    saved = _unpack(stored, file)
    try:
        _check_model(saved)
    except Exception as error:  # parts that do not fit together may raise anything
        raise ModelFileError(
            f"{file} holds a model that cannot predict: {_summary(error)}. It is damaged; take "
            "another copy, or fit it again"
        ) from error
    return saved


def _trusted() -> set[str]:
    """The names of the types a model may consist of: the public estimators and their records."""
    estimators = [kind for _, kind in all_estimators()]
    kinds = (*estimators, Solution, Iterates, limo.thresholds.Tried, Term)
    return {f"{kind.__module__}.{kind.__qualname__}" for kind in kinds} | _PLAIN


_ADVICE = "limo fit and limo.save_model write such files"


def _unpack(stored: Any, file: Path) -> SavedModel:
    """The stored model, whether limo wrote it or skops wrote a bare estimator."""
    if hasattr(stored, "predict") and not isinstance(stored, type):
        return SavedModel(stored)
    if not isinstance(stored, dict) or stored.get("format") != _FORMAT:
        raise ModelFileError(f"{file} contains a {type(stored).__name__}, not a model. {_ADVICE}")
    if stored.get("version") != _VERSION:
        raise ModelFileError(
            f"{file} has version {stored.get('version')} of the model format, and this limo reads "
            f"version {_VERSION}. It was written by limo {stored.get('limo')}: install that one"
        )
    known: dict[str, Any] = {key: stored.get(key) for key in ("measure", "method", "data")}
    for key in ("label_names", "feature_names"):
        names = stored.get(key)
        known[key] = tuple(names) if isinstance(names, list) else names
    return SavedModel(stored.get("model"), **known, limo_version=stored.get("limo", ""))


# Checks of a file that may be hostile: its size before it is unpacked, its model afterwards.


def _check_size(content: bytes, file: Path, max_bytes: int | None) -> None:
    """Reject a file that unpacks to more than is allowed, also through a zip inside the zip."""
    allowed = max_bytes or _UNPACKED_TIMES * len(content) + _UNPACKED_PLUS
    try:
        unpacked = _unpacked_size(content, allowed)
    except Exception as error:  # a hostile file may raise anything
        raise ModelFileError(f"{file} is not a model file: {_summary(error)}. {_ADVICE}") from None
    if unpacked > allowed:
        raise ModelFileError(
            f"{file} has {len(content):,} bytes and unpacks to {unpacked:,}: expected at most "
            f"{allowed:,}. If you trust the file, pass max_bytes={unpacked}"
        )


def _unpacked_size(content: bytes, allowed: int) -> int:
    """The bytes of all members, and of theirs; counted no further than what is allowed."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        total = sum(member.file_size for member in members)
        for member in members:
            if total <= allowed and member.filename.endswith(".npz"):
                total += _unpacked_size(archive.read(member), allowed)
    return total


def _check_model(saved: SavedModel) -> None:
    """Raise anything unless the parts of a model fit together."""
    for text in (saved.measure, saved.method, saved.data, saved.limo_version):
        if text is not None and not isinstance(text, str):
            raise TypeError(f"expected a text about the model, got {text!r}")
    for names in (saved.label_names, saved.feature_names):
        if names is not None and not all(isinstance(name, str) for name in names):
            raise TypeError("expected names of labels and features, got something else")
    numeric = True
    for part in _parts(saved.model):
        if isinstance(part, type) and hasattr(part, "fit"):  # its methods exist, and take no data
            raise TypeError(f"expected a fitted estimator, got the class {part.__name__}")
        check_sparse(part, "a matrix of the model")
        if isinstance(part, MLKNNClassifier | GFMClassifier) and hasattr(part, "_X"):
            check_stored(part)
        if hasattr(part, "get_params"):
            numeric = numeric and type(part).__module__.startswith(_NUMERIC)
    if not callable(getattr(saved.model, "predict", None)):
        raise TypeError(f"expected an estimator, got a {type(saved.model).__name__}")
    n_features = getattr(saved.model, "n_features_in_", None)
    if numeric and n_features is not None:
        _try_out(saved, check_number(n_features, "n_features_in_", least=1, most=_MOST_FEATURES))


def _try_out(saved: SavedModel, n_features: int) -> None:
    """Predict for three made-up instances."""
    X = np.vstack([np.zeros(n_features), np.ones(n_features), np.resize([-1.0, 0.5], n_features)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # features without names, values beyond the usual
        P = saved.model.predict(X)
    width = P.shape[1] if P.ndim == 2 else 1
    if P.shape[0] != len(X) or P.ndim > 2:
        raise ValueError(f"expected labels for {len(X)} instances, got an array of {P.shape}")
    if saved.label_names is not None and len(saved.label_names) != width:
        raise ValueError(f"expected {width} label names, got {len(saved.label_names)}")
    if saved.feature_names is not None and len(saved.feature_names) != n_features:
        raise ValueError(f"expected {n_features} feature names, got {len(saved.feature_names)}")


def _parts(model: Any) -> Iterator[Any]:
    """The model and everything it consists of, each once."""
    waiting, seen = [model], set[int]()
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, Mapping):
            waiting.extend(part.values())
        elif isinstance(part, list | tuple):
            waiting.extend(part)
        elif not sparse.issparse(part):
            waiting.extend(getattr(part, "__dict__", {}).values())
            is_object = isinstance(part, np.ndarray) and part.dtype == object
            waiting.extend(part.ravel() if is_object else ())


def _listed(names: Sequence[str] | None, what: str) -> list[str] | None:
    return None if names is None else list(as_names(names, what))


def _summary(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
