import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from scipy import stats

from experiment.cases import DEMSAR
from limo.experiment._significance import critical_difference, friedman, nemenyi, wilcoxon_holm


def random_values(seed, n, k, *, tied=False):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, (n, k)) / 4 if tied else rng.random((n, k))
    return pd.DataFrame(values, columns=list("ABCDEFG")[:k])


@pytest.mark.parametrize("tied", [False, True])
def test_friedman_equals_scipy(tied):
    for seed in range(10):
        values = random_values(seed, 6 + seed, 3 + seed % 4, tied=tied)
        expected = stats.friedmanchisquare(*values.to_numpy().T)
        for better in ("high", "low"):
            found = friedman(values, better)
            assert found.chi2 == pytest.approx(expected.statistic)
            assert found.p_value == pytest.approx(expected.pvalue)


@pytest.mark.parametrize("tied", [False, True])
def test_iman_and_davenport_is_the_analysis_of_variance_of_the_ranks(tied):
    values = random_values(3, 9, 4, tied=tied)
    ranks = stats.rankdata(values, axis=1)
    n = len(ranks)
    between = n * ((ranks.mean(axis=0) - ranks.mean()) ** 2).sum()
    within = ((ranks - ranks.mean()) ** 2).sum() - between
    assert friedman(values, "high").f == pytest.approx((n - 1) * between / within)


def test_the_published_example():
    """Demsar 2006: chi-square 9.28, F 3.69; the book keeps ties uncorrected."""
    found = friedman(DEMSAR, "high", correct_ties=False)
    assert round(found.chi2, 2) == 9.28
    assert round(found.f, 2) == 3.69
    assert found.n_blocks == 14
    assert found.n_methods == 4
    assert round(critical_difference(4, 14), 2) == 1.25
    assert round(critical_difference(4, 14, alpha=0.1), 2) == 1.12
    assert friedman(DEMSAR, "high").p_value < found.p_value  # the correction sharpens the test


@pytest.mark.parametrize(
    ("k", "q"), [(2, 1.960), (3, 2.344), (4, 2.569), (5, 2.728), (6, 2.850), (10, 3.164)]
)
def test_critical_values_of_nemenyi_are_the_tabulated_ones(k, q):
    assert round(critical_difference(k, 1) / math.sqrt(k * (k + 1) / 6), 3) == pytest.approx(q)


def test_nemenyi_equals_scikit_posthocs_and_its_critical_difference():
    for seed in range(3):
        values = random_values(seed, 8, 4)
        expected = scikit_posthocs.posthoc_nemenyi_friedman(values.to_numpy()).to_numpy()
        assert nemenyi(values, "high").to_numpy() == pytest.approx(expected, abs=1e-6)
    p = nemenyi(DEMSAR, "high")
    ranks = DEMSAR.rank(axis=1, ascending=False).mean()
    for a, b in combinations(DEMSAR.columns, 2):
        apart = abs(ranks[a] - ranks[b]) > critical_difference(4, 14, alpha=0.1)
        assert (p.loc[a, b] < 0.1) == apart


def test_wilcoxon_of_the_published_example():
    """Demsar 2006, Table 2: R+ = 93, R- = 12, two zeros shared; hence z = -2.54."""
    d = (DEMSAR["C4.5+m"] - DEMSAR["C4.5"]).round(3)
    ranks = stats.rankdata(d.abs())
    shared = ranks[d == 0].sum() / 2
    assert (ranks[d > 0].sum() + shared, ranks[d < 0].sum() + shared) == (93, 12)
    found = wilcoxon_holm(DEMSAR[["C4.5", "C4.5+m"]].round(3))
    # scipy corrects the deviation for the ties among the differences; the book does not
    assert found.loc[0, "p"] == pytest.approx(2 * stats.norm.cdf(-2.54), abs=0.002)
    assert found.loc[0, "zeros"] == 2


def test_wilcoxon_by_counting_all_signs():
    values = random_values(5, 7, 2)
    d = (values["A"] - values["B"]).to_numpy()
    ranks = stats.rankdata(np.abs(d))
    signs = np.array(np.meshgrid(*[[0, 1]] * 7)).reshape(7, -1)
    sums = ranks @ signs
    low = min(ranks[d > 0].sum(), ranks[d < 0].sum())
    assert wilcoxon_holm(values).loc[0, "p"] == pytest.approx(min(1, 2 * np.mean(sums <= low)))


def test_holm_by_hand():
    """Six pairs; sorted p-values times 6, 5, 4, ... and never falling."""
    values = random_values(7, 10, 4)
    found = wilcoxon_holm(values, alpha=0.2).sort_values("p")
    largest = 0.0
    for factor, (p, adjusted, differs) in zip(
        range(6, 0, -1), found[["p", "p_holm", "differs"]].values, strict=True
    ):
        largest = min(1.0, max(largest, factor * p))
        assert adjusted == pytest.approx(largest)
        assert differs == (largest <= 0.2)
    assert len(found) == 6


def test_equal_methods_do_not_differ():
    values = pd.DataFrame({"A": [0.5, 0.25, 0.75], "B": [0.5, 0.25, 0.75]})
    assert wilcoxon_holm(values)[["p", "differs", "zeros"]].values.tolist() == [[1.0, False, 3]]
    assert math.isnan(friedman(values, "high").p_value)
    assert nemenyi(values, "high").to_numpy() == pytest.approx(np.ones((2, 2)))


def test_too_little_to_test_is_nan():
    one = pd.DataFrame({"A": [0.5], "B": [0.25]})
    assert math.isnan(friedman(one, "high").p_value)
    assert math.isnan(friedman(one[["A"]], "high").chi2)
    assert math.isnan(critical_difference(1, 5))
    assert nemenyi(one.iloc[:0], "high").isna().all(axis=None)


def test_full_agreement_is_beyond_any_f():
    values = pd.DataFrame({"A": [1.0, 2.0, 3.0], "B": [2.0, 3.0, 4.0]})
    found = friedman(values, "low")
    assert found.chi2 == pytest.approx(3.0)
    assert found.f == math.inf
    assert found.f_p_value == 0
    assert "2 methods on 3 blocks" in str(found)


def test_unknown_rules_are_refused():
    with pytest.raises(ValueError, match="Unknown rule for zero differences 'zplit'"):
        wilcoxon_holm(DEMSAR, zeros="zplit")
