"""Results: values by name, posteriors, ArviZ, records and models of what was released."""

import numpy
import pytest

import dpm

COUNTS = """
public cells from "result.json"
param m ~ normal(0, 1.5)
observe cells.vote ~ bernoulli_logit(m)
output again = posterior(m)
"""


@pytest.fixture(scope="module")
def poll():
    from conftest import ROOT

    folder = ROOT / "examples"
    return dpm.compile(folder / "17_poll.dpm").run({"poll": folder / "17_poll.csv"})


def test_draws_agree_with_the_summary_that_came_with_them(poll):
    post = poll.posterior("post")
    draws = post.draws()["m"]
    assert draws.shape == (4, 1000)
    row = next(r for r in post.summary().rows if r[0] == "m")
    assert row[1] == pytest.approx(draws.mean(), rel=1e-6)
    assert post.sample(50, seed=1)["m"].shape == (50,)
    assert numpy.array_equal(post.sample(50, seed=1)["m"], post.sample(50, seed=1)["m"])


def test_arviz_reads_them(poll):
    arviz = pytest.importorskip("arviz")
    table = arviz.summary(poll.to_inferencedata())
    assert "m" in table.index


def test_a_posterior_is_a_table_and_small_multiples(poll):
    page = poll.posterior("post")._repr_html_()
    assert page.count("<svg") == len(poll.posterior("post").draws()) and "90 % interval" in page


def test_weights_of_a_design_have_the_names_of_their_columns(examples):
    text = (examples / "19_design.dpm").read_text().replace("release coef = draw(w) using refined", "release post = posterior(w)")
    text = "\n".join(line for line in text.splitlines() if not line.startswith("output"))
    post = dpm.compile(text + "\n").run(examples / "19_survey.csv").posterior("post")
    names = [row[0] for row in post.summary().rows]
    between = dpm.compile(text + "\noutput between = interval(post, 0.9)\n").run(examples / "19_survey.csv")["between"]
    assert [f"post[{name}]" for name in between] == names and all(low < high for low, high in between.values())
    assert "post[age]" in names and "post[sex[male]]" in names and list(post.columns()) == names


def test_the_saved_record_of_a_charged_run_is_the_signed_one(tmp_path):
    (tmp_path / "t.csv").write_text("y\n" + "true\n" * 100)
    (tmp_path / "schema.dpm").write_text("private t[100] { y: bool }\n")
    call = lambda *arguments: dpm._command.call(list(arguments), cwd=tmp_path)
    call("ledger", "init", "l", "--dataset", "t=t.csv", "--schema", "schema.dpm", "--budget", "eps(1)", "--shared")
    (tmp_path / "l.pub").write_text(call("ledger", "key", "l"))
    result = dpm.compile("budget eps(0.5)\nprivate t[100] { y: bool }\nrelease a = count(y)\n").run({"t": "@t"}, ledger=tmp_path / "l")
    assert "cost: eps = 0.5" in repr(result) and repr(result).endswith("charged to the ledger\nleft of t: eps 0.5")
    result.save(tmp_path / "r.json")
    assert "signature" in call("verify", "r.json", "--key", "l.pub") or "signed" in call("verify", "r.json", "--key", "l.pub")
    (tmp_path / "r.json").write_text((tmp_path / "r.json").read_text().replace('"a"', '"b"', 1))
    with pytest.raises(dpm.Error):
        call("verify", "r.json", "--key", "l.pub")


def test_a_saved_record_gives_draws_of_its_closed_posteriors(examples, tmp_path):
    shares = dpm.compile(examples / "12_noisy_posterior.dpm").run(examples / "12_ballots.csv")
    rate = dpm.compile("budget eps(1)\nprivate t[40] { y: bool }\nparam p ~ beta(2, 6)\nobserve y ~ bernoulli(p)\nrelease post = posterior(p)\n")
    for result in (shares, rate.run({"t": {"y": [True, False] * 20}})):
        result.save(tmp_path / "r.json")
        again = dpm.load(tmp_path / "r.json")
        came, made = result.posterior("post"), again.posterior("post")
        assert made.draws()["post"].shape == came.draws()["post"].shape and list(made.columns()) == list(came.columns())
        # Twenty standard errors of 4,000 draws.
        for a, b in zip(came.summary().rows, made.summary().rows):
            assert a[1] == pytest.approx(b[1], abs=0.45 * a[2]) and a[2] == pytest.approx(b[2], rel=0.3)
        assert numpy.array_equal(made.draws()["post"], again.posterior("post").draws()["post"])
        assert made.sample(9, seed=1)["post"].shape[0] == 9


