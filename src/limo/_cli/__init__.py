"""The command line: one module per command, each a call of the library, printed as tables or JSON.

The only package that prints. Results go to standard output, progress and notes to standard error.
Commands use the public names of ``limo``, which are loaded on first use: help loads neither NumPy
nor a compiler.
"""

import importlib
import signal
import sys
from types import FrameType

_SECONDS_TO_OBEY = 30.0  # ending workers takes a while on a busy machine

_received: list[int] = []


def main() -> None:
    """Run the command line; Ctrl-C and SIGTERM stop it at any time, without a traceback."""
    raise_on_signals()
    try:
        importlib.import_module("limo._cli.app").app(prog_name="limo")
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        sys.exit(130)
    finally:
        _repeat_after(0)


def raise_on_signals() -> None:
    """Let Ctrl-C and SIGTERM raise an exception, so that unfinished files are removed."""
    for number in (signal.SIGINT, signal.SIGTERM):
        # a shell makes background jobs ignore Ctrl-C: they must keep running
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)


def stop_code() -> int | None:
    """The exit code of a process that received a signal to stop; None if it did not.

    A library interrupted while being imported may raise another error instead: any error after a
    signal counts as stopping.
    """
    return 128 + _received[0] if _received else None


def _stop(number: int, _: FrameType | None) -> None:
    _received.append(number)
    # a library being imported may also swallow the exception, and the process would keep running
    _repeat_after(_SECONDS_TO_OBEY)
    raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)


def _repeat_after(seconds: float) -> None:
    """Stop again after this many seconds; 0 cancels it."""
    if hasattr(signal, "setitimer"):  # not on Windows
        signal.signal(signal.SIGALRM, lambda _, frame: _stop(_received[-1], frame))
        signal.setitimer(signal.ITIMER_REAL, seconds)
