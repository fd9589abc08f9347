"""Draw the pictures of the README from the results of ``limo demo``: python docs/draw_pictures.py.

The picture of the report needs playwright and Chromium.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from matplotlib.figure import Figure
from playwright.sync_api import sync_playwright

import limo

TO = Path(__file__).parent / "pictures"
COLOURS = ("#d55e00", "#0072b2")


def demo(folder: Path) -> dict:
    """The document of the demo; its report is written to the folder."""
    command = [
        sys.executable,
        "-m",
        "limo",
        "demo",
        "--json",
        "--report",
        str(folder / "demo.html"),
    ]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(found.stdout)


def draw_cuts(table: dict) -> Figure:
    """Instance-F1 of the same scores, cut in four ways."""
    figure = Figure(figsize=(5.4, 2.2), layout="constrained")
    ax = figure.subplots()
    names = [row[0] for row in table["rows"]]
    for k, (model, colour) in enumerate(zip(table["columns"][1:], COLOURS, strict=True)):
        places = [j + 0.2 * k - 0.1 for j in range(len(names))]
        ax.plot([row[k + 1] for row in table["rows"]], places, "o", color=colour, label=model)
    ax.set(ylim=(len(names) - 0.5, -0.5), xlabel="instance-F1 of the same scores")
    ax.set_yticks(range(len(names)), names)
    ax.grid(axis="x", alpha=0.35)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(length=0)
    ax.legend(frameon=False, loc="upper right")
    return figure


def photograph(page: Path, to: Path) -> None:
    """The first screen of a report."""
    program = shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": 1180, "height": 900})
        opened.goto(page.as_uri())
        opened.screenshot(path=to)
        browser.close()


def main() -> None:
    """Draw all of them."""
    limo.datasets.plot_triangles().savefig(TO / "triangles.png", dpi=75)
    with tempfile.TemporaryDirectory() as name:
        document = demo(Path(name))
        draw_cuts(document["tables"][1]).savefig(TO / "cuts.svg", metadata={"Date": None})
        photograph(Path(name) / "demo.html", TO / "report.png")


if __name__ == "__main__":
    main()
