"""From a document of findings to one HTML file. Reads the document only, and never recomputes."""

from limo.report.files import write
from limo.report.page import render

__all__ = ["render", "write"]
