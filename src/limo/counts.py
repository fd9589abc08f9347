"""How many items of each row are true, predicted, and both: all a label measure needs."""

from collections.abc import Iterable
from dataclasses import dataclass

from limo._types import Integers
from limo.pattern import Pattern
from limo.views import View

__all__ = ["Counts", "count"]


@dataclass(frozen=True, eq=False)
class Counts:
    """The confusion matrix of each row.

    Attributes
    ----------
    both : array of shape (n_rows,)
        Items true and predicted.
    true, predicted : array of shape (n_rows,)
        Items true, and items predicted.
    n_items : int
        How many items a row has.
    """

    both: Integers
    true: Integers
    predicted: Integers
    n_items: int

    @property
    def wrong(self) -> Integers:
        """Items predicted but not true, or true but not predicted."""
        return self.true + self.predicted - 2 * self.both

    @property
    def perfect(self) -> "Counts":
        """The counts of a prediction without error."""
        return Counts(self.true, self.true, self.true, self.n_items)


def count(Y: Pattern, P: Pattern, views: Iterable[View]) -> dict[View, Counts]:
    """Count true labels ``Y`` and predicted labels ``P`` through each of the views."""
    both = Y.overlap(P)
    return {
        view: Counts(view.ones(both), view.ones(Y), view.ones(P), view.n_items(Y)) for view in views
    }
