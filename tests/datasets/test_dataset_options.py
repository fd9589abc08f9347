import numpy as np
import pytest

from limo.datasets import DataError
from limo.datasets._dataset import ReadOptions


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"missing": "drop"}, "missing must be 'error' or 'nan' or 'mean' or 'zero', got 'drop'"),
        ({"nominal": "hash"}, "nominal must be 'one-hot' or 'codes', got 'hash'"),
        ({"label_location": "middle"}, "label_location must be 'end' or 'start', got 'middle'"),
        ({"drop": "id"}, "drop must be a list of names: drop=['id']"),
        ({"labels": 0}, "labels must be a count of at least 1, a list of names, or a prefix with a star ('tag_*'); got 0"),
        ({"labels": True}, "labels must be a count of at least 1"),
        ({"n_features": -1}, "n_features must be a count, got -1"),
    ],
)  # fmt: skip
def test_wrong_options_are_named(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(DataError) as caught:
        ReadOptions(**options)  # type: ignore[arg-type]
    assert sentence in str(caught.value)


def test_an_option_without_meaning_is_refused() -> None:
    ReadOptions(labels=2).refuse_unused(frozenset({"labels"}), "arff")
    with pytest.raises(
        DataError, match="zero_based= has no meaning for a file in the csv format; leave it out"
    ):
        ReadOptions(zero_based=True).refuse_unused(frozenset({"labels"}), "csv")


def test_labels_and_drop_in_any_list() -> None:
    assert ReadOptions(labels=np.array(["a", "b"])).labels == ("a", "b")
    assert ReadOptions(labels=np.int64(3)).labels == 3
    assert ReadOptions(drop=iter(["a"])).drop == ("a",)
