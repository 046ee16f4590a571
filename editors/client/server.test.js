// `dpm lsp` driven by the client library of Visual Studio Code: opens, edits, asks, renames, formats, and mends every wrong program.
const { afterEach, beforeEach, test } = require("node:test");
const assert = require("node:assert");
const { spawnSync } = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");
const { DPM, ROOT, URI, applied, place, range, start } = require("./client");

const TEXT = fs.readFileSync(path.join(ROOT, "examples/01_beta_bernoulli.dpm"), "utf8");
const errors = (diagnostics) => diagnostics.filter((d) => d.severity === 1);

let client;
beforeEach(async () => {
  client = await start();
});
afterEach(async () => {
  assert.strictEqual(await client.stop(), 0);
});

// Does the command accept it?
function checks(text) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "dpm"));
  const file = path.join(folder, "mended.dpm");
  fs.writeFileSync(file, text);
  const { status } = spawnSync(DPM, ["check", file]);
  fs.rmSync(folder, { recursive: true });
  return status === 0;
}

test("it says who it is and what it can do", () => {
  assert.strictEqual(client.server.serverInfo.name, "dpm");
  const can = client.server.capabilities;
  for (const what of ["hover", "definition", "references", "rename", "documentFormatting", "codeAction", "inlayHint", "completion", "semanticTokens"]) {
    assert.ok(can[`${what}Provider`], what);
  }
});

test("opening and editing", async () => {
  assert.deepStrictEqual(await client.open(TEXT), []);
  const found = await client.edit(range(TEXT, "diffuse"), "direct");
  const text = TEXT.replace("diffuse", "direct");
  assert.deepStrictEqual(found.map((d) => d.code), ["E0301"]);
  assert.deepStrictEqual(found[0].range, range(text, "using direct"));
  assert.match(found[0].message, /Help: weaken the data/);
  assert.ok(found[0].relatedInformation.length > 0);
  assert.deepStrictEqual(await client.edit(range(text, "direct"), "diffuse"), []);
});

test("characters of two code units are counted as an editor counts them", async () => {
  const text = 'budget eps(1)\nprivate t[9] { a from "𝜀𝛿": bool, b: what }\nrelease r = count(a)\n';
  const plain = text.replace("𝜀𝛿", "eedd");
  const [found, again] = [await client.open(text), await client.open(plain, "file:///nowhere/plain.dpm")];
  assert.ok(found.length > 0);
  assert.deepStrictEqual(found.map((d) => d.range), again.map((d) => d.range));
  assert.ok(found.some((d) => d.range.start.character === plain.split("\n")[1].indexOf("what")));
});

test("hover", async () => {
  await client.open(TEXT);
  const hover = async (word, nth) => (await client.ask("hover", { position: place(TEXT, word, nth) })).contents.value;
  const release = await hover("p_hat");
  for (const part of ["`diffuse`, r = 0.668", "beta_bernoulli", "orders below 9.97"]) assert.ok(release.includes(part), part);
  assert.match(await hover("smoker ~"), /label `row`/);
  assert.match(await hover("bernoulli(p)"), /bernoulli/);
  assert.strictEqual(await client.ask("hover", { position: { line: 99, character: 0 } }), null);
});

test("completion", async () => {
  await client.open(TEXT);
  const words = async (word) => {
    const answer = await client.ask("completion", { position: place(TEXT, word) });
    return (answer.items ?? answer).map((item) => item.label);
  };
  const mechanisms = await words("diffuse");
  for (const name of ["diffuse", "direct", "concentrated"]) assert.ok(mechanisms.includes(name), name);
  assert.ok(!mechanisms.includes("bernoulli"));
  const laws = await words("bernoulli(p)");
  assert.ok(laws.includes("bernoulli") && !laws.includes("diffuse"));
});

test("renaming", async () => {
  await client.open(TEXT);
  const renamed = async (word, newName) => applied(TEXT, (await client.ask("rename", { position: place(TEXT, word), newName })).changes[URI]);
  const count = (text, word) => text.split(word).length - 1;
  const text = await renamed("p_hat", "rate");
  assert.ok(!text.includes("p_hat") && count(text, "rate") === count(TEXT, "p_hat") + count(TEXT, "rate"));
  assert.ok(checks(text));
  // A column keeps the header that the file has.
  const column = await renamed("smoker", "smokes");
  assert.ok(column.includes('smokes from "smoker"') && checks(column));
});

test("definition, references, hints of costs", async () => {
  await client.open(TEXT);
  const inside = place(TEXT, "draw(p)");
  const position = { line: inside.line, character: inside.character + 5 };
  const definition = await client.ask("definition", { position });
  assert.deepStrictEqual(definition.range.start, place(TEXT, "p ~ beta"));
  const references = await client.ask("references", { position, context: { includeDeclaration: true } });
  assert.ok(references.length >= 3);
  const hints = await client.ask("inlayHint", { range: { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } } });
  assert.deepStrictEqual(hints.map((hint) => hint.position.line), [place(TEXT, "release").line]);
});

test("semantic tokens name every word by its kind", async () => {
  await client.open(TEXT);
  const { legend } = client.server.capabilities.semanticTokensProvider;
  const { data } = await client.ask("semanticTokens/full");
  assert.ok(data.length > 0 && data.length % 5 === 0);
  const lines = TEXT.split("\n");
  const found = {};
  let [line, column] = [0, 0];
  for (let i = 0; i < data.length; i += 5) {
    column = data[i] ? data[i + 1] : column + data[i + 1];
    line += data[i];
    found[lines[line].slice(column, column + data[i + 2])] = legend.tokenTypes[data[i + 3]];
  }
  const expected = { budget: "keyword", private: "keyword", release: "keyword", smoker: "property", p: "parameter", bernoulli: "function", 6: "number" };
  for (const [word, kind] of Object.entries(expected)) assert.strictEqual(found[word], kind, word);
});

test("formatting is that of dpm fmt", async () => {
  const rough = TEXT.replace("param p ~ beta(6, 18)", "param   p~beta( 6,18 )");
  assert.notStrictEqual(rough, TEXT);
  await client.open(rough);
  const options = { tabSize: 2, insertSpaces: true };
  const text = applied(rough, await client.ask("formatting", { options }));
  assert.match(text, /param p ~ beta\(6, 18\)/);
  await client.open(text, "file:///nowhere/formatted.dpm");
  const again = await client.ask("formatting", { textDocument: { uri: "file:///nowhere/formatted.dpm" }, options });
  assert.strictEqual(applied(text, again ?? []), text);
});

for (let number = 1; number <= 15; number++) {
  const name = `${String(number).padStart(2, "0")}.dpm`;
  test(`a code action mends ${name}`, async () => {
    const text = fs.readFileSync(path.join(ROOT, "tests/wrong", name), "utf8");
    const found = errors(await client.open(text));
    assert.ok(found.length > 0, "the program has no error");
    const actions = [];
    for (const d of found) actions.push(...((await client.ask("codeAction", { range: d.range, context: { diagnostics: [d], triggerKind: 1 } })) ?? []));
    const mended = [];
    for (const action of actions) {
      const edited = applied(text, action.edit.changes[URI]);
      if (errors(await client.open(edited, "file:///nowhere/mended.dpm")).length === 0) mended.push(edited);
    }
    assert.ok(mended.length > 0, actions.map((a) => a.title).join("\n"));
    assert.ok(mended.every(checks));
  });
}
