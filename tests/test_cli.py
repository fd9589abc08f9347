import subprocess
import sys

from typer.testing import CliRunner

from limo.cli import app


def run(*arguments):
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "120"})


def test_demo():
    found = run("demo", "--instances", "300", "--seed", "1")
    assert found.exit_code == 0
    for word in (
        "150 instances x 4 labels",
        "micro-AUC",
        "entry-wise",
        "every label relevant",
        "ordered better",
    ):
        assert word in found.output
    assert found.output == run("demo", "--instances", "300", "--seed", "1").output


def test_demo_conventions():
    assert "counted as 0" in run("demo", "--instances", "300", "--conventions", "sklearn").output
    wrong = run("demo", "--conventions", "papr")
    assert wrong.exit_code == 2
    assert "Did you mean 'paper'?" in wrong.output


def test_measures():
    found = run("measures")
    assert found.exit_code == 0
    assert "average_precision" in found.output
    assert "limit" in found.output


def test_help_has_examples():
    assert "Example: limo demo" in run("demo", "--help").output
    assert "demo" in run().output


def test_the_installed_command():
    found = subprocess.run(
        [sys.executable, "-c", "from limo.cli import main; main()", "measures"],
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0
    assert "hamming_loss" in found.stdout
