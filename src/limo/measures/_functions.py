"""The eleven measures as functions of ``(y_true, y_score)`` or ``(y_true, y_pred)``."""

import math
import warnings
from typing import Any

from limo._checks import check_inputs
from limo._system import Later
from limo.measures._compute import check_conventions, compute
from limo.measures._conventions import Conventions
from limo.measures._table import MEASURES

# Loaded when a measure is undefined: the measures themselves do without scikit-learn.
warning = Later("limo.measures._warning")


def hamming_loss(
    y_true: Any,
    y_pred: Any,
    *,
    conventions: str | Conventions = "standard",
    sample_weight: Any = None,
    missing: Any = None,
) -> float:
    """Share of labels predicted wrongly; lower is better.

    hloss = mean over i, j of [P_ij != Y_ij]. Always defined.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_pred : array-like or sparse matrix of shape (n_samples, n_labels)
        Predicted labels, 0 or 1.
    conventions : str or Conventions, default="standard"
        How ties and undefined rows count: "standard", "paper", "sklearn" or a record.
    sample_weight : array-like of shape (n_samples,), optional
        How much each instance counts; an instance of weight 2 counts as two.
    missing : number or array-like of bool, optional
        The number that stands for a missing label in ``y_true`` (nan or -1), or a mask that is true
        where a label is missing. Such entries take no part.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> import limo
    >>> limo.hamming_loss([[1, 0], [0, 1]], [[1, 0], [1, 1]])
    0.25
    """
    return _value("hamming_loss", (y_true, None, y_pred), conventions, sample_weight, missing)


def ranking_loss(
    y_true: Any,
    y_score: Any,
    *,
    conventions: str | Conventions = "standard",
    sample_weight: Any = None,
    missing: Any = None,
) -> float:
    """Share of label pairs in the wrong order, per instance; lower is better.

    rloss = mean over i of #{(u, v) in Y_i+ x Y_i- : S_iu <= S_iv} / (|Y_i+| |Y_i-|).
    A tied pair is an error. Instances without pairs (no label, or all labels) are left out;
    scikit-learn counts them as 0.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like of shape (n_samples, n_labels)
        Scores; a higher one means more likely relevant.
    conventions : str or Conventions, default="standard"
        How ties and undefined rows count: "standard", "paper", "sklearn" or a record.
    sample_weight : array-like of shape (n_samples,), optional
        How much each instance counts; an instance of weight 2 counts as two.
    missing : number or array-like of bool, optional
        The number that stands for a missing label in ``y_true`` (nan or -1), or a mask that is true
        where a label is missing. Such entries take no part.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> import limo
    >>> limo.ranking_loss([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.4], [0.5, 0.1, 0.8]])
    0.25
    """
    return _value("ranking_loss", (y_true, y_score), conventions, sample_weight, missing)


def one_error(
    y_true: Any,
    y_score: Any,
    *,
    conventions: str | Conventions = "standard",
    sample_weight: Any = None,
    missing: Any = None,
) -> float:
    """Share of instances whose top-scored label is irrelevant; lower is better.

    one-error = mean over i of [argmax_j S_ij not in Y_i+].
    If several labels share the top score, it is an error if one of them is irrelevant; under
    "paper" only if all are. Instances without a relevant label are left out.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like of shape (n_samples, n_labels)
        Scores; a higher one means more likely relevant.
    conventions : str or Conventions, default="standard"
        How ties and undefined rows count: "standard", "paper", "sklearn" or a record.
    sample_weight : array-like of shape (n_samples,), optional
        How much each instance counts; an instance of weight 2 counts as two.
    missing : number or array-like of bool, optional
        The number that stands for a missing label in ``y_true`` (nan or -1), or a mask that is true
        where a label is missing. Such entries take no part.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> import limo
    >>> limo.one_error([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.4], [0.5, 0.1, 0.3]])
    0.5
    """
    return _value("one_error", (y_true, y_score), conventions, sample_weight, missing)


def coverage(
    y_true: Any,
    y_score: Any,
    *,
    conventions: str | Conventions = "standard",
    sample_weight: Any = None,
    missing: Any = None,
) -> float:
    """How far down the ranking one must read to find all relevant labels; lower is better.

    coverage = mean over i of max over j in Y_i+ of rank(S_ij) - 1.
    Tied labels have the worst rank, #{k : S_ik >= S_ij}; under "paper" the best. One less
    than scikit-learn's ``coverage_error``. Instances without a relevant label are left out.
    The best possible value is the mean of |Y_i+| - 1, not 0.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like of shape (n_samples, n_labels)
        Scores; a higher one means more likely relevant.
    conventions : str or Conventions, default="standard"
        How ties and undefined rows count: "standard", "paper", "sklearn" or a record.
    sample_weight : array-like of shape (n_samples,), optional
        How much each instance counts; an instance of weight 2 counts as two.
    missing : number or array-like of bool, optional
        The number that stands for a missing label in ``y_true`` (nan or -1), or a mask that is true
        where a label is missing. Such entries take no part.

    Returns
    -------
    float
        Between 0 and n_labels - 1.

    Examples
    --------
    >>> import limo
    >>> limo.coverage([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.4], [0.5, 0.1, 0.8]])
    1.0
    """
    return _value("coverage", (y_true, y_score), conventions, sample_weight, missing)


