"""``python -m limo``: the command line."""

from limo.cli import main

if __name__ == "__main__":
    main()
