"""The store: what became of every run, in one SQLite file.

SQLite, because a run must be written whole or not at all, and be safe when ``add`` returns: a
process killed at any moment leaves the runs that were finished. Columnar files such as Parquet
cannot be added to row by row. A rollback journal, not a write-ahead log: what is committed stands
in the one file, which may be copied, and a damaged end is never taken for the end of a log.

Every run carries a digest of its own rows, so that damage inside a page is found as well.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from limo._system import Later
from limo.experiment._identity import StoreError
from limo.experiment._job import Outcome
from limo.experiment._judge import Score

__all__ = [
    "APPLICATION",
    "COLUMNS",
    "VERSION",
    "Store",
    "check_sound",
    "damaged",
    "is_empty",
    "must_be_sqlite",
    "pragma",
    "read_rows",
    "speaking",
]


# Whether a file is a store, and whole. Every doubt is an error: no row is lost in silence.

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


pandas = Later("pandas")

COLUMNS = (
    "dataset",
    "split",
    "method",
    "measure",
    "value",
    "seconds",
    "seed",
    "status",
    "error",
    "threshold",
    "versions",
    "run",
    "finished",
)
"""The columns of a table of rows."""

_SCHEMA = (
    """CREATE TABLE runs (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        run TEXT NOT NULL UNIQUE,
        dataset TEXT NOT NULL,
        split INTEGER NOT NULL,
        method TEXT NOT NULL,
        seed INTEGER NOT NULL,
        status TEXT NOT NULL,
        seconds REAL NOT NULL,
        versions TEXT NOT NULL,
        warnings TEXT NOT NULL,
        finished TEXT NOT NULL,
        digest TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE scores (
        run TEXT NOT NULL REFERENCES runs (run) ON DELETE CASCADE,
        place INTEGER NOT NULL,
        measure TEXT NOT NULL,
        value REAL,
        threshold TEXT NOT NULL,
        error TEXT NOT NULL,
        PRIMARY KEY (run, place)
    ) STRICT, WITHOUT ROWID""",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)
_RUN = "run, dataset, split, method, seed, status, seconds, versions, warnings, finished, digest"
_SCORE = "run, place, measure, value, threshold, error"
_INSERT_RUN = f"INSERT INTO runs ({_RUN}) VALUES ({', '.join('?' * 11)})"
_INSERT_SCORE = f"INSERT INTO scores ({_SCORE}) VALUES ({', '.join('?' * 6)})"


class Store:
    """A file of runs.

    Parameters
    ----------
    path : path
        The file.
    make : bool, default=True
        Whether to make it if there is none.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store(pathlib.Path(folder) / "results.sqlite") as store:
    ...         len(store.outcomes())
    0
    """

    def __init__(self, path: str | Path, *, make: bool = True) -> None:
        self.path = Path(path)
        if not self.path.exists() and not make:
            raise StoreError(f"there is no store at {self.path}: run a plan into it first")
        if not self.path.parent.is_dir():
            raise StoreError(f"there is no folder {self.path.parent} for {self.path.name}")
        must_be_sqlite(self.path)
        with speaking(self.path):
            self._connection = sqlite3.connect(self.path, timeout=60, isolation_level=None)
            try:
                self._prepare(make)
            except BaseException:
                self._connection.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def add(self, outcomes: Iterable[Outcome]) -> None:
        """Write runs with their rows, all or none, in place of earlier ones of the same hash."""
        with speaking(self.path), self._transaction("IMMEDIATE") as connection:
            for outcome in outcomes:
                connection.execute("DELETE FROM runs WHERE run = ?", (outcome.run,))
                connection.execute(_INSERT_RUN, _run_values(outcome))
                connection.executemany(_INSERT_SCORE, _score_values(outcome))

    def outcomes(self) -> list[Outcome]:
        """Every run, in the order they were finished, each proved to be what was written."""
        with speaking(self.path), self._transaction("DEFERRED") as connection:
            runs = connection.execute(f"SELECT {_RUN} FROM runs ORDER BY number").fetchall()
            rows = connection.execute(f"SELECT {_SCORE} FROM scores ORDER BY run, place").fetchall()
        scores: dict[str, list[Score]] = {run[0]: [] for run in runs}
        for run, _, *score in rows:
            if run not in scores:
                raise damaged(self.path, f"there are rows of a run {run!r} that is not there")
            scores[run].append(_score(*score))
        with speaking(self.path):
            return [self._outcome(run, tuple(scores[run[0]])) for run in runs]

    def _outcome(self, values: Any, scores: tuple[Score, ...]) -> Outcome:
        run, dataset, split, method, seed, status, seconds, versions, heard, finished, digest = (
            values
        )
        named = (run, dataset, split, method, seed, scores, seconds, versions)
        outcome = Outcome(*named, tuple(json.loads(heard)), finished)
        if _digest(outcome) != digest or outcome.status != status:
            raise damaged(self.path, f"the rows of run {run!r} are not those that were written")
        return outcome

    def _prepare(self, make: bool) -> None:
        # full syncs, of the folder too: what add has written outlives a loss of power
        for setting in ("journal_mode = DELETE", "synchronous = EXTRA", "foreign_keys = ON"):
            self._connection.execute(f"PRAGMA {setting}")
        if is_empty(self._connection):
            # nothing was ever committed here: a new file, or one whose making was cut short
            if not make:
                raise StoreError(f"the store {self.path} is empty: run a plan into it first")
            self._make()
        with self._transaction("DEFERRED") as connection:
            check_sound(connection, self.path)

    def _make(self) -> None:
        with self._transaction("EXCLUSIVE") as connection:
            if is_empty(connection):  # another process may have been faster
                for statement in _SCHEMA:
                    connection.execute(statement)

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[sqlite3.Connection]:
        self._connection.execute(f"BEGIN {kind}")
        try:
            yield self._connection
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")


def read_rows(path: str | Path) -> Any:
    """Read every row of a store.

    Parameters
    ----------
    path : path
        The file that :func:`limo.experiment.run` wrote.

    Returns
    -------
    pandas.DataFrame
        One row per run and measure, the columns as in ``limo.experiment.COLUMNS``. Runs made with
        different settings stand side by side: ``limo.experiment.run`` picks those of a plan.
    """
    with Store(path, make=False) as store:
        return rows_of(store.outcomes())


def rows_of(outcomes: Iterable[Outcome]) -> Any:
    """Make a table of runs: one row per run and measure."""
    rows = [
        (
            *(one.dataset, one.split, one.method, score.measure, score.value, one.seconds),
            *(one.seed, score.status, score.error, score.threshold, one.versions),
            *(one.run, one.finished),
        )
        for one in outcomes
        for score in one.scores
    ]
    frame = pandas.DataFrame(rows, columns=list(COLUMNS))
    return frame.astype({"split": int, "value": float, "seconds": float, "seed": int})


def _run_values(outcome: Outcome) -> tuple[Any, ...]:
    return (
        *(outcome.run, outcome.dataset, outcome.split, outcome.method, outcome.seed),
        *(outcome.status, outcome.seconds, outcome.versions, json.dumps(outcome.warnings)),
        *(outcome.finished, _digest(outcome)),
    )


def _score_values(outcome: Outcome) -> Iterator[tuple[Any, ...]]:
    for place, score in enumerate(outcome.scores):
        yield outcome.run, place, score.measure, score.value, score.threshold, score.error


def _score(measure: str, value: float | None, threshold: str, error: str) -> Score:
    # SQLite has no nan: it keeps NULL
    return Score(measure, float("nan") if value is None else value, threshold, error)


def _digest(outcome: Outcome) -> str:
    # repr gives every bit of a number, and the same text for every nan
    return hashlib.sha256(repr(outcome).encode()).hexdigest()
