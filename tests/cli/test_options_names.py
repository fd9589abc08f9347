import pytest
import typer

import limo
from limo._cli import options as names


def test_names_are_those_of_the_registries():
    assert names.complete_measure("") == [*limo.MEASURES, *limo.MEASURES.further]
    assert names.complete_conventions("") == list(limo.CONVENTIONS)
    methods = [name for name in limo.experiment.METHODS if not name.startswith("paper:")]
    assert sorted(names.complete_method("")) == sorted(methods)
    expected = ["figure1"]
    for entry in limo.datasets.CATALOGUE.values():
        expected += [entry.name, *(f"{entry.name}:{part}" for part in entry.parts if part != "all")]
    assert names.data_sets() == expected


def test_completion():
    assert names.complete_measure("macro_a") == ["macro_auc", "macro_average_precision"]
    assert names.complete_measure("macro_f1,one") == ["macro_f1,one_error"]
    assert names.complete_method("limo-") == ["limo-label", "limo-inst", "limo-cv"]
    assert names.complete_conventions("s") == ["standard", "sklearn"]
    assert names.complete_data("enron:") == ["enron:train", "enron:test"]
    assert names.complete_data("./mine") == []


def test_unknown_names_are_refused():
    assert names.known_measure("macro_f1") == "macro_f1"
    with pytest.raises(
        typer.BadParameter, match=r"No measure is called 'macrof1'. Did you mean 'macro_f1'"
    ):
        names.known_measure("macrof1")
    with pytest.raises(typer.BadParameter, match="Choose from: standard, paper, sklearn"):
        names.known_conventions("zzz")
    with pytest.raises(typer.BadParameter, match="Did you mean 'mlknn'"):
        names.known_method("ml-knn")
