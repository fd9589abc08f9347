from limo._text import Prose, align, as_html, counted

ROWS = [("name", "value"), ("a <b>", "1"), ("long name", "")]


def test_align():
    assert align(ROWS) == "name       value\na <b>      1\nlong name"


def test_html_is_escaped():
    assert as_html(ROWS) == (
        "<table><thead><tr><th>name</th><th>value</th></tr></thead><tbody>"
        "<tr><td>a &lt;b&gt;</td><td>1</td></tr><tr><td>long name</td><td></td></tr></tbody></table>"
    )


def test_counted():
    assert [counted(n, "label") for n in (0, 1, 2)] == ["0 labels", "1 label", "2 labels"]
    assert counted(2, "entry") == "2 entries"
    assert counted(1, "matrix") == "1 matrix"


def test_a_notebook_shows_sentences_as_paragraphs():
    text = Prose("one < two\nthree")
    assert text == "one < two\nthree"
    assert text._repr_html_() == "<p>one &lt; two</p><p>three</p>"
