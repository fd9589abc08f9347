"""``limo cite``: what to cite, as BibTeX."""

from typing import Annotated, Literal

import typer

import limo
from limo._cli.command import examples
from limo._cli.console import print_json
from limo._cli.options import Json

EXAMPLES = examples(
    ("the paper and the software", "limo cite > limo.bib"),
    ("the paper alone", "limo cite paper"),
)

What = Annotated[
    Literal["paper", "software"] | None,
    typer.Argument(help="What to cite; by default both.", show_default=False),
]


def cite(what: What = None, json: Json = False) -> None:
    """Print BibTeX for the paper that limo implements and for the software.

    CITATION.cff, in the root of the source, says the same for programs.
    """
    entries = {
        "paper": {
            "type": "inproceedings",
            "key": "wu2017unified",
            "author": "Wu, Xi-Zhu and Zhou, Zhi-Hua",
            "title": "A Unified View of Multi-Label Performance Measures",
            "booktitle": "Proceedings of the 34th International Conference on Machine Learning",
            "series": "Proceedings of Machine Learning Research",
            "volume": "70",
            "pages": "3780--3788",
            "year": "2017",
        },
        "software": {
            "type": "software",
            "key": "limo",
            "author": "{the limo developers}",
            "title": "limo: multi-label learning evaluated, explained and trained through margins",
            "version": limo.__version__,
            "license": "BSD-3-Clause",
        },
    }
    chosen = {name: entry for name, entry in entries.items() if what in (None, name)}
    if json:
        print_json(chosen)
        return
    typer.echo("\n".join(map(_bibtex, chosen.values())), nl=False)


def _bibtex(entry: dict[str, str]) -> str:
    fields = (f"  {key} = {{{value}}},\n" for key, value in entry.items() if key not in _HEAD)
    return f"@{entry['type']}{{{entry['key']},\n{''.join(fields)}}}\n"


_HEAD = ("type", "key")
