"""Modules that are loaded when they are needed."""

import inspect
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from limo import _system
from limo._system import Later, importable


def test_it_is_the_module():
    import colorsys

    assert Later("colorsys").rgb_to_hsv is colorsys.rgb_to_hsv
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = Later("colorsys").nothing
    with pytest.raises(ModuleNotFoundError):
        _ = Later("no_such_module").anything


@pytest.mark.parametrize(
    ("library", "extra"),
    [("matplotlib.pyplot", "plots"), ("pyarrow", "parquet"), ("lightgbm", "boosting")],
)
def test_a_missing_library_is_named_with_its_extra(library, extra, monkeypatch):
    for part in (library, library.partition(".")[0]):
        monkeypatch.setitem(sys.modules, part, None)
    with pytest.raises(ModuleNotFoundError, match=rf"pip install 'limo-ml\[{extra}\]'"):
        _ = Later(library).anything


def test_a_library_that_fails_to_load_cannot_be_used(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    for name, line in (
        ("limo_fine", ""),
        ("limo_old", "raise ImportError('no')"),
        ("limo_alone", "raise OSError('libgomp.so.1: cannot open shared object file')"),
    ):
        (tmp_path / f"{name}.py").write_text(line)
    assert importable("limo_fine")
    for name in ("limo_old", "limo_alone", "limo_nowhere"):
        assert not importable(name)


def test_every_extra_that_is_named_exists():
    settings = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text())
    declared = settings["project"]["optional-dependencies"]
    for library, extra in _system._EXTRAS.items():
        assert any(line.startswith(library) for line in declared[extra])


def test_an_interrupted_load_leaves_no_half_module(tmp_path, monkeypatch):
    """As Ctrl-C during the load of a large library would."""
    (tmp_path / "interrupted_once.py").write_text(
        "import builtins\n"
        "if not hasattr(builtins, 'was_interrupted'):\n"
        "    builtins.was_interrupted = True\n"
        "    raise KeyboardInterrupt\n"
        "value = 1\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    module = Later("interrupted_once")
    try:
        with pytest.raises(KeyboardInterrupt):
            _ = module.value
        assert module.value == 1
    finally:
        import builtins

        del builtins.was_interrupted
        sys.modules.pop("interrupted_once", None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "libraries"),
    [
        ("evaluate", {"pandas", "matplotlib", "skops", "pooch"}),
        ("datasets", {"pandas", "matplotlib", "skops", "pooch"}),
        # learners need scikit-learn, which loads pandas itself
        ("save_model", {"matplotlib", "skops", "pooch"}),
    ],
)
def test_tables_and_pictures_load_nothing_before_they_are_made(name, libraries):
    code = f"import sys, limo; limo.{name}; print(sorted({libraries} & set(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_tools_that_unwrap_functions_import_nothing():
    assert inspect.unwrap(missing := Later("a_library_that_is_not_there")) is missing
