"""The warning of undefined measures, apart because its base class loads scikit-learn."""

from sklearn.exceptions import UndefinedMetricWarning


class UndefinedMeasureWarning(UndefinedMetricWarning):  # type: ignore[misc]
    """A measure has no value on these labels, so nan was returned.

    A filter for scikit-learn's ``UndefinedMetricWarning`` applies to it too.

    Examples
    --------
    >>> import limo, warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     limo.macro_auc([[1], [1]], [[0.5], [0.7]])
    nan
    >>> caught[0].category is limo.UndefinedMeasureWarning
    True
    """

    __module__ = "limo"  # the public name
