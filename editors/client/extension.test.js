// The extension for Visual Studio Code without the editor: what colours, which command is found, what the package holds.
const { test } = require("node:test");
const assert = require("node:assert");
const { execFileSync } = require("child_process");
const fs = require("fs");
const Module = require("module");
const os = require("os");
const path = require("path");
const oniguruma = require("vscode-oniguruma");
const { INITIAL, Registry, parseRawGrammar } = require("vscode-textmate");
const { command } = require("../vscode/command");
const { ROOT, DPM } = require("./client");

const EXTENSION = path.join(ROOT, "editors/vscode");
const { contributes } = JSON.parse(fs.readFileSync(path.join(EXTENSION, "package.json")));

// Python's grammar is the one that the editor comes with.
const sources = { "source.python": require.resolve("tm-grammars/grammars/python.json") };
for (const grammar of contributes.grammars) sources[grammar.scopeName] = path.join(EXTENSION, grammar.path);

async function grammar(scope) {
  await (grammar.ready ??= oniguruma.loadWASM(fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"))));
  const registry = new Registry({
    onigLib: { createOnigScanner: (p) => new oniguruma.OnigScanner(p), createOnigString: (s) => new oniguruma.OnigString(s) },
    loadGrammar: (name) => (sources[name] ? parseRawGrammar(fs.readFileSync(sources[name], "utf8"), `${name}.json`) : null),
    getInjections: (name) => contributes.grammars.filter((g) => g.injectTo?.includes(name)).map((g) => g.scopeName),
  });
  return registry.loadGrammar(scope);
}

// Every piece of a text that is no blank, with its scopes behind the root.
async function pieces(scope, text) {
  const found = [];
  const reader = await grammar(scope);
  let state = INITIAL;
  for (const line of text.split("\n")) {
    const { tokens, ruleStack } = reader.tokenizeLine(line, state);
    state = ruleStack;
    for (const t of tokens) found.push([line.slice(t.startIndex, t.endIndex).trim(), t.scopes.slice(1).join(" ")]);
  }
  return found.filter(([word]) => word);
}

const PROGRAM = `# Who smokes?
budget eps(1.5e0)
private t[100] { smoker from "a b": bool }
release a = count(smoker) using geometric // why`;

const COLOURS = {
  "# Who smokes?": "comment.line",
  budget: "keyword.control",
  eps: "entity.name.function",
  "1.5e0": "constant.numeric",
  from: "keyword.control",
  '"a b"': "string.quoted.double",
  "// why": "comment.line",
  using: "keyword.control",
};

test("programs have colours", async () => {
  const found = Object.fromEntries(await pieces("source.dpm", PROGRAM));
  for (const [word, scope] of Object.entries(COLOURS)) assert.ok(found[word]?.startsWith(scope), `${word}: ${found[word]}`);
});

test("all examples have colours to their ends", async () => {
  for (const file of fs.readdirSync(path.join(ROOT, "examples")).filter((f) => f.endsWith(".dpm"))) {
    const text = fs.readFileSync(path.join(ROOT, "examples", file), "utf8");
    const last = (await pieces("source.dpm", `${text}\nrelease`)).at(-1);
    assert.deepStrictEqual(last, ["release", "keyword.control.dpm"], file);
  }
});

test("a cell of a notebook that begins with %%dpm has the colours of the program in it", async () => {
  const found = await pieces("source.python", `%%dpm program\n${PROGRAM}`);
  assert.deepStrictEqual(found[0], ["%%dpm", "keyword.other.magic.dpm"]);
  assert.deepStrictEqual(found[1], ["program", "variable.other.dpm"]);
  const inside = await pieces("source.dpm", PROGRAM);
  assert.deepStrictEqual(found.slice(2), inside.map(([word, scope]) => [word, `meta.embedded.block.dpm ${scope}`.trim()]));
});

test("cells of Python stay as they are", async () => {
  const scopes = async (text) => (await pieces("source.python", text)).map(([, scope]) => scope);
  for (const text of ["x = 5 %dpm\nrelease = 1", "# %%dpm\nfor x in y: pass", 's = """\n%%dpm p\nbudget eps(1)\n"""\nfor x in y: pass', "%%dpmx\nbudget = 1"]) {
    assert.ok(!(await scopes(text)).some((scope) => scope.includes("dpm")), text);
  }
  assert.ok((await scopes("for x in y: pass"))[0].startsWith("keyword.control"));
});

test("the command is the one that is named, else the workspace's, else the first on the path", () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "dpm"));
  const put = (name, mode = 0o755) => {
    const file = path.join(folder, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, "");
    fs.chmodSync(file, mode);
    return file;
  };
  const [named, venv, active, onPath] = ["named/dpm", "work/.venv/bin/dpm", "active/bin/dpm", "path/dpm"].map((name) => put(name));
  const folders = [path.join(folder, "work")];
  const env = { DPM_COMMAND: named, VIRTUAL_ENV: path.join(folder, "active"), PATH: `${path.join(folder, "nothing")}:relative:${path.join(folder, "path")}` };
  const { DPM_COMMAND, ...unnamed } = env;
  assert.strictEqual(command({ setting: onPath, folders, env }), onPath);
  assert.strictEqual(command({ setting: "dpm", folders, env }), onPath);
  assert.strictEqual(command({ setting: "", folders, env }), named);
  assert.strictEqual(command({ setting: "", folders, env: unnamed }), venv);
  assert.strictEqual(command({ setting: "", folders: [], env: unnamed }), active);
  assert.strictEqual(command({ setting: "", folders: [], env: { PATH: env.PATH } }), onPath);
  assert.strictEqual(command({ setting: path.join(folder, "no/dpm"), folders, env }), undefined);
  assert.strictEqual(command({ setting: "", folders: [], env: { PATH: "relative" } }), undefined);
  fs.chmodSync(venv, 0o644);
  assert.strictEqual(command({ setting: "", folders, env: unnamed }), active);
  fs.rmSync(folder, { recursive: true });
});

