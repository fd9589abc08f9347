"""Damage files at random and read them, within 5 seconds and 2 GB each.

    python tests/attacks/fuzz.py                        50 000 files, all targets
    python tests/attacks/fuzz.py -n 2000 model plan     2000 files of these targets
    python tests/attacks/fuzz.py --seed 7               other files
    python tests/attacks/fuzz.py --replay FILE model    one file, with the traceback

Each target runs in a process of its own, so that a crash, a hang or a full memory is a finding and
not the end. What is found is written to ``--into`` with its traceback. To keep one for good, copy
the file to ``tests/attacks/found/<target>/``: ``tests/attacks/test_fuzz.py`` reads it ever after.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from attacks.blame import is_sentence
from attacks.targets import TARGETS, mutated, seeds_of
from limo._kernels import compile_seconds

SECONDS, BYTES = 5, 2 << 30
_POLL = 0.2  # seconds between two looks at a process
_WALL = 60  # seconds without progress, after which a process is ended; a busy machine is slow
_TOO_LARGE = 77  # exit code


def attack(name: str, content: bytes) -> str:
    """Read one file; the traceback if it broke a rule, else nothing."""
    target = TARGETS[name]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file = Path(folder) / f"fuzz{target.suffix}"
        file.write_bytes(content)
        started, compiled = time.process_time(), compile_seconds()
        try:
            target.attack(file)
        except target.errors as error:
            found = "" if is_sentence(error) else traceback.format_exc()
        except Exception:
            found = traceback.format_exc()
        else:
            found = ""
        # compiling happens once, and takes as long for a healthy file
        seconds = time.process_time() - started - (compile_seconds() - compiled)
    return f"took {seconds:.1f} s\n{found}" if seconds > SECONDS else found


def _child(name: str, seed: int, first: int, last: int, into: Path) -> int:
    """Attack with a range of files; before each, its number is written down for the parent."""
    for healthy in seeds_of(name):  # also loads and compiles what it needs, which takes its time
        attack(name, healthy)
    (into / "now").write_text(str(first))  # after the slow part, or it would look like a hang
    resource.setrlimit(resource.RLIMIT_AS, (4 * BYTES, 4 * BYTES))
    for number in range(first, last):
        content = mutated(name, seed, number)
        (into / "input").write_bytes(content)
        (into / "now").write_text(str(number))
        found = attack(name, content)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        too_large = f"took {peak:,} bytes\n" if peak > BYTES else ""
        if found or too_large:
            _keep(f"{name}-{seed}-{number}", too_large + found, into)
        if too_large:
            return _TOO_LARGE
    return 0


def _keep(stem: str, why: str, into: Path) -> None:
    shutil.copy(into / "input", into / stem)
    (into / f"{stem}.txt").write_text(why)
    print(f"{stem}: {why.strip().splitlines()[-1][:150]}", flush=True)


def campaign(name: str, seed: int, count: int, into: Path) -> None:
    """All files of one target; a process that ends early is followed by another."""
    into.mkdir(parents=True, exist_ok=True)
    (into / "input").touch()
    first = 0
    while first < count:
        (into / "now").write_text("-1")
        words = [sys.executable, __file__, "--child", str(first), "--seed", str(seed)]
        words += ["-n", str(count), "--into", str(into), name]
        code = _watch(subprocess.Popen(words, env=os.environ | {"OMP_NUM_THREADS": "1"}), into)
        number = int((into / "now").read_text())
        if number < 0:
            raise RuntimeError(f"the healthy files of {name} cannot be made")
        if code not in (0, _TOO_LARGE):
            why = "hung" if code is None else f"the process ended with code {code}"
            _keep(f"{name}-{seed}-{number}", why, into)
        first = count if code == 0 else number + 1


def _watch(process: "subprocess.Popen[bytes]", into: Path) -> int | None:
    """The exit code of a process; None if it made no progress and was ended."""
    before, waited = "-1", 0.0
    while process.poll() is None:
        time.sleep(_POLL)
        waited += _POLL  # no clock: it would go on while both processes are halted
        now = (into / "now").read_text() or before  # empty while it is being written
        if now != before:
            before, waited = now, 0.0
        elif waited > (_WALL if int(now) >= 0 else 10 * _WALL):  # seeds take long
            process.kill()
            process.wait()
            return None
    return process.returncode


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("targets", nargs="*", choices=[[], *TARGETS], metavar="TARGET")
    parser.add_argument("-n", type=int, default=50_000, help="how many files in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--into", type=Path, default=None, help="the folder for what is found")
    parser.add_argument("--replay", type=Path)
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.replay is not None:
        found = attack(given.targets[0], given.replay.read_bytes())
        print(found or "nothing found")
        return int(bool(found))
    if given.child is not None:
        return _child(given.targets[0], given.seed, given.child, given.n, given.into)
    into = given.into or Path(tempfile.mkdtemp(prefix="fuzz-"))
    names = given.targets or list(TARGETS)
    each, total = -(-given.n // len(names)), 0
    for name in names:
        started = time.monotonic()
        campaign(name, given.seed, each, into / name)
        number = len(list((into / name).glob("*.txt")))
        total += number
        print(
            f"{name}: {each} files, {number} found, {time.monotonic() - started:.0f} s", flush=True
        )
        for temporary in ("now", "input"):
            (into / name / temporary).unlink()
    print(f"{each * len(names)} files, {total} found" + (f", in {into}" if total else ""))
    if not total:
        shutil.rmtree(into)
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main())
