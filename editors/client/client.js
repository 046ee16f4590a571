// A client of `dpm lsp`: starts the server, opens and edits texts, finds places in them.
const { spawn } = require("child_process");
const path = require("path");
const protocol = require("vscode-languageserver-protocol/node");

exports.ROOT = path.join(__dirname, "../..");
exports.DPM = process.env.DPM_BIN ?? path.join(exports.ROOT, "target/debug/dpm");
exports.URI = "file:///nowhere/program.dpm";

const editor = {
  general: { positionEncodings: ["utf-16"] },
  textDocument: { publishDiagnostics: { relatedInformation: true }, hover: { contentFormat: ["markdown"] }, codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix"] } } } },
};

// The position of the nth time that a word stands in a text.
exports.place = (text, word, nth = 0) => {
  let at = -1;
  for (let i = 0; i <= nth; i++) at = text.indexOf(word, at + 1);
  if (at < 0) throw new Error(`no ${word}`);
  const before = text.slice(0, at).split("\n");
  return { line: before.length - 1, character: before.at(-1).length };
};

exports.range = (text, word, nth = 0) => {
  const start = exports.place(text, word, nth);
  return { start, end: { line: start.line, character: start.character + word.length } };
};

// The text with edits done as an editor does them: from the last to the first.
exports.applied = (text, edits) => {
  const starts = text.split("\n").reduce((all, line) => [...all, all.at(-1) + line.length + 1], [0]);
  const offset = (p) => Math.min(starts[p.line] + p.character, text.length);
  const last = [...edits].sort((a, b) => offset(b.range.start) - offset(a.range.start));
  return last.reduce((t, e) => t.slice(0, offset(e.range.start)) + e.newText + t.slice(offset(e.range.end)), text);
};

exports.start = async () => {
  const child = spawn(exports.DPM, ["lsp"], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const connection = protocol.createProtocolConnection(new protocol.StreamMessageReader(child.stdout), new protocol.StreamMessageWriter(child.stdin));
  const waiting = [];
  connection.onNotification("textDocument/publishDiagnostics", (params) => waiting.shift()?.(params));
  connection.listen();
  const told = (method, params) => {
    const next = new Promise((resolve) => waiting.push(resolve));
    connection.sendNotification(method, params);
    return next.then((params) => params.diagnostics);
  };
  const server = await connection.sendRequest("initialize", { processId: process.pid, rootUri: null, capabilities: editor });
  await connection.sendNotification("initialized", {});
  let version = 1;
  return {
    server,
    open: (text, uri = exports.URI) => told("textDocument/didOpen", { textDocument: { uri, languageId: "dpm", version: 1, text } }),
    edit: (range, text) => told("textDocument/didChange", { textDocument: { uri: exports.URI, version: ++version }, contentChanges: [{ range, text }] }),
    ask: (method, params = {}) => connection.sendRequest(`textDocument/${method}`, { textDocument: { uri: exports.URI }, ...params }),
    stop: async () => {
      await connection.sendRequest("shutdown");
      await connection.sendNotification("exit");
      const code = await ended;
      connection.dispose();
      return code;
    },
  };
};
