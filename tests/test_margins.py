import numpy as np
import pytest

import limo
from cases import cases
from limo._margins import positive_share
from naive import margins as naive


@pytest.mark.parametrize(
    "name", ["label_wise_margin", "instance_wise_margin", "entry_wise_margin", "absolute_margin"]
)
def test_equals_its_twin(name):
    for Y, S, _ in cases(500, seed=11):
        expected = getattr(naive, name)(Y.tolist(), S.tolist())
        np.testing.assert_allclose(getattr(limo, name)(Y, S), expected, atol=1e-12)


def test_transposing_exchanges_the_two_margins():
    for Y, S, _ in cases(100, seed=12):
        np.testing.assert_array_equal(
            limo.label_wise_margin(Y.T, S.T), limo.instance_wise_margin(Y, S)
        )


def test_a_positive_margin_is_a_perfect_ranking_of_the_row():
    for Y, S, _ in cases(300, seed=13):
        evaluation = limo.evaluate(Y, S)
        margin = evaluation.per_instance["label_wise_margin"]
        exists = ~np.isnan(margin)
        positive = (margin > 0)[exists]
        values = {name: rows[exists] for name, rows in evaluation.per_instance.items()}
        np.testing.assert_array_equal(positive, values["ranking_loss"] == 0)
        np.testing.assert_array_equal(positive, values["instance_auc"] == 1)
        np.testing.assert_array_equal(positive, values["average_precision"] == 1)
        np.testing.assert_array_equal(positive, values["coverage"] == Y.sum(axis=1)[exists] - 1)


def test_the_entry_wise_margin_is_below_all_others():
    for Y, S, _ in cases(200, seed=14):
        entry = limo.entry_wise_margin(Y, S)
        others = np.concatenate([limo.label_wise_margin(Y, S), limo.instance_wise_margin(Y, S)])
        others = others[~np.isnan(others)]
        assert others.size == 0 or entry <= others.min()


def test_the_absolute_margin_is_that_of_evaluate_and_of_effectiveness():
    for Y, S, _ in cases(100, seed=15):
        expected = limo.absolute_margin(Y, S)
        assert limo.effectiveness(Y, S).absolute_margin == expected
        evaluation = limo.evaluate(Y, S)
        assert evaluation.effectiveness.absolute_margin == expected
        assert evaluation.margins["rows"].absolute.min() == expected


def test_float32_scores_give_the_exact_margin():
    S = np.array([[0.3, 0.1]], dtype=np.float32)
    assert limo.label_wise_margin([[1, 0]], S)[0] == float(S[0, 0]) - float(S[0, 1])


def test_positive_share_leaves_out_what_does_not_exist():
    assert positive_share(np.array([1.0, -1.0, np.nan, 0.0])) == pytest.approx(1 / 3)
    assert np.isnan(positive_share(np.array([np.nan])))
