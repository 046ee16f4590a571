//! Programs over one wide table, good and malformed rows, and ways to run them.

pub mod extremes;

use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// Rows of every test file: a public number.
pub const ROWS: usize = 12;
pub const HEADER: &[u8] = b"b,k,x,g,note,v_1,v_2,u\n";

const TABLE: &str = r#"private t[n >= 5] {
  b: bool
  k: int in 0..10
  x: real in [-5, 5]
  g: category {u, v, w}
  v: vector[2] in l2(1)
  e from "k": int in 0..10 else 4
  h from "g": category {u, v, w} else v
  d from "b": bool else true
  day from "note": date in ["2020-01-01", "2021-12-31"]
  y from "v_1, v_2": vector[2] in l1(1) else [0.5, -0.25]
}
"#;

/// One release of every kind, with outputs that print as numbers, bools and vectors.
pub fn programs() -> Vec<String> {
    [
        "param p ~ beta(2, 3)\nobserve b ~ bernoulli(p)\nrelease a = draw(p) using diffuse(r = 0.25)\noutput half = a > 0.5\noutput z = 100 * a",
        "param l ~ gamma(40, 10)\nobserve k ~ poisson(l)\nrelease a = draw(l) using diffuse(r = 0.25)\noutput z = sqrt(a)",
        "param m ~ normal(0, 2)\nobserve x ~ normal(m, 3)\nrelease a = draw(m) using direct\noutput z = exp(a)\noutput s = a >= 0",
        "param s ~ dirichlet([8, 8, 8])\nobserve g ~ categorical(s)\nrelease a = draw(s) using diffuse(r = 0.25)\noutput z = a[v]",
        "param m: vector[2] ~ multi_normal([0, 0], [[1, 0.5], [0.5, 1]])\nobserve v ~ multi_normal(m, [[1, 0], [0, 1]])\nrelease a = draw(m) using direct",
        "release a = sum(x) using laplace(scale = 2)\noutput z = a / n",
        "release a = mean(x * x) using gaussian(sigma = 2)\noutput z = sqrt(max(a, 0))",
        "release a = count(b and x > 0) using geometric(scale = 3)\noutput z = 7 * a",
        "release a = histogram(g) using laplace(scale = 3)",
        "release a = sum(is_na(x)) using laplace(scale = 2)\noutput z = a / n",
        "release a = sum(if is_na(e) or d then 0 else e) using laplace(scale = 20)\noutput z = 7 * a",
        "release a = histogram(h, is_na(g)) using laplace(scale = 3)\noutput z = margin(a, h)",
        "release a = histogram(month(day), is_na(day)) using laplace(scale = 3)",
        "release a = quantile(day, 0.5) using exponential(eps = 1)\noutput z = a > \"2020-07-01\"",
        "release a = sum(y) using gaussian(sigma = 2)\noutput s = norm(a) > 1",
        "let gone = is_na(y)\nparam p ~ beta(20, 30)\nobserve gone ~ bernoulli(p)\nrelease a = draw(p) using diffuse(r = 0.25)",
        "param w: vector[2] ~ normal(0, 1)\nlet gone = is_na(x)\nobserve gone ~ bernoulli_logit(dot(w, y))\n\
         release a = draw(w) using diffuse(r = 0.25, steps = 20)",
        "release a = quantile(x, 0.5) using exponential(-5, 5, eps = 1)\noutput z = a / 3",
        "release a = quantiles(x, [0.25, 0.5, 0.75]) using exponential(eps = 1)\noutput z = a[3] - a[1]",
        "release a = quantile(x + 6, 0.5) using exponential(1, 11, grid = log, eps = 1)\noutput z = log(a)",
        "each g of t {\n  param p ~ beta(10, 10)\n  observe b ~ bernoulli(p)\n  release a = draw(p) using diffuse(r = 0.25)\n}\n\
         output z = mean(a)\noutput w = simulate(binomial(10, a[v]), 20)\noutput y = simulate(normal(a[u], 1), 3)",
        "param w: vector[2] ~ normal(0, 1)\nparam c: vector[g] ~ normal(0, 1)\nobserve b ~ bernoulli_logit(dot(w, v) + c[g])\n\
         release a = draw(w, c) using diffuse(r = 0.25, steps = 20)",
        "param W: matrix[3, 2] ~ normal(0, 1)\nobserve g ~ categorical_logit(W * v)\nrelease a = draw(W) using gibbs(weight = 0.5, steps = 20)",
        "param w: vector[2] in l2(1) ~ normal(0, 1)\nobserve k ~ poisson_log(dot(w, v))\nrelease a = draw(w) using direct(steps = 20)",
    ]
    .iter()
    .map(|body| format!("{TABLE}{body}\n"))
    .collect()
}

