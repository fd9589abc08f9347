import os
import signal
import threading
from unittest.mock import Mock

import pytest

from limo import _system as system
from limo._system import at_most, n_workers, workers


@pytest.mark.parametrize("enough", [True, False])
def test_results_come_in_order(enough):
    with workers(enough=enough) as run:
        assert list(run(lambda n: n * n, range(20))) == [n * n for n in range(20)]


def test_little_work_stays_in_its_thread():
    with workers(enough=False) as run:
        assert set(run(lambda _: threading.get_ident(), range(5))) == {threading.get_ident()}


def test_the_environment_may_ask_for_fewer(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert n_workers() == 1
    with workers() as run:
        assert run is map
    monkeypatch.setenv("OMP_NUM_THREADS", "1,4")  # a list speaks of nested loops; the first counts
    assert n_workers() == 1
    monkeypatch.delenv("OMP_NUM_THREADS")
    cores = n_workers()
    for nonsense in ("", "0", "many", str(10 * cores)):
        monkeypatch.setenv("OMP_NUM_THREADS", nonsense)
        assert n_workers() == cores


def test_a_block_may_be_held_to_fewer_threads():
    before = n_workers()
    with at_most(1):
        assert n_workers() == 1
        with workers() as run:
            assert run is map
    assert n_workers() == before
    with at_most(10**6):
        assert n_workers() == before


def test_limits_within_limits():
    all_cores = n_workers()
    with at_most(None):
        assert n_workers() == all_cores
    with at_most(-1):
        assert n_workers() == all_cores
    with at_most(-(10**6)):
        assert n_workers() == 1
    with at_most(1), at_most(2):
        assert n_workers() == 1


def test_a_worker_leaves_ctrl_c_to_its_parent_and_ends_with_it(monkeypatch):
    heard, threads = [], []
    monkeypatch.setattr(system.signal, "signal", lambda *what: heard.append(what))
    monkeypatch.setattr(system.threading, "Thread", lambda **what: threads.append(what) or Mock())
    system.start_worker(5)
    assert heard == [(signal.SIGINT, signal.SIG_IGN)]
    assert threads[0]["args"] == (5,)  # not its own idea of its parent, which may be gone already
    monkeypatch.setattr(os, "getppid", iter([5, 5, 1]).__next__)
    monkeypatch.setattr(os, "_exit", heard.append)
    monkeypatch.setattr(system.time, "sleep", heard.append)
    system._exit_with(5)
    assert heard[1:] == [1, 1, 1]  # two naps, then the exit
