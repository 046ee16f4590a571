//! Texts with a few words or numbers changed.

use super::Dice;

/// Pieces that a mutation throws in: keywords, brackets, operators and what breaks naive lexers.
const SCRAPS: &[&str] = &[
    "use ",
    "budget ",
    "private ",
    "public ",
    "param ",
    "let ",
    "observe ",
    "release ",
    "output ",
    "expect ",
    "fn ",
    "model ",
    "return ",
    "each ",
    " of ",
    "when ",
    " else ",
    " if ",
    " then ",
    " by ",
    " max ",
    " using ",
    " assuming ",
    "convergence",
    " from ",
    " spend ",
    " in ",
    " and ",
    " or ",
    " not ",
    "true",
    "false",
    "category",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "~",
    "=",
    "==",
    "<",
    "<=",
    "..",
    ".",
    "->",
    "%",
    "?",
    "+",
    "-",
    "*",
    "/",
    "^",
    ";",
    "\"",
    "#",
    "//",
    "\n",
    "\r",
    "\t",
    " ",
    "0",
    "1e400",
    "1e",
    "1.",
    ".5",
    "1..2",
    "x",
    "μ",
    "漢",
    "\u{0}",
    "\u{202e}",
    "\u{feff}",
    "\u{a0}",
    "'",
    "&&",
    "|",
    "!",
    "$",
    "@",
    "\\",
    "inf",
    "nan",
    "draw(p)",
    "beta(1, 1)",
];

/// `text` with a few words inserted, removed, doubled or swapped.
pub fn mutate(text: &str, seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..1 + dice.below(6) {
        let length = characters.len();
        let at = dice.below(length + 1);
        let span = dice.below(12).min(length - at);
        match dice.below(5) {
            0 => drop(characters.drain(at..at + span)),
            1 => {
                let copy: Vec<char> = characters[at..at + span].to_vec();
                let to = dice.below(length + 1);
                characters.splice(to..to, copy);
            }
            2 if length > 1 => characters.swap(at.min(length - 1), dice.below(length)),
            3 => {
                let scrap = dice.pick(SCRAPS);
                let times = if dice.once_in(20) { 300 } else { 1 };
                characters.splice(at..at, scrap.repeat(times).chars());
            }
            _ => {
                let scrap = dice.pick(SCRAPS);
                characters.splice(at..at + span, scrap.chars());
            }
        }
    }
    characters.into_iter().collect()
}

/// Words in any order.
pub fn soup(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let count = 1 + dice.below(60);
    (0..count).map(|_| dice.pick(SCRAPS)).collect()
}

/// Numbers at the edges of what a double, an order, a prior or a dimension may be.
pub const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "0.5",
    "1.5",
    "100",
    "1e-300",
    "5e-324",
    "1e-16",
    "1e-6",
    "1e6",
    "1e15",
    "1e18",
    "9007199254740993",
    "18446744073709551615",
    "1e300",
    "1e308",
    "1.0000000000000002",
    "1.000001",
    "0.1",
    "0.30000000000000004",
    "3.141592653589793",
    "0.9999999999999999",
    "(-1)",
];

/// `text` with one to three of its numbers replaced: programs that mostly still check, with premises at their edges.
pub fn renumber(text: &str, seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let mut out = text.to_owned();
    for _ in 0..1 + dice.below(3) {
        let bytes = out.as_bytes();
        let word = |i: usize| bytes.get(i).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
        let starts: Vec<usize> = (0..bytes.len()).filter(|i| bytes[*i].is_ascii_digit() && (*i == 0 || !word(*i - 1))).collect();
        if starts.is_empty() {
            break;
        }
        let start = starts[dice.below(starts.len())];
        let length = bytes[start..].iter().take_while(|b| b.is_ascii_digit()).count();
        let number = dice.pick(NUMBERS);
        out.replace_range(start..start + length, number);
    }
    out
}
