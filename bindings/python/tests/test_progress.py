"""A line says what goes on, where somebody can see it, and never while private rows are read."""

import io
import sys

import pytest

import dpm
from dpm import _command, _progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_shows_a_line_that_goes_again(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with _progress.Line("certifying") as line:
        assert line.wanted
        line.tick()
    assert "certifying .. 0 s" in sys.stderr.getvalue() and sys.stderr.getvalue().endswith("\r\x1b[K")
    assert not _progress.Line(None).wanted
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert not _progress.Line("certifying").wanted


def test_no_line_tells_how_long_private_rows_took(monkeypatch):
    said = []
    call = _command.call
    monkeypatch.setattr(_command, "call", lambda arguments, doing=None, **more: (said.append((arguments[0], doing)), call(arguments, **more))[1])
    program = dpm.compile("budget eps(10)\nprivate t[3] { b: bool }\nrelease a = count(b)\n")
    program.certify()
    with pytest.raises(dpm.UsageError):
        program.run({})
    program.run({"t": {"b": [True, False, True]}})
    assert ("certify", "certifying") in said
    assert {doing for command, doing in said if command == "run"} == {None, "running chains"}
    runs = [doing for command, doing in said if command == "run"]
    assert runs[-1] is None