def average_precision(
    y_true: Any,
    y_score: Any,
    *,
    conventions: str | Conventions = "standard",
    sample_weight: Any = None,
    missing: Any = None,
) -> float:
    """Share of relevant labels at or above each relevant label, on average; higher is better.

    avgprec = mean over i, then over j in Y_i+, of #{k in Y_i+ : r_ik <= r_ij} / r_ij, where r_ij
    is the rank of S_ij in its row. Also known as label ranking average precision. Tied labels have
    the worst rank; under "paper" the best, which can give values above 1 if relevant labels tie.
    Instances without a relevant label are left out; scikit-learn counts them as 1.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like of shape (n_samples, n_labels)
        Scores; a higher one means more likely relevant.
    conventions : str or Conventions, default="standard"
        How ties and undefined rows count: "standard", "paper", "sklearn" or a record.
    sample_weight : array-like of shape (n_samples,), optional
        How much each instance counts; an instance of weight 2 counts as two.
    missing : number or array-like of bool, optional
        The number that stands for a missing label in ``y_true`` (nan or -1), or a mask that is true
        where a label is missing. Such entries take no part.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> import limo
    >>> limo.average_precision([[1, 0, 0], [0, 1, 0]], [[0.9, 0.2, 0.4], [0.5, 0.1, 0.8]])
    0.6666666666666666
    """
    return _value("average_precision", (y_true, y_score), conventions, sample_weight, missing)


def macro_f1(
    y_true: Any,
    y_pred: Any,
    *,
    conventions: str | Conventions = "standard",
    sample_weight: Any = None,
    missing: Any = None,
) -> float:
    """Mean over labels of F1; higher is better.

    macro-F1 = mean over j of 2 |Y_j & P_j| / (|Y_j| + |P_j|).
    A label that is never true and never predicted counts as 0.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_pred : array-like or sparse matrix of shape (n_samples, n_labels)
        Predicted labels, 0 or 1.
    conventions : str or Conventions, default="standard"
        How ties and undefined rows count: "standard", "paper", "sklearn" or a record.
    sample_weight : array-like of shape (n_samples,), optional
        How much each instance counts; an instance of weight 2 counts as two.
    missing : number or array-like of bool, optional
        The number that stands for a missing label in ``y_true`` (nan or -1), or a mask that is true
        where a label is missing. Such entries take no part.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> import limo
    >>> limo.macro_f1([[1, 0], [0, 1]], [[1, 0], [1, 1]])
    0.8333333333333333
    """
    return _value("macro_f1", (y_true, None, y_pred), conventions, sample_weight, missing)


def instance_f1(
    y_true: Any,
    y_pred: Any,
    *,
    conventions: str | Conventions = "standard",
    sample_weight: Any = None,
    missing: Any = None,
) -> float:
    """Mean over instances of F1; higher is better.

    instance-F1 = mean over i of 2 |Y_i & P_i| / (|Y_i| + |P_i|).
    An instance without true and without predicted labels counts as 0.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_pred : array-like or sparse matrix of shape (n_samples, n_labels)
        Predicted labels, 0 or 1.
    conventions : str or Conventions, default="standard"
        How ties and undefined rows count: "standard", "paper", "sklearn" or a record.
    sample_weight : array-like of shape (n_samples,), optional
        How much each instance counts; an instance of weight 2 counts as two.
    missing : number or array-like of bool, optional
        The number that stands for a missing label in ``y_true`` (nan or -1), or a mask that is true
        where a label is missing. Such entries take no part.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> import limo
    >>> limo.instance_f1([[1, 0], [0, 1]], [[1, 0], [1, 1]])
    0.8333333333333333
    """
    return _value("instance_f1", (y_true, None, y_pred), conventions, sample_weight, missing)


def micro_f1(
    y_true: Any,
    y_pred: Any,
    *,
    conventions: str | Conventions = "standard",
    sample_weight: Any = None,
    missing: Any = None,
) -> float:
    """F1 of all entries together; higher is better.

    micro-F1 = 2 |Y & P| / (|Y| + |P|), entries counted over the whole matrix.
    It is 0 if nothing is true and nothing is predicted.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_pred : array-like or sparse matrix of shape (n_samples, n_labels)
        Predicted labels, 0 or 1.
    conventions : str or Conventions, default="standard"
        How ties and undefined rows count: "standard", "paper", "sklearn" or a record.
    sample_weight : array-like of shape (n_samples,), optional
        How much each instance counts; an instance of weight 2 counts as two.
    missing : number or array-like of bool, optional
        The number that stands for a missing label in ``y_true`` (nan or -1), or a mask that is true
        where a label is missing. Such entries take no part.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> import limo
    >>> limo.micro_f1([[1, 0], [0, 1]], [[1, 0], [1, 1]])
    0.8
    """
    return _value("micro_f1", (y_true, None, y_pred), conventions, sample_weight, missing)


