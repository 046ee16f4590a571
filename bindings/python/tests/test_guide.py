"""The guide's code runs as printed, top to bottom."""

import re
from pathlib import Path


def test_the_guide_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (Path(__file__).parents[3] / "docs" / "python.md").read_text(), re.DOTALL)
    assert len(blocks) == 2
    names: dict = {}
    for block in blocks:
        exec(block, names)
    assert set(names["draws"]) == {"m", "u[north]", "u[south]"}
    low, high = names["result"]["likely"]
    assert 0 <= low < high <= 1
