"""The cache of compiled code: where numba may write to none of its folders, and of two processes."""

import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numba
import pytest

from limo import _kernels


def one():
    return 1


@pytest.fixture
def read_only(monkeypatch):
    """numba finds no folder for its cache, except one that the user named."""
    compiled = []

    def njit(*, cache, **options):
        def decorate(function):
            if cache and not numba.config.CACHE_DIR:
                raise RuntimeError("cannot cache function 'one': no locator available")
            compiled.append(cache)
            return function

        return decorate

    monkeypatch.setattr(numba, "njit", njit)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    _kernels._has_temporary_cache.cache_clear()
    yield compiled
    _kernels._has_temporary_cache.cache_clear()


def test_a_temporary_cache_serves_this_process_and_its_children(read_only):
    with pytest.warns(RuntimeWarning, match="compiled again in every session. Set NUMBA_CACHE_DIR"):
        _kernels.kernel(one)
    folder = Path(numba.config.CACHE_DIR)
    assert folder.is_dir()
    assert os.environ["NUMBA_CACHE_DIR"] == str(folder)
    with warnings.catch_warnings(action="error"):  # said once
        _kernels.kernel(one)
    assert read_only == [True, True]
    folder.rmdir()


def test_without_a_temporary_folder_there_is_no_cache(read_only, monkeypatch):
    def full(**_):
        raise OSError

    monkeypatch.setattr(_kernels.tempfile, "mkdtemp", full)
    with pytest.warns(RuntimeWarning, match="compiled again in every process. Set NUMBA_CACHE_DIR"):
        _kernels.kernel(one)
    with warnings.catch_warnings(action="error"):
        _kernels.kernel(one)
    assert read_only == [False, False]


def test_the_time_of_compiling_is_counted_once():
    if numba.config.DISABLE_JIT:
        pytest.skip("nothing is compiled")
    before = _kernels.compile_seconds()
    inner = numba.njit(lambda x: x + 1)
    outer = numba.njit(lambda x: inner(x) * 2)
    start = time.perf_counter()
    assert outer(1) == 4
    took = time.perf_counter() - start
    first = _kernels.compile_seconds()
    assert 0 < first - before <= took
    assert outer(2) == 6
    assert _kernels.compile_seconds() == first


_SORTS = """
import numpy as np
from limo._kernels import kernel

@kernel
def order(values):
    return np.argsort(values)

@kernel
def ordered(values):
    copied = values.copy()
    copied.sort()
    return copied

@kernel
def same(value):
    return value
"""


@pytest.mark.slow
def test_code_of_two_processes_does_not_mix(tmp_path):
    """Each compiles one sort; a third process takes both from the cache.

    The first compiles two functions before: numba's own numbers of the two sorts are then equal.
    """
    (tmp_path / "sorts.py").write_text(_SORTS)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    given = os.environ | {"PYTHONPATH": path, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    printed = []
    order, ordered = "print(sorts.order(x).tolist())", "print(sorts.ordered(x).tolist())"
    for calls in (f"sorts.same(1); sorts.same(1.0); {order}", ordered, f"{order}; {ordered}"):
        code = f"import numpy as np, sorts; x = np.arange(40.0)[::-1].copy(); {calls}"
        run = subprocess.run(
            [sys.executable, "-c", code], env=given, capture_output=True, text=True, check=True
        )
        printed.append(run.stdout.splitlines())
    expected = [str(list(range(39, -1, -1))), str([float(k) for k in range(40)])]
    assert printed == [expected[:1], expected[1:], expected]
