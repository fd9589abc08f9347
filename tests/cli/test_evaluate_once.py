"""``limo evaluate --report`` checks each input once and sorts the scores once for each view."""

import numpy as np
import pytest

from cli.running import run
from limo import _checks, _profiles


@pytest.fixture
def counted(monkeypatch):
    """How often each input is checked, and how the scores are sorted."""
    checks, sorts = [], []

    def count(module, name, note, before):
        function = getattr(module, name)

        def wrapped(*args, **kwargs):
            note.append(before(*args))
            return function(*args, **kwargs)

        monkeypatch.setattr(module, name, wrapped)

    # every dense input passes _matrix, every sparse one _sparse_labels
    count(_checks, "_matrix", checks, lambda y, name: name)
    count(_checks, "_sparse_labels", checks, lambda y, name: name)
    # blocks of rows or columns are sorted after take_relevant, entries in _whole_profile
    count(_profiles, "take_relevant", sorts, lambda rows, *_: rows.shape)
    count(_profiles, "_whole_profile", sorts, lambda Y, S, _: S.size)
    for name in ("sort", "argsort", "lexsort"):
        count(np, name, sorts, lambda a, *_: np.size(a) if np.size(a) >= 12 * 5 else None)
    return checks, sorts


def test_one_check_and_three_sorts(counted, tmp_path, monkeypatch):
    checks, sorts = counted
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    Y = (rng.random((12, 5)) < 0.3).astype(int)
    S = rng.normal(size=Y.shape) + Y
    for name, matrix in {"Y": Y, "S": S, "P": (S > 0.5).astype(int)}.items():
        np.save(f"{name}.npy", matrix)
    found = run("evaluate", "-y", "Y.npy", "-s", "S.npy", "-p", "P.npy", "--report", "page.html")
    assert found.exit_code == 0, found.output
    assert sorted(checks) == ["y_pred", "y_score", "y_true"]
    assert [one for one in sorts if one is not None] == [60, (12, 5), (5, 12)]


def test_the_truth_is_checked_once_for_all_models(counted, tmp_path, monkeypatch):
    checks, sorts = counted
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    Y = (rng.random((12, 5)) < 0.3).astype(int)
    for name, matrix in {"Y": Y, "a": rng.normal(size=Y.shape), "b": Y + 0.5}.items():
        np.save(f"{name}.npy", matrix)
    found = run("evaluate", "-y", "Y.npy", "-s", "a.npy", "-s", "b.npy", "--report", "page.html")
    assert found.exit_code == 0, found.output
    assert sorted(checks) == ["y_score", "y_score", "y_true"]
    assert len([one for one in sorts if one is not None]) == 6
