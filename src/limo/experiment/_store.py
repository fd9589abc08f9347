"""The store: the outcomes of all runs, in one SQLite file.

SQLite, because a run must be written completely or not at all, and be safe when ``add`` returns: a
process killed at any time leaves all finished runs. Columnar files such as Parquet cannot be
extended row by row. It uses a rollback journal, not a write-ahead log: everything committed is in
the one file, which may be copied, and a damaged end is never mistaken for the end of a log.

Every run has a digest of its rows, so that damage inside a page is found as well.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from limo._system import Later, as_path
from limo.experiment._job import Outcome
from limo.experiment._judge import Score

pandas = Later("pandas")

VERSION = 1
APPLICATION = int.from_bytes(b"limo", "big")
"""The application id in SQLite's header."""

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
"""The columns of a table of results."""

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


class StoreError(RuntimeError):
    """A file that is not a store of results, or a damaged one. Nothing was changed.

    Examples
    --------
    >>> import limo, pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "results.sqlite"
    >>> _ = file.write_text("no store")
    >>> limo.experiment.read_rows(file)
    Traceback (most recent call last):
    ...
    limo.experiment.StoreError: ...
    """

    __module__ = "limo.experiment"  # the name that users see and import


class Store:
    """A file with the outcomes of runs.

    Parameters
    ----------
    path : path
        The file.
    create : bool, default=True
        Whether to create the file if it does not exist.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store(pathlib.Path(folder) / "results.sqlite") as store:
    ...         len(store.outcomes())
    0
    """

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self.path = as_path(path)
        if not self.path.exists() and not create:
            raise StoreError(f"there is no store at {self.path}: run a plan first")
        if not self.path.parent.is_dir():
            raise StoreError(f"there is no folder {self.path.parent} for {self.path.name}")
        _check_header(self.path)
        with _store_errors(self.path):
            self._connection = sqlite3.connect(self.path, timeout=60, isolation_level=None)
            try:
                self._prepare(create)
            except BaseException:
                self._connection.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def add(self, outcomes: Iterable[Outcome]) -> None:
        """Write outcomes, all or none; they replace earlier ones of the same runs."""
        with _store_errors(self.path), self._transaction("IMMEDIATE") as connection:
            for outcome in outcomes:
                connection.execute("DELETE FROM runs WHERE run = ?", (outcome.run,))
                connection.execute(_INSERT_RUN, _run_values(outcome))
                connection.executemany(_INSERT_SCORE, _score_values(outcome))

    def outcomes(self) -> list[Outcome]:
        """All outcomes in the order they were finished, each checked against its digest."""
        with _store_errors(self.path), self._transaction("DEFERRED") as connection:
            runs = connection.execute(f"SELECT {_RUN} FROM runs ORDER BY number").fetchall()
            rows = connection.execute(f"SELECT {_SCORE} FROM scores ORDER BY run, place").fetchall()
        scores: dict[str, list[Score]] = {run[0]: [] for run in runs}
        for run, _, *score in rows:
            if run not in scores:
                raise _damaged(self.path, f"it has scores of a run {run!r} that does not exist")
            scores[run].append(_score(*score))
        with _store_errors(self.path):
            return [self._outcome(run, tuple(scores[run[0]])) for run in runs]

    def _outcome(self, values: Any, scores: tuple[Score, ...]) -> Outcome:
        run, dataset, split, method, seed, status, seconds, versions, caught, finished, digest = (
            values
        )
        named = (run, dataset, split, method, seed, scores, seconds, versions)
        outcome = Outcome(*named, tuple(json.loads(caught)), finished)
        if _digest(outcome) != digest or outcome.status != status:
            raise _damaged(self.path, f"run {run!r} is not as it was written")
        return outcome

    def _prepare(self, create: bool) -> None:
        # sync the file and its folder, so that what add has written survives a power loss
        for setting in ("journal_mode = DELETE", "synchronous = EXTRA", "foreign_keys = ON"):
            self._connection.execute(f"PRAGMA {setting}")
        if _is_empty(self._connection):
            # nothing was ever committed: a new file, or one whose creation was interrupted
            if not create:
                raise StoreError(f"the store {self.path} is empty: run a plan first")
            self._create()
        with self._transaction("DEFERRED") as connection:
            _check_integrity(connection, self.path)

    def _create(self) -> None:
        with self._transaction("EXCLUSIVE") as connection:
            if _is_empty(connection):  # another process may have created it
                for statement in _SCHEMA:
                    connection.execute(statement)

    @contextmanager
    def _transaction(self, mode: str) -> Iterator[sqlite3.Connection]:
        self._connection.execute(f"BEGIN {mode}")
        try:
            yield self._connection
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:  # SQLite itself rolls back when the disk is full
                self._connection.execute("ROLLBACK")
            raise


