"""The documentation site, built as CONTRIBUTING says and opened in a real browser."""

import importlib
import importlib.util
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import limo

# All in this file: a file is run by one worker, and two builds at once would write the same files.
pytestmark = pytest.mark.slow
ROOT = Path(__file__).parent.parent
_spec = importlib.util.spec_from_file_location("pages", ROOT / "docs" / "generate_pages.py")
generate_pages = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(generate_pages)


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


def test_every_public_name_has_a_page_with_an_example(site):
    pages = {path.stem: path for path in (site / "generated" / "reference").glob("*.html")}
    listed = (site / "generated" / "reference.html").read_text(encoding="utf-8")
    without = []
    for package in generate_pages.PACKAGES:
        module = importlib.import_module(package)
        for name in generate_pages.public_names(module):
            full = next(one for one in (f"limo.{name}", f"{package}.{name}") if one in pages)
            assert f"{full}.html" in listed
            text = pages[full].read_text(encoding="utf-8")
            if not name.isupper() and "&gt;&gt;&gt;" not in text and "See the example" not in text:
                without.append(full)
    assert not without


def test_what_draws_has_a_picture(site):
    for name in generate_pages.pictures():
        page = site / "generated" / "reference" / f"{name}.html"
        assert f"{name}.png" in page.read_text(encoding="utf-8")


def test_the_gallery_has_a_picture_for_every_example(site):
    scripts = {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert len(scripts) >= 12
    for script in scripts:
        page = (site / "gallery" / f"{script}.html").read_text(encoding="utf-8")
        assert f"sphx_glr_{script}_001.png" in page


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize(
    "name",
    ["index", "start", "which", "measures", "gallery/index", "generated/reference/limo.evaluate"],
)
def test_pages_fit_their_window(site, browser, name, width):
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto((site / f"{name}.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_the_map_leads_to_every_measure_and_scrolls_on_a_phone(site, browser):
    page = browser.new_page(viewport={"width": 360, "height": 800})
    page.goto((site / "which.html").as_uri())
    links = page.locator(".map a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
    assert sorted(links) == sorted(
        f"generated/reference/limo.{name}.html" for name in limo.MEASURES
    )
    wide, shown = page.locator(".map").evaluate("one => [one.scrollWidth, one.clientWidth]")
    assert shown <= 360 < wide
    page.close()


@pytest.mark.parametrize("library", ["dask", "torch"])
def test_examples_that_need_another_library_are_shown(site, library):
    pytest.importorskip(library, reason="without it, its examples are left out")
    scripts = list((ROOT / "examples" / library).glob("*.py"))
    assert scripts
    for script in scripts:
        page = site / "gallery" / library / f"{script.stem}.html"
        assert "_001.png" in page.read_text(encoding="utf-8")


def test_links_of_the_readme_lead_to_files():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#]+)", text)
    assert len(targets) > 20
    assert not [one for one in targets if "://" not in one and not (ROOT / one).exists()]


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
    for name, measure in limo.MEASURES.items():
        page.goto((site / "index.html").as_uri())
        page.locator("article").get_by_role("link", name=measure.title, exact=True).first.click()
        assert f"limo.{name}" in page.title() or name in page.locator("article").inner_text()
    page.close()


def test_version_is_the_same_everywhere():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.+)$", citation, re.MULTILINE).group(1) == limo.__version__


def test_the_notebook_runs_and_shows_tables_and_pictures(tmp_path):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.read(ROOT / "examples" / "first_steps.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)  # stored without results
    nbclient.NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    shown = [
        set(output.get("data", {})) for cell in notebook.cells for output in cell.get("outputs", ())
    ]
    assert sum("image/png" in kinds for kinds in shown) == 2
    assert sum("text/html" in kinds for kinds in shown) == 3
