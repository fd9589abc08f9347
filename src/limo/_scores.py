"""Scores of estimators, and arrays from what other libraries give: tensors, lazy frames, lists."""

from typing import Any

import numpy as np

from limo._types import Values


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

    Examples
    --------
    >>> import limo
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> data = limo.datasets.figure1(50)
    >>> forest = RandomForestClassifier(5, random_state=0).fit(data.X, data.Y)
    >>> type(forest.predict_proba(data.X)).__name__, limo.scores_of(forest, data.X).shape
    ('list', (50, 4))
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
    probabilities = estimator.predict_proba(X)
    if isinstance(probabilities, list):
        return _from_list(probabilities, getattr(estimator, "classes_", None))
    return _two_dimensional(probabilities)


def _two_dimensional(scores: Any) -> Values:
    matrix: Values = np.asarray(readable(scores))
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


# Input of other libraries


def readable(value: Any) -> Any:
    """Input as numpy can read it: tensors without gradients and in memory, lazy frames collected.

    Recognised by their attributes, so that no library is imported for it. Everything else is
    returned as it is.
    """
    if type(value).__name__ == "LazyFrame" and hasattr(value, "collect"):
        return value.collect()
    if hasattr(value, "detach") and hasattr(value, "cpu"):
        value = value.detach().cpu()
        # numpy has no bfloat16; every such number is a float32, too
        return value.float() if str(value.dtype).endswith("bfloat16") else value
    if str(getattr(value, "dtype", "")) == "bfloat16":
        return np.asarray(value).astype(np.float32)
    return value


def scores_from(value: Any) -> Any:
    """Scores as one matrix, if they are the list of class probabilities of each label.

    ``predict_proba`` of several estimators of scikit-learn gives such a list.
    """
    if not isinstance(value, list | tuple) or not value:
        return readable(value)
    parts = [readable(part) for part in value]
    if not all(getattr(part, "ndim", 0) == 2 for part in parts):
        return parts if any(a is not b for a, b in zip(parts, value, strict=True)) else value
    arrays = [np.asarray(part) for part in parts]
    for j, part in enumerate(arrays):
        if part.shape != (len(arrays[0]), 2) or not np.allclose(part.sum(axis=1), 1, atol=1e-3):
            raise ValueError(
                "y_score is a list of matrices: expected the probabilities of two classes for each "
                f"label, as from predict_proba, got shape {part.shape} for label {j}. Use "
                "limo.scores_of(estimator, X), which also knows labels with a single class."
            )
    return np.column_stack([part[:, 1] for part in arrays])
