"""The verdict: how good a model is, why, and what to change; which of several is best."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from limo._explain import suited_measures
from limo._text import counted
from limo._views import VIEWS
from limo.measures._table import MEASURES

_GOOD = 0.75
_WEAK = 0.4
_NOTABLE = 0.02
_WELL_ORDERED = 0.98
_LONG_NAME = 40
_MOST_OTHERS = 4


# One model


def verdict_of(model: Mapping[str, Any]) -> list[str]:
    """One sentence each: how good one model is, why, and what to change."""
    sentences = (
        _quality(model["measures"]),
        _reason(model["margins"]),
        _advice(model["margins"], model["thresholds"]),
    )
    return [sentence for sentence in sentences if sentence]


def _quality(measures: Mapping[str, Any]) -> str:
    skills = {n: r["skill"] for n, r in measures.items() if r["skill"] is not None}
    if not skills:
        return "On these labels no measure can distinguish this model from blind guessing."
    order = sorted(skills, key=lambda name: -skills[name])
    good = [name for name in order if skills[name] >= _GOOD]
    weak = [name for name in reversed(order) if skills[name] < _WEAK]
    if len(good) == len(order):
        return f"Good on every measure: the lowest is {_with_skill(order[-1:], measures)}."
    if len(weak) == len(order):
        return f"Weak on every measure: the highest is {_with_skill(order[:1], measures)}."
    first = (
        f"Good on {_with_skill(good, measures)}"
        if good
        else f"Best on {_with_skill(order[:1], measures)}"
    )
    if weak:
        return f"{first}; weak on {_with_skill(weak, measures)}."
    return f"{first}; weakest on {_with_skill(order[-1:], measures)}."


def _with_skill(names: list[str], measures: Mapping[str, Any]) -> str:
    """Titles of measures and their range of skill: 0 is blind guessing, 1 the best possible."""
    values = [measures[name]["skill"] for name in names]
    low, high = f"{min(values):.0%}", f"{max(values):.0%}"
    span = high if low == high else f"{low} to {high}"
    return f"{_listed([measures[name]['title'] for name in names])} (skill {span})"


def _reason(margins: Mapping[str, Any]) -> str:
    """The shares of positive margins and ordered pairs, of instances and of labels."""
    known = {
        name: margins[name]
        for name in ("rows", "columns")
        if name in margins and margins[name]["positive_share"] is not None
    }
    if not known:
        return ""
    parts = [
        f"the {VIEWS[name].margin} margin is positive on {m['positive_share']:.1%} of "
        f"{VIEWS[name].row}s ({m['ordered_share']:.1%} of pairs are in order)"
        for name, m in known.items()
    ]
    suits = (
        suited_measures(*(m["ordered_share"] for m in known.values())) if len(known) == 2 else ""
    )
    return f"Why: {_listed(parts)}{f'; so it {suits}' if suits else ''}."


def _advice(margins: Mapping[str, Any], thresholds: Mapping[str, Any] | None) -> str:
    if thresholds is None:
        return "With scores, the report can also explain why and suggest what to change."
    advice = (_advice_on_weights(margins), _advice_on_thresholds(thresholds["measures"]))
    return f"What to change: {'; '.join(part for part in advice if part)}."


def _advice_on_weights(margins: Mapping[str, Any]) -> str:
    """Which margin to weight more: the one with the fewest pairs in order."""
    shares = {
        name: margins[name]["ordered_share"]
        for name in VIEWS
        if margins.get(name, {}).get("ordered_share") is not None
    }
    if not shares:
        return ""
    worst = min(shares, key=lambda name: shares[name])
    if shares[worst] >= _WELL_ORDERED:
        return "a better ranking can gain little"
    view = VIEWS[worst]
    gain = [m.title for m in MEASURES.values() if m.view is view and m.needs == "scores"]
    return (
        f"give the {view.margin} margin more weight ({view.weight} of LIMOClassifier) to improve "
        f"{_listed(gain)}"
    )


def _advice_on_thresholds(measures: Mapping[str, Any]) -> str:
    """Which kind of threshold to use: the one whose F1 can gain most."""
    f1s = {name: line for name, line in measures.items() if MEASURES[name].family == "f1"}
    if any(line["found"] is None for line in f1s.values()):
        parts = [f"{MEASURES[n].title} {line['best_threshold']:.2f}" for n, line in f1s.items()]
        return (
            "fit thresholds for the F1 you need: with the best thresholds these scores reach "
            f"{_listed(parts)}"
        )
    if all(line["limited_by"] == "nothing" for line in measures.values()):
        return "better thresholds can gain nothing, as every label is predicted correctly"
    name = max(f1s, key=lambda n: f1s[n]["lost_to_threshold"])
    line = f1s[name]
    if line["lost_to_threshold"] < _NOTABLE:
        return "the thresholds are nearly as good as these scores allow"
    kind = line["threshold"]
    threshold = "one global threshold" if kind == "global" else f"a threshold per {kind}"
    return (
        f"use {threshold}, which can raise {MEASURES[name].title} from {line['found']:.2f} to at "
        f"most {line['best_threshold']:.2f}"
    )


# Several models


def verdict_of_all(models: Sequence[Mapping[str, Any]]) -> list[str]:
    """Which of several models is best on what, and the verdict of the best of them."""
    best = min(models, key=_mean_rank)
    quality, *rest = verdict_of(best)
    own = f"{_short_name(best['name'])}: {quality[0].lower()}{quality[1:]}"
    return [_ranking(models, best), own, *rest]


def _mean_rank(model: Mapping[str, Any]) -> float:
    return math.inf if model["mean_rank"] is None else float(model["mean_rank"])


def _ranking(models: Sequence[Mapping[str, Any]], best: Mapping[str, Any]) -> str:
    if best["mean_rank"] is None:
        return f"No measure has a value, so the {len(models)} models cannot be ranked."
    if all(r["first"] for m in models for r in m["measures"].values()):
        return f"On no measure do the {len(models)} models differ beyond noise."
    alone, shared = _wins(models)
    name, own, among = best["name"], alone.pop(best["name"]), shared[best["name"]]
    known = list(dict.fromkeys(r["title"] for m in models for r in m["measures"].values()))
    parts = [f"is best on {_listed_or_but(own, known)}"] if own else []
    parts += [f"is among the best on {_listed(among)}"] if among else []
    where = f"and {' and '.join(parts)}" if parts else "but is best on none"
    lead = (
        f"{_short_name(name)} has the best mean rank of {len(models)} models over all measures "
        f"{where}."
    )
    others = [f"{_short_name(n)} is best on {_listed(t)}" for n, t in alone.items() if t]
    return f"{lead} {'; '.join(others[:_MOST_OTHERS])}." if others else lead


def _wins(
    models: Sequence[Mapping[str, Any]],
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The measures on which each model alone is best, and those where it is one of the best.

    Measures on which no difference is beyond noise are left out.
    """
    alone: dict[str, list[str]] = {m["name"]: [] for m in models}
    shared: dict[str, list[str]] = {m["name"]: [] for m in models}
    for name in dict.fromkeys(name for m in models for name in m["measures"]):
        having = [m for m in models if m["measures"].get(name, {}).get("value") is not None]
        first = [m for m in having if m["measures"][name]["first"]]
        if len(first) == len(having):
            continue
        for model in first:
            into = alone if len(first) == 1 else shared
            into[model["name"]].append(model["measures"][name]["title"])
    return alone, shared


