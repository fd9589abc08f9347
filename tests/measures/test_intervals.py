"""Intervals: their formulas, the bootstrap against its definition, groups, and coverage."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import limo
from limo.measures._intervals import (
    Interval,
    Sampling,
    analytic_interval,
    check_sampling,
    holm,
)

RNG = np.random.default_rng(0)
Y = (RNG.random((120, 4)) < 0.35).astype(int)
S = Y + RNG.standard_normal(Y.shape)
P = (S > 0.6).astype(int)


def test_nothing_is_computed_unless_asked_for():
    evaluation = limo.evaluate(Y, S, P)
    assert evaluation.intervals == {}
    assert evaluation.interval("macro_f1") is None
    assert "error" not in evaluation.to_frame()


def test_the_error_of_a_mean_is_the_usual_one():
    evaluation = limo.evaluate(Y, S, P, intervals=0.95)
    losses = evaluation.per_instance["hamming_loss"]
    interval = evaluation.intervals["hamming_loss"]
    assert interval.error == pytest.approx(losses.std(ddof=1) / math.sqrt(120))
    assert evaluation["hamming_loss"] in interval
    assert interval.level == 0.95
    assert interval.method == "analytic"


def test_a_share_has_wilsons_interval():
    """One-error is a share of instances: Wilson's interval, with t in place of z."""
    found = limo.evaluate(Y, S, intervals=0.9).intervals["one_error"]
    errors = limo.evaluate(Y, S).per_instance["one_error"]
    errors = errors[~np.isnan(errors)]
    share, n = errors.mean(), errors.size
    wilson = stats.binomtest(int(errors.sum()), n).proportion_ci(0.9, method="wilson")
    assert found.low == pytest.approx(wilson.low, abs=0.002)
    assert found.high == pytest.approx(wilson.high, abs=0.002)
    assert share in found


def test_no_error_at_all_still_has_an_interval():
    found = limo.evaluate(Y, Y.astype(float) + 0.5, intervals=0.95).intervals["one_error"]
    reach = stats.t.ppf(0.975, 119) ** 2
    assert (found.error, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(reach / (120 + reach))


def test_an_interval_without_bounds_is_symmetric():
    found = limo.evaluate(Y, S, intervals=0.95).intervals["coverage"]
    value, reach = limo.coverage(Y, S), stats.t.ppf(0.975, 119)
    assert found.low == pytest.approx(value - reach * found.error)
    assert found.high == pytest.approx(value + reach * found.error)


def test_edges_of_the_formula():
    sampling = Sampling()
    assert analytic_interval(0.5, 0.0, (0, 1), 10, sampling) == Interval(
        0.0, 0.5, 0.5, 0.95, "analytic"
    )
    assert math.isnan(analytic_interval(math.nan, 0.1, (0, 1), 10, sampling).low)
    low = analytic_interval(0.01, 0.3, (0.0, math.inf), 10, sampling).low
    assert low == 0.0
    one = limo.evaluate(Y[:1], S[:1], P[:1], intervals=0.95).intervals["hamming_loss"]
    assert math.isnan(one.error)
    assert str(Interval(0.1, 0.25, 0.5, 0.95, "analytic")) == "0.2500 to 0.5000"


@pytest.mark.parametrize("conventions", ["standard", "sklearn"])
def test_the_bootstrap_is_evaluate_on_resampled_instances(conventions):
    """The fast bootstrap gives the values that evaluating each resample gives."""
    how = {"measures": "all", "conventions": conventions}
    options = {"intervals": 0.95, "method": "bootstrap", "n_resamples": 5, "random_state": 3}
    S01 = 1 / (1 + np.exp(-S))
    evaluation = limo.evaluate(Y, S01, P, **how, **options)
    rng = np.random.default_rng(3)
    for b, places in enumerate(rng.integers(120, size=(5, 120))):
        expected = limo.evaluate(Y[places], S01[places], P[places], **how)
        for name, value in expected.items():
            drawn = evaluation.sample.drawn[name][b]
            assert drawn == pytest.approx(value, nan_ok=True, abs=1e-12), name


KNOWN = np.where(RNG.random(Y.shape) < 0.2, np.nan, Y)
KNOWN[3] = np.nan
WEIGHTS = RNG.integers(1, 5, 120) / 2


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["missing", "missing and weights"])
def test_missing_labels_and_weights_are_drawn_with_their_instances(weights):
    S01 = 1 / (1 + np.exp(-S))
    how = {"measures": "all", "missing": np.nan}
    options = {"intervals": 0.95, "method": "bootstrap", "n_resamples": 5, "random_state": 3}
    evaluation = limo.evaluate(KNOWN, S01, P, sample_weight=weights, **how, **options)
    rng = np.random.default_rng(3)
    for b, places in enumerate(rng.integers(120, size=(5, 120))):
        own = None if weights is None else weights[places]
        expected = limo.evaluate(KNOWN[places], S01[places], P[places], sample_weight=own, **how)
        for name, value in expected.items():
            drawn = evaluation.sample.drawn[name][b]
            assert drawn == pytest.approx(value, nan_ok=True, abs=1e-12), name


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["missing", "missing and weights"])
def test_bootstrap_and_formula_agree_with_missing_labels_and_weights(weights):
    S01 = 1 / (1 + np.exp(-S))
    how = {"measures": "all", "missing": np.nan, "sample_weight": weights, "intervals": 0.95}
    exact = limo.evaluate(KNOWN, S01, P, **how)
    drawn = limo.evaluate(KNOWN, S01, P, method="bootstrap", **how).intervals
    for name, interval in exact.intervals.items():
        assert interval.error == pytest.approx(drawn[name].error, rel=0.15), name
    for name, influence in exact.sample.influence.items():
        assert name in RANKED or abs(influence.mean()) < 1e-6, name
    assert set(exact.sample.drawn) == (
        set() if weights is None else {n for n in exact if n in RANKED}
    )


