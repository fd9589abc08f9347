import pickle

import pytest

from limo.datasets import DataError, Limits


def test_an_error_names_its_place() -> None:
    assert str(DataError("wrong")) == "wrong"
    assert str(DataError("wrong", path="f.arff")) == "f.arff: wrong"
    error = DataError("wrong", path="f.arff", line=3)
    assert str(error) == "f.arff, line 3: wrong"
    assert (error.problem, error.path, error.line) == ("wrong", "f.arff", 3)
    assert isinstance(error, ValueError)


def test_an_error_travels_between_processes() -> None:
    error = pickle.loads(pickle.dumps(DataError("wrong", path="f", line=3)))
    assert (str(error), error.line) == ("f, line 3: wrong", 3)


def test_limits_say_how_to_raise_them() -> None:
    Limits().check("max_columns", 5, "features")
    with pytest.raises(DataError) as caught:
        Limits(max_columns=2).check("max_columns", 5, "features", "f.arff")
    assert str(caught.value) == (
        "f.arff: expected at most 2 features, got 5. If you trust the file, "
        "pass limits=limo.datasets.Limits(max_columns=5)"
    )
