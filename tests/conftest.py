"""Signals as a terminal sets them, and one Chromium for all tests of pages."""

import os
import shutil
import signal

import pytest

# Started by nohup, or in the background by a shell script, a process ignores Ctrl-C, and so do the
# processes it starts. Tests that send it need what a terminal gives.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-background-networking "
    "--disable-component-update --disable-sync --no-first-run --disable-quic"
)


def _lacking(reason):
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI must look at the pages in a browser: {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser():
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        _lacking("no chromium on this machine (Debian: apt-get install chromium)")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _lacking("playwright is not installed (pip install playwright; no browser need be loaded)")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=FLAGS.split())
        yield chromium
        chromium.close()
