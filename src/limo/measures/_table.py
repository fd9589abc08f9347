"""The registry: one record per measure, how to add one, and the texts of the glossary."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from limo._text import counted, did_you_mean
from limo._types import check_kind
from limo._views import COLUMNS, ENTRIES, ROWS, Counts
from limo.measures._conventions import Conventions
from limo.measures._further import LISTED, further_measure
from limo.measures._measure import EFFECTIVENESS, Measure, Optimised, Text
from limo.measures._rows import (
    auc,
    average_precision,
    blind_average_precision,
    blind_coverage,
    blind_f1,
    blind_hamming,
    blind_one_error,
    blind_order,
    coverage,
    f1,
    hamming,
    one_error,
    ranking_loss,
)

LETTERS = (
    "p and n count the relevant and the irrelevant items of a row, s are scores; "
    "r runs over the relevant, v over the irrelevant items."
)
"""What the letters of the formulas mean."""

_YES, _LIMIT, _NO = Optimised.YES, Optimised.IN_THE_LIMIT, Optimised.NO


def _by(*ticks: Optimised) -> Mapping[str, Optimised]:
    return dict(zip(EFFECTIVENESS, ticks, strict=True))


# The rows that occur in the paper's Table 2, with our two columns.
LABEL_WISE = _by(_YES, _NO, _YES, _YES, _YES)
INSTANCE_WISE = _by(_NO, _YES, _YES, _YES, _YES)
EITHER = _by(_YES, _YES, _YES, _YES, _YES)
ONLY_TOGETHER = _by(_NO, _NO, _LIMIT, _YES, _YES)

UNIT = (0.0, 1.0)


# Texts that depend on the conventions. Functions, not lambdas: a record can be pickled.


def _lost_pairs(c: Conventions) -> str:
    return f"(#{{sᵣ < sᵥ}}{_share(c.ranking_loss_tie)}) / pn"


def _won_pairs(c: Conventions) -> str:
    return f"(#{{sᵣ > sᵥ}}{_share(c.auc_tie)}) / pn"


def _worst_rank(c: Conventions) -> str:
    return f"max over r of {_rank(c)} {_signed(c.coverage_offset)}".strip()


def _precision_at_relevant(c: Conventions) -> str:
    return f"mean over r of #{{relevant s ≥ sᵣ}} / {_rank(c)}"


def _rank(c: Conventions) -> str:
    return "#{s ≥ sᵣ}" if c.tied_rank == "worst" else "(1 + #{s > sᵣ})"


def _share(tie: float) -> str:
    if tie == 0:
        return ""
    return f" + {'' if tie == 1 else f'{tie:g} '}#{{sᵣ = sᵥ}}"


def _signed(offset: float) -> str:
    return "" if offset == 0 else f"{'−' if offset < 0 else '+'} {abs(offset):g}"


def _tie_is_an_error(c: Conventions) -> str:
    share = {0.0: "no error", 1.0: "a full error"}
    return f"a tie is {share.get(c.ranking_loss_tie, f'{c.ranking_loss_tie:g} of an error')}"


def _tie_earns_credit(c: Conventions) -> str:
    credit = {0.0: "nothing", 0.5: "half", 1.0: "full credit"}
    return f"a tie earns {credit.get(c.auc_tie, f'{c.auc_tie:g}')}"


def _ties_at_the_top(c: Conventions) -> str:
    return f"ties at the top: {c.one_error_tie} case"


def _tied_rank(c: Conventions) -> str:
    return f"ties: {c.tied_rank} rank"


def _nothing_by_nothing(c: Conventions) -> str:
    return f"0/0 is {c.f1_of_nothing:g}"


# The eleven measures. Measures of one family differ in the view alone.

_HAMMING = Measure(
    "hamming_loss", "Hamming loss", hamming, ROWS, "labels", "low", UNIT, EITHER,
    threshold="label", also=COLUMNS,
    meaning="Share of items whose label is predicted wrongly.",
    formula="#{wrong} / (p + n)", blind=blind_hamming, fractional=True, per_item=True,
    bounded_by=("entries pointwise",),
)  # fmt: skip
_RANKING_LOSS = Measure(
    "ranking_loss", "ranking loss", ranking_loss, ROWS, "scores", "low", UNIT, LABEL_WISE,
    meaning="Share of pairs of a relevant and an irrelevant item in the wrong order.",
    formula=_lost_pairs, ties=_tie_is_an_error, blind=blind_order,
    bounded_by=("rows mean", "rows pointwise", "rows worst"),
)  # fmt: skip
_ONE_ERROR = Measure(
    "one_error", "one-error", one_error, ROWS, "scores", "low", UNIT, LABEL_WISE,
    meaning="Whether an irrelevant item has the highest score.",
    formula="1 if the top score is an irrelevant item’s, else 0",
    ties=_ties_at_the_top, blind=blind_one_error, bounded_by=("rows top", "rows worst"),
)  # fmt: skip
_COVERAGE = Measure(
    "coverage", "coverage", coverage, ROWS, "scores", "low", (0.0, math.inf), LABEL_WISE,
    meaning="How far down the ranking one must read to find all relevant items.",
    formula=_worst_rank, ties=_tied_rank, blind=blind_coverage,
    bounded_by=("rows bottom", "rows worst"),
)  # fmt: skip
_AVERAGE_PRECISION = Measure(
    "average_precision", "average precision", average_precision,
    ROWS, "scores", "high", UNIT, LABEL_WISE,
    meaning="Share of relevant items at or above each relevant item, on average.",
    formula=_precision_at_relevant, ties=_tied_rank, blind=blind_average_precision,
    bounded_by=("rows top", "rows worst"),
)  # fmt: skip
_F1 = Measure(
    "instance_f1", "instance-F1", f1, ROWS, "labels", "high", UNIT, LABEL_WISE,
    meaning="Harmonic mean of precision and recall of the predicted labels.",
    formula="2 #{true and predicted} / (#true + #predicted)",
    ties=_nothing_by_nothing, blind=blind_f1, fractional=True,
    bounded_by=("rows bottom", "rows worst"),
)  # fmt: skip
_AUC = Measure(
    "instance_auc", "instance-AUC", auc, ROWS, "scores", "high", UNIT, LABEL_WISE,
    meaning="Share of pairs of a relevant and an irrelevant item in the right order.",
    formula=_won_pairs, ties=_tie_earns_credit, blind=blind_order,
    bounded_by=("rows mean", "rows pointwise", "rows worst"),
)  # fmt: skip

_BUILT_IN = (
    _HAMMING,
    _RANKING_LOSS,
    _ONE_ERROR,
    _COVERAGE,
    _AVERAGE_PRECISION,
    replace(
        _F1, name="macro_f1", title="macro-F1", view=COLUMNS, threshold="label",
        optimised_by=INSTANCE_WISE, bounded_by=("columns bottom", "columns worst"),
    ),
    _F1,
    replace(
        _F1, name="micro_f1", title="micro-F1", view=ENTRIES, threshold="global",
        bounded_by=("entries bottom", "entries worst"),
    ),
    replace(
        _AUC, name="macro_auc", title="macro-AUC", view=COLUMNS, optimised_by=INSTANCE_WISE,
        bounded_by=("columns mean", "columns pointwise", "columns worst"),
    ),
    _AUC,
    replace(
        _AUC, name="micro_auc", title="micro-AUC", view=ENTRIES, optimised_by=ONLY_TOGETHER,
        bounded_by=("entries mean", "entries pointwise", "entries worst"),
    ),
)  # fmt: skip

PAPER_MEASURES: Mapping[str, Measure] = MappingProxyType({m.name: m for m in _BUILT_IN})
"""The paper's eleven measures by name, without registered ones."""

