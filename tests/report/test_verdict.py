import numpy as np

import limo
from limo.report import evaluation_document
from limo.report._verdict import verdict_of, verdict_of_all, verdict_of_comparison

RANKING = ("ranking_loss", "macro_auc", "micro_auc")


def model(skills, *, rows=0.99, columns=0.99, entries=0.99, advice=(), name="mine"):
    measures = {
        n: {"skill": s, "first": False, "rank": 1.0, "value": s, "title": limo.MEASURES[n].title}
        for n, s in skills.items()
    }
    margins = {
        view: {"kind": kind, "positive_share": 0.5, "ordered_share": share}
        for view, kind, share in (
            ("rows", "label-wise", rows),
            ("columns", "instance-wise", columns),
            ("entries", "entry-wise", entries),
        )
    }
    return {
        "name": name,
        "measures": measures,
        "margins": margins,
        "has_scores": True,
        "has_predictions": True,
        "advice": list(advice),
        "mean_rank": 1.0,
    }


def first(skills):
    return verdict_of(model(skills))[0]


def test_good_and_weak():
    text = first({"ranking_loss": 0.9, "macro_auc": 0.1, "micro_auc": 0.5})
    assert text == "Good on ranking loss (skill 90%); weak on macro-AUC (skill 10%)."


def test_neither_good_nor_weak():
    text = first({"ranking_loss": 0.6, "macro_auc": 0.5, "micro_auc": 0.7})
    assert text == "Best on micro-AUC (skill 70%); weakest on macro-AUC (skill 50%)."


def test_all_good_and_all_bad():
    assert first(dict.fromkeys(RANKING, 0.9)) == (
        "Good on every measure: the lowest is micro-AUC (skill 90%)."
    )
    assert first(dict.fromkeys(RANKING, 0.1)) == (
        "Weak on every measure: the highest is ranking loss (skill 10%)."
    )
    assert "no measure can distinguish this model" in first(dict.fromkeys(RANKING))


def test_worse_than_blind_guessing():
    assert first({"hamming_loss": -22.8, "macro_f1": 0.1, "macro_auc": 0.9, "micro_auc": 0.6}) == (
        "Worse than blind guessing on Hamming loss; weak on macro-F1 (skill 10%); better on "
        "macro-AUC and micro-AUC (skill 60% to 90%)."
    )
    assert first(dict.fromkeys(RANKING, -0.5)) == (
        "Worse than blind guessing on micro-AUC, macro-AUC and ranking loss: its scores or labels "
        "may be reversed, or in another order."
    )


def test_one_measure_alone():
    assert first({"macro_auc": 0.6}) == (
        "macro-AUC is 0.6000: skill 60%, where 0% is blind guessing and 100% the best possible."
    )


def test_a_list_and_a_range():
    text = first({"ranking_loss": 0.9, "macro_auc": 0.8, "micro_auc": 0.85, "one_error": 0.2})
    assert text.startswith("Good on ranking loss, micro-AUC and macro-AUC (skill 80% to 90%);")


def test_why_names_the_shares_and_the_leaning():
    why = verdict_of(model({"macro_auc": 0.9}, rows=0.99, columns=0.8))[1]
    assert why == (
        "Why: 99.0% of the pairs within instances and 80.0% of the pairs within labels are in "
        "order, so it suits measures of instances more than measures of labels."
    )
    why = verdict_of(model({"macro_auc": 0.9}, rows=0.8))[1]
    assert why.endswith("so it suits measures of labels more than measures of instances.")
    assert "suits" not in verdict_of(model({"macro_auc": 0.9}))[1]


def advice(measure="macro_f1", found=0.25, expected=0.5, change="thresholds", kind="label"):
    known = limo.MEASURES[measure]
    return {
        "measure": measure,
        "title": known.title,
        "better": known.better,
        "change": change,
        "kind": kind,
        "found": found,
        "expected": expected,
        "error": 0.01,
        "rows": 100,
        "command": f"do {measure}",
    }


def test_what_helps_is_named_with_the_next_command():
    given = (advice("micro_f1", 0.4, 0.5, kind="global"), advice("macro_f1", 0.25, 0.5))
    change, following = verdict_of(model({"macro_f1": 0.9}, advice=given))[2:]
    assert change == (
        "What to change: the thresholds. On held-out rows (5 folds of 100 rows), a threshold per "
        "label gives macro-F1 0.250 → 0.500; one global threshold gives micro-F1 0.400 → 0.500. "
        "Judge fitted thresholds on rows other than these."
    )
    assert following == "Next: do macro_f1"
    given = [advice("coverage", 3.0, 2.0, "calibration", None)]
    change, following = verdict_of(model({"coverage": 0.9}, advice=given))[2:]
    assert change.endswith("scores calibrated for each label give coverage 3.000 → 2.000.")
    assert following == "Next: do coverage"


