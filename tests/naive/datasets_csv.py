"""A slow reader of CSV and TSV: the csv module splits, ``float`` reads, one cell after the other."""

import csv
import io
import re
from typing import NamedTuple

MISSING = {"", "?", "NA", "N/A", "NaN", "nan", "NULL", "null", "None"}
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?")


class NaiveColumn(NamedTuple):
    """A column: its name, its cells (None: missing) and, if they are text, its distinct values."""

    name: str
    cells: list[float | str | None]
    values: list[str] | None


class MalformedError(Exception):
    """What is wrong in which line."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


def read(text: str, delimiter: str) -> list[NaiveColumn]:
    """The columns of a file whose first row holds the names; raise MalformedError at the first fault."""
    if "\0" in text:
        raise MalformedError(text[: text.index("\0")].count("\n") + 1)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows = []
    try:
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error:
        raise MalformedError(reader.line_num) from None
    (_, names), *body = rows
    for line, row in body:
        if len(row) != len(names) or (len(names) == 1 and row[0].isspace()):
            raise MalformedError(line)
    return [column(name.strip(" \t"), j, body) for j, name in enumerate(names)]


def column(name: str, j: int, body: list[tuple[int, list[str]]]) -> NaiveColumn:
    """Numbers, or text that is not mixed with numbers; true and false are 1 and 0.

    A column of decimal commas is a fault.
    """
    texts = [row[j].strip(" \t") for _, row in body]
    words = {text for text in texts if text not in MISSING and not NUMBER.fullmatch(text)}
    if words and all(COMMA.fullmatch(word) for word in words):
        raise MalformedError(
            next(line for (line, _), text in zip(body, texts, strict=True) if text in words)
        )
    is_truth = bool(words) and {word.lower() for word in words} <= {"true", "false"}
    cells: list[float | str | None] = []
    for (line, _), text in zip(body, texts, strict=True):
        if text in MISSING:
            cells.append(None)
        elif text in words:
            if any(NUMBER.fullmatch(other) for other in texts):
                raise MalformedError(line)
            cells.append(float(text.lower() == "true") if is_truth else text)
        else:
            if float(text) in (float("inf"), float("-inf")):
                raise MalformedError(line)
            cells.append(float(text))
    return NaiveColumn(name, cells, sorted(words) if words and not is_truth else None)
