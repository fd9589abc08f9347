import numpy as np
import pytest

import limo
from cli.running import S, Y
from limo._cli.console import print_comparison, print_evaluation


@pytest.fixture(autouse=True)
def _wide_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")  # pytest's workers have 80


def shown(capsys, *arguments, **options):
    print_evaluation(limo.report.evaluation_document(*arguments, **options))
    return capsys.readouterr().out


def test_one_model(capsys):
    text = shown(capsys, Y, {"mine": S}, {"mine": S > 0.45})
    for measure in limo.MEASURES.values():
        assert measure.title in text
    assert f"{limo.ranking_loss(Y, S):.4f}" in text
    assert "Margins" in text


def test_labels_alone_have_no_margins(capsys):
    text = shown(capsys, Y, None, {"mine": S > 0.45})
    assert "Margins" not in text
    assert "ranking loss" not in text


def test_undefined_rows_are_counted(capsys):
    labels = np.array([[1, 1, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
    assert "1 instance: every label relevant" in shown(capsys, labels, {"mine": S})
    text = shown(capsys, labels, {"mine": S}, conventions="sklearn")
    assert "(counted, not left out)" in text


def test_the_best_of_a_line_is_marked(capsys):
    text = shown(capsys, Y, {"good": Y + 0.5, "bad": -Y - 0.5})
    line = next(line for line in text.splitlines() if "ranking loss" in line)
    assert line.split() == ["ranking", "loss", "low", "0.0000*", "1.0000"]
    assert "mean rank" in text


def test_of_many_models_the_best_are_shown(capsys):
    models = {f"m{k}": S + k * (Y - 0.5) / 10 for k in range(10)}
    text = shown(capsys, Y, models)
    assert "The report has 2 more models." in text
    assert "m9" in text


def test_headings_keep_to_one_line_and_large_numbers_are_short(capsys):
    text = shown(capsys, Y, {"a": S, "b": S})
    assert text.splitlines()[0].endswith("conventions: standard")
    assert "e+149 " in shown(capsys, Y, {"a": S * 1e150})


def test_models_with_different_measures(capsys):
    text = shown(capsys, Y, {"one": S}, {"other": S > 0.45})
    line = next(line for line in text.splitlines() if "macro-F1" in line)
    assert line.split()[2] == "-"


def test_a_method_without_a_value(capsys):
    rows = [
        {"dataset": "d", "split": 0, "measure": "macro_f1", "method": m, "value": v}
        for m, v in (("good", 0.5), ("failed", float("nan")))
    ]
    print_comparison(limo.report.comparison_document(rows))
    text = capsys.readouterr().out
    line = next(line for line in text.splitlines() if "macro-F1" in line)
    assert line.split() == ["macro-F1", "high", "0.500", "(1)*", "-"]