def test_measures_that_the_present_thresholds_suit_are_named():
    one = model({"macro_f1": 0.9, "hamming_loss": 0.2}, advice=[advice("hamming_loss", 0.3, 0.2)])
    lines = {"macro_f1": {"title": "macro-F1", "held_out": 0.9}, "hamming_loss": {"held_out": 0.2}}
    one["thresholds"] = {"measures": lines}
    warning = "They may worsen macro-F1, which the present thresholds suit."
    assert verdict_of(one)[2].endswith(warning)
    assert warning not in " ".join(verdict_of(one, "hamming_loss"))


def test_it_says_why_there_is_no_advice():
    one = model({"macro_f1": 0.9}) | {"no_advice": "No advice: too few rows."}
    assert verdict_of(one)[-1] == "No advice: too few rows."


def test_nothing_is_said_where_nothing_helps():
    assert len(verdict_of(model({"macro_f1": 0.9}))) == 2
    for one in ("LIMO", "random forest"):
        text = " ".join(verdict_of(model({"macro_auc": 0.1}, columns=0.5, name=one)))
        assert "weight" not in text


def test_one_measure_that_counts():
    one = model({"macro_f1": 0.5, "micro_f1": 0.9})
    one["measures"]["macro_f1"] |= {"low": 0.4, "high": 0.6}
    assert verdict_of(one, "macro_f1")[0] == (
        "macro-F1 is 0.5000 (0.4000 to 0.6000): skill 50%, where 0% is blind guessing and 100% the "
        "best possible."
    )
    other = model({"macro_f1": 0.4, "micro_f1": 0.95}, name="other")
    one["measures"]["macro_f1"]["first"] = True
    assert verdict_of_all([one, other], "macro_f1")[0] == (
        "mine is best on macro-F1: 0.5000, ahead of other with 0.4000."
    )
    other["measures"]["macro_f1"]["first"] = True
    assert verdict_of_all([one, other], "macro_f1")[0] == (
        "On macro-F1 the 2 models do not differ beyond noise."
    )
    third = model({"macro_f1": 0.1}, name="third")
    assert verdict_of_all([one, other, third], "macro_f1")[0] == (
        "On macro-F1, mine and other are best: they do not differ beyond noise."
    )
    assert verdict_of_all([one, model({}, name="none")], "macro_f1")[0] == (
        "Fewer than two models have a value of macro_f1, so they cannot be ranked by it."
    )


def test_the_model_that_is_ahead_after_the_advice_is_named():
    first, second = (
        model({"macro_f1": skill}, name=name, advice=[advice("macro_f1", skill, then)])
        for name, skill, then in (("A", 0.6, 0.65), ("B", 0.5, 0.7))
    )
    for one in (first, second):
        one["measures"]["macro_f1"]["first"] = True
    *_, last, following = verdict_of_all([first, second], "macro_f1")
    assert last == "On held-out rows, fitted thresholds give macro-F1 0.700 for B and 0.650 for A."
    assert following == "Next: do macro_f1"
    assert last not in verdict_of_all([second, first], "macro_f1")


def test_predictions_alone_give_no_reason():
    Y = np.array([[1, 0], [0, 1], [1, 1]])
    document = evaluation_document(Y, predictions={"mine": Y})
    assert document["verdict"] == [
        "Good on every measure: the lowest is micro-F1 (skill 100%).",
        "With scores, the report can also explain why and suggest what to change.",
    ]


def test_no_pair_no_reason():
    document = evaluation_document([[0, 0], [0, 0]], {"mine": [[0.1, 0.2], [0.3, 0.4]]})
    assert not any(sentence.startswith("Why") for sentence in document["verdict"])


def test_of_several_the_first_leads():
    a = model({"ranking_loss": 0.9, "macro_auc": 0.8}, name="A")
    b = model({"ranking_loss": 0.8, "macro_auc": 0.9}, name="B")
    a["measures"]["ranking_loss"]["first"] = True
    b["measures"]["macro_auc"]["first"] = True
    lead, quality, *_ = verdict_of_all([b, a])
    assert lead == (
        "B is best, or within noise of the best, on 1 of 2 measures, and alone best on macro-AUC. "
        "A is best on ranking loss."
    )
    assert quality.startswith("B: good on every measure")


