"""Small tables for people: lines of text, aligned or as HTML."""

from html import escape

__all__ = ["Rows", "align", "as_html", "counted"]

Rows = list[tuple[str, ...]]


def align(rows: Rows) -> str:
    """Pad the cells so that columns stand under their heads."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def as_html(rows: Rows) -> str:
    """Write rows as an HTML table, the first being its head."""
    head, *body = rows
    lines = "".join(_line(row, "td") for row in body)
    return f"<table><thead>{_line(head, 'th')}</thead><tbody>{lines}</tbody></table>"


def counted(n: int, noun: str) -> str:
    """Write a number with its noun: 1 label, 2 labels, 2 matrices."""
    plural = {"matrix": "matrices", "entry": "entries"}.get(noun, f"{noun}s")
    return f"{n} {noun if n == 1 else plural}"


def _line(cells: tuple[str, ...], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
