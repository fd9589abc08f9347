import re
from pathlib import Path

import pytest

import limo
from cli.running import printed_json, process, run

CITATION = (Path(__file__).parents[2] / "CITATION.cff").read_text()


def test_it_says_what_the_citation_file_says():
    found = printed_json(run("cite", "--json"))
    for entry in found.values():
        assert f'title: "{entry["title"]}"' in CITATION
    paper, software = found["paper"], found["software"]
    assert f'collection-title: "{paper["booktitle"]}"' in CITATION
    for key in ("year", "volume"):
        assert f"{key}: {paper[key]}" in CITATION
    start, end = (re.search(rf"{key}: (\d+)", CITATION)[1] for key in ("start", "end"))
    assert paper["pages"] == f"{start}--{end}"
    names = re.findall(r"given-names: (\S+)\s+family-names: (\S+)", CITATION)
    assert paper["author"] == " and ".join(f"{family}, {given}" for given, family in names)
    assert software["version"] == limo.__version__
    assert f"license: {software['license']}" in CITATION
    assert f'name: "{software["author"].strip("{}")}"' in CITATION


def test_bibtex():
    both = run("cite").stdout
    assert [line for line in both.splitlines() if line.startswith("@")] == [
        "@inproceedings{wu2017unified,",
        "@software{limo,",
    ]
    assert both.count("{") == both.count("}")
    assert run("cite", "paper").stdout + "\n" + run("cite", "software").stdout == both
    assert run("cite", "poster").exit_code == 2


@pytest.mark.slow
def test_as_a_process(tmp_path):
    found = process("cite", folder=tmp_path)
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.startswith("@inproceedings{")
