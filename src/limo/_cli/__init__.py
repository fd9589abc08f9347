"""The command line: arguments in, one call below for each command, tables or JSON out.

The only room that prints. Results go to standard output, progress and remarks to standard error.
Commands use what ``import limo`` offers, which is loaded when it is first touched: asking for help
loads neither NumPy nor a compiler.
"""

import importlib
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["code_if_stopped", "listening", "main"]


# Ctrl-C and a polite kill end the process, whatever they interrupt.

_ALARM = getattr(signal, "SIGALRM", None)  # not on Windows
_SIGNALS = [number for number in (signal.SIGINT, signal.SIGTERM, _ALARM) if number is not None]
_AGAIN = 10.0  # seconds until a process that still runs is asked again

_received: list[int] = []


@contextmanager
def listening() -> Iterator[None]:
    """Take both signals for a while.

    Some libraries swallow an interruption, or turn it into an error of their own, when it hits
    them while they are loaded. Hence the signal is remembered, and repeated until it is obeyed.
    """
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    # a shell has work in the background ignore Ctrl-C, which is for the one in front
    taken = [number for number, handler in before.items() if handler not in (signal.SIG_IGN, None)]
    for number in taken:
        signal.signal(number, _again if number == _ALARM else _stop)
    try:
        yield
    finally:
        _repeat_after(0)
        _received.clear()
        for number in taken:
            signal.signal(number, before[number])


def code_if_stopped() -> int | None:
    """The exit code of a process that was asked to stop: what fails then fails because of it.

    None of one that was not asked.
    """
    return 128 + _received[0] if _received else None


def _stop(number: int, frame: FrameType | None) -> None:
    _received.append(number)
    _repeat_after(_AGAIN)
    if number == signal.SIGINT:
        signal.default_int_handler(number, frame)
    sys.exit(128 + number)


def _again(_: int, frame: FrameType | None) -> None:
    _stop(_received[-1], frame)


def _repeat_after(seconds: float) -> None:
    """Have the last signal repeated once; 0 for never."""
    if _ALARM is not None:
        signal.setitimer(signal.ITIMER_REAL, seconds)


def main() -> None:
    """Run the command line; Ctrl-C and a polite kill end it cleanly at any moment."""
    try:
        with listening():
            importlib.import_module("limo._cli.app").app(prog_name="limo")
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        sys.exit(130)
