"""The house rules a program can check: every room has its tests, and stays small."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import limo

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "limo"


def has_functions(module: Path) -> bool:
    return any(
        isinstance(node, ast.FunctionDef) for node in ast.walk(ast.parse(module.read_text()))
    )


MODULES = sorted(p for p in SOURCE.rglob("*.py") if p.name != "__init__.py" and has_functions(p))


def mirrors(module: Path) -> list[Path]:
    """The test files of a module: test_search.py, test_search_targets.py, ..."""
    relative = module.relative_to(SOURCE)
    folder = TESTS / Path(*(part.lstrip("_") for part in relative.parent.parts))
    stem = f"test_{relative.stem.lstrip('_')}"
    return [folder / f"{stem}.py", *folder.glob(f"{stem}_*.py")]


@pytest.mark.parametrize("module", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_every_module_has_a_test_file_of_the_same_name(module: Path) -> None:
    first, *_ = found = mirrors(module)
    assert any(p.exists() for p in found), f"write {first.relative_to(TESTS.parent)}"


@pytest.mark.parametrize("module", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_rooms_and_functions_stay_small(module: Path) -> None:
    text = module.read_text()
    assert len(text.splitlines()) <= 500
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
            assert node.end_lineno is not None
            length = node.end_lineno - first.lineno + 1
            assert length <= 40, f"{module.name}:{node.name} has {length} lines"


def test_import_loads_nothing_heavy() -> None:
    code = (
        "import sys, limo; "
        "heavy = {'numpy', 'scipy', 'numba', 'sklearn', 'pandas', 'matplotlib', 'rich', 'typer', 'jinja2'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_every_public_name_loads_and_is_documented() -> None:
    assert limo.__all__
    for name in limo.__all__:
        assert name.isupper() or getattr(limo, name).__doc__, f"limo.{name} has no docstring"


def test_no_machine_path_or_registry_is_written_down() -> None:
    root = TESTS.parent
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    own = Path(__file__).name
    bad = [os.sep + "work" + os.sep, "py" + "pi.org", "/opt/" + "pypi"]
    for line in listed.stdout.splitlines():
        path = root / line
        if path.name != own and path.is_file():
            text = path.read_text(errors="ignore")
            assert not any(word in text for word in bad), line
