import numpy as np

import limo
from limo._checks import check_labels
from limo.report._details import hardest_instances, hardest_labels, label_columns
from report.model_details import details_of

Y = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 0]])
S = np.array([[0.1, 0.9, 0.5], [0.8, 0.7, 0.1], [0.9, 0.2, 0.2], [0.3, 0.1, 0.4]])
P = (S > 0.45).astype(int)


def test_columns_hold_the_values_of_every_label():
    evaluation, details = limo.evaluate(Y, S, P), details_of(Y, S, P)
    columns = label_columns(evaluation, details)
    assert list(columns) == ["auc", "f1", "best_f1", "margin", "threshold", "threshold_error"]
    assert columns["auc"] == [0.25, 0.5, None]
    assert columns["f1"] == [0.5, 0.5, 0]
    assert columns["margin"] == [-0.8, -0.7, None]
    assert columns["threshold"] == ["-Infinity", 0.15, "Infinity"]
    assert columns["threshold_error"] == [0, 0, 1]


def test_columns_that_do_not_exist_are_left_out():
    assert list(label_columns(limo.evaluate(Y, y_pred=P), None)) == ["f1"]
    alone = label_columns(limo.evaluate(Y, S), details_of(Y, S, None))
    assert list(alone) == ["auc", "best_f1", "margin", "threshold"]


def test_hardest_labels_have_the_lowest_auc():
    assert hardest_labels(limo.evaluate(Y, S, P), 5) == [0, 1]
    assert hardest_labels(limo.evaluate(Y, S, P), 1) == [0]
    assert hardest_labels(limo.evaluate(Y, y_pred=P), 1) == [2]


def test_hardest_instances_say_what_stands_in_the_way():
    evaluation = limo.evaluate(Y, S, P)
    found = hardest_instances(evaluation, check_labels(Y, "y_true"), S, details_of(Y, S, P), 2)
    assert found[0] == {
        "instance": 0,
        "auc": 0,
        "f1": 0,
        "margin": -0.8,
        "threshold_error": 1,
        "n_relevant": 1,
        "relevant": [0],
        "n_ahead": 2,
        "ahead": [1, 2],
    }
    # instance 2 ties with its irrelevant label 2: half credit, and label 0 ahead
    assert found[1]["instance"] == 2
    assert found[1]["ahead"] == [0, 2]


def test_hardest_instances_without_scores_go_by_f1():
    found = hardest_instances(limo.evaluate(Y, y_pred=P), check_labels(Y, "y_true"), None, None, 9)
    # instance 1 is predicted rightly, and so is instance 3, which has no label
    assert [line["instance"] for line in found] == [0, 2]
    assert all(line["ahead"] == [] and "auc" not in line for line in found)


def test_what_is_in_order_is_not_hard():
    evaluation = limo.evaluate(Y, Y + 0.5)
    assert hardest_labels(evaluation, 9) == []
    assert hardest_instances(evaluation, check_labels(Y, "y_true"), Y + 0.5, None, 9) == []


def test_instances_without_a_relevant_label_may_be_called_hard_by_convention():
    strict = limo.Conventions(undefined={"instance_auc": 0.0})
    found = hardest_instances(
        limo.evaluate(Y, S, conventions=strict), check_labels(Y, "y_true"), S, None, 9
    )
    assert {"instance": 3, "auc": 0, "n_relevant": 0, "relevant": []}.items() <= next(
        line for line in found if line["instance"] == 3
    ).items()
