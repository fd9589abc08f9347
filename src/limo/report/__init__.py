"""Reports: from results to a plain document, and from the document to one HTML page."""

from limo.report._comparison import compare, comparison, page
from limo.report._evaluation import judge
from limo.report._page import render, write
from limo.report._provenance import describe_making

__all__ = ["compare", "comparison", "describe_making", "judge", "page", "render", "write"]
