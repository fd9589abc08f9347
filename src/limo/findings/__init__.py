"""From numbers to plain documents: all that a report shows, as JSON can hold it. Draws nothing."""

from limo.findings.comparing import compare, comparison, page
from limo.findings.judging import judge
from limo.findings.making import describe_making

__all__ = ["compare", "comparison", "describe_making", "judge", "page"]
