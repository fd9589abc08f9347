"""What pytest collects and in which order: nothing that lacks its library, kernels first.

Public classes carry the name users import them by, so that pickles and model files survive moves
inside limo. doctest takes that name for the module that defines them, which is corrected here.
"""

import contextlib
import doctest
import functools
import gc
import importlib
import importlib.util
import inspect
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent

# Workers share the cores: in each, the libraries' own threads would only wait for one another.
# The libraries read this when they are loaded, and no test has loaded them yet.
if "PYTEST_XDIST_WORKER" in os.environ:
    for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(_variable, "1")


def _installed(library: str) -> bool:
    return importlib.util.find_spec(library) is not None


# What the site writes among its sources is a copy of the examples, which would run when imported.
# Code, tests and docs that need an optional library are left out where it is missing.
collect_ignore: list[str] = ["docs/gallery", "docs/generated"]
if not _installed("torch"):
    collect_ignore += ["src/limo/torch", "tests/pytorch", "docs/networks.md"]
if not (_installed("dask") and _installed("distributed")):
    collect_ignore += ["src/limo/dask", "tests/cluster", "docs/dask.md"]
if not (_installed("xgboost") and _installed("lightgbm")):
    collect_ignore += ["tests/models/test_boosting.py", "docs/boosting.md"]

if not _installed("playwright"):
    collect_ignore += ["docs/draw_pictures.py"]


def pytest_collect_file(file_path: Path) -> None:
    """Import a module of limo by its name, before pytest imports its file.

    Pytest would run the file a second time if its package has already imported it: there would be
    two modules of one name, and a test that replaces a function in one would miss the other.
    """
    if file_path.suffix == ".py" and file_path.is_relative_to(ROOT / "src"):
        parts = file_path.relative_to(ROOT / "src").with_suffix("").parts
        if parts[-1] != "__main__":
            with contextlib.suppress(ImportError):  # pytest tries again, and reports it
                importlib.import_module(".".join(part for part in parts if part != "__init__"))


@pytest.fixture(scope="session", autouse=True)
def _temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Make the folders of doctests where pytest removes them: examples do not clean up."""
    before, tempfile.tempdir = tempfile.tempdir, str(tmp_path_factory.mktemp("made"))
    yield
    tempfile.tempdir = before


def pytest_runtest_teardown() -> None:
    """Close all figures: matplotlib warns if many tests together leave too many open."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:  # tests of a missing library put None there
        pyplot.close("all")


def pytest_sessionstart() -> None:
    """Collect no garbage while thousands of tests are collected: they all stay."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what stays to the end: tests, modules, libraries."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Run the tests of kernels first: each worker compiles its share, and loads that of others."""
    items.sort(key=lambda item: not item.path.is_relative_to(ROOT / "tests" / "kernels"))


_from_module = doctest.DocTestFinder._from_module  # type: ignore[attr-defined]


@functools.cache
def _classes_written_in(module: Any) -> frozenset[str]:
    return frozenset(re.findall(r"^class (\w+)", inspect.getsource(module), re.M))


def _defined_in(finder: Any, module: Any, thing: Any) -> bool:
    """A class is defined in the file with its source, whatever module it says it is from."""
    if module is not None and inspect.isclass(thing):
        return thing.__name__ in _classes_written_in(module)
    return bool(_from_module(finder, module, thing))


doctest.DocTestFinder._from_module = _defined_in  # type: ignore[attr-defined]
