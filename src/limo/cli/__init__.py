"""The command line: arguments in, one call below for each command, tables or JSON out.

The only room that prints. Results go to standard output, progress and remarks to standard error.
Commands use what ``import limo`` offers, which is loaded when it is first touched: asking for help
loads neither NumPy nor a compiler.
"""

import importlib
import sys

from limo.cli.stopping import listening

__all__ = ["main"]


def main() -> None:
    """Run the command line; Ctrl-C and a polite kill end it cleanly at any moment."""
    try:
        with listening():
            importlib.import_module("limo.cli.app").app(prog_name="limo")
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        sys.exit(130)