def read_rows(path: str | Path) -> Any:
    """Read every row of a store.

    Parameters
    ----------
    path : path
        The file that :func:`limo.experiment.run` wrote.

    Returns
    -------
    pandas.DataFrame
        One row per run and measure, with the columns ``limo.experiment.COLUMNS``. It includes
        runs with different settings; ``limo.experiment.run`` returns those of one plan.

    Examples
    --------
    >>> import limo, pathlib, tempfile
    >>> from limo.experiment import Data, Plan, Splits
    >>> plan = Plan([Data("toy", "figure1", {"n": 60})], ["mlknn"], ["macro_auc"], Splits(number=1))
    >>> store = pathlib.Path(tempfile.mkdtemp()) / "results.sqlite"
    >>> rows = limo.experiment.run(plan, store, n_jobs=1)
    >>> limo.experiment.read_rows(store)["method"].tolist()
    ['mlknn']
    """
    with Store(path, create=False) as store:
        return rows_of(store.outcomes())


def rows_of(outcomes: Iterable[Outcome]) -> Any:
    """Outcomes as a table with one row per run and measure."""
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
    # repr gives every bit of a number, and the same text for every nan. It includes the names of
    # classes and fields: renaming one makes stored runs look damaged, and needs a new VERSION
    return hashlib.sha256(repr(outcome).encode()).hexdigest()


# Integrity: whether a file is a store, and undamaged. Any doubt is an error, so no row is lost.

_MAGIC = b"SQLite format 3\0"
_CLAIMED_PAGES = slice(28, 32)


def _check_header(path: Path) -> None:
    """Reject a file that is not SQLite's before opening it; an empty or missing one passes."""
    start = _head(path)[: len(_MAGIC)] if path.exists() else b""
    if start and start != _MAGIC:
        raise StoreError(
            f"{path} is not a store of results: expected a SQLite file. Nothing was changed; "
            "choose another file"
        )


def _check_integrity(connection: sqlite3.Connection, path: Path) -> None:
    """Check owner, version, length and every page, in a transaction, so that nothing changes."""
    if _pragma(connection, "application_id") != APPLICATION:
        raise StoreError(
            f"{path} is a SQLite file of another program. Nothing was changed; choose another file"
        )
    version = _pragma(connection, "user_version")
    if version != VERSION:
        raise StoreError(
            f"{path} has version {version} of the format, this limo reads version {VERSION}. "
            "Use the limo that wrote it, or choose another file"
        )
    # SQLite checks the pages its header counts; it may overlook that the file is longer or shorter
    claimed = int.from_bytes(_head(path)[_CLAIMED_PAGES], "big") * _pragma(connection, "page_size")
    size = path.stat().st_size
    if size != claimed:
        raise _damaged(path, f"expected {claimed} bytes, the file has {size}")
    [(verdict,), *_] = connection.execute("PRAGMA integrity_check").fetchall()
    if verdict != "ok":
        raise _damaged(path, f"SQLite reports {verdict.splitlines()[-1]!r}")


def _damaged(path: Path, what: str) -> StoreError:
    """An error that says what is wrong and what to do."""
    return StoreError(
        f"{path} is damaged: {what}. Nothing was read from it and nothing changed. Use an earlier "
        f"copy, or start a new file; 'sqlite3 {path.name} .recover' may rescue a part"
    )


def _is_empty(connection: sqlite3.Connection) -> bool:
    """Whether nothing was ever committed."""
    return not connection.execute("SELECT 1 FROM sqlite_schema").fetchone()


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    """A number from SQLite's header."""
    [value] = connection.execute(f"PRAGMA {name}").fetchone()
    return int(value)


@contextmanager
def _store_errors(path: Path) -> Iterator[None]:
    """Raise errors of SQLite as a StoreError; only those that mean damage say so."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise StoreError(
            f"a name or message has a character that {path} cannot store: {error}. Nothing was "
            "changed; rename the data or the method"
        ) from error
    except (sqlite3.Error, OverflowError, TypeError, ValueError) as error:
        code = getattr(error, "sqlite_errorcode", 0)
        # the lowest byte is the kind of error; a file that ends too soon is damaged
        known = "" if code == sqlite3.SQLITE_IOERR_SHORT_READ else _NOT_DAMAGED.get(code & 255, "")
        if known:
            raise StoreError(f"{path} {known}. All rows it has are kept ({error})") from error
        raise _damaged(path, f"SQLite reports: {error}") from error


_NOT_DAMAGED = {
    sqlite3.SQLITE_BUSY: "is in use by another program; try again",
    sqlite3.SQLITE_LOCKED: "is in use by another program; try again",
    sqlite3.SQLITE_FULL: "cannot grow: the disk is full. Free some space, then run again",
    sqlite3.SQLITE_READONLY: "cannot be written: the file or its folder is read-only. Change the "
    "permissions, or choose another file",
    sqlite3.SQLITE_PERM: "cannot be opened: permission was denied",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened or created. Check the permissions of its folder",
    sqlite3.SQLITE_IOERR: "could not be read or written: the disk reports an error, or is full",
    sqlite3.SQLITE_NOMEM: "needs more memory than there is",
}


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(100)
