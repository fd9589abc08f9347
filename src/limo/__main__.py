"""``python -m limo``: the command line."""

from limo._cli import main

if __name__ == "__main__":
    main()
