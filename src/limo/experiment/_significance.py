"""Whether methods differ: ranks, tests and groups of a table of blocks (rows) by methods (columns).

A block is a data set, or one of its splits.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy import stats

from limo._frames import as_names
from limo._settings import check_name, check_number
from limo._types import check_kind
from limo.measures._intervals import holm

Better = Literal["high", "low"]
Groups = tuple[tuple[str, ...], ...]
Ties = Literal["average", "min", "max"]
Zeros = Literal["zsplit", "wilcox", "pratt"]


def rank(values: Any, better: Better, *, ties: Ties = "average") -> pd.DataFrame:
    """Rank the methods (columns) within each block (row); 1 is best, nan stays nan.

    Parameters
    ----------
    values : DataFrame of shape (n_blocks, n_methods)
        One value per block and method.
    better : {"high", "low"}
        Whether high or low values are better.
    ties : {"average", "min", "max"}, default="average"
        The rank of equal values: the average, the best or the worst of their places.

    Returns
    -------
    DataFrame
        Ranks, of the same shape.

    Examples
    --------
    >>> import pandas as pd
    >>> from limo.experiment import rank
    >>> rank(pd.DataFrame({"A": [0.5], "B": [0.5], "C": [0.25]}), "high").to_numpy()
    array([[1.5, 1.5, 3. ]])
    """
    check_name(ties, ("average", "min", "max"), "rule for ties")
    check_name(better, ("high", "low"), "direction")
    return _numbers(values).rank(axis=1, method=ties, ascending=better == "low")


def as_table(given: Any, name: str) -> pd.DataFrame:
    """The given table as a data frame."""
    try:
        return pd.DataFrame(given)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a DataFrame: {error}.") from None


def _numbers(values: Any) -> pd.DataFrame:
    table = as_table(values, "values")
    if not all(pd.api.types.is_numeric_dtype(kind) for kind in table.dtypes):
        raise ValueError("values must be a table of numbers: a row per block, a column per method.")
    return table


@dataclass(frozen=True)
class Friedman:
    """Whether any methods differ: Friedman's test, and Iman and Davenport's more powerful form.

    Attributes
    ----------
    chi2, p_value : float
        Friedman's statistic, chi-square with k - 1 degrees of freedom, and its p-value.
    f, f_p_value : float
        Iman and Davenport's statistic, F with k - 1 and (k - 1)(N - 1) degrees of freedom, and
        its p-value.
    n_methods, n_blocks : int
        k and N.
    """

    chi2: float
    p_value: float
    f: float
    f_p_value: float
    n_methods: int
    n_blocks: int

    def __str__(self) -> str:
        return (
            f"Friedman chi-square {self.chi2:.2f} (p = {self.p_value:.3g}), Iman-Davenport F "
            f"{self.f:.2f} (p = {self.f_p_value:.3g}), {self.n_methods} methods on "
            f"{self.n_blocks} blocks"
        )


def friedman(values: Any, better: Better, *, correct_ties: bool = True) -> Friedman:
    """Test whether the methods (columns) differ over the blocks (rows).

    chi2 = 12 N / (k (k + 1)) (sum of R_j^2 - k (k + 1)^2 / 4) / c, where R_j are average ranks and
    c = 1 - sum of (t^3 - t) / (N k (k^2 - 1)) over groups of t tied methods;
    F = (N - 1) chi2 / (N (k - 1) - chi2). Ties share their average rank.

    Parameters
    ----------
    values : DataFrame of shape (n_blocks, n_methods)
        One value per block and method, without missing values.
    better : {"high", "low"}
        Whether high or low values are better.
    correct_ties : bool, default=True
        Whether to divide by c. Some textbooks do not; ties then weaken the test.

    Returns
    -------
    Friedman
        Its numbers are nan with fewer than two blocks or methods, or if all values are tied.

    References
    ----------
    Demsar, "Statistical comparisons of classifiers over multiple data sets", 2006.

    Examples
    --------
    >>> import pandas as pd
    >>> from limo.experiment import friedman
    >>> values = pd.DataFrame({"A": [0.1, 0.2, 0.1], "B": [0.3, 0.4, 0.2], "C": [0.5, 0.6, 0.3]})
    >>> friedman(values, "low").chi2
    6.0
    """
    ranks = rank(values, better).to_numpy()
    n, k = ranks.shape
    check_kind(correct_ties, bool, "correct_ties must be True or False")
    nothing = Friedman(np.nan, np.nan, np.nan, np.nan, k, n)
    if n < 2 or k < 2:
        return nothing
    correction = 1 - _tied(ranks) / (n * k * (k**2 - 1)) if correct_ties else 1.0
    if correction <= 0:
        return nothing
    spread = float(np.sum(ranks.mean(axis=0) ** 2) - k * (k + 1) ** 2 / 4)
    chi2 = 12 * n / (k * (k + 1)) * spread / correction
    rest = n * (k - 1) - chi2
    # all blocks give the same ranks: F is infinite
    f = (n - 1) * chi2 / rest if rest > 1e-9 * n * k else np.inf
    degrees = (k - 1, (k - 1) * (n - 1))
    p, f_p = float(stats.chi2.sf(chi2, k - 1)), float(stats.f.sf(f, *degrees))
    return Friedman(chi2, p, f, f_p, k, n)


def _tied(ranks: Any) -> float:
    """The sum of t^3 - t over all groups of t equal ranks within a block."""
    sizes = [np.unique(block, return_counts=True)[1] for block in ranks]
    return float(sum((t**3 - t).sum() for t in sizes))


def critical_difference(n_methods: int, n_blocks: int, *, alpha: float = 0.05) -> float:
    """The smallest significant difference of two average ranks, by Nemenyi's test.

    CD = q sqrt(k (k + 1) / (6 N)), q the upper alpha point of the studentised range of k
    methods over sqrt(2).

    Parameters
    ----------
    n_methods, n_blocks : int
        k and N.
    alpha : float, default=0.05
        The significance level: how often a difference may be found where there is none.

    Returns
    -------
    float
        nan for fewer than two methods.

    Examples
    --------
    >>> from limo.experiment import critical_difference
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    for name, value in (("n_methods", n_methods), ("n_blocks", n_blocks)):
        check_number(value, name, integer=True)
    check_number(alpha, "alpha", least=0, most=1)
    if n_methods < 2 or n_blocks < 1:
        return float("nan")
    q = stats.studentized_range.isf(alpha, n_methods, np.inf) / np.sqrt(2)
    return float(q * _standard_error(n_methods, n_blocks))


