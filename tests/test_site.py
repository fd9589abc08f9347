"""The documentation site, built as CONTRIBUTING says and opened in a real browser."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import limo

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site; a warning of Sphinx is an error."""
    pytest.importorskip("sphinx", reason="the site needs the extra docs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", "docs", str(folder)]
    built = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"MPLBACKEND": "Agg"}, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.targets, self.names = [], set()

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.names.update(found[key] for key in ("id", "name") if found.get(key))
        target = found.get("href") or (found.get("src") if tag in ("img", "script") else None)
        if target:
            self.targets.append(target)


def links_of(page):
    parser = Links()
    parser.feed(page.read_text(encoding="utf-8"))
    return parser


def test_every_link_inside_the_site_leads_somewhere(site):
    pages = {path: links_of(path) for path in site.rglob("*.html") if "_static" not in path.parts}
    assert len(pages) > 100
    broken = []
    for path, links in pages.items():
        for target in links.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = pages.get(to)
            wrong_name = known and parts.fragment and unquote(parts.fragment) not in known.names
            if not to.exists() or wrong_name:
                broken.append(f"{path.relative_to(site)} -> {target}")
    assert not broken


def test_every_public_name_has_a_page(site):
    pages = {path.stem for path in (site / "generated" / "reference").glob("*.html")}
    missing = [
        name
        for name in limo.__all__
        if f"limo.{name}" not in pages and not hasattr(getattr(limo, name), "__path__")
    ]
    assert not missing


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize(
    "name", ["index", "which", "measures", "generated/reference/limo.evaluate"]
)
def test_pages_fit_their_window(site, browser, name, width):
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto((site / f"{name}.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_search_works_from_disk(site, browser):
    page = browser.new_page()
    page.goto((site / "search.html").as_uri() + "?q=coverage")
    page.wait_for_selector("#search-results li a")
    assert any(
        "coverage" in text.lower() for text in page.locator("#search-results li").all_inner_texts()
    )
    page.close()


def test_a_measure_is_two_clicks_from_the_first_page(site, browser):
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto((site / "index.html").as_uri())
    page.get_by_role("link", name="Measures and conventions").first.click()
    for measure in limo.measures.MEASURES.values():
        assert measure.title in page.locator("article").inner_text()
    page.close()


def test_version_is_the_same_everywhere():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.+)$", citation, re.MULTILINE).group(1) == limo.__version__
