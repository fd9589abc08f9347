"""Whether a file is a store, and whole. Every doubt is an error: no row is lost in silence."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from limo.experiment.errors import StoreError

__all__ = [
    "APPLICATION",
    "VERSION",
    "check_sound",
    "damaged",
    "is_empty",
    "must_be_sqlite",
    "pragma",
    "speaking",
]

VERSION = 1
APPLICATION = int.from_bytes(b"limo", "big")
"""What SQLite's header says the file is for."""

_MAGIC = b"SQLite format 3\0"
_CLAIMED_PAGES = slice(28, 32)


def must_be_sqlite(path: Path) -> None:
    """Refuse a file of another kind before SQLite touches it; an empty or absent one passes."""
    start = _head(path)[: len(_MAGIC)] if path.exists() else b""
    if start and start != _MAGIC:
        raise StoreError(
            f"{path} is no store of results: expected a SQLite file. Nothing was changed; name "
            "another file"
        )


def check_sound(connection: sqlite3.Connection, path: Path) -> None:
    """Kind, version, length and every page; inside a transaction, so that nobody writes."""
    if pragma(connection, "application_id") != APPLICATION:
        raise StoreError(
            f"{path} is a SQLite file of another program. Nothing was changed; name another file"
        )
    version = pragma(connection, "user_version")
    if version != VERSION:
        raise StoreError(
            f"{path} has version {version} of the store, this limo reads version {VERSION}. "
            "Read it with the limo that wrote it, or name another file"
        )
    # SQLite checks the pages it knows of; a length that does not fit it may overlook
    claimed = int.from_bytes(_head(path)[_CLAIMED_PAGES], "big") * pragma(connection, "page_size")
    size = path.stat().st_size
    if size != claimed:
        raise damaged(path, f"expected {claimed} bytes, the file has {size}")
    [(verdict,), *_] = connection.execute("PRAGMA integrity_check").fetchall()
    if verdict != "ok":
        raise damaged(path, f"SQLite finds {verdict.splitlines()[-1]!r}")


def damaged(path: Path, what: str) -> StoreError:
    """Say what is wrong, and what can be done."""
    return StoreError(
        f"{path} is damaged: {what}. Nothing was read from it and nothing changed. Take an earlier "
        f"copy, or go on in a new file; 'sqlite3 {path.name} .recover' may save a part"
    )


def is_empty(connection: sqlite3.Connection) -> bool:
    """Whether nothing was ever committed."""
    return not connection.execute("SELECT 1 FROM sqlite_schema").fetchone()


def pragma(connection: sqlite3.Connection, name: str) -> int:
    """A number SQLite knows about the file."""
    [value] = connection.execute(f"PRAGMA {name}").fetchone()
    return int(value)


@contextmanager
def speaking(path: Path) -> Iterator[None]:
    """Turn what SQLite says into a sentence about the store."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise StoreError(f"{path} is in use by another program: try again") from error
        raise damaged(path, f"SQLite says {error}") from error
    except (sqlite3.Error, ValueError, OverflowError) as error:
        raise damaged(path, f"SQLite says {error}") from error


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(100)