def test_models_without_values_or_common_measures():
    a, b = model({"ranking_loss": 0.9}, name="A"), model({"macro_f1": 0.8}, name="B")
    assert verdict_of_all([a, b])[0].startswith(
        "The 2 models have no measure in common, so they cannot be ranked"
    )
    for one in (a, b):
        for line in one["measures"].values():
            line["rank"] = None
    assert verdict_of_all([a, b])[0] == (
        "No measure has a value, so the 2 models cannot be ranked."
    )


def test_a_measure_on_which_several_are_best_is_no_win_of_one():
    a = model({"ranking_loss": 0.9, "macro_auc": 0.9, "one_error": 0.5}, name="A")
    b = model({"ranking_loss": 0.9, "macro_auc": 0.8, "one_error": 0.6}, name="B")
    c = model({"ranking_loss": 0.1, "macro_auc": 0.9, "one_error": 0.1}, name="C")
    firsts = {"A": ("ranking_loss", "macro_auc"), "B": ("ranking_loss", "one_error")}
    firsts["C"] = ("macro_auc",)
    for one in (a, b, c):
        for name in firsts[one["name"]]:
            one["measures"][name]["first"] = True
    lead = verdict_of_all([a, b, c])[0]
    assert lead == (
        "A is best, or within noise of the best, on 2 of 3 measures. B is best on one-error."
    )


NAN = float("nan")


def part(ranks, *, overall, tests=(), printed=None, methods=("A", "B"), datasets=("d", "e")):
    lines = [{"title": title, "average": list(r)} for title, r in ranks.items()]
    return {
        "methods": list(methods),
        "datasets": list(datasets),
        "measures": list(ranks),
        "ranks": [*lines, {"title": "all measures", "average": list(overall)}],
        "tests": list(tests),
        "printed": printed,
    }


def p_values(**values):
    return [
        {"title": name, "f_p_value": p, "alpha": 0.05, "blocks": "dataset"}
        for name, p in values.items()
    ]


def test_models_that_do_not_differ():
    both = [model({"ranking_loss": 0.9}, name=name) for name in "AB"]
    for one in both:
        one["measures"]["ranking_loss"]["first"] = True
    lead = verdict_of_all(both)[0]
    assert lead == "On no measure do the 2 models differ beyond noise."


def test_who_ranks_best():
    (text,) = verdict_of_comparison(
        part({"x": (1, 2), "y": (2, 1), "z": (2, 1)}, overall=(1.7, 1.3))
    )
    assert text == (
        "B has the best average rank over 3 measures on 2 data sets: 1.30, ahead of A with 1.70. "
        "By measure, its average rank is best on all measures but x."
    )
    (text,) = verdict_of_comparison(part({"x": (1, 2)}, overall=(1, 2), datasets=["d"]))
    assert text.startswith("A has the best average rank over 1 measure on d: 1.00")
    assert text.endswith("its average rank is best on x.")
    (text,) = verdict_of_comparison(part({"x": (1,)}, overall=(1,), methods=["A"]))
    assert text.startswith("A is the only method")
    (text,) = verdict_of_comparison(part({"x": (NAN, NAN)}, overall=(NAN, NAN)))
    assert text == "No data set has a value for every method, so the methods cannot be ranked."


def test_how_sure_it_is():
    def said(tests):
        return verdict_of_comparison(part({"x": (1, 2)}, overall=(1, 2), tests=tests))[1:]

    assert said(p_values(x=0.01, y=0.02)) == [
        "By the Iman-Davenport test at 0.05 the methods differ on x and y."
    ]
    assert said(p_values(x=0.01, y=0.02, z=0))[0].endswith("differ on all 3 measures.")
    assert said(p_values(x=0.01, y=0.2))[0].endswith("differ on x.")
    assert "the methods differ on no measure" in said(p_values(x=0.5))[0]
    assert said(p_values(x=NAN)) == []
    splits = [one | {"blocks": "split"} for one in p_values(x=0.01)]
    assert said(splits)[0].endswith(
        "The splits of one data set share instances, so this test is overconfident."
    )


def test_how_near_the_printed_numbers_are():
    cells = [{"within": True}, {"within": False}, {"within": None}, None]
    text = verdict_of_comparison(part({"x": (1, 2)}, overall=(1, 2), printed=[{"cells": cells}]))[
        -1
    ]
    assert text == "Reproduced within two printed standard deviations: 1 of 2 printed values."


def test_long_names_are_shortened():
    a, b = model({"macro_auc": 0.9}, name="x" * 300), model({"macro_auc": 0.8}, name="B")
    lead, quality, *_ = verdict_of_all([a, b])
    assert lead == "x" * 39 + "… is best, or within noise of the best, on 0 of 1 measure."
    assert quality.startswith("x" * 39 + "…: macro-AUC is 0.9000: skill 90%")
