from pathlib import Path

import numpy as np
import pytest

from limo._sparse import largest_score
from limo.datasets import DataError, Limits
from limo.datasets._options import ReadOptions
from limo.models import _files


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


def test_the_limits_are_those_that_the_security_policy_lists() -> None:
    text = (Path(__file__).parents[2] / "SECURITY.md").read_text(encoding="utf-8")
    given = (Limits().max_bytes, Limits().max_columns, Limits().max_values)
    assert given == (8 * 2**30, 10 * 10**6, 1000 * 10**6)
    assert (_files._UNPACKED_TIMES, _files._UNPACKED_PLUS) == (20, 256 * 2**20)
    assert (_files._MOST_FEATURES, largest_score(np.float64)) == (10 * 10**6, 1e150)
    for stated in ("| 8 GiB |", "| 10 million |", "| 1000 million |", "| 1e150 |"):
        assert stated in text
    assert "| 20 times its size plus 256 MiB |" in text