pub struct Dice(ChaCha20Rng);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(ChaCha20Rng::seed_from_u64(seed))
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0.next_u64() as usize % n
    }

    fn pick<'a>(&mut self, from: &[&'a [u8]]) -> &'a [u8] {
        from[self.below(from.len())]
    }
}

fn good_row(dice: &mut Dice) -> Vec<u8> {
    let (b, k, g) = (dice.below(2), dice.below(11), ["u", "v", "w"][dice.below(3)]);
    let x = dice.below(10_000) as f64 / 1000.0 - 5.0;
    format!("{b},{k},{x},{g},plain,0.{},-0.{},id{}", dice.below(7), dice.below(7), dice.below(9)).into_bytes()
}

/// Cells that break readers, sums or messages elsewhere.
const CELLS: &[&[u8]] = &[
    b"nan",
    b"NaN",
    b"inf",
    b"-inf",
    b"1e400",
    b"-1e400",
    b"-0",
    b"5e-324",
    b"",
    b" ",
    b"\"\"",
    b"\"1\"",
    b"\"a,b\"",
    b"\"say \"\"hi\"\"\"",
    b"\xef\xbb\xbf1",
    b"\0",
    b"1\0",
    b"\xff\xfe",
    b"\xc3\x28",
    b"ZZZ-unknown",
    b"U",
    b" u",
    b"1,5",
    b"0x1f",
    b"1_000",
    b"1.7976931348623157e308",
    b"99999999999999999999999999999999",
    b"\t",
    b"'",
    b"=1+1",
    b"\x1b[31m",
    b"\xe2\x80\xae",
    b"true",
    b"null",
    b"1\r",
    b"\"two\r",
    b"x\"y",
    b"$500",
    b"\"1,234.50\"",
    b"12%",
    b"T",
    b"n",
    b"NA",
    b"(5)",
    b".5",
    b"5.",
    b" v ",
    b"2020-02-29",
    b"2021-02-29",
    b"9999-12-31",
    b"\"x\"y",
];

/// A row that is wrong somewhere: bad cells, too few or too many, another line end.
fn bad_row(dice: &mut Dice) -> Vec<u8> {
    let cells = match dice.below(6) {
        0 => 1 + dice.below(7),
        1 => 9 + dice.below(30),
        _ => 8,
    };
    let mut row = vec![];
    for i in 0..cells {
        if i > 0 {
            row.push(b',');
        }
        if dice.below(3) == 0 {
            row.extend_from_slice(b"0.5");
        } else {
            row.extend_from_slice(dice.pick(CELLS));
        }
    }
    if row.is_empty() {
        // One empty cell of eight columns would be a blank line, which is not a row.
        row.push(b',');
    }
    if dice.below(4) == 0 {
        row.push(b'\r');
    }
    row
}

/// A proper file, and the same with one row replaced by a bad one (or, one time in four, by another good one).
pub fn pair(dice: &mut Dice) -> [Vec<u8>; 2] {
    let rows: Vec<Vec<u8>> = (0..ROWS).map(|_| good_row(dice)).collect();
    let at = dice.below(ROWS);
    let other = if dice.below(4) == 0 { good_row(dice) } else { bad_row(dice) };
    let last_end = dice.below(2) == 0;
    let file = |changed: Option<&Vec<u8>>| {
        let lines: Vec<&[u8]> = (0..ROWS).map(|i| changed.filter(|_| i == at).unwrap_or(&rows[i]).as_slice()).collect();
        let mut file = HEADER.to_vec();
        file.extend(lines.join(&b"\n"[..]));
        if last_end {
            file.push(b'\n');
        }
        file
    };
    [file(None), file(Some(&other))]
}
