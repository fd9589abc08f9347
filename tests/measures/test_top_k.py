import math

import numpy as np
import pytest
from scipy import sparse

import limo
from cases import cases
from limo.measures import label_propensities, ndcg_at, precision_at, top_k_measures
from naive import top_k as naive


def test_against_the_definitions():
    rng = np.random.default_rng(0)
    for Y, S, _ in cases(60, seed=41):
        k, a, b = int(rng.integers(1, 7)), rng.uniform(0.1, 1), rng.uniform(0, 3)
        train = (rng.random((9, Y.shape[1])) < 0.4).astype(int)
        inverse = naive.inverse_propensities(train.tolist(), a, b)
        p = label_propensities(train, a, b)
        np.testing.assert_allclose(1 / p, inverse, rtol=1e-12)
        expected = naive.propensity_scored(Y, S.tolist(), k, inverse) | naive.macro(
            Y, S.tolist(), k
        )
        assert top_k_measures(Y, S, k, propensities=p) == pytest.approx(
            expected, abs=1e-9, nan_ok=True
        )
        stored = rng.random(S.shape) < 0.5
        few = sparse.csr_array((S[stored], np.nonzero(stored)), shape=S.shape)
        given = [
            [s if kept else None for s, kept in zip(*line, strict=True)]
            for line in zip(S.tolist(), stored, strict=True)
        ]
        expected = naive.propensity_scored(Y, given, k, inverse) | naive.macro(Y, given, k)
        assert top_k_measures(Y, few, k, propensities=p) == pytest.approx(
            expected, abs=1e-9, nan_ok=True
        )


def test_equal_propensities_give_precision_and_ndcg():
    """Without ties, and with k labels in every instance, nothing else is left."""
    rng = np.random.default_rng(1)
    S = rng.random((50, 9))
    Y = (np.argsort(np.argsort(rng.random(S.shape))) < 3).astype(int)
    found = top_k_measures(Y, S, 3, propensities=np.ones(9))
    whole = limo.evaluate(Y, S, measures=[precision_at(3), ndcg_at(3)])
    assert found["psp"] == pytest.approx(whole["precision_at_3"])
    assert found["psndcg"] == pytest.approx(whole["ndcg_at_3"])


def test_by_hand():
    # label 1 is rare: it counts 4 times as much
    found = top_k_measures([[1, 1], [1, 0]], [[0.9, 0.1], [0.2, 0.3]], 1, propensities=[1, 0.25])
    assert found["psp"] == 1 / 5
    assert found["macro_precision"] == 0.5
    assert found["coverage"] == 0.5
    assert set(top_k_measures([[1, 0]], [[0.5, 0.1]], 1)) == {
        "macro_precision",
        "macro_recall",
        "macro_f1",
        "coverage",
    }
    assert math.isnan(top_k_measures([[0]], [[0.5]], 1, propensities=[1])["psp"])


def test_wrong_input():
    with pytest.raises(ValueError, match="k must be an integer from 1 up, got 0"):
        top_k_measures([[1, 0]], [[0.5, 0.1]], 0)
    with pytest.raises(ValueError, match="one number for each of the 2 labels, got shape \\(3,\\)"):
        top_k_measures([[1, 0]], [[0.5, 0.1]], 1, propensities=[1, 1, 1])
    with pytest.raises(ValueError, match="finite numbers above 0"):
        top_k_measures([[1, 0]], [[0.5, 0.1]], 1, propensities=[1, 0])
    with pytest.raises(ValueError, match="b must be a number above -1"):
        label_propensities([[1, 0]], b=-3)


# What other programs give for the labels and scores of the next test: napkinXC 0.7.2 at k = 1 to 5,
# its inverse propensities, and xCOLUMNs 0.0.2 by k, with epsilon=1e-300 (by default it adds 1e-6 to
# the denominators).
NAPKINXC = {
    "precision": [0.766666666666667, 0.616666666666667, 0.538888888888889, 0.454166666666667, 0.426666666666666],
    "recall": [0.314603174603175, 0.481428571428571, 0.590198412698413, 0.659365079365079, 0.748412698412698],
    "ndcg": [0.766666666666667, 0.697432003430989, 0.687583701570153, 0.684302197142507, 0.720260916174136],
    "psp": [0.696004312382095, 0.640735346561439, 0.644918994989183, 0.643578887744093, 0.713865576728246],
    "psndcg": [0.696004312382095, 0.657903647634499, 0.658789219135674, 0.662616173029581, 0.700370553059399],
    "inverse_propensities": [4.57213660609626, 2.47399006566418, 2.31620740651521, 2.08592685063779, 2.1732221470299, 1.88220086086001, 1.79720663236554, 1.71929599175601, 1.75897899519269, 1.63245378857421, 1.58643394004972, 1.60443093611079],
}  # fmt: skip
XCOLUMNS = {
    "macro_precision": {1: 0.724900793650794, 3: 0.484771764183529, 5: 0.404017071549127},
    "macro_recall": {1: 0.24892349061757, 3: 0.465741979146584, 5: 0.620328498864683},
    "macro_f1": {1: 0.360231630627374, 3: 0.459870926489454, 5: 0.467284623273022},
    "coverage": {1: 0.916666666666667, 3: 0.916666666666667, 5: 0.916666666666667},
}  # fmt: skip


def test_equals_other_programs():
    rng = np.random.default_rng(15)
    train = (rng.random((200, 12)) < np.linspace(0.02, 0.5, 12)).astype(int)
    Y = (rng.random((60, 12)) < np.linspace(0.02, 0.5, 12)).astype(int)
    Y[Y.sum(axis=1) == 0, 3] = 1
    S = rng.random((60, 12)) + 0.3 * Y
    propensities = label_propensities(train)
    np.testing.assert_allclose(1 / propensities, NAPKINXC["inverse_propensities"], rtol=1e-9)
    for k in range(1, 6):
        found = top_k_measures(Y, S, k, propensities=propensities)
        names = {name: f"{name}_at_{k}" for name in ("precision", "recall", "ndcg")}
        whole = limo.evaluate(Y, S, measures=list(names.values()))
        found |= {name: whole[own] for name, own in names.items()}
        for name in ("precision", "recall", "ndcg", "psp", "psndcg"):
            assert found[name] == pytest.approx(NAPKINXC[name][k - 1], abs=1e-9), (name, k)
        for name, values in XCOLUMNS.items():
            if k in values:
                assert found[name] == pytest.approx(values[k], abs=1e-9), (name, k)
