from pathlib import Path

import pytest
from sklearn.svm import LinearSVC

from limo.experiment._identity import PlanError, absolute, file_digest, import_object


def test_a_class_of_a_module():
    assert import_object("sklearn.svm:LinearSVC") is LinearSVC
    assert file_digest("sklearn.svm:LinearSVC") == ""
    assert absolute("sklearn.svm:LinearSVC", Path("/tmp")) == "sklearn.svm:LinearSVC"


def test_a_class_of_a_file_and_of_the_file_edited(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("class Mine:\n    value = 1\n")
    path = absolute("mine.py:Mine", tmp_path)
    first, digest = import_object(path), file_digest(path)
    assert import_object(path) is first
    file.write_text("class Mine:\n    value = 2\n")
    assert (first.value, import_object(path).value) == (1, 2)
    assert file_digest(path) != digest


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("LinearSVC", "expected an import path like 'package.module:Class' or 'file.py:Class', got"),
        ("sklearn.svm:", "expected an import path"),
        (":LinearSVC", "expected an import path"),
        ("sklearn.smv:SVC", "there is no module 'sklearn.smv', named by 'sklearn.smv:SVC'. A file is "
         "named with its ending: 'smv.py:Class'"),
        ("nowhere:Mine", "A file is named with its ending: 'nowhere.py:Class'"),
        ("nowhere.py:Mine", "there is no file 'nowhere.py', named by 'nowhere.py:Mine'"),
        ("sklearn.svm:LinearSVCs", "sklearn.svm has no 'LinearSVCs', named by 'sklearn.svm:LinearSVCs'. "
         "Did you mean 'LinearSVC'?"),
    ],
)  # fmt: skip
def test_a_path_that_leads_nowhere(path, message):
    with pytest.raises(PlanError) as error:
        import_object(path)
    assert message in str(error.value)


def test_a_file_or_module_that_fails_says_how(tmp_path, monkeypatch):
    for name, text in {"bad": "1 / 0", "needs": "import not_there"}.items():
        (tmp_path / f"limo_{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    for path in ("limo_bad:Mine", f"{tmp_path}/limo_bad.py:Mine"):
        with pytest.raises(PlanError, match="cannot be imported: ZeroDivisionError: division by"):
            import_object(path)
    with pytest.raises(PlanError, match="cannot be imported: No module named 'not_there'"):
        import_object("limo_needs:Mine")
