"""Reports: plain documents of results, and the HTML page of a document."""

from limo.report._changes import changes
from limo.report._comparison import comparison_document, comparison_part, document_from_parts
from limo.report._evaluation import evaluation_document
from limo.report._page import render, write
from limo.report._provenance import collect_provenance
from limo.report._tables import tables

__all__ = [
    "changes",
    "collect_provenance",
    "comparison_document",
    "comparison_part",
    "document_from_parts",
    "evaluation_document",
    "render",
    "tables",
    "write",
]
