"""A line that says what the command is doing, for work that reads no private row."""

from __future__ import annotations

import sys
import time


class Line:
    """Shown in a notebook or on a terminal, and gone when the work ends. ``wanted`` is false where there is nobody to see it."""

    def __init__(self, doing: str | None):
        self._doing = doing
        self._shown = None
        self._notebook = _in_notebook()
        self.wanted = doing is not None and (self._notebook or sys.stderr is not None and sys.stderr.isatty())

    def __enter__(self) -> Line:
        self._started = time.monotonic()
        return self

    def tick(self) -> None:
        self._show(f"{self._doing} .. {time.monotonic() - self._started:.0f} s")

    def __exit__(self, *_) -> None:
        if self._shown is not None:
            self._show("")

    def _show(self, text: str) -> None:
        if not self._notebook:
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()
            self._shown = True
            return
        from IPython.display import display

        data = {"text/plain": text, "text/html": f"<small>{text}</small>" if text else ""}
        if self._shown is None:
            self._shown = display(data, raw=True, display_id=True)
        else:
            self._shown.update(data, raw=True)


def _in_notebook() -> bool:
    """Only where IPython runs already, and as a kernel: on its terminal the line is that of a terminal."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    return hasattr(shell, "kernel")
