import pytest

from limo._cli.options import listed, which_labels


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (None, []),
        ("", []),
        ("a", ["a"]),
        ("a, b,c", ["a", "b", "c"]),
        ('"a,b",c', ["a,b", "c"]),
    ],
)
def test_names_parted_by_commas(text, names):
    assert listed(text) == names


@pytest.mark.parametrize(
    ("text", "labels"), [(None, None), ("6", 6), ("tag_*", "tag_*"), ("a,b", ["a", "b"])]
)
def test_which_labels(text, labels):
    assert which_labels(text) == labels
