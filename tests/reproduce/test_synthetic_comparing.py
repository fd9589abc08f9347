import numpy as np
import pandas as pd
import pytest

from limo.reproduce._pages import printed_synthetic
from limo.reproduce._synthetic import beside_printed, experiment_means, relative
from reproduce.fabricated import synthetic_rows


def test_rescaling_the_printed_values_gives_the_printed_relative_ones():
    printed = printed_synthetic()
    found = relative(printed, "value")
    gap = printed.groupby("measure")["value"].transform(lambda v: v.max() - v.min())
    # values are printed to three digits: a relative one can be off by what that hides
    hidden = 0.0005 * 2 / gap.where(gap > 0)
    assert ((found - printed["relative"]).abs() <= hidden.fillna(1.0) + 0.005).all()


def test_equal_values_are_all_best():
    values = pd.DataFrame({"measure": ["one_error"] * 2, "value": [0.5, 0.5]})
    assert relative(values, "value").tolist() == [1, 1]


def test_experiments_are_averaged_over_splits_first():
    rows = pd.DataFrame(
        [
            {"dataset": d, "split": k, "method": "LIMO", "measure": "one_error", "value": v}
            for d, values in {"sample 0": (0.0, 0.2), "sample 1": (0.2, 0.4)}.items()
            for k, v in enumerate(values)
        ]
    )
    found = experiment_means(rows).iloc[0]
    assert found["ours"] == pytest.approx(0.2)
    assert found["our_sd"] == pytest.approx(np.std([0.1, 0.3], ddof=1))
    assert found["experiments"] == 2


def test_differences_count_the_given_deviations_or_our_own():
    printed = printed_synthetic().iloc[:3]
    found = experiment_means(synthetic_rows(shift=0.01))
    spread = printed[["measure", "method"]].assign(sd=0.005)
    table = beside_printed(found, printed, spread)
    assert table["difference"].tolist() == pytest.approx([2.0] * 3)
    own = beside_printed(found, printed)
    assert own["difference"].tolist() == pytest.approx([0.01 / np.std([0, 0.001], ddof=1)] * 3)
    assert table["relative"].tolist() == pytest.approx([0.0, 1.0, 1.0])