// As much of the editor as the extension needs to start, with one open document; what it shows is told to `seen`.
function editor(setting, text, seen) {
  const disposable = { dispose() {} };
  const anything = () =>
    new Proxy(function () {}, { get: (_, key) => (key === "then" ? undefined : key === "dispose" ? () => {} : anything()), apply: () => anything(), construct: () => ({}) });
  const or = (known) => new Proxy(known, { get: (_, key) => (key in known ? known[key] : anything()) });
  class EventEmitter {
    listeners = [];
    event = (listener) => this.listeners.push(listener) && disposable;
    fire = (what) => this.listeners.forEach((listener) => listener(what));
    dispose() {}
  }
  class CancellationTokenSource {
    token = { isCancellationRequested: false, onCancellationRequested: () => disposable };
    cancel() {}
    dispose() {}
  }
  class Uri {
    static parse = (text) => Object.assign(new Uri(), { path: text, toString: () => text });
  }
  class Disposable {
    static from = () => disposable;
    dispose() {}
  }
  const uri = Uri.parse("file:///nowhere/program.dpm");
  const document = { uri, languageId: "dpm", version: 1, getText: () => text };
  const known = {
    version: "1.90.0",
    env: or({ language: "en" }),
    workspace: or({ isTrusted: true, workspaceFolders: [], textDocuments: [document], notebookDocuments: [], getConfiguration: () => ({ get: () => setting }) }),
    window: or({ visibleTextEditors: [], showWarningMessage: (warning) => seen({ warning }) }),
    languages: or({
      match: () => 1,
      createDiagnosticCollection: () => ({ set: (of, diagnostics) => seen({ of, diagnostics }), has: () => false, delete() {}, clear() {}, dispose() {} }),
    }),
    CancellationTokenSource,
    EventEmitter,
    Uri,
    Disposable,
  };
  return new Proxy(known, { get: (_, key) => (key in known ? known[key] : class {}) });
}

// The one file of the package, in an editor of ours.
function extension(file, vscode) {
  const load = Module._load;
  Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
  delete require.cache[file];
  try {
    return require(file);
  } finally {
    Module._load = load;
  }
}

test("the package holds what it says, and its one file starts the server", async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "dpm"));
  execFileSync("python3", ["-m", "zipfile", "-e", path.join(ROOT, "target/dpm.vsix"), folder]);
  const inside = path.join(folder, "extension");
  const packed = JSON.parse(fs.readFileSync(path.join(inside, "package.json")));
  for (const file of [packed.main, ...contributes.grammars.map((g) => g.path), contributes.languages[0].configuration]) assert.ok(fs.existsSync(path.join(inside, file)), file);
  assert.ok(!fs.existsSync(path.join(inside, "node_modules")));
  const main = path.join(inside, packed.main);

  let seen;
  const shows = new Promise((resolve) => (seen = resolve));
  const started = extension(main, editor(DPM, PROGRAM.replace("bool", "real in [0, 1]"), seen));
  await started.activate();
  const shown = await shows;
  assert.strictEqual(shown.of.toString(), "file:///nowhere/program.dpm");
  assert.ok(shown.diagnostics.length > 0);
  await started.deactivate();

  const said = [];
  const missing = extension(main, editor(path.join(folder, "nowhere"), PROGRAM, (what) => said.push(what.warning)));
  await missing.activate();
  assert.match(said.join(), /was not found/);
  assert.strictEqual(missing.deactivate(), undefined);
  fs.rmSync(folder, { recursive: true });
});