# Methods over data sets


def verdict_of_comparison(part: Mapping[str, Any]) -> list[str]:
    """Which method ranks best, how certain that is, and how near the printed numbers are."""
    return [s for s in (_winner(part), _certainty(part["tests"]), _agreement(part)) if s]


def _winner(part: Mapping[str, Any]) -> str:
    methods = part["methods"]
    *by_measure, overall = part["ranks"]
    ranks = dict(zip(methods, overall["average"], strict=True))
    order = sorted((m for m in methods if not math.isnan(ranks[m])), key=lambda m: ranks[m])
    if len(methods) < 2:
        return f"{_short_name(methods[0])} is the only method: add another to rank it."
    if not order:
        return "No data set has a value for every method, so the methods cannot be ranked."
    best, second = order[:2]
    place = methods.index(best)
    wins = [line["title"] for line in by_measure if _is_best(line["average"], place)]
    datasets = part["datasets"]
    where = _short_name(datasets[0]) if len(datasets) == 1 else counted(len(datasets), "data set")
    lead = (
        f"{_short_name(best)} has the best average rank over "
        f"{counted(len(part['measures']), 'measure')} on {where}: {ranks[best]:.2f}, ahead of "
        f"{_short_name(second)} with {ranks[second]:.2f}."
    )
    if not wins:
        return lead
    titles = [line["title"] for line in by_measure]
    return f"{lead} By measure, its average rank is best on {_listed_or_but(wins, titles)}."


def _is_best(ranks: Sequence[float], place: int) -> bool:
    return ranks[place] == min((r for r in ranks if not math.isnan(r)), default=math.nan)


def _certainty(tests: Sequence[Mapping[str, Any]]) -> str:
    """Whether methods differ, by the same test that decides what the diagrams show."""
    known = [t for t in tests if not math.isnan(t["f_p_value"])]
    if not known:
        return ""
    alpha = known[0]["alpha"]
    differ = [t["title"] for t in known if t["f_p_value"] <= alpha]
    caution = (
        " The splits of one data set share instances, so this test is overconfident."
        if known[0]["blocks"] == "split"
        else ""
    )
    if not differ:
        return (
            f"By the Iman-Davenport test at {alpha:g} the methods differ on no measure: they are "
            f"too close, or there are too few {known[0]['blocks'].replace('data', 'data ')}s."
            f"{caution}"
        )
    where = _listed_or_but(differ, [t["title"] for t in known])
    return f"By the Iman-Davenport test at {alpha:g} the methods differ on {where}.{caution}"


def _agreement(part: Mapping[str, Any]) -> str:
    cells = [c for line in part["printed"] or () for c in line["cells"] if c is not None]
    judged = [c["within"] for c in cells if c["within"] is not None]
    if not judged:
        return ""
    return (
        f"Reproduced within two printed standard deviations: {sum(judged)} of "
        f"{counted(len(judged), 'printed value')}."
    )


# Words


def _short_name(name: str) -> str:
    """A name that fits into a sentence."""
    return name if len(name) <= _LONG_NAME else f"{name[: _LONG_NAME - 1]}…"


def _listed_or_but(titles: Sequence[str], of: Sequence[str]) -> str:
    """The measures listed, or those that are missing where that is shorter."""
    others = [title for title in of if title not in titles]
    if not others:
        return f"all {len(of)} measures" if len(of) > 2 else _listed(of)
    if len(others) < len(titles):
        return f"all measures but {_listed(others)}"
    return _listed(titles)


def _listed(words: Sequence[str]) -> str:
    """A, B and C."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
