import os
import signal
import subprocess
import sys
import threading
from unittest.mock import Mock

import pytest

from limo import _system as system
from limo._system import at_most, memory_limit, n_workers, workers


@pytest.mark.parametrize("enough", [True, False])
def test_results_come_in_order(enough):
    with workers(enough=enough) as run:
        assert list(run(lambda n: n * n, range(20))) == [n * n for n in range(20)]


def test_calls_within_calls_do_not_block(monkeypatch):
    """Every thread of the pool asks for threads itself."""
    monkeypatch.setattr(system, "_allowed", lambda: 4)

    def inner(n):
        with workers() as run:
            return sum(run(lambda k: k + n, range(50)))

    with workers() as run:
        assert list(run(inner, range(30))) == [sum(range(50)) + 50 * n for n in range(30)]


def test_the_first_error_in_order_reaches_the_caller(monkeypatch):
    monkeypatch.setattr(system, "_allowed", lambda: 4)
    started = []

    def fail(n):
        started.append(n)
        if n >= 3:
            raise ValueError(f"item {n}")

    with workers() as run, pytest.raises(ValueError, match="item 3"):
        run(fail, range(10_000))
    assert len(started) < 100  # the others were not begun


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_threads_of_its_own():
    code = """if True:
        import os
        from limo import _system as system
        system._allowed = lambda: 3
        def total():
            with system.workers() as run:
                return sum(run(lambda n: n, range(100)))
        assert total() == 4950
        child = os.fork()
        if not child:
            os._exit(0 if total() == 4950 else 1)
        assert os.waitpid(child, 0)[1] == 0
    """
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=60)


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


def test_the_lowest_limit_of_memory_counts(monkeypatch):
    assert 2**27 < memory_limit() <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    monkeypatch.setattr(system, "_container_memory", lambda folder: 2.0**26)
    assert memory_limit() == 2**26
    monkeypatch.setattr(system, "_address_space", lambda: 2.0**25)
    assert memory_limit() == 2**25
    for name in ("_container_memory", "_address_space"):
        monkeypatch.setattr(system, name, lambda *_: None)
    monkeypatch.delattr("os.sysconf")
    assert memory_limit() == 2**33


@pytest.mark.parametrize("file", ["memory.max", "memory/memory.limit_in_bytes"])
def test_a_container_limits_memory(tmp_path, file):
    assert system._container_memory(tmp_path) is None
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("max\n")
    assert system._container_memory(tmp_path) is None
    (tmp_path / file).write_text("1048576\n")
    assert system._container_memory(tmp_path) == 2**20


def test_ulimit_limits_memory():
    code = "from limo._system import memory_limit; print(memory_limit())"
    limited = f"ulimit -v 4000000; {sys.executable} -c '{code}'"
    found = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, check=True)
    assert float(found.stdout) == 4000000 * 1024
