import numpy as np
import pytest

import limo
from cases import effective_case

LABEL_WISE = ([[1, 0], [0, 1]], [[3.0, 2.0], [0.0, 1.0]])
INSTANCE_WISE = ([[1, 0], [0, 1]], [[1.0, 5.0], [0.0, 6.0]])


def explain(Y, S):
    return limo.explain(limo.evaluate(Y, S))


def test_rows_better_than_columns():
    text = explain(*LABEL_WISE)
    assert text._repr_html_().startswith("<p>Label-wise: ")
    assert text.endswith("suits measures of instances more than measures of labels.")
    lines = text.splitlines()
    assert lines[0].startswith("Label-wise: the margin is positive on 100.0% of 2 instances")
    assert (
        "ranking loss, one-error, coverage, average precision, instance-AUC, and with" in lines[0]
    )
    assert lines[0].endswith("instance-F1, micro-F1, at their best.")
    assert lines[1].endswith("macro-AUC, and with a good threshold per label macro-F1, to be poor.")
    assert lines[2].endswith("75.0% of pairs are in order. Expect micro-AUC to be poor.")


def test_columns_better_than_rows():
    text = explain(*INSTANCE_WISE)
    assert "suits measures of labels more than measures of instances." in text


@pytest.mark.parametrize("kind", ["label-wise", "instance-wise", "entry-wise"])
def test_effective_means_at_its_best(kind):
    rng = np.random.default_rng(60)
    for _ in range(30):
        lines = explain(*effective_case(rng, kind)).splitlines()
        line = next(line for line in lines if line.startswith(kind.capitalize()))
        assert line.endswith(("at their best.", "at its best."))


def test_double_does_not_promise_micro_auc():
    text = explain(np.eye(3, dtype=int), np.array([[10.0, 5, 0], [0, 10, 0], [0, 0, 1]]))
    assert text.count("at their best.") == 2
    assert "Expect micro-AUC to be good: few margins are positive" not in text
    assert "Expect micro-AUC to be fair." in text


def test_words_follow_the_shares():
    rng = np.random.default_rng(61)
    Y = (rng.random((400, 5)) < 0.4).astype(int)
    Y[0], Y[1] = 0, 1
    for noise, word in {
        0.25: "close to their best.",
        0.7: "to be fair.",
        30.0: "to be poor.",
    }.items():
        line = explain(Y, Y + noise * rng.normal(size=Y.shape)).splitlines()[0]
        assert line.endswith(word), line
    columns = explain(Y, Y + 0.4 * rng.normal(size=Y.shape)).splitlines()[1]
    assert "to be good: few margins are positive, yet few pairs are out of order." in columns


def test_no_leaning_between_equals():
    assert "ordered better" not in explain(np.eye(2, dtype=int), [[0.0, 1.0], [1.0, 0.0]])


def test_cautions():
    text = explain([[1, 0], [0, 0]], [[0.5, 0.5], [0.1, 0.2]])
    assert "Up to 100.0% of the pairs are tied" in text
    assert "ranking loss skips 1 instance." in text


def test_nothing_to_compare():
    assert explain([[0, 0]], [[0.1, 0.2]]).startswith("There are no pairs to compare")


def test_only_rows_have_pairs():
    text = explain([[1, 0]], [[0.9, 0.2]])
    assert "Instance-wise:" not in text
    assert "ordered better" not in text


def test_labels_alone_do_not_suffice():
    with pytest.raises(ValueError, match="explain needs margins, and margins need scores"):
        limo.explain(limo.evaluate([[1, 0]], y_pred=[[1, 0]]))
