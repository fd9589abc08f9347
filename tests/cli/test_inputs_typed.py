import sys

from limo._cli.inputs import typed_command


def test_the_command_can_be_typed_again(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/usr/bin/limo", "fit", "my songs.csv", "-o", "m.skops"])
    assert typed_command() == "limo fit 'my songs.csv' -o m.skops"
