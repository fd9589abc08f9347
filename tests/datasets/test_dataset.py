import dataclasses

import pytest

import limo


def test_a_dataset_is_frozen() -> None:
    data = limo.datasets.figure1(5)
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.X = None  # type: ignore[misc]
