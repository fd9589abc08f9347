"""From numbers to plain documents: all that a report shows, as JSON can hold it. Draws nothing."""

from limo.findings.judging import judge
from limo.findings.making import describe_making

__all__ = ["describe_making", "judge"]
