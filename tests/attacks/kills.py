"""Kill a running comparison again and again, and see what is left: python tests/attacks/kills.py.

    python tests/attacks/kills.py              100 kills
    python tests/attacks/kills.py --kills 12   fewer

The parent alone, its whole process group, or one of its workers is killed, at a random moment: while
workers start, while they compute, while results are written. Afterwards no process may be left, the
store must open, no row may be lost or doubled, and the finished table must be that of an undisturbed
run.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from experiment import slow_plan
from limo.experiment import read_rows, run

SCRIPT = Path(slow_plan.__file__)
SECONDS_TO_END = 20  # one is enough, unless the machine is busy
KEYS = ["dataset", "split", "method", "measure"]


def start(store: Path, seconds: float) -> "subprocess.Popen[bytes]":
    """Run the plan with two workers, in a process group of its own."""
    paths = os.pathsep.join([str(SCRIPT.parents[1]), os.environ.get("PYTHONPATH", "")])
    own = {"PYTHONPATH": paths, "PAUSE": str(seconds), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), str(store), "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # semaphores of the killed, which are removed with a warning
        start_new_session=True,
        env=os.environ | own | {"TMPDIR": tempfile.gettempdir()},
    )


def members(group: int) -> list[int]:
    """The processes of a group that still live; zombies do not."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, owner = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        if int(owner) == group and state not in "ZX":
            found.append(int(folder.name))
    return found


def wait_for(process: "subprocess.Popen[bytes]", phase: str, rng: random.Random) -> None:
    """Let it come to a phase, whatever the machine's load, and a random moment further."""
    assert process.stdout is not None
    if phase == "starting":
        while process.poll() is None and len(members(process.pid)) < rng.choice((2, 3)):
            time.sleep(0.02)
        time.sleep(rng.uniform(0, 2))
    else:
        least = rng.randint(1, 20)  # the script prints how many runs are done
        for line in process.stdout:
            if line.strip().isdigit() and int(line) >= least:
                break
        time.sleep(rng.uniform(0, 0.3))


def strike(process: "subprocess.Popen[bytes]", whom: str, rng: random.Random) -> None:
    """Kill the parent, its group, or one worker; a worker's death must not end the run."""
    workers = [one for one in members(process.pid) if one != process.pid]
    if whom == "worker" and workers:
        victim = rng.choice(workers)
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
        time.sleep(rng.random())
        whom = "parent"  # the run would go on: end it too
    with suppress(ProcessLookupError):
        (os.killpg if whom == "group" else os.kill)(process.pid, signal.SIGKILL)


def left_over(process: "subprocess.Popen[bytes]") -> list[str]:
    """What is left of the group after a while; it is then ended."""
    process.wait()
    for _ in range(SECONDS_TO_END * 10):
        if not members(process.pid):
            return []
        time.sleep(0.1)
    found = members(process.pid)
    words = [Path(f"/proc/{one}/cmdline").read_text().replace("\0", " ") for one in found]
    for one in found:
        os.kill(one, signal.SIGKILL)
    return words


def campaign(kills: int, seed: int, folder: Path, report=print) -> list[str]:
    """Kill that often; the problems found. A finished plan starts again in a new store."""
    rng, problems, killed = random.Random(seed), [], []
    whole = run(slow_plan.plan(), folder / "whole.sqlite", n_jobs=1)
    store, rows = folder / "0.sqlite", 0
    for number in range(kills):
        whom = ("parent", "group", "worker")[number % 3]
        process = start(store, rng.choice((0, 0.02, 0.2)))
        phase = ("starting", "running")[number // 3 % 2]
        wait_for(process, phase, rng)
        strike(process, whom, rng)
        killed.append(process.pid)
        left = left_over(process)
        process.stdout.close()
        now = len(read_rows(store)) if store.exists() and store.stat().st_size else 0
        report(f"kill {number}: {whom}, {phase}, {now} of {len(whole)} rows")
        found = [f"kill {number}: left are {left}"] if left else []
        if now < rows:
            found.append(f"kill {number}: {rows - now} rows lost")
        rows = now
        if now == len(whole):
            found += compare(store, whole)
            store, rows = folder / f"{number + 1}.sqlite", 0
        for problem in found:
            report(problem)
        problems += found
    run(slow_plan.plan(), store, n_jobs=2)
    run(slow_plan.plan(), folder / "last.sqlite", n_jobs=2)  # removes what the killed left
    return problems + compare(store, whole) + [f"{name} is left" for name in remains(killed)]


def remains(killed: list[int]) -> list[str]:
    """Temporary folders and semaphores of processes that were killed."""
    places = Path("/dev/shm"), Path(tempfile.gettempdir())
    names = [name for pid in killed for name in (f"sem.loky-{pid}-*", f"limo-data-{pid}-*")]
    return [str(file) for place in places for name in names for file in place.glob(name)]


def compare(store: Path, whole) -> list[str]:
    """What distinguishes a store from the undisturbed table."""
    found = read_rows(store).sort_values(KEYS, ignore_index=True)
    expected = whole.sort_values(KEYS, ignore_index=True)
    same = [*KEYS, "value", "status", "seed", "threshold", "run"]
    problems = []
    if not found[same].equals(expected[same]):
        errors = sorted(set(found.loc[found["status"] != "ok", "error"]))
        problems = [f"{store.name} has another table: {len(found)} rows; {errors}"]
    journals = list(store.parent.glob(f"{store.name}-*"))
    return problems + [f"{journal.name} is left" for journal in journals]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        problems = campaign(given.kills, given.seed, Path(folder))
    print(*problems or ["nothing found"], sep="\n")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
