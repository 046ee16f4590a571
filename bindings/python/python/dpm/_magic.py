"""The cell magic ``%%dpm``: a program in a notebook's cell, checked and certified when the cell runs."""

from __future__ import annotations

import sys


def register(shell) -> None:
    from . import _complete

    shell.register_magic_function(_Cell(shell), magic_kind="cell", magic_name="dpm")
    matchers = shell.Completer.custom_matchers
    matchers[:] = [m for m in matchers if getattr(m, "matcher_identifier", "") != "dpm"]
    matchers.append(_complete.matcher(_complete.Server()))


class _Cell:
    """``%%dpm name`` puts the program into the variable ``name`` and shows its certificate. It never runs it."""

    __name__ = "dpm"

    def __init__(self, shell):
        self.shell = shell

    def __call__(self, line: str, cell: str):
        from ._command import Rejected
        from ._program import compile

        try:
            program = compile(cell + "\n")
            certificate = program.certify()
        except Rejected as rejected:
            print(rejected.rendered, file=sys.stderr)
            return None
        name = line.strip()
        if name:
            self.shell.user_ns[name] = program
        return certificate
