"""The signals that end a process."""

import signal
import time

import pytest
import typer
from typer.testing import CliRunner

from limo import _cli as stopping
from limo._cli import code_if_stopped, listening
from limo._cli.command import command

both = pytest.mark.parametrize(
    ("number", "raised", "code"),
    [(signal.SIGINT, KeyboardInterrupt, 130), (signal.SIGTERM, SystemExit, 143)],
)


@both
def test_signals_end_and_are_remembered(number, raised, code):
    before = signal.getsignal(number), signal.getsignal(signal.SIGALRM)
    with listening():
        assert code_if_stopped() is None
        with pytest.raises(raised):
            signal.raise_signal(number)
        assert code_if_stopped() == code
    assert code_if_stopped() is None
    assert (signal.getsignal(number), signal.getsignal(signal.SIGALRM)) == before


@both
def test_what_the_shell_has_ignored_stays_ignored(number, raised, code):
    """As a shell script does with Ctrl-C for work in the background."""
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with listening():
            signal.raise_signal(number)
            assert code_if_stopped() is None
        assert signal.getsignal(number) is signal.SIG_IGN
    finally:
        signal.signal(number, before)


@both
def test_errors_that_a_signal_causes_are_no_errors(number, raised, code):
    one = typer.Typer()

    def work() -> None:
        """Be interrupted where the interruption becomes an error."""
        try:
            signal.raise_signal(number)
        finally:
            raise AttributeError("half a library")

    command(one, work)
    with listening():
        found = CliRunner().invoke(one, [])
    assert found.exit_code == code
    assert found.stderr == "Stopped.\n"


@both
def test_a_signal_that_is_swallowed_comes_again(number, raised, code, monkeypatch):
    monkeypatch.setattr(stopping, "_AGAIN", 0.3)
    with listening():
        with pytest.raises(raised):
            signal.raise_signal(number)
        with pytest.raises(raised):
            time.sleep(10)
        assert code_if_stopped() == code
    time.sleep(0.4)  # afterwards nothing comes
