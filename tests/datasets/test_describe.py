"""Counting what is there; expected numbers by hand, and those of DATA.md."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import limo
from limo.datasets import Dataset

X = np.array([[1.0, 0], [1, 0], [0, 0], [1, 0], [2, 3]])
Y = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 1, 0]])
TOY = Dataset(X, Y, ("f", "g"), ("a", "b", "c", "d"), "toy")


@pytest.mark.parametrize("data", [TOY, TOY.to_sparse()])
def test_by_hand(data: Dataset) -> None:
    facts = limo.describe(data, TOY.take([0, 0, 2]))
    assert (facts.n_samples, facts.n_features, facts.n_labels) == (5, 2, 4)
    assert facts.cardinality == 8 / 5
    assert facts.density == 8 / 5 / 4
    assert facts.feature_density == 0.5
    assert facts.n_label_sets == 4
    assert (facts.fewest_labels, facts.most_labels) == (0, 3)
    assert (facts.n_without_labels, facts.n_without_features) == (1, 1)
    assert (facts.n_repeated, facts.n_repeated_features) == (1, 2)
    assert facts.n_shared == 3
    assert facts.positives == (4, 3, 1, 0)
    assert facts.imbalance == (1, 4 / 3, 4, float("inf"))
    assert facts.mean_imbalance == pytest.approx((1 + 4 / 3 + 4) / 3)
    assert facts.set_sizes == (1, 1, 2, 1)
    assert facts.pairs == (("a", "b", 3), ("a", "c", 1), ("b", "c", 1))
    assert facts.rare_labels(2) == ("d", "c")
    assert limo.describe(data).n_shared is None


def test_the_table_for_people() -> None:
    lines = str(limo.describe(TOY, TOY)).splitlines()
    assert lines[0] == "toy"
    table = {line[:28].strip(): line[28:].strip() for line in lines[1:]}
    assert table == {
        "instances": "5",
        "features": "2 (50.00% nonzero)",
        "labels": "4",
        "cardinality": "1.6000 (0 to 3)",
        "density": "0.40000",
        "distinct label sets": "4",
        "mean imbalance": "2.1",
        "labels without positives": "1",
        "labels under 10 positives": "4 (d, c, b, ...)",
        "instances without labels": "1",
        "instances without features": "1",
        "repeated rows": "1 (features alone: 2)",
        "rows in both parts": "5",
        "most often together": "a and b (3 times)",
    }
    assert repr(limo.describe(TOY)) == str(limo.describe(TOY))
    assert "<table" in limo.describe(TOY)._repr_html_()


def test_for_programs() -> None:
    facts = limo.describe(TOY)
    frame = facts.to_frame()
    assert frame.loc["b", "positives"] == 3
    assert frame.loc["b", "share"] == 0.6
    record = json.loads(facts.to_json())
    assert record["imbalance"] == [1, 4 / 3, 4, None]
    assert record["n_label_sets"] == 4


def test_nothing_at_all() -> None:
    facts = limo.describe(Dataset(np.empty((0, 1)), np.empty((0, 2)), ("f",), ("a", "b")))
    assert facts.cardinality == 0
    assert np.isnan(facts.mean_imbalance)
    assert "instances" in str(facts)
    none = limo.describe(Dataset(np.ones((2, 1)), sparse.csr_array((2, 0)), ("f",), ()))
    assert none.density == 0


DATA_MD = {  # distinct label sets, empty rows, repeated, feature repeats, under 10 positives
    "CAL500": (502, 0, 0, 1, 28),
    "enron": (None, 8, 27, 141, None),
    "medical": (None, 0, 9, None, None),
    "Corel5k": (None, 0, 1, None, 144),
    "bibtex": (None, 0, 15, 40, 0),
}


@pytest.mark.parametrize("name", DATA_MD)
def test_the_oddities_of_the_five_sets(real_data: Path, name: str) -> None:
    facts = limo.describe(limo.datasets.load(name, download=False))
    counted = (
        facts.n_label_sets,
        facts.n_without_features,
        facts.n_repeated,
        facts.n_repeated_features,
        len(facts.rare_labels()),
    )
    for got, expected in zip(counted, DATA_MD[name], strict=True):
        assert expected is None or got == expected
    assert facts.n_without_labels == 0


@pytest.mark.parametrize(("name", "shared"), [("enron", 10), ("bibtex", 8)])
def test_rows_in_train_and_test(real_data: Path, name: str, shared: int) -> None:
    train, test = (limo.datasets.load(name, part, download=False) for part in ("train", "test"))
    assert limo.describe(train, test).n_shared == limo.describe(test, train).n_shared == shared


def test_only_data_sets_are_described() -> None:
    with pytest.raises(
        TypeError, match=r"describe takes a Dataset, got ndarray. limo.read gives one"
    ):
        limo.describe(X)  # type: ignore[arg-type]
