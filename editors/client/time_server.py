"""How long the server takes from a key to what is wrong with the text: a program of 500 lines, edited again and again."""

import asyncio
import os
import pathlib
import statistics
import sys
import time

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

ROOT = pathlib.Path(__file__).resolve().parents[2]
DPM = os.environ.get("DPM_BIN", str(ROOT / "target/release/dpm"))
URI = "file:///nowhere/long.dpm"
EDITS = 40


def program() -> str:
    """500 lines: a table of 100 columns, values of rows, posteriors, noisy means, outputs."""
    lines = ["# A survey of 100 questions.", "budget zcdp(1)", "", "private survey[n >= 1000] {"]
    lines += [f"  q{i}: {'bool' if i % 2 else f'real in [0, {i + 10}]'}" for i in range(100)] + ["}", ""]
    lines += [f"let s{i} = clip(q{2 * i} / {2 * i + 10}, 0, 1)          # on [0, 1]" for i in range(50)]
    lines += [f"let high{i} = q{2 * i} > {i} and q{2 * i + 1}" for i in range(50)]
    for i in range(30):
        lines += [f"param m{i} ~ normal(10, {5 + i})", f"observe q{2 * i} ~ normal(m{i}, 20)", f"release mean{i} = draw(m{i})"]
    lines += [f"release share{i} = mean(high{i}) using gaussian" for i in range(30)]
    lines += [f"release scaled{i} = sum(s{i}) using gaussian" for i in range(20)]
    i = 0
    while len(lines) < 500:
        lines.append(f"output o{i} = {i + 1} * mean{i % 30} + share{(7 * i) % 30} / 2")
        i += 1
    return "\n".join(lines) + "\n"


async def main() -> None:
    found = asyncio.Queue()
    client = LanguageClient("timer", "1")

    @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def _(params):
        found.put_nowait((time.perf_counter(), params.diagnostics))

    await client.start_io(DPM, "lsp")
    await client.initialize_async(lsp.InitializeParams(capabilities=lsp.ClientCapabilities()))
    client.initialized(lsp.InitializedParams())
    text = program()
    item = lsp.TextDocumentItem(uri=URI, language_id="dpm", version=1, text=text)
    start = time.perf_counter()
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(text_document=item))
    end, diagnostics = await found.get()
    print(f"{text.count(chr(10))} lines, {len(text)} characters, {len(diagnostics)} complaints")
    print(f"opened: {1000 * (end - start):.1f} ms")
    last = text.splitlines()
    # A letter more in a name of an output, a digit more in a number, a word that is wrong, and back.
    for name, line, column, letters in [("in a comment", 0, 3, "x"), ("in a name", 499, 8, "z"), ("a number", 498, len(last[498]), "5"), ("an error", 300, 0, "?")]:
        times = []
        for i in range(EDITS):
            there = lsp.Position(line, column)
            behind = lsp.Position(line, column + len(letters))
            change = (
                lsp.TextDocumentContentChangePartial(range=lsp.Range(start=there, end=there), text=letters)
                if i % 2 == 0
                else lsp.TextDocumentContentChangePartial(range=lsp.Range(start=there, end=behind), text="")
            )
            document = lsp.VersionedTextDocumentIdentifier(uri=URI, version=2 + i)
            start = time.perf_counter()
            client.text_document_did_change(lsp.DidChangeTextDocumentParams(text_document=document, content_changes=[change]))
            end, _ = await found.get()
            times.append(1000 * (end - start))
        print(f"edit {name}: median {statistics.median(times):.1f} ms, longest of {EDITS} {max(times):.1f} ms")
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


if __name__ == "__main__":
    if "--program" in sys.argv:
        print(program(), end="")
    else:
        asyncio.run(main())
