"""Runs the dpm command and turns its exit codes into exceptions."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import warnings
from pathlib import Path

from . import _progress


class Error(Exception):
    """What the command refused. Its text is the command's own message; no text ever depends on a private value."""

    def _render_traceback_(self) -> list[str]:
        """IPython shows the message alone: where in the package it was raised helps nobody."""
        return f"{type(self).__name__}: {self}".splitlines()


class Rejected(Error):
    """The program is not accepted.

    ``code`` is the first error's code ("E0301"; "W0510" of a run that is predicted to learn next to nothing), ``diagnostics`` all of them as dictionaries, ``help`` the lines that
    can be pasted, ``rendered`` the text with the colours of a terminal.
    """

    def __init__(self, rendered: str, diagnostics: list[dict] | None = None):
        super().__init__(plain(rendered))
        self.rendered = rendered
        self.diagnostics = diagnostics or []

    def _render_traceback_(self) -> list[str]:
        """The message with its marks under the program."""
        return self.rendered.splitlines()

    @property
    def code(self) -> str | None:
        found = [d["code"] for severity in ("error", "warning") for d in self.diagnostics if d.get("severity") == severity]
        return found[0] if found else None

    @property
    def help(self) -> list[str]:
        return [line for d in self.diagnostics for line in d.get("help", [])]


class UsageError(Error):
    """An argument the command does not take."""


class DataError(Error):
    """A file is missing, lacks a declared column, breaks a public number of rows, or has a bad public cell."""


class LedgerError(Error):
    """The ledger refused the charge; nothing was drawn."""


class Failed(Error):
    """An expectation of the program does not hold, or a certificate could not be verified."""


class Bug(Error):
    """A fault of dpm itself."""


_CODES = {1: Rejected, 2: UsageError, 3: DataError, 4: LedgerError, 5: Failed}


def plain(text: str) -> str:
    """The text without the colours of a terminal."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def command() -> str:
    """Where the command is: ``$DPM_COMMAND``, the one installed beside this package, or the first on the path."""
    named = os.environ.get("DPM_COMMAND")
    if named:
        return named
    name = "dpm.exe" if os.name == "nt" else "dpm"
    beside = [Path(sysconfig.get_path("scripts")), Path(sys.executable).parent]
    for folder in beside:
        if (folder / name).is_file():
            return str(folder / name)
    found = shutil.which("dpm")
    if found is None:
        raise Error("the dpm command is not installed: see docs/python.md")
    return found


def warn(said: str) -> None:
    """A `UserWarning` at the line outside this package that called it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and Path(frame.f_code.co_filename).parent == Path(__file__).parent:
        frame, level = frame.f_back, level + 1
    warnings.warn(said, stacklevel=level)


def version() -> str:
    """The version of the command in use."""
    return call(["--version"]).split()[-1]


def call(arguments: list[str], *, cwd: str | os.PathLike | None = None, fds: tuple[int, ...] = (), doing: str | None = None) -> str:
    """Runs the command; returns its standard output. Says what it is ``doing`` once that has lasted over a second.

    Raises the subclass of `Error` that its exit code stands for. An interrupt ends the command before it reaches the
    caller, so that nothing goes on drawing; what a ledger was charged stays charged.
    """
    try:
        child = subprocess.Popen(
            [command(), *arguments], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=fds,
            env={**os.environ, "NO_COLOR": "", "CLICOLOR_FORCE": "1"},
        )
    except OSError as error:
        raise Error(f"the dpm command cannot be started: {error.strerror}: {command()}") from None
    try:
        with _progress.Line(doing) as line:
            while True:
                try:
                    out, err = child.communicate(timeout=1 if line.wanted else None)
                    break
                except subprocess.TimeoutExpired:
                    line.tick()
    except BaseException:
        child.terminate()
        child.wait()
        raise
    out, err = (re.sub(r"'?/(?:proc/self|dev)/fd/\d+'?", "the rows given", text.decode("utf-8", "replace")) for text in (out, err.strip()))
    if child.returncode == 0:
        # Of chains and of what is computed from released values; warnings of the program are raised when it is compiled.
        for said in re.findall(r"^warning: (.+)$", plain(err), flags=re.MULTILINE):
            warn(said)
        return out
    kind = _CODES.get(child.returncode, Bug)
    if kind is Rejected:
        err, out = (text.replace("--anyway", "anyway=True").replace("`dpm compare`", "`program.compare()`") for text in (err, out))
        raise Rejected(err or _messages(out), _diagnostics(out))
    raise kind(_in_python(plain(err)) or _messages(out) or f"dpm ended with exit code {child.returncode}")


def _in_python(text: str) -> str:
    """What the command says of its options, of the arguments that stand for them here."""
    # What stands before the error are warnings of the program, which were raised as such when it was compiled.
    text = re.split(r"^error: ", text, maxsplit=1, flags=re.MULTILINE)[-1]
    text = re.sub(r"--(data|public) (\w+)=PATH", r'\1={"\2": ..}', text)
    text = re.sub(r"--data wants NAME=PATH with the name of a private table, not `(\w+)=[^`]*`", r"the program has no private table `\1`", text)
    text = text.replace("--data wants NAME=PATH with the name of a private table, not `the rows given`", "the program has no private table")
    text = re.sub(r"^--want 'RELEASE within ERROR': ", "", text)
    text = re.sub(r"\bthe rows given: the file for (`\w+`)", r"the table given for \1", text)
    text = re.sub(r"\bthe rows given: the column (`[^`]*`) of the file for (`\w+`)", r"the column \1 of the table given for \2", text)
    text = re.sub(
        r"(the table given for `\w+` has no column `(\w+)`)$",
        r'\1\n  Help: \2 from "NAME IN THE TABLE": .. reads a column of another name; the index of a frame is a column after frame.reset_index()', text,
    )
    return text.replace("--ledger PATH is missing", 'ledger="PATH" is missing').replace("use --public", "use public={..}")


def _diagnostics(out: str) -> list[dict]:
    try:
        return json.loads(out).get("diagnostics", [])
    except ValueError:
        return []


def _messages(out: str) -> str:
    return "\n".join(f"{d['severity']}[{d['code']}]: {d['message']}" for d in _diagnostics(out))
