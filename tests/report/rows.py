"""Rows of a made-up comparison."""

import numpy as np
import pandas as pd

METHODS = ["A", "B <i>", "C"]


def make_rows(
    *, datasets=("d", "e", "f"), splits=3, measures=("ranking_loss", "macro_f1"), methods=METHODS
):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        [
            {
                "dataset": d, "split": k, "method": m, "measure": name, "value": rng.random(),
                "seconds": 0.5, "seed": k, "status": "ok", "error": "",
            }
            for d in datasets for k in range(splits) for m in methods for name in measures
        ]
    )  # fmt: skip
