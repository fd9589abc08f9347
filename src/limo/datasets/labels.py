"""Which columns are the labels: by name wherever a name exists, never by guess."""

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import ParseError

from defusedxml import DefusedXmlException, ElementTree

from limo.datasets.arff_header import unquote
from limo.datasets.errors import DataError, shorten
from limo.datasets.options import Labels, Options
from limo.datasets.source import Source

__all__ = ["arff_labels", "given_labels", "meka_labels", "names_labels", "xml_labels"]

# One word, not a part of another: -C 5, -C -5; MEKA writes it into the relation's name.
_MEKA = re.compile(r"(?:^|[\s:])-[Cc]\s+(-?\d{1,9})(?!\d)")

_HOW_TO = (
    "Name them: labels=['a', 'b'], labels='tag_*' for a prefix, or labels=6 for the last six "
    "(label_location='start': the first)"
)


def arff_labels(names: list[str], relation: str, source: Source, options: Options) -> list[int]:
    """The label columns of an ARFF file.

    What the caller says, else the XML file beside it, else ``-C`` in the relation. The XML stands
    above ``-C``, which outlives the filters that moved the labels.
    """
    if options.labels is not None:
        return given_labels(names, options.labels, options.label_location, source.path)
    xml = _find_xml(source, options)
    if xml is not None:
        content, path = xml
        return _header_order(names, xml_labels(content, path), path)
    columns = meka_labels(relation, len(names), source.path)
    if columns is not None:
        return columns
    tried = " or ".join(f"{name}.xml" for name in source.set_names)
    raise DataError(
        f"which attributes are the labels? Found no {tried} beside the file and no '-C n' in its "
        f"relation. {_HOW_TO}, or xml='labels.xml'",
        path=source.path,
    )


def names_labels(relation: str, n_columns: int, source: Source, options: Options) -> bool:
    """Whether an ARFF file, or an XML file beside it, says which attributes are labels."""
    if _find_xml(source, options) is not None:
        return True
    return meka_labels(relation, n_columns, source.path) is not None


def given_labels(names: list[str], labels: Labels, location: str, path: str) -> list[int]:
    """Columns by names, by prefix (``'tag_*'``) or by count."""
    if isinstance(labels, int):
        if labels > len(names):
            raise DataError(f"labels={labels}, but there are {len(names)} columns", path=path)
        first = len(names) - labels if location == "end" else 0
        return list(range(first, first + labels))
    if isinstance(labels, str) and labels.endswith("*"):
        columns = [j for j, name in enumerate(names) if name.startswith(labels[:-1])]
        if not columns:
            raise DataError(
                f"no column begins with {labels[:-1]!r}; there are {shorten(names)}", path=path
            )
        return columns
    wanted = [labels] if isinstance(labels, str) else list(labels or ())
    return _columns(names, wanted, path, _HOW_TO)


def meka_labels(relation: str, n_columns: int, path: str) -> list[int] | None:
    """The columns ``-C n`` in a relation means: the first n, or the last for -n; None without."""
    match = _MEKA.search(relation)
    if match is None:
        return None
    count = int(match[1])
    if not 0 < abs(count) <= n_columns:
        raise DataError(
            f"the relation says '-C {count}', but there are {n_columns} attributes. {_HOW_TO}",
            path=path,
        )
    return list(range(count)) if count > 0 else list(range(n_columns + count, n_columns))


def xml_labels(content: bytes, path: str) -> list[str]:
    """The label names of a Mulan XML file; entities and outside references are refused."""
    try:
        root = ElementTree.fromstring(content, forbid_dtd=True)
    except ParseError as error:
        line = error.position[0]
        raise DataError(f"expected XML, but {error}", path=path, line=line) from None
    except (DefusedXmlException, ValueError, LookupError) as error:
        raise DataError(
            f"the XML holds a document type, an entity or a bad encoding ({error}); "
            "a label file needs none. Remove it",
            path=path,
        ) from None
    elements = [e for e in root.iter() if e.tag.rpartition("}")[2] == "label"]
    names = [element.get("name") for element in elements]
    if not names or None in names:
        raise DataError(
            'expected <labels><label name="..."/>...</labels>, got '
            + ("a label without a name" if names else "no label"),
            path=path,
        )
    return [name for name in names if name is not None]


def _find_xml(source: Source, options: Options) -> tuple[bytes, str] | None:
    """The XML the caller names, else one called like the set and lying beside the data."""
    if options.xml is not None:
        path = Path(options.xml)
        options.limits.check("max_bytes", path.stat().st_size, "bytes", str(path))
        return path.read_bytes(), str(path)
    for name in source.set_names:
        content = source.beside(f"{name}.xml")
        if content is not None:
            return content, str(Path(source.path).parent / f"{name}.xml")
    return None


def _header_order(names: list[str], labels: list[str], path: str) -> list[int]:
    """The columns the XML names, in the order of the header (enron's XML has another)."""
    known = set(names)
    # Some files (birds) carry the header's quotes and escapes into the XML.
    matched = [label if label in known else unquote(label.strip()) for label in labels]
    advice = "Is it the XML of another set? Pass xml=..., or labels=..."
    return sorted(_columns(names, matched, path, advice))


def _columns(names: list[str], wanted: Sequence[str], path: str, advice: str) -> list[int]:
    place = {name: j for j, name in enumerate(names)}
    unknown = [name for name in wanted if name not in place]
    if unknown or not wanted:
        told = f"no column is named {shorten(unknown)}" if unknown else "no label is named"
        raise DataError(f"{told}; there are {shorten(names)}. {advice}", path=path)
    if len(set(wanted)) < len(wanted):
        twice = next(name for name in wanted if list(wanted).count(name) > 1)
        raise DataError(f"the label {twice!r} is named twice", path=path)
    return [place[name] for name in wanted]
