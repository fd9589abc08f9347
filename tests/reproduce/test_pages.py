from pathlib import Path

from limo.reproduce import Reproduction


def test_a_reproduction_reads_as_sentences():
    found = Reproduction("A title", Path("out"), ("One.", "Two."), {}, (Path("out/a.md"),), {})
    assert str(found).splitlines()[:3] == ["A title", "One.", "Two."]
    assert str(found).endswith("a.md.")