def test_every_closed_family_is_drawn():
    from dpm import _closed

    closed = {
        "beta": ({"parameters": [2, 6]}, 0.25), "gamma": ({"parameters": [3, 2]}, 1.5), "normal": ({"parameters": [4, 0.1]}, 4),
        "dirichlet": ({"parameters": [1, 2, 5]}, [0.125, 0.25, 0.625]),
        "multi_normal": ({"parameters": [[1, -1], [[0.04, 0.01], [0.01, 0.04]]], "levels": ["a", "b"]}, [1, -1]),
        "inv_logit": ({"of": {"family": "normal", "parameters": [0, 0.1]}}, 0.5),
        "inv_cloglog": ({"of": {"family": "normal", "parameters": [0, 0.01]}}, 0.632),
        "Phi": ({"of": {"family": "normal", "parameters": [1, 0.01]}}, 0.841), "exp": ({"of": {"family": "normal", "parameters": [1, 0.01]}}, 2.718),
        "mixture": ({"weights": [0.25, 0.75], "components": [{"family": "normal", "parameters": [0, 0.1]}, {"family": "normal", "parameters": [4, 0.1]}]}, 3),
        "product": ({"components": [{"family": "beta", "parameters": [2, 2]}, {"family": "beta", "parameters": [1, 3]}]}, [0.5, 0.25]),
    }
    for family, (value, mean) in closed.items():
        found = _closed.groups({"p": {"family": family, **value}})["posterior"]["p"]
        assert found.shape[:2] == (4, 1000) and numpy.allclose(found.mean(axis=(0, 1)), mean, atol=0.15), family
    for value in (1.5, {"family": "draws"}, {"family": "quotient_normal", "parameters": [0] * 6}, {"family": "beta", "parameters": [None, 2]}):
        assert _closed.groups({"p": value}) is None


def test_what_is_not_a_record_is_said_so(tmp_path):
    for text in ("", "{}", "[1]", "\xff", '{"releases": 1, "outputs": {}, "certificate": {}}'):
        (tmp_path / "r.json").write_bytes(text.encode("latin-1"))
        with pytest.raises(dpm.DataError, match="record of a run"):
            dpm.load(tmp_path / "r.json")
    with pytest.raises(dpm.DataError):
        dpm.load(tmp_path / "nowhere.json")


def test_errors_and_costs_are_shown_with_values(tmp_path):
    program = dpm.compile(
        "budget eps(1)\nprivate t[100] { y: bool }\nparam p ~ beta(1, 1)\nobserve y ~ bernoulli(p)\nrelease a = count(y)\nrelease post = posterior(p)\n"
    )
    result = program.run({"t": {"y": [True] * 100}})
    assert "95% bound" in repr(result) and "not charged" in repr(result) and result.keys() == ["a", "post"]
    result.save(tmp_path / "r.json")
    loaded = dpm.load(tmp_path / "r.json")
    for shown in (repr(result), result._repr_html_(), repr(loaded), loaded._repr_html_()):
        assert all(word in shown for word in ("mean", "sd", "5 %", "95 %", "cost: "))
    assert "cost: eps = " in repr(result) and "within the budget eps(epsilon = 1)" in repr(loaded)
    again = loaded.posterior("post")
    assert "<svg" in again._repr_html_()


def test_certificates_of_records_are_short_and_tables_are_rows(poll):
    certificate = poll.certificate
    assert certificate == poll.record["certificate"] and dict(certificate)["releases"] and len(repr(certificate)) < 1000
    assert "mechanism" in repr(certificate) and "budget" in repr(certificate) and "<pre" in certificate._repr_html_()
    table = poll.table("cells")
    assert table.columns == ["axis 1", "axis 2", "value"]
    assert {tuple(row[:2]): row[2] for row in table.rows} == {(a, b): n for a, row in poll["cells"].items() for b, n in row.items()}
    assert len(pytest.importorskip("pandas").DataFrame(table.to_pandas())) == len(table)
    for name in ("ahead", "post"):
        with pytest.raises(TypeError, match="is not a table"):
            poll.table(name)


