import os
import signal
import time
from concurrent.futures import BrokenExecutor
from typing import ClassVar

import pytest

from experiment.tasks import die, own_id, sleep, square
from limo.experiment import _runner as runner
from limo.experiment._runner import Processes, Serial


@pytest.fixture
def processes():
    made = Processes(2)
    yield made
    made.close()


def test_serial_computes_at_once_and_here():
    assert Serial().submit(square, 3).result() == 9
    assert Serial().submit(own_id, None).result() == os.getpid()
    Serial().close()


@pytest.mark.slow
def test_processes_compute_elsewhere_survive_ctrl_c_and_are_replaced_and_ended(processes):
    assert [processes.submit(square, n).result() for n in range(4)] == [0, 1, 4, 9]
    worker = processes.submit(own_id, None).result()
    assert worker != os.getpid()
    os.kill(worker, signal.SIGINT)
    assert processes.submit(lambda n: n + 1, 3).result() == 4  # what a script defines travels too
    with pytest.raises(BrokenExecutor):
        processes.submit(die, None).result()
    worker = processes.submit(own_id, None).result()
    processes.submit(sleep, None)
    started = time.monotonic()
    processes.close()
    assert time.monotonic() - started < 20
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


def test_nothing_is_started_before_it_is_needed():
    Processes(2).close()


class Pool:
    """Stands for loky's: breaks on demand, and keeps account of its processes."""

    made: ClassVar[list["Pool"]] = []

    def __init__(self, n_jobs, initializer, initargs):
        self.n_jobs, self.broken, self.ended, self.initargs = n_jobs, False, [], initargs
        self._processes = dict.fromkeys(range(n_jobs), self)
        self.made.append(self)

    def submit(self, function, argument):
        if self.broken:
            raise BrokenExecutor
        return Serial().submit(function, argument)

    def terminate(self):
        self.ended.append("process")

    def shutdown(self, wait):
        self.ended.append("pool")


def test_a_broken_pool_is_replaced_and_the_last_one_ended(monkeypatch):
    monkeypatch.setattr(runner, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr(Pool, "made", [])
    processes = Processes(2)
    assert processes.submit(square, 2).result() == processes.submit(square, -2).result() == 4
    assert [pool.n_jobs for pool in Pool.made] == [2]
    assert Pool.made[0].initargs == (os.getpid(),)  # a worker may start after this process ended
    Pool.made[0].broken = True
    assert processes.submit(square, 3).result() == 9
    processes.close()
    assert [pool.ended for pool in Pool.made] == [[], ["process", "process", "pool"]]


def test_folders_of_killed_processes_are_removed_and_those_of_others_kept(monkeypatch, tmp_path):
    monkeypatch.setattr(runner.tempfile, "gettempdir", lambda: str(tmp_path))
    names = [f"limo-data-{process}-x" for process in (2**22 + 1, 10**30, os.getpid(), 1)]
    for name in [*names, "limo-data-mine", "other"]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "data").touch()
    monkeypatch.setattr(runner, "_SEMAPHORES", tmp_path / "other")
    for owner in (2**22 + 1, 2**22 + 2, os.getpid()):  # of the second, limo knows nothing
        (tmp_path / "other" / f"sem.loky-{owner}-y").touch()
    runner._remove_abandoned()
    assert {folder.name for folder in tmp_path.iterdir()} == {*names[2:], "limo-data-mine", "other"}
    left = {file.name for file in (tmp_path / "other").iterdir()}
    assert left == {"data", f"sem.loky-{2**22 + 2}-y", f"sem.loky-{os.getpid()}-y"}
