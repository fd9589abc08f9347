"""Rules for the whole code base that a program can check: sizes, names, layers, imports."""

import ast
import importlib
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import types
from pathlib import Path

import pytest

import limo

TESTS = Path(__file__).parent
ROOT = TESTS.parent
SOURCE = ROOT / "src" / "limo"

MOST_LINES = 500
MOST_LINES_OF_A_FUNCTION = 40
MOST_MODULES = 174
MOST_LAYERS = 9
LEAST_LINES_OF_CODE = 60
LEAST_LINES_OF_A_PART = 150  # of a module that only one other of its package uses

PUBLIC_PACKAGES = (
    "dask",
    "datasets",
    "displays",
    "experiment",
    "losses",
    "measures",
    "models",
    "objectives",
    "report",
    "reproduce",
    "thresholds",
    "torch",
)

HAS_TORCH = importlib.util.find_spec("torch") is not None
HAS_DASK = importlib.util.find_spec("distributed") is not None
# A folder of tests called torch would be imported as the library where that is missing.
FOLDERS = {"torch": "pytorch", "dask": "cluster"}

# Modules with less code than LEAST_LINES_OF_CODE, and why they are not part of another one.
SMALL = {
    "__main__.py": "Python looks for it by this name",
    "_types.py": "type aliases that every layer uses, kernels too",
    "_frames.py": "the names of rows and columns, which every check compares",
    "_settings.py": "checks of names and numbers, which every layer uses, apart from those of data",
    "_text.py": "text helpers that the command line needs without numpy",
    "_sparse_profiles.py": "profiles from stored scores alone; _profiles is long without them",
    "_kernels/trees.py": "walks through trees, which no other kernel does",
    "_scorer.py": "scorers, mostly documentation; evaluation is long without them",
    "_drawing.py": "colours and axes that drawings of several layers share",
    "displays/_display.py": "the base class of all displays",
    "_cli/app.py": "lists the commands; one module per command",
    "_cli/measures.py": "one module per command",
    "_cli/report.py": "one module per command",
    "_cli/cite.py": "one module per command",
    "datasets/_synthetic.py": "data sets made by rule, mostly documentation",
    "measures/_functions.py": "the measures as public functions, mostly documentation",
    "measures/_rows.py": "the formulas, alone",
    "measures/_warning.py": "its base class loads scikit-learn, which measures do without",
    "measures/_conventions.py": "a public record of its own, mostly documentation",
    "models/_base.py": "the base class of all learners, and the feature scalings",
    "thresholds/_error.py": "errors of thresholds and the bounds of Theorems 4 and 5, mostly documentation",
    "thresholds/_calibration.py": "probabilities from scores, which need no threshold",
    "thresholds/_expected.py": "labels of highest expected F1, which need no threshold search",
    "objectives/_objective.py": "the objective of boosters, mostly documentation",
    "report/_provenance.py": "how a report was made, used by both kinds of documents",
}

FILES = sorted(SOURCE.rglob("*.py"))
MODULES = [file for file in FILES if file.name != "__init__.py"]


def name(file: Path) -> str:
    return file.relative_to(SOURCE).as_posix()


def has_functions(module: Path) -> bool:
    tree = ast.parse(module.read_text())
    return any(isinstance(node, ast.FunctionDef) for node in ast.walk(tree))


def lines_of_code(module: Path) -> int:
    """Lines that are neither empty, nor comments, nor docstrings."""
    text = module.read_text()
    documentation: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            first = node.body[0]
            assert first.end_lineno is not None
            documentation |= set(range(first.lineno, first.end_lineno + 1))
    lines = enumerate(text.splitlines(), start=1)
    return sum(
        bool(line.strip()) and not line.strip().startswith("#") and number not in documentation
        for number, line in lines
    )


def mirrors(module: Path) -> list[Path]:
    """test_search.py, test_search_targets.py, ... in the folder that mirrors the package."""
    relative = module.relative_to(SOURCE)
    parts = (part.lstrip("_") for part in relative.parent.parts)
    folder = TESTS / Path(*(FOLDERS.get(part, part) for part in parts))
    stem = f"test_{relative.stem.lstrip('_')}"
    return [folder / f"{stem}.py", *folder.glob(f"{stem}_*.py")]


