"""Pages opened in a browser: one that saw an error or a request fails its test."""

from contextlib import contextmanager

import numpy as np
import pytest

from limo.report import evaluation_document, write


@pytest.fixture
def opened(browser, tmp_path):
    """Open the page of a document from disk: nothing may go wrong in it, nothing leave it."""

    @contextmanager
    def open_page(document, *, width=1200, height=900, **options):
        path = write(document, tmp_path / "page.html", force=True)
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        context.set_default_timeout(15000)
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
