"""Pages of the language, what the owner of a file asks, and the command by ``python -m dpm``."""

import stat
import subprocess
import sys

import pytest

import dpm


def test_pages_are_those_of_the_command():
    assert repr(dpm.explain("histogram")).startswith("# histogram (function)") and "histogram" in dpm.explain()
    assert "<pre" in dpm.explain("E0301")._repr_html_()
    with pytest.raises(dpm.UsageError, match="no page"):
        dpm.explain("nothing of the kind")


def test_inspection_is_a_file_of_its_owner_and_nothing_else(tmp_path, capfd):
    (tmp_path / "p.dpm").write_text("private t[2] { age: int in 0..99 }\n")
    (tmp_path / "t.csv").write_text("age\n31\n987654\n")
    assert dpm.inspect(tmp_path / "p.dpm", {"t": tmp_path / "t.csv"}, tmp_path / "seen.txt") is None
    assert stat.S_IMODE((tmp_path / "seen.txt").stat().st_mode) == 0o600 and "PRIVATE: " in (tmp_path / "seen.txt").read_text()
    with pytest.raises(dpm.UsageError, match="is there already") as caught:
        dpm.inspect(tmp_path / "p.dpm", {"t": tmp_path / "t.csv"}, tmp_path / "seen.txt")
    assert "987654" not in str(caught.value) + "".join(capfd.readouterr())
    with pytest.raises(dpm.DataError):
        dpm.inspect(tmp_path / "nowhere.dpm", {"t": tmp_path / "t.csv"}, tmp_path / "other.txt")


def test_the_command_is_a_module_too():
    done = subprocess.run([sys.executable, "-m", "dpm", "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.split()[-1] == dpm.version()
    assert subprocess.run([sys.executable, "-m", "dpm", "explain", "nothing-of-the-kind"], capture_output=True).returncode == 2
