"""Reading, splitting and generating data, compared with other libraries: python benchmarks/data.py.

Needs LIMO_DATA for bibtex. Compares with liac-arff, pandas, scikit-learn and, if it is installed,
iterative-stratification (--all runs it at full size, which takes minutes). Each time is the best
of several runs; only the ratios are comparable between machines.
"""

import lzma
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import arff as liac
import numpy as np
import pandas as pd
from sklearn.datasets import load_svmlight_file
from timing import best

import limo
from limo.datasets import StratifiedFolds, make_multilabel


def line(what: str, ours: float, theirs: float, rival: str) -> None:
    """Print one comparison."""
    print(f"{what:<38} limo {ours:8.3f} s   {rival} {theirs:8.2f} s   {theirs / ours:6.1f}x")


def read_bibtex(data: Path, folder: Path) -> None:
    """Once as stored (both decompress the xz file), once plain."""
    packed, plain = data / "bibtex" / "bibtex.arff.xz", folder / "bibtex.arff"
    plain.write_bytes(lzma.decompress(packed.read_bytes()))
    (folder / "bibtex.xml").write_bytes((data / "bibtex" / "bibtex.xml").read_bytes())
    for file, opener in ((packed, lzma.open), (plain, open)):

        def rival(file: Path = file, opener: Callable = opener) -> object:
            with opener(file, "rt") as handle:
                return liac.load(handle, return_type=liac.COO)

        limo.read(file)
        ours = best(lambda file=file: limo.read(file))
        line(f"read bibtex ({file.suffix}, sparse)", ours, best(rival, 2), "liac-arff")


def read_dense(folder: Path, digits: int | None) -> None:
    """40 000 rows of 120 numbers and 10 labels."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40_000, 120)), rng.integers(0, 2, size=(40_000, 10))
    X = X if digits is None else np.round(X, digits)
    names = [tuple(f"{letter}{j}" for j in range(n)) for letter, n in (("x", 120), ("y", 10))]
    file = limo.write(limo.Dataset(X, Y, *names), folder / "dense.arff")
    assert np.array_equal(limo.read(file).X, X)
    text = file.read_text()
    what = f"read dense 40000 x 120 ({'all' if digits is None else digits} digits)"
    line(what, best(lambda: limo.read(file)), best(lambda: liac.loads(text), 2), "liac-arff")


def read_csv(folder: Path, digits: int | None) -> None:
    """The same numbers as a CSV file; pandas checks no rows, names no line and finds no labels."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40_000, 120)), rng.integers(0, 2, size=(40_000, 10))
    frame = pd.DataFrame(X if digits is None else np.round(X, digits)).add_prefix("x")
    file = folder / "dense.csv"
    frame.join(pd.DataFrame(Y).add_prefix("y")).to_csv(file, index=False)
    assert np.array_equal(limo.read(file, labels="y*").X, frame.to_numpy())
    what = f"read CSV 40000 x 120 ({'all' if digits is None else digits} digits)"
    ours = best(lambda: limo.read(file, labels="y*"))
    line(what, ours, best(lambda: pd.read_csv(file).to_numpy()), "pandas")


def read_libsvm(folder: Path) -> None:
    """20 000 sparse rows of 50 features and 2.5 labels on average."""
    data = make_multilabel(20_000, 5000, 200, density_of_X=0.01)
    file = limo.write(data, folder / "sparse.svm")
    rival = best(lambda: load_svmlight_file(str(file), multilabel=True))
    line("read LIBSVM 20000 x 5000", best(lambda: limo.read(file)), rival, "scikit-learn")


def split_folds(m: int, n_labels: int) -> None:
    """Five folds by iterative stratification."""
    try:
        from iterstrat.ml_stratifiers import MultilabelStratifiedKFold  # noqa: PLC0415
    except ImportError:
        print("iterative-stratification is not installed: no rival for the folds")
        return
    Y = make_multilabel(m, 2, n_labels, cardinality=3, density_of_X=0.1).Y
    dense = Y.toarray()
    rival = MultilabelStratifiedKFold(5, shuffle=True, random_state=0)
    ours = best(lambda: list(StratifiedFolds(5).split(Y, Y)))
    theirs = best(lambda: list(rival.split(dense, dense)), 1)
    line(f"5 folds of {m} x {n_labels} labels", ours, theirs, "iterstrat")


def make(m: int, d: int, n_labels: int) -> None:
    """Sparse synthetic data of any size; no other library generates them."""
    make_multilabel(10, 10, 5)
    seconds = best(lambda: make_multilabel(m, d, n_labels, density_of_X=50 / d), 1)
    print(f"{f'generate {m} x {d}, {n_labels} labels':<38} limo {seconds:8.3f} s")


def main() -> None:
    """Run everything."""
    data = os.environ.get("LIMO_DATA")
    with tempfile.TemporaryDirectory() as folder:
        if data:
            read_bibtex(Path(data), Path(folder))
        for digits in (4, None):
            read_dense(Path(folder), digits)
            read_csv(Path(folder), digits)
        read_libsvm(Path(folder))
    split_folds(20_000, 200)
    if "--all" in sys.argv:
        split_folds(100_000, 1000)
    make(1_000_000, 10_000, 1000)


if __name__ == "__main__":
    main()