@pytest.mark.parametrize("module", list(filter(has_functions, MODULES)), ids=name)
def test_every_module_has_a_test_file_of_the_same_name(module: Path) -> None:
    first, *_ = found = mirrors(module)
    assert any(file.exists() for file in found), f"write {first.relative_to(ROOT)}"


@pytest.mark.parametrize("module", list(filter(has_functions, FILES)), ids=name)
def test_modules_and_functions_stay_short(module: Path) -> None:
    text = module.read_text()
    assert len(text.splitlines()) <= MOST_LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
            assert node.end_lineno is not None
            length = node.end_lineno - first.lineno + 1
            assert length <= MOST_LINES_OF_A_FUNCTION, f"{node.name} has {length} lines"


def test_there_are_few_modules_and_each_has_a_reason() -> None:
    assert len(MODULES) <= MOST_MODULES
    small = {name(module) for module in MODULES if lines_of_code(module) < LEAST_LINES_OF_CODE}
    assert small <= set(SMALL), "merge them with what uses them, or give a reason in SMALL"


def importers() -> dict[str, set[str]]:
    """For each module, the modules that import it or names from it."""
    names = {".".join(file.relative_to(ROOT / "src").with_suffix("").parts): file for file in FILES}
    found: dict[str, set[str]] = {one: set() for one in names}
    for one, file in names.items():
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                inner = (f"{node.module}.{alias.name}" for alias in node.names)
                for imported in {*inner, node.module} & set(names):
                    found[imported].add(one)
    return found


def test_no_small_module_serves_only_one_other_of_its_package() -> None:
    for one, users in importers().items():
        package, file = one.rpartition(".")[0], SOURCE.parent / f"{one.replace('.', '/')}.py"
        small = len(file.read_text().splitlines()) < LEAST_LINES_OF_A_PART
        by_one = len(users) == 1 and users == {u for u in users if u.rpartition(".")[0] == package}
        assert not (small and by_one and package != "limo._cli"), f"{one} belongs to {users}"


def test_modules_of_public_packages_are_private() -> None:
    for package in PUBLIC_PACKAGES:
        for module in (SOURCE / package).glob("*.py"):
            assert module.name.startswith("_"), f"{name(module)} needs an underscore"
    top = {module.name for module in SOURCE.glob("*.py") if not module.name.startswith("_")}
    assert not top
    folders = {file.parent.name for file in SOURCE.glob("*/__init__.py")}
    assert {folder for folder in folders if not folder.startswith("_")} == set(PUBLIC_PACKAGES)


def test_only_public_packages_list_their_names() -> None:
    """The public lists are the interface; a private module needs none."""
    public = {f"{package}/__init__.py" for package in PUBLIC_PACKAGES}
    public -= {
        "dask/__init__.py",
        "models/__init__.py",
        "report/__init__.py",
        "torch/__init__.py",
    }  # in stubs, from which names load on use
    assert {name(file) for file in FILES if "\n__all__ = " in file.read_text()} == public


def test_there_are_few_layers() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers = settings["tool"]["importlinter"]["contracts"][0]
    assert layers["exhaustive"]
    assert "ignore_imports" not in layers
    assert len(layers["layers"]) <= MOST_LAYERS


def test_import_loads_nothing_heavy() -> None:
    assert loaded_by("import limo") == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("library", "use", "needs"),
    [("torch", "torch.MarginLoss", "PyTorch"), ("distributed", "dask.LIMOClassifier", "Dask")],
)
def test_a_missing_library_is_named_with_its_extra(library: str, use: str, needs: str) -> None:
    code = f"import sys; sys.modules['{library}'] = None; import limo; limo.{use}"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    package = use.partition(".")[0]
    assert f"ImportError: limo.{package} needs {needs}" in run.stderr
    assert f"pip install 'limo-ml[{package}]'" in run.stderr


def test_completing_a_measure_does_not_load_the_compiler() -> None:
    code = "from limo._cli.options import complete_measure; assert complete_measure('macro')"
    assert loaded_by(code) == ["numpy", "typer"]


def test_measures_do_not_load_scikit_learn() -> None:
    assert "sklearn" not in loaded_by("import limo; limo.macro_f1([[1, 0]], [[1, 0]])")