RANKED = ("macro_auc", "micro_auc", "macro_average_precision", "micro_average_precision")


def test_bootstrap_and_formula_agree():
    exact = limo.evaluate(Y, S, P, intervals=0.95).intervals
    drawn = limo.evaluate(Y, S, P, intervals=0.95, method="bootstrap").intervals
    for name, interval in exact.items():
        assert interval.error == pytest.approx(drawn[name].error, rel=0.12), name
        assert interval.low == pytest.approx(drawn[name].low, abs=0.35 * interval.error + 0.01)
    again = limo.evaluate(Y, S, P, intervals=0.95, method="bootstrap").intervals
    assert again == drawn
    other = limo.evaluate(Y, S, P, intervals=0.95, method="bootstrap", random_state=1).intervals
    assert other != drawn


def test_groups_of_copies_count_once():
    """Every instance four times, in one group: the error is that of the instances themselves."""
    copies = [np.repeat(A, 4, axis=0) for A in (Y, S, P)]
    groups = np.repeat([f"g{i}" for i in range(120)], 4)
    single = limo.evaluate(Y, S, P, intervals=0.95).intervals
    grouped = limo.evaluate(*copies, intervals=0.95, groups=groups).intervals
    naive = limo.evaluate(*copies, intervals=0.95).intervals
    for name in single:
        assert grouped[name].error == pytest.approx(single[name].error, rel=0.03), name
        assert naive[name].error < 0.6 * single[name].error
    drawn = limo.evaluate(*copies, intervals=0.95, groups=groups, method="bootstrap").intervals
    assert drawn["macro_auc"].error == pytest.approx(single["macro_auc"].error, rel=0.12)


def test_tables_and_documents_have_them():
    evaluation = limo.evaluate(Y, S, P, intervals=0.9)
    assert evaluation.measure_rows()[0][:4] == ("measure", "value", "90 % interval", "error")
    frame = evaluation.to_frame()
    assert (frame["low"] <= frame["value"]).all()
    assert (frame["value"] <= frame["high"]).all()
    assert '"error"' in evaluation.to_json()
    assert "90 % interval" in evaluation._repr_html_()


def test_groups_of_frames_belong_to_the_rows():
    index = [f"i{k}" for k in range(120)]
    frame, groups = pd.DataFrame(Y, index=index), pd.Series(np.arange(120) // 2, index=index)
    how = {"intervals": 0.95, "measures": ["coverage"]}
    found = limo.evaluate(frame, S, groups=groups, **how).intervals
    assert found == limo.evaluate(Y, S, groups=groups.to_numpy(), **how).intervals
    assert found == limo.evaluate(Y, S, groups=groups.map(str).to_frame(), **how).intervals
    with pytest.raises(ValueError, match="rows of groups are those of y_true in another order"):
        limo.evaluate(frame, S, groups=groups[::-1], **how)
    for missing in (["a", None] * 60, [np.nan] + [0.0] * 119):
        with pytest.raises(ValueError, match=r"that of instance [01] is missing"):
            limo.evaluate(Y, S, groups=missing, **how)


def test_wrong_settings_are_sentences():
    for level in (95, 1.0, 0.0, "0.9", 1):
        with pytest.raises(ValueError, match="level between 0 and 1, such as 0.95"):
            limo.evaluate(Y, S, intervals=level)
    assert check_sampling(True, n_instances=3).level == 0.95
    with pytest.raises(ValueError, match="Unknown method 'jackknife'"):
        limo.evaluate(Y, S, intervals=0.9, method="jackknife")
    with pytest.raises(ValueError, match=r"group of each instance: expected shape \(120,\)"):
        limo.evaluate(Y, S, intervals=0.9, groups=[1, 2])
    with pytest.raises(ValueError, match="n_resamples must be an integer from 2 up"):
        limo.evaluate(Y, S, intervals=0.9, n_resamples=1)


def test_holm():
    assert holm([0.01, 0.02, math.nan, 0.5]).tolist()[:2] == [0.03, 0.04]
    assert math.isnan(holm([math.nan])[0])
    assert holm([]).size == 0


@pytest.mark.slow
def test_95_percent_of_intervals_contain_the_truth():
    """400 samples of 300 instances; between 92 and 98 % by the binomial law."""

    def draw(rng, m):
        labels = (rng.random((m, 5)) < 0.3).astype(int)
        scores = 1.5 * labels + rng.standard_normal(labels.shape) + rng.standard_normal((m, 1))
        return labels, scores, (scores > 1).astype(int)

    truth = limo.evaluate(*draw(np.random.default_rng(1), 400_000))
    rng = np.random.default_rng(2)
    hits = dict.fromkeys(truth, 0)
    for _ in range(400):
        for name, interval in limo.evaluate(*draw(rng, 300), intervals=0.95).intervals.items():
            hits[name] += truth[name] in interval
    assert all(368 <= n <= 392 for n in hits.values()), hits
