// How long the server takes from a key to what is wrong with the text: a program of 500 lines, edited again and again. Run by run.sh --time.
const { start } = require("./client");

const EDITS = 40;
const count = (n, line) => Array.from({ length: n }, (_, i) => line(i));

// 500 lines: a table of 100 columns, values of rows, posteriors, noisy means, outputs.
function program() {
  const lines = [
    "# A survey of 100 questions.", "budget zcdp(1)", "", "private survey[n >= 1000] {",
    ...count(100, (i) => `  q${i}: ${i % 2 ? "bool" : `real in [0, ${i + 10}]`}`), "}", "",
    ...count(50, (i) => `let s${i} = clip(q${2 * i} / ${2 * i + 10}, 0, 1)          # on [0, 1]`),
    ...count(50, (i) => `let high${i} = q${2 * i} > ${i} and q${2 * i + 1}`),
    ...count(30, (i) => [`param m${i} ~ normal(10, ${5 + i})`, `observe q${2 * i} ~ normal(m${i}, 20)`, `release mean${i} = draw(m${i})`]).flat(),
    ...count(30, (i) => `release share${i} = mean(high${i}) using gaussian`),
    ...count(20, (i) => `release scaled${i} = sum(s${i}) using gaussian`),
  ];
  for (let i = 0; lines.length < 500; i++) lines.push(`output o${i} = ${i + 1} * mean${i % 30} + share${(7 * i) % 30} / 2`);
  return lines.join("\n") + "\n";
}

async function main() {
  const client = await start();
  const text = program();
  const lines = text.split("\n");
  let before = performance.now();
  const found = await client.open(text);
  console.log(`${lines.length - 1} lines, ${text.length} characters, ${found.length} complaints`);
  console.log(`opened: ${(performance.now() - before).toFixed(1)} ms`);
  // A letter more in a name of an output, a digit more in a number, a word that is wrong, and back.
  const places = [["in a comment", 0, 3, "x"], ["in a name", 499, 8, "z"], ["a number", 498, lines[498].length, "5"], ["an error", 300, 0, "?"]];
  for (const [name, line, character, letter] of places) {
    const [there, behind] = [{ line, character }, { line, character: character + 1 }];
    const times = [];
    for (let i = 0; i < EDITS; i++) {
      before = performance.now();
      await client.edit({ start: there, end: i % 2 ? behind : there }, i % 2 ? "" : letter);
      times.push(performance.now() - before);
    }
    times.sort((a, b) => a - b);
    const median = (times[EDITS / 2 - 1] + times[EDITS / 2]) / 2;
    console.log(`edit ${name}: median ${median.toFixed(1)} ms, longest of ${EDITS} ${times.at(-1).toFixed(1)} ms`);
  }
  await client.stop();
}

main();
