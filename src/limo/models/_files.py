"""Models as files, written with skops: reading one runs no code from it.

A pickle can run any code on the machine that opens it. A skops file lists the types it needs, and
only limo's own estimators and the types that skops trusts (scikit-learn, NumPy, SciPy) are
accepted. Files name limo's types by their public names, such as ``limo.LIMOClassifier``.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import limo
from limo._solvers.problem import Iterates, Solution
from limo._system import Later, replacing
from limo.losses._term import Term

_skops = Later("skops.io")

_FORMAT = "limo model"
_VERSION = 1


class ModelFileError(ValueError):
    """A model file that cannot be read, or is not safe to read."""

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
    force: bool = False,
) -> Path:
    """Write a fitted model to a file that is safe to read.

    Parameters
    ----------
    model : estimator
        Any that skops can store.
    path : path
        The file, usually ending in .skops. It appears when it is complete.
    label_names, feature_names : sequence of str, optional
        Names of the columns it was fitted on.
    measure, method, data : str, optional
        The measure it was fitted for, the name of the method, and the source of the data.
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
        "label_names": _listed(label_names),
        "feature_names": _listed(feature_names),
        "measure": measure,
        "method": method,
        "data": data,
    }
    file, content = Path(path), _skops.dumps(document)
    _reject_boosters(content)
    with replacing(file, force=force) as handle:
        handle.write(content)
    return file


def _reject_boosters(content: bytes) -> None:
    """Reject trees that :func:`load_model` would not read, before the file is written."""
    types = _skops.get_untrusted_types(data=content)
    boosters = [name for name in types if name.startswith(("lightgbm.", "xgboost."))]
    if boosters:
        raise ModelFileError(
            f"limo does not store the trees of other libraries ({', '.join(boosters)}), because "
            "reading them from a file is not safe. Save the booster in its own format, such as "
            "model.booster_.save_model(path)"
        )


def load_model(path: str | os.PathLike[str]) -> SavedModel:
    """Read a model that :func:`save_model`, or skops itself, wrote.

    A file is rejected if it needs types other than limo's and those that skops trusts.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    SavedModel
    """
    file = Path(path)
    content, trusted = file.read_bytes(), _trusted()
    try:
        unknown = sorted(set(_skops.get_untrusted_types(data=content)) - trusted)
    except Exception as error:  # a hostile file may raise anything
        raise ModelFileError(f"{file} is not a model file: {_summary(error)}. {_ADVICE}") from None
    if unknown:
        raise ModelFileError(
            f"{file} contains types that limo does not trust ({', '.join(unknown[:3])}), "
            "so it was not opened. If you trust its author, open it with skops.io.load"
        )
    try:
        found = _skops.loads(content, trusted=sorted(trusted))
    except Exception as error:  # a damaged part may raise anything
        raise ModelFileError(f"{file} cannot be restored: {_summary(error)}. {_ADVICE}") from error
    return _unpack(found, file)


def _trusted() -> set[str]:
    """The names of the types a model may consist of: the public estimators and their records."""
    public = (
        getattr(package, name)
        for package in (limo.models, limo.thresholds)
        for name in package.__all__
    )
    records = (Solution, Iterates, limo.thresholds.Tried)
    kinds = [kind for kind in public if hasattr(kind, "get_params") or kind in records]
    return {f"{kind.__module__}.{kind.__qualname__}" for kind in (*kinds, Term)}


_ADVICE = "limo fit and limo.save_model write such files"


def _unpack(found: Any, file: Path) -> SavedModel:
    """The stored model, whether limo wrote it or skops wrote a bare estimator."""
    if hasattr(found, "predict"):
        return SavedModel(found)
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        raise ModelFileError(f"{file} contains a {type(found).__name__}, not a model. {_ADVICE}")
    if found["version"] != _VERSION:
        raise ModelFileError(
            f"{file} has version {found['version']} of the model format, and this limo reads "
            f"version {_VERSION}. It was written by limo {found['limo']}: install that one"
        )
    known: dict[str, Any] = {key: found[key] for key in ("measure", "method", "data")}
    for key in ("label_names", "feature_names"):
        known[key] = None if found[key] is None else tuple(found[key])
    return SavedModel(found["model"], **known, limo_version=found["limo"])


def _listed(names: Sequence[str] | None) -> list[str] | None:
    return None if names is None else list(map(str, names))


def _summary(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
