"""The base of all displays: made from predictions or an estimator, drawn on axes, shown once."""

import io
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Self

from limo._checks import Checked, check_inputs
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
    """What it is made from: "scores", "probabilities", "labels" or "both"."""

    ax_: Any

    @classmethod
    @abstractmethod
    def _from_checked(cls, *checked: Any, **options: Any) -> Self:
        """Compute the numbers from checked input."""

    @abstractmethod
    def _draw(self, ax: Any) -> Any:
        """Draw on these axes, or on new ones; return the axes."""

    @classmethod
    def _made(
        cls,
        y_true: Any,
        y_score: Any = None,
        y_pred: Any = None,
        label_names: Iterable[str] | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        checked = check_inputs(y_true, y_score, y_pred, label_names)
        return cls._from_checked(checked, **options).plot(ax=ax)

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
        score = pred = None
        if cls.needs in ("scores", "both"):
            score = scores_of(estimator, X)
        if cls.needs == "probabilities":
            score = probabilities_of(estimator, X)
        if cls.needs in ("labels", "both"):
            pred = estimator.predict(X)
        return cls._made(y, score, pred, **options)

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


def names_of(checked: Checked) -> list[str]:
    """The names of the labels, or their numbers."""
    return list(checked.label_names or (f"label {j}" for j in range(checked.Y.shape[1])))