def test_names_and_kinds(poll):
    assert set(poll) == {"cells", "post", "north", "ahead"}
    assert isinstance(poll["ahead"], float)
    assert "cells[north][true]" in repr(poll)
    assert "<table>" in poll._repr_html_()
    with pytest.raises(TypeError):
        poll.posterior("ahead")
    with pytest.raises(KeyError, match="the run gave"):
        poll["nothing"]


def test_a_record_is_a_start_for_further_models(poll, tmp_path):
    poll.save(tmp_path / "poll.json")
    again = dpm.load(tmp_path / "poll.json")
    assert again.releases == poll.releases
    for released in (poll, tmp_path / "poll.json"):
        fitted = dpm.fit(COUNTS, released=released)
        assert fitted.posterior("again").draws()["m"].shape == (4, 1000)
        model = dpm.compile(COUNTS, released=released)
        assert model.verify() and model.run().posterior("again").draws()["m"].shape == (4, 1000)
        assert dpm.fit(model, released).keys() == ["again"]
        assert "costs nothing" in repr(fitted) and "rhat" in repr(fitted["again"]) and "not charged" in repr(poll)
        fitted.save(tmp_path / "fit.json")
        kept = dpm.load(tmp_path / "fit.json")["again"]
        assert repr(kept) == repr(fitted["again"])
        with pytest.raises(ValueError, match="dpm.fit makes new ones"):
            kept.draws()
    with pytest.raises(dpm.DataError, match="nowhere.json does not exist"):
        dpm.fit(COUNTS, tmp_path / "nowhere.json")


def test_a_model_finds_its_record_beside_it_or_in_the_current_folder(poll, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(dpm.Rejected, match="E0212"):
        dpm.compile(COUNTS)
    poll.save("result.json")
    assert dpm.compile(COUNTS).certify()["total"]
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "model.dpm").write_text(COUNTS)
    assert dpm.compile("sub/model.dpm", released=poll).certify() == dpm.compile("sub/model.dpm", released="result.json").certify()
    assert dpm.fit("sub/model.dpm", "result.json").keys() == ["again"]


def test_closed_posteriors_have_parameters_and_draws(examples):
    result = dpm.compile(examples / "12_noisy_posterior.dpm").run({"ballots": examples / "12_ballots.csv"})
    post = result.posterior("post")
    assert post.family == "dirichlet" and len(post.parameters) == 3
    assert len(post.summary()) == 3


def test_the_magic_certifies_and_never_runs(poll):
    interactive = pytest.importorskip("IPython.testing.globalipapp")
    shell = interactive.start_ipython()
    shell.run_line_magic("load_ext", "dpm")
    shown = shell.run_cell_magic("dpm", "program", "budget eps(1)\nprivate t[100] { y: bool }\nrelease a = count(y)\n")
    assert shown["releases"]
    assert isinstance(shell.user_ns["program"], dpm.Program)
    refused = shell.run_cell("%%dpm program\nbudget eps(1)\nrelease a = count(z)\n")
    assert isinstance(refused.error_in_exec, dpm.Rejected) and "program" not in shell.user_ns
    cell = "%%dpm program\nbudget eps(1)\nprivate t[100] { age: int in 0..99, y: bool }\nrelease a = mean(ag"
    offered = [c.text for c in shell.Completer.completions(cell, len(cell))]
    assert offered[0] == "age"


def test_an_interrupt_ends_the_command(monkeypatch, examples):
    import subprocess

    from dpm import _command

    ended = []

    class Child(subprocess.Popen):
        def communicate(self, *a, **k):
            raise KeyboardInterrupt

        def terminate(self):
            ended.append(True)
            super().terminate()

    monkeypatch.setattr(_command.subprocess, "Popen", Child)
    with pytest.raises(KeyboardInterrupt):
        _command.call(["--version"])
    assert ended