_registered: dict[str, Measure] = dict(PAPER_MEASURES)


_AVERAGE_LAST = re.compile(r"(.+)_(macro|micro|samples|instance)")


def _exact(name: str) -> Measure | None:
    """The measure with exactly this name."""
    return _registered.get(name) or further_measure(name)


def _spelt(name: str) -> str:
    """A name or a title in lower case, with underscores."""
    return re.sub(r"[^a-z0-9.]+", "_", name.lower().replace("@", "_at_")).strip("_")


def _average_first(match: re.Match[str]) -> str:
    """The order of our names for that of scikit-learn's: f1_samples, roc_auc_macro."""
    base, average = match.groups()
    return f"{average.replace('samples', 'instance')}_{base.removeprefix('roc_')}"


class Registry(Mapping[str, Measure]):
    """Measures by name: it lists those computed by default, and finds all others by name."""

    further = LISTED
    """Further measures, which ``measures="all"`` adds."""

    def __getitem__(self, name: str) -> Measure:
        measure = _exact(name) or _exact(self.canonical(name))
        if measure is None:
            raise KeyError(name)
        return measure

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and _exact(self.canonical(name)) is not None

    def canonical(self, name: str) -> str:
        """The name of a measure for any usual spelling of it; an unknown text as it is.

        These are the printed titles, other cases, hyphens or spaces, and scikit-learn's order.

        Examples
        --------
        >>> [MEASURES.canonical(name) for name in ("macro-F1", "f1_samples", "precision@5")]
        ['macro_f1', 'instance_f1', 'precision_at_5']
        """
        if not isinstance(name, str) or _exact(name) is not None:
            return name
        spelt = _spelt(name)
        titles = {_spelt(self[one].title): one for one in (*self, *LISTED)}
        turned = _AVERAGE_LAST.sub(_average_first, spelt)
        tried = (spelt, titles.get(spelt, ""), turned)
        return next((one for one in tried if _exact(one) is not None), name)

    def __iter__(self) -> Iterator[str]:
        return iter(_registered)

    def __len__(self) -> int:
        return len(_registered)

    def ordered(self, names: Iterable[str]) -> list[str]:
        """These names: the listed measures first, in their order, then the others as given."""
        given = dict.fromkeys(names)
        return [name for name in dict.fromkeys([*self, *given]) if name in given]


