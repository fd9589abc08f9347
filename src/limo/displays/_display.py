"""The base of all displays: made from predictions or an estimator, drawn on axes, shown once."""

import io
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Self

from limo._checks import Checked, Truth, check_truth
from limo._scores import probabilities_of, scores_of


class Display(ABC):
    """Numbers, and how they are drawn.

    Attributes
    ----------
    ax_ : matplotlib axes
        Where it was drawn last.
    figure_ : matplotlib Figure
        The figure of these axes.
    """

    needs: ClassVar[str] = "scores"
    """The input it needs: "scores", "probabilities", "labels" or "both"."""

    options: ClassVar[tuple[str, ...]] = ()
    """Names of its own options, beside those of all displays."""

    ax_: Any

    @classmethod
    @abstractmethod
    def from_predictions(cls, *predictions: Any, **options: Any) -> Self:
        """Draw scores, predicted labels or both."""

    @classmethod
    @abstractmethod
    def _from_checked(cls, *checked: Any, **options: Any) -> Self:
        """Compute the numbers from checked input."""

    @abstractmethod
    def _draw(self, ax: Any) -> Any:
        """Draw on these axes, or on new ones; return the axes."""

    @classmethod
    def _made(
        cls, truth: Truth, y_score: Any = None, y_pred: Any = None, ax: Any = None, **options: Any
    ) -> Self:
        for name in options:
            if name not in cls.options:
                known = f" It has {', '.join(cls.options)}." if cls.options else ""
                raise TypeError(f"{cls.__name__} has no option {name!r}.{known}")
        return cls._from_checked(truth.join(y_score, y_pred), **options).plot(ax=ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **options: Any) -> Self:
        """Draw how a fitted estimator does on these instances.

        Parameters
        ----------
        estimator : fitted estimator
            With what the display needs: ``decision_function`` or ``predict_proba``, or ``predict``.
        X : array-like
            Instances.
        y : array-like or sparse matrix of shape (n_samples, n_labels)
            True labels, 0 or 1.
        **options
            As in ``from_predictions``.

        Returns
        -------
        display
        """
        outputs = []
        if cls.needs in ("scores", "both"):
            outputs.append(scores_of(estimator, X))
        if cls.needs == "probabilities":
            outputs.append(probabilities_of(estimator, X))
        if cls.needs in ("labels", "both"):
            outputs.append(estimator.predict(X))
        return cls.from_predictions(y, *outputs, **options)

    def plot(self, ax: Any = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        display
            The same.
        """
        self.ax_ = self._draw(ax)
        return self

    @property
    def figure_(self) -> Any:
        """The figure it was drawn on last."""
        return self.ax_.figure

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.figure_.savefig(file, format="png", dpi=110)
        return file.getvalue()


class ScoresDisplay(Display):
    """A drawing of scores."""

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        sample_weight: Any = None,
        missing: Any = None,
        label_names: Iterable[str] | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw scores.

        Parameters
        ----------
        y_true : array-like or sparse matrix of shape (n_samples, n_labels)
            True labels, 0 or 1.
        y_score : array-like of shape (n_samples, n_labels)
            Scores; for the calibration, probabilities.
        sample_weight : array-like of shape (n_samples,), optional
            How much each instance counts.
        missing : number or array-like of bool, optional
            What stands for a missing label in ``y_true``, as in :func:`limo.evaluate`.
        label_names : iterable of str, optional
            Names of the labels; by default the columns of a data frame.
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.
        **options
            Those of the display.

        Returns
        -------
        display
        """
        truth = check_truth(y_true, label_names, missing=missing, sample_weight=sample_weight)
        return cls._made(truth, y_score=y_score, ax=ax, **options)


class LabelsDisplay(Display):
    """A drawing of predicted labels."""

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        sample_weight: Any = None,
        missing: Any = None,
        label_names: Iterable[str] | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw predicted labels.

        Parameters
        ----------
        y_true : array-like or sparse matrix of shape (n_samples, n_labels)
            True labels, 0 or 1.
        y_pred : array-like or sparse matrix of shape (n_samples, n_labels)
            Predicted labels, 0 or 1.
        sample_weight : array-like of shape (n_samples,), optional
            How much each instance counts.
        missing : number or array-like of bool, optional
            What stands for a missing label in ``y_true``, as in :func:`limo.evaluate`.
        label_names : iterable of str, optional
            Names of the labels; by default the columns of a data frame.
        ax : matplotlib axes, optional
            Where to draw; by default a new figure.
        **options
            Those of the display.

        Returns
        -------
        display
        """
        truth = check_truth(y_true, label_names, missing=missing, sample_weight=sample_weight)
        return cls._made(truth, y_pred=y_pred, ax=ax, **options)


def names_of(checked: Checked) -> list[str]:
    """The names of the labels, or their numbers."""
    return list(checked.label_names or (f"label {j}" for j in range(checked.Y.shape[1])))
