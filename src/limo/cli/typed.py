"""The command as it was typed, for reports that say how they were made."""

import shlex
import sys

__all__ = ["typed_command"]


def typed_command() -> str:
    """The command line of this process, as one would type it again."""
    return shlex.join(["limo", *sys.argv[1:]])