def macro_auc(
    y_true: Any,
    y_score: Any,
    *,
    conventions: str | Conventions = "standard",
    sample_weight: Any = None,
    missing: Any = None,
) -> float:
    """Mean over labels of the AUC among instances; higher is better.

    macro-AUC = mean over j of #{(a, b) in Y_j+ x Y_j- : S_aj > S_bj} / (|Y_j+| |Y_j-|).
    A tied pair counts half; under "paper" it counts in full. Labels that every instance has or no
    instance has are left out; scikit-learn makes the whole mean nan.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like of shape (n_samples, n_labels)
        Scores; a higher one means more likely relevant.
    conventions : str or Conventions, default="standard"
        How ties and undefined rows count: "standard", "paper", "sklearn" or a record.
    sample_weight : array-like of shape (n_samples,), optional
        How much each instance counts; an instance of weight 2 counts as two.
    missing : number or array-like of bool, optional
        The number that stands for a missing label in ``y_true`` (nan or -1), or a mask that is true
        where a label is missing. Such entries take no part.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> import limo
    >>> limo.macro_auc([[1, 0], [0, 1], [0, 0]], [[0.9, 0.3], [0.2, 0.3], [0.1, 0.1]])
    0.875
    """
    return _value("macro_auc", (y_true, y_score), conventions, sample_weight, missing)


def instance_auc(
    y_true: Any,
    y_score: Any,
    *,
    conventions: str | Conventions = "standard",
    sample_weight: Any = None,
    missing: Any = None,
) -> float:
    """Mean over instances of the AUC among labels; higher is better.

    instance-AUC = mean over i of #{(u, v) in Y_i+ x Y_i- : S_iu > S_iv} / (|Y_i+| |Y_i-|).
    A tied pair counts half, so this is 1 - ranking loss only without ties. Instances with no label
    or all labels are left out; scikit-learn makes the whole mean nan.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like of shape (n_samples, n_labels)
        Scores; a higher one means more likely relevant.
    conventions : str or Conventions, default="standard"
        How ties and undefined rows count: "standard", "paper", "sklearn" or a record.
    sample_weight : array-like of shape (n_samples,), optional
        How much each instance counts; an instance of weight 2 counts as two.
    missing : number or array-like of bool, optional
        The number that stands for a missing label in ``y_true`` (nan or -1), or a mask that is true
        where a label is missing. Such entries take no part.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> import limo
    >>> limo.instance_auc([[1, 0, 0], [0, 1, 1]], [[0.9, 0.2, 0.4], [0.5, 0.1, 0.8]])
    0.75
    """
    return _value("instance_auc", (y_true, y_score), conventions, sample_weight, missing)


def micro_auc(
    y_true: Any,
    y_score: Any,
    *,
    conventions: str | Conventions = "standard",
    sample_weight: Any = None,
    missing: Any = None,
) -> float:
    """AUC of all entries together; higher is better.

    micro-AUC = share of pairs (relevant entry, irrelevant entry) of the matrix whose relevant entry
    scores higher; a tied pair counts half. nan if no entry is relevant or all are.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_score : array-like of shape (n_samples, n_labels)
        Scores; a higher one means more likely relevant.
    conventions : str or Conventions, default="standard"
        How ties and undefined rows count: "standard", "paper", "sklearn" or a record.
    sample_weight : array-like of shape (n_samples,), optional
        How much each instance counts; an instance of weight 2 counts as two.
    missing : number or array-like of bool, optional
        The number that stands for a missing label in ``y_true`` (nan or -1), or a mask that is true
        where a label is missing. Such entries take no part.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> import limo
    >>> limo.micro_auc([[1, 0], [0, 1]], [[0.9, 0.3], [0.2, 0.3]])
    0.875
    """
    return _value("micro_auc", (y_true, y_score), conventions, sample_weight, missing)


def _value(
    name: str,
    given: tuple[Any, ...],
    conventions: str | Conventions,
    sample_weight: Any,
    missing: Any,
) -> float:
    """The value of a measure; ``given`` is (y_true, y_score) or (y_true, None, y_pred)."""
    measure = MEASURES[name]
    checked = check_inputs(*given, sample_weight=sample_weight, missing=missing, sparse_scores=True)
    _ = checked.needed_scores if measure.needs == "scores" else checked.labels
    result = compute([measure], checked, check_conventions(conventions)).results[name]
    if math.isnan(result.value):
        undefined, total = int(result.undefined.sum()), result.undefined.size
        warnings.warn(
            f"{measure.title} is undefined here, and nan is returned: {undefined} of {total} "
            f"{measure.view.row} rows have no (relevant, irrelevant) pair.",
            warning.UndefinedMeasureWarning,
            stacklevel=3,
        )
    return result.value
