"""Compiling, certifying and refusing, from Python as from the command line."""

import json
import subprocess

import pytest

import dpm
from dpm import _command

PROGRAM = """
budget eps(1)
private t[1000] { smoker: bool }
param p ~ beta(1, 1)
observe smoker ~ bernoulli(p)
release post = posterior(p)
"""


def test_certificates_are_those_of_the_command_line_to_the_byte(examples, tmp_path):
    seen = 0
    for path in sorted(examples.glob("*.dpm")):
        public = {"pilot": examples / "11_pilot.csv"} if path.stem.startswith("11") else {}
        more = [f"--public=pilot={examples / '11_pilot.csv'}"] if public else []
        try:
            program = dpm.compile(path)
        except dpm.Rejected as rejected:
            pytest.fail(str(rejected))
        command = [_command.command(), "certify", str(path), "--json", *more]
        expected = subprocess.run(command, capture_output=True, cwd=examples, check=True).stdout
        certificate = program.certify(public=public)
        certificate.save(tmp_path / "certificate.json")
        assert (tmp_path / "certificate.json").read_bytes() == expected, path
        assert certificate == json.loads(expected)
        seen += 1
    assert seen >= 16


def test_a_refusal_carries_code_text_and_help():
    with pytest.raises(dpm.Rejected) as caught:
        dpm.compile(PROGRAM.replace("beta(1, 1)", "normal(0, 1)"))
    assert caught.value.code.startswith("E0")
    assert caught.value.help
    assert "program.dpm" in str(caught.value) and "\x1b" not in str(caught.value)
    shown = "\n".join(caught.value._render_traceback_())
    assert "\x1b[" in shown and dpm._command.plain(shown) == str(caught.value)


def test_what_is_missing_is_named():
    with pytest.raises(dpm.DataError):
        dpm.compile("nowhere.dpm")
    with pytest.raises(dpm.UsageError):
        dpm.compile(PROGRAM).run()


def test_comparison_and_verification():
    program = dpm.compile(PROGRAM)
    table = program.compare()
    applies = [row for row in table.rows if row[2]]
    assert applies and all(row[0] == "post" for row in table.rows)
    assert "post" in repr(table)
    assert program.verify()


def test_a_wanted_accuracy():
    program = dpm.compile("budget eps(1)\nprivate t[100] { y: bool }\nrelease m = mean(y)\n")
    found = program.want("m", 0.0005)
    assert found["budget"]["value"] == 60 and "promises next to nothing" in found["budget"]["warning"]
    assert found["rows"]["text"].startswith("private t[6000]") and found["rows"]["line"] == 2
    with pytest.raises(dpm.UsageError):
        program.want("other", 0.1)


def test_nothing_runs_in_a_repr(monkeypatch):
    program = dpm.compile(PROGRAM)
    monkeypatch.setattr(_command, "call", lambda *a, **k: pytest.fail("a repr ran the command"))
    assert "dpm.Program" in repr(program)
    assert "<b>budget</b>" in program._repr_html_()


def test_foreign_text_is_escaped():
    assert "<script>" not in dpm.compile(PROGRAM + "# <script>alert(1)</script>\n")._repr_html_()


def test_warnings_reach_python():
    with pytest.warns(UserWarning, match="W0501"):
        dpm.compile("budget eps(40)\nprivate t[100] { y: bool }\nrelease a = count(y)\n")


def test_one_word_is_a_path():
    with pytest.raises(dpm.DataError, match="does not exist"):
        dpm.compile("rate.txt")


def test_warnings_of_the_command_are_warnings_here():
    with pytest.warns(UserWarning, match="releases nothing"):
        dpm.compile("budget eps(1)\nprivate t[10] { y: bool }\n").certify()
