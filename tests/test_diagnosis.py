import numpy as np
import pytest

import limo
from cases import effective_case

LABEL_WISE = ([[1, 0], [0, 1]], [[3.0, 2.0], [0.0, 1.0]])
INSTANCE_WISE = ([[1, 0], [0, 1]], [[1.0, 5.0], [0.0, 6.0]])


def explain(Y, S):
    return limo.explain(limo.evaluate(Y, S))


def test_the_stronger_margin_decides():
    text = explain(*LABEL_WISE)
    assert "The label-wise margin is the stronger one" in text
    assert text.index("ranking loss, one-error") < text.index("than on macro-F1, macro-AUC.")
    text = explain(*INSTANCE_WISE)
    assert "better on macro-F1, macro-AUC than on ranking loss" in text


@pytest.mark.parametrize("kind", ["label-wise", "instance-wise", "double", "entry-wise"])
def test_guarantees_name_the_strongest_effectiveness(kind):
    rng = np.random.default_rng(60)
    seen = set()
    for _ in range(30):
        Y, S = effective_case(rng, kind)
        found = limo.effectiveness(Y, S)
        strongest = next(
            k
            for k in ("entry-wise", "double", "label-wise", "instance-wise")
            if getattr(found, k.replace("-", "_"))
        )
        assert f"{strongest.capitalize()} effective: " in explain(Y, S)
        seen.add(strongest)
    assert kind in seen


def test_double_does_not_promise_micro_auc():
    Y, S = np.eye(3, dtype=int), np.array([[10.0, 5, 0], [0, 10, 0], [0, 0, 1]])
    line = next(line for line in explain(Y, S).splitlines() if line.startswith("Double effective"))
    assert "micro-AUC" not in line
    assert "macro-AUC" in line


def test_equal_margins():
    assert "about equally strong" in explain(np.eye(2, dtype=int), [[0.0, 1.0], [1.0, 0.0]])


def test_cautions():
    text = explain([[1, 0], [0, 0]], [[0.5, 0.5], [0.1, 0.2]])
    assert "Up to 100.0% of the pairs are tied" in text
    assert "ranking loss skips 1 instance." in text


def test_nothing_to_judge():
    assert explain([[0, 0]], [[0.1, 0.2]]).startswith("There is no pair to judge")


def test_only_rows_have_pairs():
    text = explain([[1, 0]], [[0.9, 0.2]])
    assert "Instance-wise:" not in text
    assert "stronger" not in text


def test_labels_alone_do_not_suffice():
    with pytest.raises(ValueError, match="explain reads margins, which need scores"):
        limo.explain(limo.evaluate([[1, 0]], y_pred=[[1, 0]]))
