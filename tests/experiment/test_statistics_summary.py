import math
import statistics as standard

import numpy as np
import pandas as pd
import pytest

from experiment.cases import DEMSAR, cell, rows_of
from limo.experiment._significance import rank
from limo.experiment._statistics import average_ranks, check_rows, missing_results, summarise

NAN = math.nan


def test_mean_and_deviation_equal_the_standard_library():
    rng = np.random.default_rng(0)
    values = {m: rng.random(7).tolist() for m in "ABC"}
    rows = [cell("enron", k, m, v) for m, found in values.items() for k, v in enumerate(found)]
    table = summarise(rows).set_index("method")
    for method, found in values.items():
        assert table.loc[method, "mean"] == pytest.approx(standard.mean(found))
        assert table.loc[method, "std"] == pytest.approx(standard.stdev(found))
        assert table.loc[method, "n"] == 7
    order = sorted(values, key=lambda m: standard.mean(values[m]))
    assert table["rank"].sort_values().index.tolist() == order  # a loss: the lowest is first


def test_high_is_best_where_the_measure_says_so():
    rows = [cell("a", 0, m, v, "macro_f1") for m, v in {"A": 0.25, "B": 0.5}.items()]
    assert summarise(rows)["rank"].tolist() == [2, 1]


@pytest.mark.parametrize(
    ("ties", "expected"), [("average", [1.5, 1.5, 3]), ("min", [1, 1, 3]), ("max", [2, 2, 3])]
)
def test_equal_means_share_their_places(ties, expected):
    rows = [cell("a", 0, m, v) for m, v in {"A": 0.25, "B": 0.25, "C": 0.5}.items()]
    assert summarise(rows, ties=ties)["rank"].tolist() == expected
    with pytest.raises(ValueError, match="Unknown rule for ties 'dense'"):
        rank(pd.DataFrame([[1.0]]), "low", ties="dense")


def test_methods_are_averaged_over_the_splits_all_of_them_finished():
    rows = [cell("a", 0, "A", 0.0), cell("a", 1, "A", 0.5), cell("a", 2, "A", 1.0),
            cell("a", 0, "B", 0.25), cell("a", 1, "B", NAN), cell("a", 2, "B", 0.75),
            cell("a", 0, "C", NAN), cell("a", 1, "C", NAN)]  # fmt: skip
    table = summarise(rows).set_index("method")
    assert table["n"].tolist() == [2, 2, 0]
    assert table["mean"].tolist()[:2] == [0.5, 0.5]
    assert table.loc["C", ["mean", "std", "rank"]].isna().all()
    assert table["rank"].tolist()[:2] == [1.5, 1.5]


def test_what_is_missing_is_named_with_its_reason():
    rows = [
        cell("a", 0, "A", 0.5, status="ok", error=""),
        cell("a", 0, "B", NAN, status="failed", error="MemoryError: too large"),
        cell("a", 1, "A", NAN, status="ok", error=""),
    ]
    assert missing_results(rows).values.tolist() == [
        ["a", 0, "one_error", "B", "failed: MemoryError: too large"],
        ["a", 1, "one_error", "A", "undefined"],
        ["a", 1, "one_error", "B", "never run"],
    ]


def test_average_ranks_of_the_published_example():
    found = average_ranks(rows_of(DEMSAR)).loc["macro_auc"]
    assert found.round(3).to_dict() == {
        "C4.5": 3.143, "C4.5+m": 2.0, "C4.5+cf": 2.893, "C4.5+m+cf": 1.964,
    }  # fmt: skip


def test_average_ranks_count_only_data_sets_that_all_finished():
    rows = [cell("a", 0, "A", 0.1), cell("a", 0, "B", 0.2), cell("b", 0, "A", 0.2),
            cell("b", 0, "B", 0.1), cell("c", 0, "A", 0.1), cell("c", 0, "B", NAN),
            cell("a", 0, "A", 0.5, "coverage"), cell("a", 0, "B", NAN, "coverage")]  # fmt: skip
    table = average_ranks(rows)
    assert table.loc["one_error"].tolist() == [1.5, 1.5]
    assert table.loc["coverage"].isna().all()
    assert average_ranks(rows, by=None).loc["all"].tolist() == [1.5, 1.5]


def test_rows_that_are_no_rows_are_refused():
    with pytest.raises(ValueError, match=r"columns .*; missing: measure, value. Pass what"):
        check_rows([{"dataset": "a", "split": 0, "method": "A"}])
    with pytest.raises(ValueError, match="Unknown measure 'one_eror'. Did you mean 'one_error'"):
        check_rows([cell("a", 0, "A", 0.5, "one_eror")])
    with pytest.raises(ValueError, match=r"\(a, 0, A, one_error\) occurs more than once"):
        check_rows([cell("a", 0, "A", 0.5), cell("a", 0, "A", 0.25)])
