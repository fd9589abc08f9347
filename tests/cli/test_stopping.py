"""Ctrl-C and SIGTERM: the signals that stop a process."""

import signal
import time

import pytest
import typer
from typer.testing import CliRunner

import limo._cli
from limo._cli import main, raise_on_signals, stop_code
from limo._cli.command import add_command

both = pytest.mark.parametrize(
    ("number", "raised", "code"),
    [(signal.SIGINT, KeyboardInterrupt, 130), (signal.SIGTERM, SystemExit, 143)],
)


@pytest.fixture(autouse=True)
def _handlers_are_put_back(monkeypatch):
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)
    before = {number: signal.getsignal(number) for number in numbers}
    monkeypatch.setattr(limo._cli, "_received", [])
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number, handler in before.items():
        signal.signal(number, handler)


@both
def test_signals_raise_and_are_remembered(number, raised, code):
    raise_on_signals()
    assert stop_code() is None
    with pytest.raises(raised):
        signal.raise_signal(number)
    assert stop_code() == code


@both
def test_signals_ignored_before_stay_ignored(number, raised, code):
    """As a shell script does with Ctrl-C for background jobs."""
    signal.signal(number, signal.SIG_IGN)
    raise_on_signals()
    signal.raise_signal(number)
    assert stop_code() is None
    assert signal.getsignal(number) is signal.SIG_IGN


@both
def test_errors_that_a_signal_causes_are_no_errors(number, raised, code):
    one = typer.Typer()

    def work() -> None:
        """Be interrupted where the interruption becomes an error."""
        try:
            signal.raise_signal(number)
        finally:
            raise AttributeError("half a library")

    add_command(one, work)
    raise_on_signals()
    found = CliRunner().invoke(one, [])
    assert found.exit_code == code
    assert found.stderr == "Stopped.\n"


@both
def test_a_swallowed_signal_is_repeated(number, raised, code, monkeypatch, capsys):
    monkeypatch.setattr(limo._cli, "_SECONDS_TO_OBEY", 0.3)

    def swallow(**_):
        with pytest.raises(raised):
            signal.raise_signal(number)
        time.sleep(10)

    monkeypatch.setattr("limo._cli.app.app", swallow)
    with pytest.raises(SystemExit) as ending:
        main()
    assert ending.value.code == stop_code() == code
    time.sleep(0.4)  # main has cancelled the repetition


def test_an_interruption_before_any_command_is_one_word(monkeypatch, capsys):
    def interrupted(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr("limo._cli.app.app", interrupted)
    with pytest.raises(SystemExit) as ending:
        main()
    assert ending.value.code == 130
    assert capsys.readouterr().err == "Stopped.\n"
