import pytest

import limo
from limo.measures._measure import Optimised
from limo.reproduce._theory_facts import COUNTEREXAMPLES, best_reachable


@pytest.mark.parametrize("example", COUNTEREXAMPLES, ids=lambda e: e.kind)
def test_each_is_effective_and_yet_not_perfect(example):
    assert getattr(limo.effectiveness(example.Y, example.S), example.kind.replace("-", "_"))
    best = limo.evaluate(example.Y, example.Y.astype(float), example.Y)
    for name in example.measures:
        assert limo.MEASURES[name].optimised_by[example.kind] is not Optimised.YES
        assert abs(best_reachable(example, name) - best[name]) > 0.01
    assert example.why.endswith(".")


def test_values_by_hand():
    label, instance, double = COUNTEREXAMPLES
    assert best_reachable(label, "micro_auc") == 0.75  # 1 > 0, 6 > 0, 6 > 5, but not 1 > 5
    # one column parted right (F1 1), the other all or the wrong one: 2/3
    assert best_reachable(label, "macro_f1") == pytest.approx(5 / 6)
    assert best_reachable(instance, "one_error") == 0.5
    assert best_reachable(double, "micro_auc") == pytest.approx(17 / 18)
