"""Rows made from the printed numbers, so that what must come out is known."""

import numpy as np
import pandas as pd

from limo.reproduce._benchmark_plans import OTHER_THRESHOLDS, OURS
from limo.reproduce._benchmark_tables import method_behind, printed_benchmark
from limo.reproduce._synthetic import printed_synthetic

_MORE = {"seconds": 0.1, "seed": 0, "status": "ok", "error": "", "threshold": ""}


def synthetic_rows(n_experiments=2, n_splits=2, shift=0.0):
    """Every cell as printed, experiments and splits a little around it."""
    lines = []
    for k in range(n_experiments):
        for split in range(n_splits):
            wobble = shift + 0.001 * (k - (n_experiments - 1) / 2)
            for cell in printed_synthetic().itertuples():
                lines.append(
                    {"dataset": f"sample {k}", "split": split, "method": cell.method,
                     "measure": cell.measure, "value": cell.value + wobble} | _MORE
                )  # fmt: skip
    return pd.DataFrame(lines)


def benchmark_rows(datasets=("CAL500", "enron"), *, extended=True):
    """The printed mean, plus and minus the printed deviation, in two splits.

    Where other thresholds are behind the printed value, those from training give half of it.
    """
    table = printed_benchmark()
    base = {(kind, name): name for name, kind, _ in OTHER_THRESHOLDS}
    lines = []
    for cell in table[table["dataset"].isin(datasets)].itertuples():
        behind = method_behind(cell.dataset, cell.method, cell.measure)
        for split, sign in enumerate((-1, 1)):
            near = cell.mean + sign * cell.std / np.sqrt(2)
            row = {"dataset": cell.dataset, "split": split, "measure": cell.measure} | _MORE
            lines.append(
                row | {"method": cell.method, "value": near if behind == cell.method else near / 2}
            )
            others = [name for kind, name in base if kind == cell.method]
            if cell.measure.endswith("_f1"):
                lines += [row | {"method": name, "value": near} for name in others]
            if extended and cell.method == "LIMO":
                lines += [row | {"method": name, "value": near} for name in OURS]
    return pd.DataFrame(lines)
