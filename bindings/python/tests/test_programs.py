"""Compiling, certifying and refusing, from Python as from the command line."""

import json
import subprocess
import warnings

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
    with pytest.raises(dpm.DataError) as caught:
        dpm.compile("nowhere.dpm")
    assert caught.value._render_traceback_() == ["DataError: nowhere.dpm does not exist"]
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
    assert "line 2: private t[6000]" in repr(found) and "{" not in repr(found).replace("{ y: bool }", "") and "<pre" in found._repr_html_()
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


CELLS = "budget dp(eps = 1, delta = 1e-6)\nprivate t[200] { y: bool }\nrelease cells = histogram(y)\n"


def test_warnings_of_chains_come_from_runs_and_fits_at_the_line_of_the_caller(tmp_path):
    cells = dpm.compile(CELLS).run({"t": {"y": [True, False] * 100}})
    # Only the product is known: the chains cannot agree on its parts.
    model = "public cells from \"cells.json\"\nparam a ~ normal(0, 100)\nparam b ~ normal(0, 100)\nparam c ~ normal(0, 100)\n"
    model += "observe cells.y ~ bernoulli_logit(a * b * c)\noutput post = posterior(a, b, c)\n"
    for run in (lambda: dpm.fit(model, cells), lambda: dpm.compile(model, released=cells).run()):
        with pytest.warns(UserWarning, match="the chains of `post` disagree or are short") as caught:
            run()
        assert {warning.filename for warning in caught} == {__file__}


def test_only_runs_that_spent_are_counted(tmp_path):
    program = dpm.compile(CELLS + "# only runs that spent\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for data in ({"y": [True, False] * 100}, None):
            for table in ({"z": [True] * 200}, tmp_path / "nowhere.csv"):
                with pytest.raises(dpm.DataError):
                    program.run({"t": table})
            if data is not None:
                program.run({"t": data})
    with pytest.warns(UserWarning, match="ran before in this session"):
        program.run({"t": {"y": [True, False] * 100}})


def test_a_hole_is_refused_with_its_place_and_help():
    with pytest.raises(dpm.Rejected) as caught:
        dpm.compile(CELLS.replace("(y)", "(y) using ?")).run({"t": {"y": [True, False] * 100}})
    assert caught.value.code == "E0312" and "Help: least predicted error" in str(caught.value)
    for said in (str(caught.value), " ".join(caught.value.help)):
        assert "program.compare()" in said and "dpm compare" not in said
