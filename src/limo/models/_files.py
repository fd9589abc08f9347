"""Models as files, with skops: nothing in them is run when they are read.

A pickle can do anything to the machine that opens it. A skops file lists the types it needs, and
only limo's own estimators and what skops itself knows to be harmless (scikit-learn, NumPy,
SciPy) are let in.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import limo
from limo._system import Later, replacing

__all__ = ["ModelFileError", "SavedModel", "load_model", "save_model"]


_skops = Later("skops.io")

_FORMAT = "limo model"
_VERSION = 1
# What the built-in methods consist of; a test fits each and finds nothing else.
_TRUSTED = frozenset(
    {
        "limo.models._base.UnitRows",
        "limo.models._binary_relevance.BinaryRelevance",
        "limo.models._neighbours.GFMClassifier",
        "limo.models._limo.LIMOClassifier",
        "limo.models._limo_cv.LIMOClassifierCV",
        "limo.models._neighbours.MLKNNClassifier",
        "limo._solvers.problem.Solution",
        "limo._solvers.sgd.SGDSolution",
        "limo.thresholds._classifier.ThresholdClassifier",
        "limo.thresholds._fit.Fitted",
        "limo.thresholds._instance.InstanceThreshold",
        "limo.thresholds._rules.ExpectedF1",
        "limo.thresholds._rules.FixedThreshold",
        "limo.thresholds._rules.GlobalThreshold",
        "limo.thresholds._rules.LabelThreshold",
        "limo.thresholds._rules.TopK",
    }
)


class ModelFileError(ValueError):
    """A model file that cannot be read, or must not be."""

    __module__ = "limo"  # the name that users see and import


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A fitted model and what it was fitted on.

    Attributes
    ----------
    model : estimator
        The fitted estimator.
    label_names, feature_names : tuple of str or None
        The columns of its training data, where they had names.
    measure : str or None
        The measure it was fitted for.
    method, data : str or None
        The method's name, and where the training data came from.
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
    """Write a fitted model to a file that can be read without trusting it.

    Parameters
    ----------
    model : estimator
        Any that skops can store.
    path : path
        Where; usually ending in .skops. The file appears when it is complete.
    label_names, feature_names : sequence of str, optional
        Names of the columns it was fitted on.
    measure, method, data : str, optional
        What it was fitted for, how it is called, and where its data came from.
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
    file = Path(path)
    with replacing(file, force=force) as handle:
        handle.write(_skops.dumps(document))
    return file


def load_model(path: str | os.PathLike[str]) -> SavedModel:
    """Read a model that :func:`save_model`, or skops itself, wrote.

    Types other than limo's and those skops knows to be harmless are refused, whatever the file
    says about them.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    SavedModel
    """
    file = Path(path)
    content = file.read_bytes()
    try:
        unknown = sorted(set(_skops.get_untrusted_types(data=content)) - _TRUSTED)
    except Exception as error:  # a hostile file may make the reader say anything
        raise ModelFileError(f"{file} is not a model file: {_said(error)}. {_ADVICE}") from None
    if unknown:
        raise ModelFileError(
            f"{file} asks for {', '.join(unknown[:3])}, which limo does not know to be harmless, "
            "so it was not opened. If you trust whoever made it, open it with skops.io.load"
        )
    try:
        found = _skops.loads(content, trusted=sorted(_TRUSTED))
    except Exception as error:  # whatever a damaged part makes a constructor say
        raise ModelFileError(f"{file} cannot be restored: {_said(error)}. {_ADVICE}") from error
    return _unpack(found, file)


_ADVICE = "limo fit and limo.save_model write such files"


def _unpack(found: Any, file: Path) -> SavedModel:
    """What was stored, whether limo stored it or skops a bare estimator."""
    if hasattr(found, "predict"):
        return SavedModel(found)
    if not isinstance(found, dict) or found.get("format") != _FORMAT:
        raise ModelFileError(f"{file} holds no model, but a {type(found).__name__}. {_ADVICE}")
    if found["version"] != _VERSION:
        raise ModelFileError(
            f"{file} has version {found['version']} of the model format, and this limo reads "
            f"version {_VERSION}. It was written by limo {found['limo']}: install that one"
        )
    told: dict[str, Any] = {key: found[key] for key in ("measure", "method", "data")}
    for key in ("label_names", "feature_names"):
        told[key] = None if found[key] is None else tuple(found[key])
    return SavedModel(found["model"], **told, limo_version=found["limo"])


def _listed(names: Sequence[str] | None) -> list[str] | None:
    return None if names is None else list(map(str, names))


def _said(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
