"""The verdict: how good a model is, why, and what to change; which of several is best."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from limo._explain import suited_measures
from limo._text import counted, listed
from limo.report._advice import sentences as advice_sentences

_GOOD = 0.75
_WEAK = 0.4
_LONG_NAME = 40
_MOST_OTHERS = 4
_MOST = 6


# One model


def verdict_of(model: Mapping[str, Any], focus: str | None = None) -> list[str]:
    """One sentence each: how good one model is, why, what to change, and the next command.

    ``focus`` is the one measure that counts, if there is one.
    """
    measures = model["measures"]
    quality = _quality(measures) if focus not in measures else _value(measures[focus])
    sentences = [quality, _reason(model["margins"])]
    if model["has_scores"]:
        sentences += advice_sentences(
            model["advice"], model["has_predictions"], _suited(model, focus)
        )
        sentences.append(model.get("no_advice") or "")
    else:
        sentences.append("With scores, the report can also explain why and suggest what to change.")
    return [sentence for sentence in sentences if sentence]


def _suited(model: Mapping[str, Any], focus: str | None) -> list[str]:
    """The measures that fitted thresholds do not raise, if all measures count."""
    helped = {one["measure"] for one in model["advice"]}
    known = (model.get("thresholds") or {}).get("measures", {})
    tried = {n: one for n, one in known.items() if "held_out" in one}
    return [one["title"] for n, one in tried.items() if focus is None and n not in helped]


def _value(line: Mapping[str, Any]) -> str:
    """One measure: its value, its interval, and where that is between blind and best."""
    if line["value"] is None:
        return f"{_capital(line['title'])} has no value on these labels."
    interval = "" if line.get("low") is None else f" ({line['low']:.4f} to {line['high']:.4f})"
    skill = (
        ""
        if line["skill"] is None
        else f": skill {line['skill']:.0%}, where 0% is blind guessing and 100% the best possible"
    )
    return f"{_capital(line['title'])} is {line['value']:.4f}{interval}{skill}."


def _quality(measures: Mapping[str, Any]) -> str:
    skills = {n: r["skill"] for n, r in measures.items() if r["skill"] is not None}
    if not skills:
        return "On these labels no measure can distinguish this model from blind guessing."
    order = sorted(skills, key=lambda name: -skills[name])
    if len(order) == 1:
        return _value(measures[order[0]])
    good = [name for name in order if skills[name] >= _GOOD]
    weak = [name for name in reversed(order) if 0 <= skills[name] < _WEAK]
    blind = [name for name in reversed(order) if skills[name] < 0]
    if blind:
        return _worse_than_blind(blind, [name for name in order if name not in blind], measures)
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


def _worse_than_blind(blind: list[str], others: list[str], measures: Mapping[str, Any]) -> str:
    """The measures on which a predictor that ignores the instances is better."""
    lead = f"Worse than blind guessing on {listed([measures[name]['title'] for name in blind])}"
    if not others:
        return f"{lead}: its scores or labels may be reversed, or in another order."
    weak = [name for name in others if measures[name]["skill"] < _WEAK]
    rest = [name for name in others if name not in weak]
    parts = [("weak", weak), ("better", rest)]
    return (
        "; ".join(
            [lead, *(f"{word} on {_with_skill(names, measures)}" for word, names in parts if names)]
        )
        + "."
    )


def _with_skill(names: list[str], measures: Mapping[str, Any]) -> str:
    """Titles of measures and their range of skill: 0 is blind guessing, 1 the best possible."""
    values = [measures[name]["skill"] for name in names]
    low, high = f"{min(values):.0%}", f"{max(values):.0%}"
    span = high if low == high else f"{low} to {high}"
    return f"{listed([measures[name]['title'] for name in names])} (skill {span})"


_WITHIN = {"rows": "within instances", "columns": "within labels"}


def _reason(margins: Mapping[str, Any]) -> str:
    """The shares of pairs in order, within instances and within labels."""
    known = {
        name: margins[name]["ordered_share"]
        for name in _WITHIN
        if margins.get(name, {}).get("ordered_share") is not None
    }
    if not known:
        return ""
    parts = [f"{share:.1%} of the pairs {_WITHIN[name]}" for name, share in known.items()]
    suits = suited_measures(*known.values()) if len(known) == 2 else ""
    return f"Why: {listed(parts)} are in order{f', so it {suits}' if suits else ''}."


# Several models


def verdict_of_all(models: Sequence[Mapping[str, Any]], focus: str | None = None) -> list[str]:
    """Which of several models is best on what, and the verdict of the first of them.

    The models are given best first.
    """
    best = models[0]
    quality, *rest = verdict_of(best, focus)
    own = f"{_short_name(best['name'])}: {quality[0].lower()}{quality[1:]}"
    lead = _ranking(models) if focus is None else _leader(models, focus)
    return [lead, own, *rest, *(_after_advice(models, focus) if focus else ())]


def _after_advice(models: Sequence[Mapping[str, Any]], focus: str) -> list[str]:
    """A sentence on fitted thresholds, if they put another model ahead of the first."""
    promised = [(m, one) for m in models for one in m["advice"] if one["measure"] == focus]
    sign = {"high": -1, "low": 1}
    order = sorted(promised, key=lambda pair: sign[pair[1]["better"]] * pair[1]["expected"])
    if len(order) < 2 or order[0][0] is models[0] or order[0][1]["found"] is None:
        return []
    parts = [f"{one['expected']:.3f} for {_short_name(m['name'])}" for m, one in order[:_MOST]]
    return [
        f"On held-out rows, fitted thresholds give {order[0][1]['title']} {listed(parts)}.",
        f"Next: {order[0][1]['command']}",
    ]


def _leader(models: Sequence[Mapping[str, Any]], focus: str) -> str:
    """Which models are best on the one measure that counts."""
    having = [m for m in models if m["measures"].get(focus, {}).get("value") is not None]
    if len(having) < 2:
        return _promises(models, focus)
    title = having[0]["measures"][focus]["title"]
    first = [_short_name(m["name"]) for m in having if m["measures"][focus]["first"]]
    values = [f"{m['measures'][focus]['value']:.4f}" for m in having]
    if len(first) == len(having):
        return f"On {title} the {len(having)} models do not differ beyond noise."
    if len(first) > 1:
        return f"On {title}, {listed(first)} are best: they do not differ beyond noise."
    return (
        f"{first[0]} is best on {title}: {values[0]}, ahead of {_short_name(having[1]['name'])} "
        f"with {values[1]}."
    )


def _promises(models: Sequence[Mapping[str, Any]], focus: str) -> str:
    """A sentence on the values with fitted thresholds, for models without predictions."""
    promised = [(m, one) for m in models for one in m["advice"] if one["measure"] == focus]
    if not promised:
        return f"Fewer than two models have a value of {focus}, so they cannot be ranked by it."
    parts = [f"{one['expected']:.3f} for {_short_name(m['name'])}" for m, one in promised]
    title = promised[0][1]["title"]
    return (
        f"No labels were predicted. On held-out rows, fitted thresholds give {title} "
        f"{listed(parts)}."
    )


def _ranking(models: Sequence[Mapping[str, Any]]) -> str:
    best = models[0]
    shared_by = Counter(
        n for m in models for n, r in m["measures"].items() if r["rank"] is not None
    )
    common = [n for n, k in shared_by.items() if k > 1]
    if not shared_by:
        return f"No measure has a value, so the {len(models)} models cannot be ranked."
    if not common:
        return (
            f"The {len(models)} models have no measure in common, so they cannot be ranked: give "
            "scores, or predictions, of each."
        )
    if all(m["measures"][n]["first"] for n in common for m in models if n in m["measures"]):
        return f"On no measure do the {len(models)} models differ beyond noise."
    alone = _wins(models)
    own = alone.pop(best["name"])
    known = [title for title in _titles(models, common) if title not in own]
    n_first = sum(best["measures"].get(n, {}).get("first", False) for n in common)
    lead = (
        f"{_short_name(best['name'])} is best, or within noise of the best, on "
        f"{_all_or(n_first, len(common))}"
    )
    lead += f", and alone best on {_listed_or_but(own, [*own, *known])}." if own else "."
    others = [f"{_short_name(n)} is best on {listed(t)}" for n, t in alone.items() if t]
    return f"{lead} {'; '.join(others[:_MOST_OTHERS])}." if others else lead


def _titles(models: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[str]:
    titles = {n: r["title"] for m in models for n, r in m["measures"].items()}
    return [titles[name] for name in names]


def _all_or(n: int, of: int) -> str:
    """All 7 measures, or 3 of 7 measures."""
    if n == of:
        return f"all {of} measures" if of > 1 else "the measure they have in common"
    return f"{n} of {counted(of, 'measure')}"


def _wins(models: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """The measures on which each model alone is best, beyond noise."""
    alone: dict[str, list[str]] = {m["name"]: [] for m in models}
    for name in dict.fromkeys(name for m in models for name in m["measures"]):
        having = [m for m in models if m["measures"].get(name, {}).get("value") is not None]
        first = [m for m in having if m["measures"][name]["first"]]
        if len(first) == 1 < len(having):
            alone[first[0]["name"]].append(first[0]["measures"][name]["title"])
    return alone


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


def _capital(title: str) -> str:
    """A title at the start of a sentence; names such as macro-F1 keep their small letter."""
    return title if "-" in title else title[0].upper() + title[1:]


def _short_name(name: str) -> str:
    """A name that fits into a sentence."""
    return name if len(name) <= _LONG_NAME else f"{name[: _LONG_NAME - 1]}…"


def _listed_or_but(titles: Sequence[str], of: Sequence[str]) -> str:
    """The measures listed, or those that are missing where that is shorter."""
    others = [title for title in of if title not in titles]
    if not others:
        return f"all {len(of)} measures" if len(of) > 2 else listed(of)
    if len(others) < len(titles):
        return f"all measures but {listed(others)}"
    return listed(titles)
