import math

import pandas as pd
import pytest

from limo.report._comparison import beside_printed

CELL = {"dataset": "d", "measure": "macro_f1"}
MEANS = pd.DataFrame(
    [CELL | {"method": m, "mean": v, "std": 0.5} for m, v in {"A": 1.0, "B": 2.0, "C": 3.0}.items()]
)


def test_distances_are_in_printed_deviations():
    printed = [
        CELL | {"method": "A", "mean": 1.5, "std": 0.25},
        CELL | {"method": "B", "mean": 2.75, "std": 0.25},
        CELL | {"method": "C", "mean": 3.0, "std": 0.0},
        CELL | {"method": "D", "mean": 3.0, "std": 0.0},
    ]
    (line,) = beside_printed(MEANS, printed, ["A", "B", "C", "E"])
    a, b, c, none = line["cells"]
    assert (a["distance"], a["within"]) == (2.0, True)
    assert (b["distance"], b["within"]) == (3.0, False)
    assert math.isnan(c["distance"])
    assert c["within"] is None
    assert none is None
    assert (a["printed"], a["measured"], line["title"]) == (1.5, 1.0, "macro-F1")


def test_columns_are_asked_for():
    with pytest.raises(ValueError, match="printed must have the columns .*; missing: std"):
        beside_printed(MEANS, [CELL | {"method": "A", "mean": 1.0}], ["A"])
