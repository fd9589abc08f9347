"""The verdict: what a model is good and bad at, why, and what to change, in a few sentences."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from limo.measures._table import MEASURES

__all__ = ["verdict_of", "verdict_of_all", "verdict_of_comparison"]


_GOOD = 0.75
_BAD = 0.4
_WORTH_A_WORD = 0.02
_WELL_ORDERED = 0.98
_LONG_NAME = 40

_REMEDIES = {
    "rows": ("label-wise", "label_weight"),
    "columns": ("instance-wise", "instance_weight"),
    "entries": ("entry-wise", "entry_weight"),
}
_CUTS = {
    "label": "a threshold per label",
    "instance": "a threshold per instance",
    "global": "one global threshold",
}


def verdict_of(model: Mapping[str, Any]) -> list[str]:
    """What to know about one model: a sentence each for how good, why, and what to change."""
    return [
        sentence
        for sentence in (
            _quality(model["measures"]),
            _reason(model["margins"]),
            _remedy(model["margins"], model["cuts"]),
        )
        if sentence
    ]


def verdict_of_all(models: Sequence[Mapping[str, Any]]) -> list[str]:
    """Which of several models wins on what, and what to know about the first of them."""
    best = min(models, key=_mean_rank)
    equal = {
        n for n in MEASURES if all(m["measures"].get(n, {}).get("first", True) for m in models)
    }
    wins = {
        m["name"]: [
            MEASURES[name].title
            for name, r in m["measures"].items()
            if r["first"] and name not in equal
        ]
        for m in models
    }
    own = wins.pop(best["name"])
    rest = {name: titles for name, titles in wins.items() if titles}
    measures = [m.title for n, m in MEASURES.items() if any(n in o["measures"] for o in models)]
    where = f"first on {_most(own, measures)}" if own else "though first on no measure"
    lead = f"{_called(best['name'])} ranks best of {len(models)} models, {where}."
    if all(r["first"] for m in models for r in m["measures"].values()):
        lead = f"The {len(models)} models are alike: none is first on any measure alone."
    others = [
        f"{_called(name)} is first on {_listed(titles)}" for name, titles in list(rest.items())[:4]
    ]
    if others:
        lead += f" {'; '.join(others)}."
    quality, *rest_of_it = verdict_of(best)
    return [lead, f"{_called(best['name'])}: {quality[0].lower()}{quality[1:]}", *rest_of_it]


def _called(name: str) -> str:
    """A name that leaves room for the sentence around it."""
    return name if len(name) <= _LONG_NAME else f"{name[: _LONG_NAME - 1]}…"


def _mean_rank(model: Mapping[str, Any]) -> float:
    return math.inf if model["mean_rank"] is None else float(model["mean_rank"])


def _quality(measures: Mapping[str, Any]) -> str:
    skills = {n: r["skill"] for n, r in measures.items() if r["skill"] is not None}
    if not skills:
        return "No measure tells this model from blind guessing on these labels."
    order = sorted(skills, key=lambda name: -skills[name])
    good = [name for name in order if skills[name] >= _GOOD]
    bad = [name for name in reversed(order) if skills[name] < _BAD]
    if len(good) == len(order):
        return f"Good at everything: even {_titled(order[-1:], skills)} is near its best."
    if len(bad) == len(order):
        return f"Good at nothing yet: it does best on {_titled(order[:1], skills)}."
    first = f"Good at {_titled(good, skills)}" if good else f"Best at {_titled(order[:1], skills)}"
    weak = bad or list(reversed([name for name in order if name not in good]))[:1]
    word = "weak" if bad else "weakest"
    return f"{first}; {word} at {_titled(weak, skills)}."


def _titled(names: list[str], skills: Mapping[str, float]) -> str:
    """Titles, with the range of skill: 0 is blind guessing, 1 the best possible."""
    values = [skills[name] for name in names]
    low, high = f"{min(values):.0%}", f"{max(values):.0%}"
    span = high if low == high else f"{low} to {high}"
    return f"{_listed([MEASURES[name].title for name in names])} (skill {span})"


def _reason(margins: Mapping[str, Any]) -> str:
    views = {name: margins[name] for name in ("rows", "columns") if name in margins}
    known = {name: m for name, m in views.items() if m["positive_share"] is not None}
    if not known:
        return ""
    rows = {"rows": "instances", "columns": "labels"}
    parts = [
        f"the {m['kind']} margin is positive on {m['positive_share']:.1%} of {rows[name]} "
        f"({m['ordered_share']:.1%} of pairs in order)"
        for name, m in known.items()
    ]
    ending = ""
    if len(known) == 2:
        difference = known["rows"]["ordered_share"] - known["columns"]["ordered_share"]
        if abs(difference) >= _WORTH_A_WORD:
            suits, less = ("instances", "labels") if difference > 0 else ("labels", "instances")
            ending = f"; so it suits measures of {suits} more than measures of {less}"
    return f"Why: {_listed(parts)}{ending}."


def _remedy(margins: Mapping[str, Any], cuts: Mapping[str, Any] | None) -> str:
    """Which margin to weight, and which threshold to use."""
    if cuts is None:
        return "Give its scores as well, and the report can tell why and what to change."
    advice = [part for part in (_weight(margins), _threshold(cuts["measures"])) if part]
    return f"What to change: {'; '.join(advice)}."


def _weight(margins: Mapping[str, Any]) -> str:
    shares = {
        name: margins[name]["ordered_share"]
        for name in _REMEDIES
        if margins.get(name, {}).get("ordered_share") is not None
    }
    if not shares:
        return ""
    worst = min(shares, key=lambda name: shares[name])
    if shares[worst] >= _WELL_ORDERED:
        return "the ranking leaves little to gain"
    kind, weight = _REMEDIES[worst]
    gain = [m.title for m in MEASURES.values() if m.view.name == worst and m.needs == "scores"]
    return f"give the {kind} margin more weight ({weight} of LIMOClassifier) for {_listed(gain)}"


def _threshold(measures: Mapping[str, Any]) -> str:
    f1s = {name: line for name, line in measures.items() if name != "hamming_loss"}
    if any(line["found"] is None for line in f1s.values()):
        parts = [f"{MEASURES[n].title} {line['best_cut']:.2f}" for n, line in f1s.items()]
        return f"cut for the F1 that counts: at the very best these scores reach {_listed(parts)}"
    if all(line["limited_by"] == "nothing" for line in measures.values()):
        return "nothing in the cut, every label is predicted rightly"
    name = max(f1s, key=lambda n: f1s[n]["lost_to_cut"])
    line = f1s[name]
    if line["lost_to_cut"] < _WORTH_A_WORD:
        return "the thresholds are nearly as good as these scores allow"
    return (
        f"cut with {_CUTS[line['threshold']]}, which can raise {MEASURES[name].title} from "
        f"{line['found']:.2f} to at most {line['best_cut']:.2f}"
    )


def verdict_of_comparison(part: Mapping[str, Any]) -> list[str]:
    """Who ranks best, how sure that is, and how near the printed numbers are."""
    return [s for s in (_winner(part), _certainty(part["tests"]), _agreement(part)) if s]


def _winner(part: Mapping[str, Any]) -> str:
    methods = part["methods"]
    overall = dict(zip(methods, part["ranks"][-1]["average"], strict=True))
    order = sorted((m for m in methods if not math.isnan(overall[m])), key=lambda m: overall[m])
    if len(methods) < 2:
        return f"{_called(methods[0])} stands alone: compare it with another method to rank it."
    if not order:
        return "No data set has a value of every method, so they cannot be ranked."
    best, second = order[:2]
    place = methods.index(best)
    wins = [line["title"] for line in part["ranks"][:-1] if _is_first(line["average"], place)]
    measures = [line["title"] for line in part["ranks"][:-1]]
    where = (
        f"{len(part['datasets'])} data sets"
        if len(part["datasets"]) > 1
        else _called(part["datasets"][0])
    )
    return (
        f"{_called(best)} ranks best over {len(part['measures'])} measures on {where} "
        f"(average rank {overall[best]:.2f}), before {_called(second)} ({overall[second]:.2f})"
        f"{f'; it is first on {_most(wins, measures)}' if wins else ''}."
    )


def _is_first(ranks: Sequence[float], place: int) -> bool:
    return ranks[place] == min((r for r in ranks if not math.isnan(r)), default=math.nan)


def _certainty(tests: Sequence[Mapping[str, Any]]) -> str:
    known = [t for t in tests if not math.isnan(t["p_value"])]
    if not known:
        return ""
    alpha = known[0]["alpha"]
    differ = [t["title"] for t in known if t["p_value"] < alpha]
    if not differ:
        return (
            f"On no measure do the methods differ by Friedman's test at {alpha:g}: they are too "
            "close, or the data sets too few."
        )
    where = _most(differ, [t["title"] for t in known])
    return f"By Friedman's test at {alpha:g} the methods differ on {where}."


def _agreement(part: Mapping[str, Any]) -> str:
    cells = [c for line in part["printed"] or () for c in line["cells"] if c is not None]
    judged = [c["within"] for c in cells if c["within"] is not None]
    if not judged:
        return ""
    return (
        f"Of {len(judged)} printed values {sum(judged)} are met within two printed standard "
        "deviations."
    )


def _most(words: Sequence[str], of: Sequence[str]) -> str:
    """The words listed, or what is missing from them where that is shorter."""
    others = [word for word in of if word not in words]
    if not others:
        return f"all {len(of)} measures" if len(of) > 2 else _listed(of)
    if len(others) < len(words):
        return f"all measures but {_listed(others)}"
    return _listed(words)


def _listed(words: Sequence[str]) -> str:
    """A, B and C."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
