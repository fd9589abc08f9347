import pytest

from limo.reproduce._benchmark_tables import UNKNOWN, reason, stands_for


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (("CAL500", "LIMO", "macro_f1"), "LIMO, test cuts"),
        (("corel5k", "LIMO-inst", "micro_f1"), "LIMO-inst, test cuts"),
        (("bibtex", "LIMO-inst", "macro_f1"), "LIMO-inst"),
        (("enron", "LIMO", "instance_f1"), "LIMO"),
        (("medical", "LIMO", "instance_f1"), "LIMO, global cut"),
        (("medical", "LIMO-label", "macro_f1"), "LIMO-label, global cut"),
        (("medical", "LIMO-label", "hamming_loss"), "LIMO-label"),
        (("enron", "GFM", "macro_f1"), "GFM"),
    ],
)
def test_the_cut_behind_each_cell(cell, expected):
    assert stands_for(*cell) == expected


@pytest.mark.parametrize(
    ("cell", "part"),
    [
        (("CAL500", "LIMO", "macro_f1"), "chosen on test labels"),
        (("medical", "LIMO", "micro_f1"), "one global cut"),
        (("CAL500", "GFM", "one_error"), "ties"),
        (("medical", "BR", "one_error"), "fault in how"),
        (("bibtex", "BR", "hamming_loss"), "is not told"),
        (("enron", "LIMO-label", "instance_auc"), UNKNOWN),
        (("CAL500", "GFM", "hamming_loss"), UNKNOWN),
    ],
)
def test_reasons_that_are_known(cell, part):
    assert part in reason(*cell)
