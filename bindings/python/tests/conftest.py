"""Where the examples are; the command under test is the one installed, or $DPM_COMMAND."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def examples() -> Path:
    return ROOT / "examples"
