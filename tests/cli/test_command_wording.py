import pytest

from limo._cli.command import as_options


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            "Choose what to do with missing values: missing='mean', 'zero' or 'nan'",
            "Choose what to do with missing values: --missing mean, 'zero' or 'nan'",
        ),
        ("drop=['row id'] leaves it out", "--drop 'row id' leaves it out"),
        ("Pass format= one of arff, csv", "Pass --format one of arff, csv"),
        ("Say which: header=True or header=False", "Say which: --header or --no-header"),
        ("replace it with force=True", "replace it with --force"),
        ("Read labels with kind='predictions'", "Read labels with --predictions"),
        ("nothing of the kind: alpha=3", "nothing of the kind: alpha=3"),
    ],
)
def test_arguments_become_options(said, expected):
    assert as_options(said) == expected
