import limo
from limo._checks import check_inputs
from limo.report._evaluation import judge_model


def found(case, *, scores=True, predictions=True, conventions="standard"):
    Y, S, P = case
    checked = check_inputs(Y, S if scores else None, P if predictions else None)
    return judge_model("mine", checked, limo.CONVENTIONS[conventions])


def test_values_are_those_of_evaluate(case):
    Y, S, P = case
    evaluation = limo.evaluate(Y, S, P)
    one = found(case)
    assert {n: line["value"] for n, line in one.model["measures"].items()} == dict(evaluation)
    for name, measure in one.measures.items():
        result = evaluation.results[name]
        assert measure["best"] == result.best
        assert measure["skipped"] == result.skipped
        assert measure["undefined"] == evaluation.undefined[name]
    effective = one.model["effectiveness"]
    assert effective["label_wise_share"] == evaluation.effectiveness.label_wise_share
    assert effective["double"] is evaluation.effectiveness.double


def test_filled_rows_are_counted(case):
    measure = found(case, conventions="sklearn").measures["ranking_loss"]
    assert (measure["skipped"], measure["filled"]) == (0, 1)


def test_skill_lies_on_the_way_from_blind_to_best(case):
    one = found(case)
    for name, measure in one.measures.items():
        value, share = one.model["measures"][name]["value"], one.model["measures"][name]["skill"]
        assert measure["blind"] + share * (measure["best"] - measure["blind"]) == value or (
            abs(measure["blind"] + share * (measure["best"] - measure["blind"]) - value) < 1e-12
        )


def test_data(case):
    Y, _, _ = case
    one = found(case)
    assert one.data["instances"], one.data["labels"] == Y.shape
    assert one.data["relevant"] == Y.sum()
    assert one.positives == Y.sum(0).tolist()
    assert one.label_names == [f"label {j}" for j in range(6)]
    assert set(one.checksums) == {"truth", "scores", "predictions"}


def test_predictions_alone(case):
    one = found(case, scores=False)
    assert one.model["margins"] == {}
    assert one.model["effectiveness"] is None
    assert one.model["thresholds"] is None
    assert list(one.model["measures"]) == ["hamming_loss", "macro_f1", "instance_f1", "micro_f1"]
