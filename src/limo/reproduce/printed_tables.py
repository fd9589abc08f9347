"""The numbers printed in the paper's appendix, as tables.

The synthetic spread is not printed: it is how much one experiment of ten re-splits differs from
another, found by repeating the recovered experiment twenty times.
"""

from importlib.resources import files

import pandas as pd

__all__ = ["printed_benchmark", "printed_synthetic", "synthetic_spread"]


def _read(name: str) -> pd.DataFrame:
    with files("limo.reproduce").joinpath("printed", name).open(encoding="utf-8") as file:
        return pd.read_csv(file).rename(columns={"algorithm": "method"})


def printed_synthetic() -> pd.DataFrame:
    """Both synthetic tables: measure, method, value, relative."""
    tables = [_read(f"synthetic_{kind}.csv") for kind in ("ranking", "classification")]
    return pd.concat(tables, ignore_index=True)


def synthetic_spread() -> pd.DataFrame:
    """How far experiments on the synthetic data lie apart: measure, method, sd."""
    return _read("synthetic_spread.csv")


def printed_benchmark() -> pd.DataFrame:
    """The big table: dataset, method, measure, mean, std, rank."""
    return _read("benchmark.csv")
