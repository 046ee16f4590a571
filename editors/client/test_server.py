"""`dpm lsp` driven by pytest-lsp, a client library: opens, edits, asks, renames, and mends every wrong program."""

import os
import pathlib
import subprocess

import pytest
import pytest_lsp
from lsprotocol import types as lsp
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

ROOT = pathlib.Path(__file__).resolve().parents[2]
DPM = os.environ.get("DPM_BIN", str(ROOT / "target/debug/dpm"))
URI = "file:///nowhere/program.dpm"
TEXT = (ROOT / "examples/01_beta_bernoulli.dpm").read_text()


@pytest_lsp.fixture(config=ClientServerConfig(server_command=[DPM, "lsp"]))
async def client(lsp_client: LanguageClient):
    answer = await lsp_client.initialize_session(lsp.InitializeParams(capabilities=client_capabilities("visual-studio-code")))
    assert answer.server_info.name == "dpm"
    yield
    await lsp_client.shutdown_session()


async def opened(client: LanguageClient, text: str, uri: str = URI):
    """Opens a text: what is wrong with it."""
    item = lsp.TextDocumentItem(uri=uri, language_id="dpm", version=1, text=text)
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(text_document=item))
    await client.wait_for_notification("textDocument/publishDiagnostics")
    return list(client.diagnostics[uri])


async def edited(client: LanguageClient, at: lsp.Range, text: str, version: int):
    """Puts a text in place of a range: what is wrong then."""
    change = lsp.TextDocumentContentChangePartial(range=at, text=text)
    document = lsp.VersionedTextDocumentIdentifier(uri=URI, version=version)
    client.text_document_did_change(lsp.DidChangeTextDocumentParams(text_document=document, content_changes=[change]))
    await client.wait_for_notification("textDocument/publishDiagnostics")
    return list(client.diagnostics[URI])


def find(text: str, word: str, nth: int = 0) -> lsp.Range:
    """The place of a word; the programs used here are of one code unit a character."""
    at = -1
    for _ in range(nth + 1):
        at = text.index(word, at + 1)
    line = text.count("\n", 0, at)
    column = at - (text.rfind("\n", 0, at) + 1)
    return lsp.Range(start=lsp.Position(line, column), end=lsp.Position(line, column + len(word)))


def applied(text: str, edits) -> str:
    """The text with edits done, as an editor does them: from the last to the first."""
    lines = text.split("\n")

    def offset(p: lsp.Position) -> int:
        return sum(len(x) + 1 for x in lines[: p.line]) + p.character

    for e in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
        text = text[: offset(e.range.start)] + e.new_text + text[offset(e.range.end) :]
    return text


def errors(diagnostics):
    return [d for d in diagnostics if d.severity == lsp.DiagnosticSeverity.Error]


def checks(tmp_path: pathlib.Path, text: str) -> bool:
    """Does the command accept it?"""
    path = tmp_path / "mended.dpm"
    path.write_text(text)
    return subprocess.run([DPM, "check", str(path)], capture_output=True).returncode == 0


IDENTIFIER = lsp.TextDocumentIdentifier(uri=URI)


@pytest.mark.asyncio
async def test_open_and_edit(client: LanguageClient):
    assert await opened(client, TEXT) == []
    found = await edited(client, find(TEXT, "diffuse"), "direct", 2)
    assert [d.code for d in found] == ["E0301"]
    assert found[0].range == find(TEXT.replace("diffuse", "direct"), "using direct")
    assert "Help: weaken the data" in found[0].message
    assert await edited(client, find(TEXT.replace("diffuse", "direct"), "direct"), "diffuse", 3) == []


@pytest.mark.asyncio
async def test_hover(client: LanguageClient):
    await opened(client, TEXT)

    async def hover(word, nth=0):
        place = find(TEXT, word, nth).start
        answer = await client.text_document_hover_async(lsp.HoverParams(text_document=IDENTIFIER, position=place))
        return answer.contents.value

    release = await hover("p_hat")
    for part in ("`diffuse`, r = 0.668", "beta_bernoulli", "orders below 9.97"):
        assert part in release
    assert "label `row`" in await hover("smoker", TEXT.count("smoker", 0, TEXT.index("observe")))
    assert "bernoulli" in await hover("bernoulli")


@pytest.mark.asyncio
async def test_complete(client: LanguageClient):
    await opened(client, TEXT)

    async def words(word):
        place = find(TEXT, word).start
        answer = await client.text_document_completion_async(lsp.CompletionParams(text_document=IDENTIFIER, position=place))
        items = answer.items if isinstance(answer, lsp.CompletionList) else answer
        return {i.label for i in items}

    mechanisms = await words("diffuse")
    assert {"diffuse", "direct", "concentrated"} <= mechanisms and "bernoulli" not in mechanisms
    laws = await words("bernoulli(p)")
    assert "bernoulli" in laws and "diffuse" not in laws


@pytest.mark.asyncio
async def test_rename(client: LanguageClient, tmp_path):
    await opened(client, TEXT)

    async def renamed(word, new):
        place = find(TEXT, word).start
        answer = await client.text_document_rename_async(
            lsp.RenameParams(text_document=IDENTIFIER, position=place, new_name=new)
        )
        return applied(TEXT, answer.changes[URI])

    text = await renamed("p_hat", "rate")
    assert "p_hat" not in text and text.count("rate") == TEXT.count("p_hat") + TEXT.count("rate")
    assert checks(tmp_path, text)
    # A column keeps the header that the file has.
    text = await renamed("smoker", "smokes")
    assert 'smokes from "smoker"' in text and checks(tmp_path, text)


@pytest.mark.asyncio
async def test_the_rest(client: LanguageClient):
    await opened(client, TEXT)
    everything = lsp.Range(start=lsp.Position(0, 0), end=lsp.Position(99, 0))
    place = find(TEXT, "draw(p)").start
    inside = lsp.Position(place.line, place.character + 5)
    definition = await client.text_document_definition_async(lsp.DefinitionParams(text_document=IDENTIFIER, position=inside))
    assert definition.range.start == find(TEXT, "p ~ beta").start
    hints = await client.text_document_inlay_hint_async(lsp.InlayHintParams(text_document=IDENTIFIER, range=everything))
    assert [h.position.line for h in hints] == [find(TEXT, "release").start.line]
    tokens = await client.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(text_document=IDENTIFIER))
    assert len(tokens.data) % 5 == 0 and tokens.data
    options = lsp.FormattingOptions(tab_size=2, insert_spaces=True)
    edits = await client.text_document_formatting_async(
        lsp.DocumentFormattingParams(text_document=IDENTIFIER, options=options)
    )
    assert "param p ~ beta(6, 18)" in applied(TEXT, edits)


@pytest.mark.asyncio
@pytest.mark.parametrize("number", range(1, 16))
async def test_code_action_mends(client: LanguageClient, tmp_path, number):
    text = (ROOT / f"tests/wrong/{number:02}.dpm").read_text()
    found = errors(await opened(client, text))
    assert found, "the program has no error"
    actions = []
    for d in found:
        context = lsp.CodeActionContext(diagnostics=[d], trigger_kind=lsp.CodeActionTriggerKind.Invoked)
        params = lsp.CodeActionParams(text_document=IDENTIFIER, range=d.range, context=context)
        actions += await client.text_document_code_action_async(params) or []
    texts = [applied(text, a.edit.changes[URI]) for a in actions]
    mended = [t for t in texts if not errors(await opened(client, t, "file:///nowhere/mended.dpm"))]
    assert mended, [a.title for a in actions]
    assert all(checks(tmp_path, t) for t in mended)
