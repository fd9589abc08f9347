"""One Chromium for all tests of pages; a page that saw an error or a request fails its test."""

import os
import shutil
from contextlib import contextmanager

import numpy as np
import pytest

from limo.report import evaluation_document, write

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-background-networking "
    "--disable-component-update --disable-sync --no-first-run --disable-quic"
)


def _lacking(reason):
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI must look at the pages in a browser: {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser():
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        _lacking("no chromium on this machine (Debian: apt-get install chromium)")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _lacking("playwright is not installed (pip install playwright; no browser need be loaded)")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=FLAGS.split())
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Open the page of a document from disk: nothing may go wrong in it, nothing leave it."""

    @contextmanager
    def open_page(document, *, width=1200, height=900, **options):
        path = write(document, tmp_path / "page.html", force=True)
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        context.set_default_timeout(4000)
        page = context.new_page()
        trouble = []
        page.on(
            "console", lambda m: trouble.append(m.text) if m.type in ("error", "warning") else 0
        )
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: trouble.append(dialog.message))
        page.on("request", lambda r: trouble.append(r.url) if _leaves(r.url, path) else 0)
        page.trouble = trouble
        page.goto(path.as_uri())
        yield page
        assert trouble == []
        context.close()

    return open_page


def _leaves(url, path):
    return url != path.as_uri() and not url.startswith(("data:", "blob:"))


@pytest.fixture(scope="session")
def several():
    """Three models on eight labels, one of which no instance has."""
    rng = np.random.default_rng(3)
    Y = (rng.random((60, 8)) < 0.3).astype(int)
    Y[:, 7] = 0
    S = {f"model {k}": rng.normal(size=Y.shape) + k * Y for k in range(3)}
    P = {name: (s > 0.75).astype(int) for name, s in S.items()}
    names = ["beta", "alpha", "delta 10", "delta 9", "gamma", "eta", "zeta", "theta"]
    return evaluation_document(Y, S, P, label_names=names)


@pytest.fixture(scope="session")
def case():
    """Labels with one empty row and a label nobody has, scores and predictions."""
    rng = np.random.default_rng(0)
    Y = (rng.random((40, 6)) < 0.35).astype(int)
    Y[:, 5] = 0
    Y[:, 0] |= Y.sum(1) == 0
    Y[0] = 0
    S = rng.normal(size=Y.shape) + 1.5 * Y
    return Y, S, (S > 0.75).astype(int)
