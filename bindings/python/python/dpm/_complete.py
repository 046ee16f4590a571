"""Completions in ``%%dpm`` cells, asked of the language server that editors use."""

from __future__ import annotations

import json
import re
import subprocess

from ._command import command


class Server:
    """One ``dpm lsp``, started when it is first asked and ended with the process that asked."""

    def __init__(self):
        self._child: subprocess.Popen | None = None
        self._last = 0

    def complete(self, source: str, line: int, character: int) -> list[tuple[str, str]]:
        """Labels and what each is, for a position counted from 0, in UTF-16 units."""
        if self._child is None or self._child.poll() is not None:
            self._child = subprocess.Popen([command(), "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self._ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
            self._send({"method": "initialized", "params": {}})
        self._last += 1
        uri = f"untitled:cell-{self._last}.dpm"
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": {"uri": uri, "languageId": "dpm", "version": 1, "text": source}}})
        found = self._ask("textDocument/completion", {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}})
        self._send({"method": "textDocument/didClose", "params": {"textDocument": {"uri": uri}}})
        items = found.get("items", []) if isinstance(found, dict) else found or []
        return [(item["label"], item.get("detail", "")) for item in items]

    def _send(self, message: dict) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._child.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._child.stdin.flush()

    def _ask(self, method: str, params: dict):
        self._last += 1
        wanted = self._last
        self._send({"id": wanted, "method": method, "params": params})
        while True:
            message = self._receive()
            if message.get("id") == wanted and "method" not in message:
                return message.get("result")

    def _receive(self) -> dict:
        length = 0
        while (line := self._child.stdout.readline().strip()) != b"":
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        if length == 0:
            raise EOFError("the language server ended")
        return json.loads(self._child.stdout.read(length))


def matcher(server: Server):
    """What IPython calls for a completion: the cell's text and where the cursor is in it."""

    def dpm_matcher(context):
        from IPython.core.completer import SimpleCompletion

        first, _, source = context.full_text.partition("\n")
        if not first.startswith("%%dpm") or context.cursor_line == 0:
            return {"completions": []}
        before = context.full_text.split("\n")[context.cursor_line][: context.cursor_position]
        word = re.search(r"\w*$", before).group()
        try:
            found = server.complete(source, context.cursor_line - 1, len(before.encode("utf-16-le")) // 2)
        except (OSError, EOFError, ValueError):
            return {"completions": []}
        labels = [SimpleCompletion(label, type=kind or "dpm") for label, kind in found if label.startswith(word)]
        return {"completions": labels, "matched_fragment": word, "suppress": True}

    dpm_matcher.matcher_api_version = 2
    dpm_matcher.matcher_identifier = "dpm"
    return dpm_matcher
