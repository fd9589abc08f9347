"""Rows to compare: a published example, and small ones made by hand."""

import pandas as pd

# Demsar 2006, Table 6: the AUC of four settings of a decision tree on fourteen data sets.
# (Of the two printed as 0.975 it ranks the first higher; a digit more lets us do so too.)
DEMSAR = pd.DataFrame(
    [
        (0.763, 0.768, 0.771, 0.798), (0.599, 0.591, 0.590, 0.569), (0.954, 0.971, 0.968, 0.967),
        (0.628, 0.661, 0.654, 0.657), (0.882, 0.888, 0.886, 0.898), (0.936, 0.931, 0.916, 0.931),
        (0.661, 0.668, 0.609, 0.685), (0.583, 0.583, 0.563, 0.625), (0.775, 0.838, 0.866, 0.875),
        (1.000, 1.000, 1.000, 1.000), (0.940, 0.962, 0.965, 0.962), (0.619, 0.666, 0.614, 0.669),
        (0.972, 0.981, 0.9751, 0.975), (0.957, 0.978, 0.946, 0.970),
    ],
    columns=["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"],
)  # fmt: skip


def rows_of(values, measure="macro_auc"):
    """Tidy rows of a table of data sets by methods, one split each."""
    return pd.DataFrame(
        [
            {"dataset": f"set {i}", "split": 0, "measure": measure, "method": name, "value": value}
            for i, line in enumerate(values.to_dict("records"))
            for name, value in line.items()
        ]
    )


def cell(dataset, split, method, value, measure="one_error", **more):
    """One row."""
    names = ("dataset", "split", "method", "measure", "value")
    return dict(zip(names, (dataset, split, method, measure, value), strict=True)) | more
