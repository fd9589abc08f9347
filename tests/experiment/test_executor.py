import os
import signal
import time
from concurrent.futures import BrokenExecutor

import pytest

from experiment.tasks import die, own_id, sleep, square
from limo.experiment.executor import Processes, Serial


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
