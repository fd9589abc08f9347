import pytest

from limo.experiment import _statistics as statistics
from limo.report._comparison import average_ranks, differences
from report.rows import METHODS, make_rows


def test_average_ranks_are_those_of_the_statistics():
    rows = make_rows()
    lines = average_ranks(rows, METHODS)
    expected = statistics.average_ranks(rows)
    assert [line["measure"] for line in lines] == ["ranking_loss", "macro_f1", None]
    for line in lines[:-1]:
        assert line["average"] == expected.loc[line["measure"], METHODS].tolist()
    whole = statistics.average_ranks(rows, by=None)
    assert lines[-1]["average"] == whole.loc["all", METHODS].tolist()


def test_tests_are_those_of_the_statistics():
    rows = make_rows()
    found = differences(rows)
    assert [t["measure"] for t in found] == ["ranking_loss", "macro_f1"]
    expected = statistics.compare_methods(rows, "macro_f1")
    assert found[1]["p_value"] == expected.friedman.p_value
    assert found[1]["average_ranks"] == expected.average_ranks
    assert found[1]["critical_difference"] == expected.critical_difference
    assert found[1]["blocks"] == "dataset"
    assert found[1]["n_blocks"] == 3


def test_one_data_set_is_tested_by_its_splits():
    (found,) = differences(make_rows(datasets=["d"], measures=["macro_f1"]))
    assert (found["blocks"], found["n_blocks"]) == ("split", 3)
    assert any("share instances" in note for note in found["notes"])


@pytest.mark.parametrize("rows", [make_rows(methods=["A"]), make_rows(datasets=["d"], splits=1)])
def test_nothing_to_test(rows):
    assert differences(rows) == []
