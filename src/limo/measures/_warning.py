"""The warning of undefined measures, apart because its base class loads scikit-learn."""

from sklearn.exceptions import UndefinedMetricWarning


class UndefinedMeasureWarning(UndefinedMetricWarning):  # type: ignore[misc]
    """A measure has no value on these labels, so nan was returned.

    A filter for scikit-learn's ``UndefinedMetricWarning`` applies to it too.
    """

    __module__ = "limo"  # the public name