MEASURES = Registry()
"""Measures by name: the paper's eleven and those added by :func:`limo.measures.register`.

A lookup also finds the further measures (``MEASURES["macro_jaccard"]``), with any number in their
name (``MEASURES["precision_at_7"]``); these are computed only if asked for.
"""


def register(measure: Measure) -> Measure:
    """Add a measure to all parts of limo.

    It then appears in ``limo.evaluate`` and the report page with its glossary, can be given to
    ``limo.make_scorer`` and, on the command line, to ``--measure``. A measure of labels is also a
    target of thresholds (``limo.thresholds.TARGETS``), has a suggested threshold and a line in
    ``limo.threshold_report``. The registration lasts as long as the process.

    Parameters
    ----------
    measure : Measure
        Its name must be new. One of limo's further measures (``MEASURES["macro_jaccard"]``) is
        then computed by default, too.

    Returns
    -------
    Measure
        The same.

    Examples
    --------
    >>> import limo
    >>> from limo.measures import COLUMNS, Measure, register, unregister
    >>> def sensitivity(counts, conventions):
    ...     return counts.both / counts.true
    >>> _ = register(Measure("sensitivity", "sensitivity", sensitivity, COLUMNS, "labels", "high"))
    >>> limo.evaluate([[1, 0], [1, 1]], y_pred=[[1, 0], [0, 1]])["sensitivity"]
    0.75
    >>> unregister("sensitivity")
    """
    if not isinstance(measure, Measure):
        raise TypeError(f"register takes a limo.measures.Measure, got {measure!r}.")
    if measure.name in _registered or further_measure(measure.name) not in (None, measure):
        raise ValueError(f"A measure called {measure.name!r} exists already. Choose another name.")
    for other in _registered.values():
        if other.family == measure.family and other.function is not measure.function:
            raise ValueError(
                f"{measure.name!r} and {other.name!r} are both averages of {measure.family!r}, so "
                "they must have the same function. Choose another name."
            )
    _registered[measure.name] = measure
    return measure


def added_measures(names: Iterable[str]) -> list[Measure]:
    """The measures among these that :func:`register` added, for other processes."""
    return [_registered[name] for name in names if name in _registered.keys() - PAPER_MEASURES]


def unregister(name: str) -> None:
    """Remove a measure that was added by :func:`register`.

    Parameters
    ----------
    name : str
        The built-in measures cannot be removed.

    Examples
    --------
    >>> import limo
    >>> limo.measures.unregister("macro_f1")
    Traceback (most recent call last):
    ...
    ValueError: ...
    """
    check_kind(name, str, "name must be the name of a measure")
    if name in PAPER_MEASURES:
        raise ValueError(f"{name!r} is built in and cannot be removed.")
    if name not in _registered:
        hint = did_you_mean(name, _registered)
        raise ValueError(f"No measure called {name!r} was registered.{hint}")
    del _registered[name]


def measures_of_labels() -> dict[str, Measure]:
    """One measure of labels of each family, by the name of the family: f1, hamming_loss, ..."""
    by_family: dict[str, Measure] = {}
    for measure in _registered.values():
        if measure.threshold is not None:
            by_family.setdefault(measure.family, measure)
    return by_family


# Texts of the glossary


def explain_measure(measure: Measure, conventions: Conventions) -> dict[str, Any]:
    """Describe a measure under the given conventions, as plain text."""
    return {
        "name": measure.name,
        "title": measure.title,
        "better": measure.better,
        "view": measure.view.name,
        "needs": measure.needs,
        "meaning": measure.meaning,
        "formula": _text(measure.formula, conventions),
        "mean": _mean(measure),
        "convention": _convention(measure, conventions),
        "threshold": measure.threshold,
        "optimised_by": [k for k, how in measure.optimised_by.items() if how is Optimised.YES],
    }


def _text(text: Text, conventions: Conventions) -> str:
    return text if isinstance(text, str) else text(conventions)


def _mean(measure: Measure) -> str:
    if measure.view is ENTRIES:
        return "over all entries of the matrix, as one row"
    return f"mean over {counted(2, measure.view.row).removeprefix('2 ')}"


def _convention(measure: Measure, conventions: Conventions) -> str:
    """How ties and undefined rows count for this measure, in a few words."""
    parts = [_text(measure.ties, conventions)]
    if _can_be_undefined(measure, conventions):
        fill = conventions.undefined.get(measure.name)
        parts.append("undefined left out" if fill is None else f"undefined counts {fill:g}")
    return "; ".join(filter(None, parts)) or "always defined"


def _can_be_undefined(measure: Measure, conventions: Conventions) -> bool:
    """Whether rows may have no value; measures of labels are tried on all rows of a single item."""
    if measure.needs == "scores":
        return True
    true, predicted = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    counts = Counts(true & predicted, true, predicted, 1)
    return bool(np.isnan(measure.values(counts, conventions)).any())
