import numpy as np

import limo
from limo.report import evaluation_document
from limo.report._verdict import verdict_of, verdict_of_all, verdict_of_comparison

RANKING = ("ranking_loss", "macro_auc", "micro_auc")


def model(skills, *, rows=0.99, columns=0.99, entries=0.99, thresholds=None, name="mine"):
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
        "thresholds": {"measures": thresholds or {}} if thresholds is not None else None,
        "mean_rank": 1.0,
    }


def line(found, best, threshold="label"):
    lost = None if found is None else best - found
    return {
        "found": found,
        "best_threshold": best,
        "lost_to_threshold": lost,
        "limited_by": "thresholds" if lost else "nothing",
        "threshold": threshold,
    }


FINE = {"macro_f1": line(0.5, 0.5)}


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


def test_a_list_and_a_range():
    text = first({"ranking_loss": 0.9, "macro_auc": 0.8, "micro_auc": 0.85, "one_error": 0.2})
    assert text.startswith("Good on ranking loss, micro-AUC and macro-AUC (skill 80% to 90%);")


def test_why_names_the_shares_and_the_leaning():
    why = verdict_of(model({"macro_auc": 0.9}, rows=0.99, columns=0.8))[1]
    assert why.startswith("Why: the label-wise margin is positive on 50.0% of instances (99.0% of")
    assert why.endswith("so it suits measures of instances more than measures of labels.")
    why = verdict_of(model({"macro_auc": 0.9}, rows=0.8))[1]
    assert why.endswith("so it suits measures of labels more than measures of instances.")
    assert "suits" not in verdict_of(model({"macro_auc": 0.9}))[1]


def test_the_worst_ordered_margin_should_weigh_more():
    advice = verdict_of(model({"macro_auc": 0.9}, columns=0.7, thresholds=FINE))[2]
    assert "give the instance-wise margin more weight (instance_weight of LIMOClassifier)" in advice
    assert advice.partition(";")[0].endswith("to improve macro-AUC")
    advice = verdict_of(model({"macro_auc": 0.9}, entries=0.7, thresholds=FINE))[2]
    assert "give the entry-wise margin more weight (entry_weight of LIMOClassifier)" in advice
    assert (
        "better ranking can gain little"
        in verdict_of(model({"macro_auc": 1.0}, thresholds=FINE))[2]
    )


def test_the_threshold_that_gains_most_is_named():
    lines = {"macro_f1": line(0.25, 0.5), "micro_f1": line(0.5, 0.6, "global")}
    advice = verdict_of(model({"macro_f1": 0.9}, thresholds=lines))[2]
    assert "use a threshold per label, which can raise macro-F1 from 0.25 to at most 0.50" in advice
    lines = {"macro_f1": line(0.495, 0.5)}
    assert "nearly as good as these scores allow" in verdict_of(model({}, thresholds=lines))[2]
    lines = {"macro_f1": line(None, 0.5), "micro_f1": line(None, 0.625, "global")}
    advice = verdict_of(model({}, thresholds=lines))[2]
    assert advice.endswith("best thresholds these scores reach macro-F1 0.50 and micro-F1 0.62.")


def test_nothing_is_to_be_gained_from_perfect_labels():
    assert verdict_of(model({}, thresholds=FINE))[2] == (
        "What to change: a better ranking can gain little; better thresholds can gain nothing, as "
        "every label is predicted correctly."
    )


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


def test_of_several_the_best_mean_rank_leads():
    a = model({"ranking_loss": 0.9, "macro_auc": 0.8}, name="A")
    b = model({"ranking_loss": 0.8, "macro_auc": 0.9}, name="B")
    a["measures"]["ranking_loss"]["first"] = True
    b["measures"]["macro_auc"]["first"] = True
    a["mean_rank"], b["mean_rank"] = 1.6, 1.4
    lead, quality, *_ = verdict_of_all([a, b])
    assert lead == (
        "B has the best mean rank of 2 models over all measures and is best on macro-AUC. A is "
        "best on ranking loss."
    )
    assert quality.startswith("B: good on every measure")
    a["mean_rank"] = b["mean_rank"] = None
    lead, quality, *_ = verdict_of_all([a, b])
    assert lead == "No measure has a value, so the 2 models cannot be ranked."
    assert quality.startswith("A: good on every measure")


def test_a_measure_on_which_several_are_best_is_no_win_of_one():
    a = model({"ranking_loss": 0.9, "macro_auc": 0.9, "one_error": 0.5}, name="A")
    b = model({"ranking_loss": 0.9, "macro_auc": 0.8, "one_error": 0.6}, name="B")
    c = model({"ranking_loss": 0.1, "macro_auc": 0.9, "one_error": 0.1}, name="C")
    firsts = {"A": ("ranking_loss", "macro_auc"), "B": ("ranking_loss", "one_error")}
    firsts["C"] = ("macro_auc",)
    for place, one in enumerate((a, b, c)):
        one["mean_rank"] = 1.0 + place
        for name in firsts[one["name"]]:
            one["measures"][name]["first"] = True
    lead = verdict_of_all([a, b, c])[0]
    assert lead == (
        "A has the best mean rank of 3 models over all measures and is among the best on ranking "
        "loss and macro-AUC. B is best on one-error."
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
    return [{"title": name, "f_p_value": p, "alpha": 0.05, "blocks": "dataset"} for name, p in values.items()]


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


def test_how_near_the_printed_numbers_are():
    cells = [{"within": True}, {"within": False}, {"within": None}, None]
    text = verdict_of_comparison(part({"x": (1, 2)}, overall=(1, 2), printed=[{"cells": cells}]))[
        -1
    ]
    assert text == "Reproduced within two printed standard deviations: 1 of 2 printed values."


def test_long_names_are_shortened():
    a, b = model({"macro_auc": 0.9}, name="x" * 300), model({"macro_auc": 0.8}, name="B")
    lead, quality, *_ = verdict_of_all([a, b])
    assert lead.startswith("x" * 39 + "… has the best mean rank of 2 models over all")
    assert lead.endswith(" but is best on none.")
    assert quality.startswith("x" * 39 + "…: good on every measure")
