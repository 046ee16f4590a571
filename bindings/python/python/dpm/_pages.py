"""What the command prints for readers: its pages, and, for the owner of a file, what is in it, in a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from . import _command, _display


class Page(str):
    """A text that shows itself as it is printed."""

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return _display.text(self)


def explain(name: str = "") -> Page:
    """The page on a word of the language, a mechanism, a rule or an error code, as ``dpm explain`` prints it; the list of all pages without a name.

    Raises `UsageError` where there is no such page.
    """
    return Page(_command.call(["explain", *name.split()]).rstrip("\n"))


def inspect(program: str | os.PathLike, data: Mapping[str, str | os.PathLike], path: str | os.PathLike) -> None:
    """For the owner of a file: which cells are not what a program declares, written to ``path``, a new file that only its owner may read. It holds private cells and is no release.

    ``program`` is the path of a ``.dpm`` file, ``data`` gives the path of the file of every private table. Nothing is returned or printed, since a notebook would keep it.
    Raises `DataError` where a file is missing, `UsageError` where ``data`` names no private table.
    """
    at = lambda place: str(Path(place).expanduser().absolute())
    _command.call(["inspect", at(program), *(f"--data={name}={at(file)}" for name, file in data.items()), "-o", at(path)])
