"""The command line as ``python -m limo``."""

from limo._cli import main

if __name__ == "__main__":
    main()
