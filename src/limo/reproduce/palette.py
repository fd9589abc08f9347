"""Colours and marks of the pictures: told apart by eyes of every kind, and in grey."""

from typing import Any

from matplotlib.figure import Figure

__all__ = ["FAINT", "GOOD", "INK", "POOR", "STYLES", "figure", "style"]

INK, FAINT, GOOD, POOR = "#33415c", "#c8ccd4", "#0072b2", "#d55e00"

# Okabe and Ito's colours; LIMO's three have the marks the paper gives them.
STYLES: dict[str, dict[str, str]] = {
    "LIMO": {"color": "#d55e00", "marker": "o"},
    "LIMO-inst": {"color": "#0072b2", "marker": "s"},
    "LIMO-label": {"color": "#009e73", "marker": "^"},
    "BR": {"color": "#000000", "marker": "x"},
    "ML-kNN": {"color": "#cc79a7", "marker": "D"},
    "GFM": {"color": "#b8860b", "marker": "v"},
    "LIMO, aimed": {"color": "#7a3b00", "marker": "*"},
    "logistic, tuned": {"color": "#56b4e9", "marker": "P"},
}


def style(method: str) -> dict[str, str]:
    """Colour and mark of a method; a cut per label is drawn hollow."""
    base, _, cut = method.partition("-t")
    found = dict(STYLES[base])
    return found | {"markerfacecolor": "white"} if method.endswith("-t") and not cut else found


def figure(width: float, height: float, rows: int = 1, columns: int = 1) -> tuple[Figure, Any]:
    """A figure of its own, without global state, and its axes as a grid."""
    made = Figure(figsize=(width, height), layout="constrained")
    return made, made.subplots(rows, columns, squeeze=False)
