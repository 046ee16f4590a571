"""The cell magic ``%%dpm``: a program in a notebook's cell, checked and certified when the cell runs."""

from __future__ import annotations

from ._command import UsageError


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
        from ._program import compile

        name = line.strip()
        if name and not name.isidentifier():
            raise UsageError(f"%%dpm takes the name of a variable, not `{name}`")
        # An older program of that name is not run by the cells below if this one is refused.
        self.shell.user_ns.pop(name, None)
        program = compile(cell + "\n")
        certificate = program.certify()
        if name:
            self.shell.user_ns[name] = program
        return certificate