# What a plain installation adds for files, tables and the command line, and what extras add.
BESIDES = ["jinja2", "matplotlib", "pandas", "pooch", "pyarrow", "rich", "skops", "typer"]
WITHOUT = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BESIDES}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Absent())  # as if these were not installed
import limo
data = limo.datasets.figure1(60, seed=0)
train = limo.LIMOClassifier().fit(data.X, data.Y)
tuned = limo.ThresholdClassifier(limo.BinaryRelevance(), measure="macro_f1").fit(data.X, data.Y)
found = limo.evaluate(data.Y, train.decision_function(data.X), tuned.predict(data.X), intervals=0.9)
print(limo.explain(found))
"""


@pytest.mark.slow
def test_measures_thresholds_and_learners_need_few_libraries() -> None:
    """numpy, scipy, numba, scikit-learn with what it needs, lazy_loader and defusedxml: no more."""
    run = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert not run.returncode, run.stderr
    assert run.stdout.startswith("Label-wise: ")


def loaded_by(code: str) -> list[str]:
    """Which of the large libraries a new process loads."""
    large = [
        "dask",
        "distributed",
        "jinja2",
        "matplotlib",
        "numba",
        "numpy",
        "pandas",
        "rich",
        "scipy",
        "sklearn",
        "torch",
        "typer",
        "xgboost",
    ]
    code += f"; import sys; print(*[name for name in {large} if name in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout.split()


@pytest.mark.parametrize("package", ["limo", *(f"limo.{one}" for one in PUBLIC_PACKAGES)])
def test_every_public_name_loads_and_is_documented(package: str) -> None:
    module = importlib.import_module(package)
    assert module.__doc__
    for public in getattr(module, "__all__", ()):
        if (package == "limo.torch" and not HAS_TORCH) or (package == "limo.dask" and not HAS_DASK):
            continue
        found = getattr(module, public)
        assert public.isupper() or found.__doc__, f"{package}.{public} has no docstring"
    assert limo.__all__


def test_contributing_names_existing_files_and_functions() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    places = (ROOT, SOURCE)
    pattern = r"`(?:\w+ )*([\w./]+/[\w./]*|\w[\w.]*\.(?:py|pyi|md|toml|j2))`"
    files = set(re.findall(pattern, text))
    assert {"measures/_table.py", "report/_page.py", "benchmarks/measures.py"} <= files
    missing = {file for file in files if not any((place / file).exists() for place in places)}
    assert not missing
    walks = re.findall(r"`([\w./]+)`: `([\w.]+)`", text)
    assert ("datasets/_csv.py", "read_csv") in walks
    for file, function in walks:
        last = function.rpartition(".")[2]
        assert last in (SOURCE / file).read_text(), f"{file} has no {function}"


TEXTS = [
    *(ROOT / page for page in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
    *(file for folder in ("docs", "examples", "benchmarks") for file in (ROOT / folder).iterdir()),
]


@pytest.mark.parametrize(
    "file", [file for file in TEXTS if file.suffix in (".md", ".py")], ids=lambda file: file.name
)
def test_names_of_limo_in_pages_and_scripts_exist(file: Path) -> None:
    for dotted in set(re.findall(r"(?<![\w./])limo((?:\.[A-Za-z_]\w*)+)", file.read_text())):
        if dotted.startswith(".torch.") and not HAS_TORCH:
            continue
        if dotted.startswith(".dask.") and not HAS_DASK:
            continue
        found: object = limo
        for part in dotted[1:].split("."):
            if isinstance(found, type | types.ModuleType):
                assert hasattr(found, part), f"limo{dotted} does not exist"
                found = getattr(found, part)


def test_no_machine_path_or_registry_is_written_down() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout")
    own = Path(__file__).name
    bad = [os.sep + "work" + os.sep, "py" + "pi.org", "/opt/" + "pypi"]
    for line in listed.stdout.splitlines():
        path = ROOT / line
        if path.name != own and path.is_file():
            text = path.read_text(errors="ignore")
            assert not any(word in text for word in bad), line


def test_temporary_folders_of_tests_are_where_pytest_removes_them(tmp_path_factory):
    assert Path(tempfile.gettempdir()).is_relative_to(tmp_path_factory.getbasetemp())