def nemenyi(values: Any, better: Better) -> pd.DataFrame:
    """Compare all pairs of methods by their average ranks: Nemenyi's p-values.

    Parameters
    ----------
    values : DataFrame of shape (n_blocks, n_methods)
        One value per block and method, without missing values.
    better : {"high", "low"}
        Whether high or low values are better.

    Returns
    -------
    DataFrame of shape (n_methods, n_methods)
        P-values; the test itself accounts for the number of pairs.

    Examples
    --------
    >>> import pandas as pd
    >>> from limo.experiment import nemenyi
    >>> values = pd.DataFrame({"A": [0.1, 0.2, 0.1], "B": [0.3, 0.4, 0.2], "C": [0.5, 0.6, 0.3]})
    >>> nemenyi(values, "low").round(3).loc["A"].tolist()
    [1.0, 0.438, 0.038]
    """
    ranks = rank(values, better)
    mean = ranks.mean().to_numpy()
    n, k = ranks.shape
    apart = np.abs(mean[:, np.newaxis] - mean) / _standard_error(k, n) * np.sqrt(2)
    p = np.minimum(stats.studentized_range.sf(apart, k, np.inf), 1.0)
    return pd.DataFrame(p, ranks.columns, ranks.columns)


def _standard_error(n_methods: int, n_blocks: int) -> float:
    """Standard error of a difference of average ranks, divided by sqrt(2); nan without blocks."""
    if not n_blocks:
        return float("nan")
    return float(np.sqrt(n_methods * (n_methods + 1) / (6 * n_blocks)))


def wilcoxon_holm(values: Any, *, alpha: float = 0.05, zeros: Zeros = "zsplit") -> pd.DataFrame:
    """Compare all pairs of methods by Wilcoxon's signed-rank test, with Holm's adjustment.

    Parameters
    ----------
    values : DataFrame of shape (n_blocks, n_methods)
        One value per block and method, without missing values.
    alpha : float, default=0.05
        The significance level for all pairs together.
    zeros : {"zsplit", "wilcox", "pratt"}, default="zsplit"
        How to treat blocks in which the two methods are equal: split their ranks between both
        sides, leave them out, or rank them and then leave them out.

    Returns
    -------
    DataFrame
        One row per pair with the columns first, second, p (exact if nothing is tied), p_holm,
        differs and zeros, the number of blocks in which the two methods are equal.

    Examples
    --------
    >>> import pandas as pd
    >>> from limo.experiment import wilcoxon_holm
    >>> values = pd.DataFrame({"A": [1.0, 2, 3, 4, 5, 6], "B": [2.0, 4, 6, 8, 10, 12]})
    >>> wilcoxon_holm(values)[["p", "differs"]].values.tolist()
    [[0.03125, True]]
    """
    check_name(zeros, ("zsplit", "wilcox", "pratt"), "rule for zero differences")
    check_number(alpha, "alpha", above=0, most=1)
    table = _numbers(values)
    pairs = list(combinations(table.columns, 2))
    columns = table.to_numpy(dtype=np.float64).T
    differences = [a - b for a, b in combinations(columns, 2)]
    p = np.array([_wilcoxon(d, zeros) for d in differences])
    adjusted = holm(p)
    return pd.DataFrame(
        {
            "first": [a for a, _ in pairs],
            "second": [b for _, b in pairs],
            "p": p,
            "p_holm": adjusted,
            "differs": adjusted <= alpha,
            "zeros": [int(np.count_nonzero(d == 0)) for d in differences],
        }
    )


def _wilcoxon(differences: Any, zeros: Zeros) -> float:
    """The two-sided p-value; 1 if there is no difference at all."""
    if not np.any(differences):
        return 1.0
    return float(stats.wilcoxon(differences, zero_method=zeros).pvalue)


def groups(ordered: Iterable[str], differ: Callable[[str, str], bool]) -> Groups:
    """Find the longest sequences of neighbouring methods of which no two differ.

    Parameters
    ----------
    ordered : iterable of str
        Methods by average rank.
    differ : callable
        Whether two methods differ.

    Returns
    -------
    tuple of tuple of str
        Groups of at least two methods.

    Examples
    --------
    >>> from limo.experiment import groups
    >>> place = {"A": 1.0, "B": 1.5, "C": 2.5, "D": 4.0}
    >>> groups(place, lambda a, b: abs(place[a] - place[b]) > 1)
    (('A', 'B'), ('B', 'C'))
    """
    names = as_names(ordered, "ordered")
    check_kind(differ, Callable, "differ must be a function of two methods")
    runs: list[tuple[str, ...]] = []
    for start in range(len(names)):
        end = start + 1
        while end < len(names) and not any(differ(a, names[end]) for a in names[start:end]):
            end += 1
        if end - start > 1 and not (runs and runs[-1][-1] == names[end - 1]):
            runs.append(names[start:end])
    return tuple(runs)
