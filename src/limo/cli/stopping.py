"""Ctrl-C and a polite kill end the process, whatever they interrupt."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["code_if_stopped", "listening"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_AGAIN = 10.0  # seconds until a process that still runs is asked again

_received: list[int] = []


@contextmanager
def listening() -> Iterator[None]:
    """Take both signals for a while.

    Some libraries swallow an interruption, or turn it into an error of their own, when it hits
    them while they are loaded. Hence the signal is remembered, and repeated until it is obeyed.
    """
    before = {number: signal.signal(number, _stop) for number in _SIGNALS}
    try:
        yield
    finally:
        _repeat(0)
        _received.clear()
        for number, handler in before.items():
            signal.signal(number, handler)


def code_if_stopped() -> int | None:
    """The exit code of a process that was asked to stop: what fails then fails because of it.

    None of one that was not asked.
    """
    return 128 + _received[0] if _received else None


def _stop(number: int, frame: FrameType | None) -> None:
    _received.append(number)
    _repeat(_AGAIN)
    if number == signal.SIGINT:
        signal.default_int_handler(number, frame)
    sys.exit(128 + number)


def _repeat(seconds: float) -> None:
    """Have the last signal repeated after so many seconds, or not at all."""
    if hasattr(signal, "setitimer"):  # not on Windows
        signal.signal(signal.SIGALRM, lambda _, frame: _stop(_received[-1], frame))
        signal.setitimer(signal.ITIMER_REAL, seconds)
