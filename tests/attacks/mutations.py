"""Random damage to files: bytes, JSON trees, members of archives and cells of stores."""

import copy
import io
import json
import random
import sqlite3
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

Random = random.Random
Mutate = Callable[[Random, bytes, bytes], bytes]

_TOKENS = (
    *(b"0 1 -1 2 1e308 -1e308 5e-324 1e999 nan inf -0 007 1_0 0x1 2147483648".split()),
    *(b"9223372036854775808 99999999999999999999 10000000 60000 .5 1e 1:1 1:nan 0:".split()),
    *(b"@data @attribute @relation {0,1} {a,b} ? , ; : { } [ ] [[ ]] = # % \\ ' \" <".split()),
    *(b"true false null None numeric string date relational import rule labels".split()),
    *("é\u2028\ufeff𝔽".encode(), b"\xff\xfe", b"\xed\xa0\x80"),
    *(b"\n", b"\r", b"\r\n", b"\n\n", b"\t", b" ", b"\0", b"\x1a", b""),
)
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 0.5, 1e308, -1e308, 5e-324, 2**31, 2**63, 10**30),
    *(float("nan"), float("inf"), "", "a", "0", "é\u2028", "x" * 300, "../../etc", "\x00"),
    *([], {}, [[]], [None], [1, 2], [[1], [1, 2]], {"a": 1}, {"": None}, [0] * 50),
)


def mutate_bytes(rng: Random, content: bytes, other: bytes) -> bytes:
    """A few random edits: bits, tokens, missing, repeated and foreign parts."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        place = rng.randrange(len(data) + 1)
        end = min(len(data), place + int(rng.expovariate(0.1)))
        match rng.randrange(8):
            case 0 if place < len(data):
                data[place] ^= 1 << rng.randrange(8)
            case 1 if place < len(data):
                data[place] = rng.randrange(256)
            case 2:
                del data[place:end]
            case 3:
                data[place:place] = data[place:end] * rng.choice((1, 2, 50))
            case 4:
                data[place:end] = rng.choice(_TOKENS)
            case 5:
                data[place:place] = rng.choice(_TOKENS)
            case 6:
                start = rng.randrange(len(other) + 1)
                data[place:end] = other[start : start + end - place + 1]
            case 7 if rng.random() < 0.2:
                del data[place:]
    return bytes(data)


def mutate_json(rng: Random, content: bytes, other: bytes) -> bytes:
    """Replace, remove, repeat or exchange nodes of the tree; seldom, edit the text."""
    if rng.random() < 0.1:
        return mutate_bytes(rng, content, other)
    return json.dumps(mutate_tree(rng, json.loads(content))).encode()


def mutate_tree(rng: Random, tree: Any) -> Any:
    """The same tree with one to three nodes changed."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.choice((1, 1, 2, 3))):
        places = list(_places(tree))
        if not places:
            return rng.choice(_VALUES)
        parent, key = rng.choice(places)
        match rng.randrange(6):
            case 0:
                del parent[key]
            case 1:
                source, at = rng.choice(places)
                parent[key] = copy.deepcopy(source.get(at) if isinstance(source, dict) else None)
            case 2 if isinstance(parent[key], list):
                parent[key] = parent[key] * rng.choice((0, 2))
            case 3 if isinstance(parent[key], int | float):
                parent[key] = parent[key] * rng.choice((-1, 2, 1000, 0.5))
            case _:
                parent[key] = copy.deepcopy(rng.choice(_VALUES))
    return tree


def _places(tree: Any) -> Any:
    """Every container of the tree with each of its keys."""
    keys: Any = (
        tree if isinstance(tree, dict) else range(len(tree) if isinstance(tree, list) else 0)
    )
    for key in keys:
        yield tree, key
        yield from _places(tree[key])


def mutate_archive(rng: Random, content: bytes, other: bytes) -> bytes:
    """Change a member and pack it again, so that checksums do not reveal it; or the bytes."""
    if rng.random() < 0.2:
        return mutate_bytes(rng, content, other)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    changed = rng.choice(list(members))
    if changed.endswith(".json") or (
        any(name.endswith(".json") for name in members) and rng.random() < 0.6
    ):
        changed = next(name for name in members if name.endswith(".json"))
        members[changed] = mutate_json(rng, members[changed], b"")
    elif rng.random() < 0.2:
        members[changed] = members[rng.choice(list(members))]
    else:
        members[changed] = mutate_bytes(rng, members[changed], members[rng.choice(list(members))])
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # repeated names
        for name, member in members.items():
            archive.writestr(name, member)
    return packed.getvalue()


def mutate_store(rng: Random, content: bytes, other: bytes) -> bytes:
    """Change a cell with SQL, as a hand would, or the bytes of the file."""
    if rng.random() < 0.5:
        return mutate_bytes(rng, content, other)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "store"
        file.write_bytes(content)
        connection = sqlite3.connect(file, isolation_level=None)
        try:
            table = rng.choice(("runs", "scores"))
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            value = rng.choice([v for v in _VALUES if isinstance(v, str | int | float | None)])
            connection.execute(f"UPDATE {table} SET {rng.choice(columns)} = ?", (value,))
        except (sqlite3.Error, OverflowError, UnicodeEncodeError):
            connection.execute("PRAGMA user_version = 99")  # a refused edit: change the version
        finally:
            connection.close()
        return file.read_bytes()
