import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from limo.report import comparison_document, document_from_parts, evaluation_document, render
from limo.report._page import FORMAT, embedded
from report.rows import make_rows

WILD = ["<script>alert(1)</script>", '"quotes\' & co"', "😀 name", "x" * 300, "עברית", "</title>"]
VOID = {"meta", "link", "input", "br"}


class Tags(HTMLParser):
    """Checks that elements nest, and keeps ids, texts and scripts."""

    def __init__(self):
        super().__init__()
        self.open, self.ids, self.data, self.scripts, self.events = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.events += [name for name in attrs if name.startswith("on") or name == "style"]
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if tag == "data":
            self.data.append(attrs["value"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if self.open and self.open[-1] == "script":
            self.scripts.append(text)


def parsed(page):
    tags = Tags()
    tags.feed(page)
    tags.close()
    assert tags.open == []
    return tags


def case(n_models=1, *, labels=6):
    rng = np.random.default_rng(0)
    Y = (rng.random((30, labels)) < 0.35).astype(int)
    S = {f"model {k}": rng.normal(size=Y.shape) + k * Y for k in range(n_models)}
    return Y, S, {name: (s > 0.5).astype(int) for name, s in S.items()}


def numbers_of(part):
    """Every number of a document."""
    if isinstance(part, dict):
        return {x for item in part.values() for x in numbers_of(item)}
    if isinstance(part, list):
        return {x for item in part for x in numbers_of(item)}
    if isinstance(part, int | float) or part in ("Infinity", "-Infinity"):
        return {float(part)}
    return set()


PRINTED = [
    {"dataset": "d", "method": m, "measure": "macro_f1", "mean": 0.5, "std": s}
    for m, s in (("A", 0.001), ("C", 0.0))
]
TABLE = {
    "title": "<T>",
    "note": "n",
    "columns": ["a", "b"],
    "rows": [["<x>", 1.25], ["0.5 ± 1", None]],
}

DOCUMENTS = {
    "one": lambda: evaluation_document(*case()),
    "several": lambda: evaluation_document(*case(4)),
    "scores only": lambda: evaluation_document(*case(2)[:2]),
    "predictions only": lambda: evaluation_document(case()[0], None, case()[2]),
    "one pair": lambda: evaluation_document([[1, 0]], {"m": [[0.5, 0.25]]}, {"m": [[1, 0]]}),
    "no label": lambda: evaluation_document(
        [[0, 0], [0, 0]], {"m": [[0.5, 0.25]] * 2}, {"m": [[0, 0]] * 2}
    ),
    "every label": lambda: evaluation_document([[1, 1]], {"m": [[0.5, 0.25]]}, {"m": [[1, 1]]}),
    "comparison": lambda: comparison_document(make_rows(), printed=PRINTED, title="C"),
    "one data set": lambda: comparison_document(make_rows(datasets=["d"], splits=1)),
    "one method": lambda: comparison_document(make_rows(methods=["A"])),
    "failures": lambda: comparison_document(
        make_rows().assign(value=np.nan, status="failed", error="<b>")
    ),
    "tables": lambda: document_from_parts("T", tables=[TABLE, TABLE | {"rows": []}]),
    "sklearn": lambda: evaluation_document(
        [[1, 0], [0, 0]], {"m": [[1.0, 0.0]] * 2}, conventions="sklearn"
    ),
}


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_the_menu_lists_the_sections_in_their_order(kind):
    page = render(DOCUMENTS[kind]())
    menu = re.findall(r'<li><a href="#([a-z]+)">', page)
    sections = re.findall(r'<section id="([a-z]+)"', page)
    assert menu == [name for name in sections if name in menu]


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_pages_are_well_formed_and_hold_the_documents_numbers(kind):
    document = DOCUMENTS[kind]()
    page = render(document)
    tags = parsed(page)
    assert len(set(tags.ids)) == len(tags.ids)
    assert {float(x) for x in tags.data} <= numbers_of(document)
    assert tags.events == []
    assert json.loads(tags.scripts[0]) == document


@pytest.mark.parametrize("n_models", [1, 3])
def test_every_measure_stands_in_the_table(n_models):
    document = evaluation_document(*case(n_models))
    page = render(document)
    for name in document["models"][0]["measures"]:
        (row,) = re.findall(rf'<tr data-measure="{name}">(.*?)</tr>', page, re.DOTALL)
        for k, model in enumerate(document["models"]):
            cell = re.search(rf'data-model="{k}">(.*?)</td>', row, re.DOTALL)[1]
            value = model["measures"][name]["value"]
            assert f'<data value="{json.dumps(value)}">{value:.4f}</data>' in cell


def test_a_page_read_back_from_json_is_the_same():
    document = evaluation_document(*case(2))
    assert render(json.loads(json.dumps(document))) == render(document)


def test_documents_stored_without_a_diagram_still_make_pages():
    document = comparison_document(make_rows())
    for test in document["comparisons"][0]["tests"]:
        del test["diagram"]
    page = render(document)
    parsed(page)
    assert "<p>Average ranks: " in page
    assert 'class="plot cd"' not in page


@pytest.mark.parametrize("name", WILD)
def test_names_are_text(name):
    Y, S, P = case(labels=3)
    names = [name, "b", "c"]
    provenance = {"command": name, "files": {name: {"path": name, "sha256": "0"}}}
    document = evaluation_document(
        Y, {name: S["model 0"]}, {name: P["model 0"]},
        label_names=names, title=name, provenance=provenance,
    )  # fmt: skip
    tags = parsed(render(document))
    assert len(tags.scripts) == 2
    assert json.loads(tags.scripts[0])["labels"]["names"] == names


def test_json_cannot_end_its_element():
    text = str(embedded({"a": "</script><!-- \u2028 & <script>"}))
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"a": "</script><!-- \u2028 & <script>"}


def test_the_policy_allows_this_style_and_this_script_only():
    page = render(evaluation_document(*case()))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src &#39;none&#39;; style-src")
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL)[1]
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)[1]
    for text in (style, script):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"sha256-{digest}" in policy
    assert "http:" not in page
    assert "https:" not in page


def test_only_documents_of_this_format_become_pages():
    assert evaluation_document(*case())["format"] == FORMAT
    with pytest.raises(ValueError, match="whose format is limo-report/2: got 'other/1'"):
        render({"format": "other/1"})
    older = "made by an older version of limo: its format is limo-findings/1, this version reads"
    with pytest.raises(ValueError, match=older):
        render({"format": "limo-findings/1"})
    with pytest.raises(ValueError, match="got 'list'. limo.report.evaluation_document and"):
        render([1])
    with pytest.raises(ValueError, match="The document is incomplete: .*title.* Create it again"):
        render({"format": FORMAT})


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [[], "x", 10**400])
def test_a_value_of_the_wrong_kind_is_a_sentence(wrong):
    """Every value of a document is replaced in turn; a page or a ValueError must come of it."""
    document = json.loads(json.dumps(evaluation_document(*case(labels=2)), allow_nan=False))
    sentences = []
    for holder, key in [*places(document)]:
        before = holder[key]
        holder[key] = wrong
        try:
            render(document)
        except ValueError as error:
            sentences.append(str(error))
        holder[key] = before
    assert sentences
    assert all(one.startswith(("The document ", "A page is made from")) for one in sentences)
    render(document)


def places(document):
    """Where each value of a document is, of lists only the first one."""
    keys = list(document) if isinstance(document, dict) else range(len(document))[:1]
    for key in keys:
        yield document, key
        if isinstance(document[key], dict | list):
            yield from places(document[key])
