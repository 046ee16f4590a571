//! Programs made at random: mostly well-formed ones, and mutations of any text. Used by every sweep that must not panic.
#![allow(dead_code, clippy::indexing_slicing)]

/// A small seeded generator (splitmix64): the same seed gives the same program on every machine.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

/// What a program has named so far, so that most uses refer to something.
struct Scope {
    dice: Dice,
    columns: Vec<String>,
    params: Vec<String>,
    public: Vec<String>,
    next: usize,
}

/// A program from a seed: tables, parameters, observations, releases, outputs, groups, branches, functions, models.
/// It always parses; names mostly resolve and types mostly fit, but not always.
pub fn generate_program(seed: u64) -> String {
    let mut scope = Scope { dice: Dice::new(seed), columns: vec![], params: vec![], public: vec![], next: 0 };
    let mut lines: Vec<String> = vec![];
    if scope.dice.once_in(4) {
        lines.push(format!("use std.{}", scope.dice.pick(&["rates", "regression", "nn", "predict"])));
    }
    if !scope.dice.once_in(5) {
        let budget = scope.budget();
        lines.push(format!("budget {budget}"));
    }
    let tables = 1 + scope.dice.below(2);
    for index in 0..tables {
        lines.push(scope.table(index));
    }
    if scope.dice.once_in(3) {
        let name = scope.fresh("k");
        let domain = scope.domain();
        let value = if scope.dice.once_in(2) { format!(" = {}", scope.number()) } else { String::new() };
        lines.push(format!("public {name}: real{domain}{value}"));
        scope.public.push(name);
    }
    if scope.dice.once_in(4) {
        let body = scope.expression(3, &["x", "y"]);
        lines.push(format!("fn f(x, y: real) = {body}"));
    }
    if scope.dice.once_in(4) {
        lines.push(scope.model());
    }
    for _ in 0..1 + scope.dice.below(3) {
        scope.inference(&mut lines, "");
    }
    if scope.dice.once_in(3) {
        let table = "t0";
        lines.push(format!("each g of {table} {{"));
        scope.inference(&mut lines, "  ");
        lines.push("}".into());
    }
    if scope.dice.once_in(3) {
        let condition = scope.condition();
        lines.push(format!("when {condition} {{"));
        scope.inference(&mut lines, "  ");
        if scope.dice.once_in(2) {
            lines.push("} else {".into());
            scope.tail(&mut lines, "  ");
        }
        lines.push("}".into());
    }
    scope.tail(&mut lines, "");
    let mut text = String::new();
    for line in lines {
        text.push_str(&line);
        match scope.dice.below(12) {
            0 => text.push_str("   # a note, μ and \"quotes\"\n"),
            1 => text.push_str("\n\n"),
            2 => text.push_str("\r\n"),
            3 => text.push_str(" // more\n# and more\n"),
            _ => text.push('\n'),
        }
    }
    text
}

impl Scope {
    fn fresh(&mut self, stem: &str) -> String {
        self.next += 1;
        if self.dice.once_in(12) { format!("μ{}", self.next) } else { format!("{stem}{}", self.next) }
    }

    fn number(&mut self) -> String {
        match self.dice.below(8) {
            0 => "0.5".into(),
            1 => "1e-3".into(),
            2 => "2.5e+2".into(),
            3 => format!("-{}", self.dice.below(9)),
            4 => format!("{}.{}", self.dice.below(9), self.dice.below(99)),
            _ => format!("{}", self.dice.below(100)),
        }
    }

    fn positive(&mut self) -> String {
        format!("{}", 1 + self.dice.below(60))
    }

    fn budget(&mut self) -> String {
        self.dice
            .pick(&[
                "eps(1)",
                "zcdp(0.1)",
                "gdp(1)",
                "dp(eps = 1, delta = 1e-6)",
                "rdp(order = 4, eps = 0.5)",
                "rdp(order = [2, 8], eps = [0.1, 0.5])",
            ])
            .into()
    }

    fn domain(&mut self) -> String {
        match self.dice.below(4) {
            0 => String::new(),
            1 => " in [0, inf]".into(),
            2 => format!(" in [-{}, {}]", self.dice.below(5), self.positive()),
            _ => " in [0, 1]".into(),
        }
    }

    fn column_type(&mut self) -> String {
        match self.dice.below(9) {
            0 | 1 => "bool".into(),
            2 => format!("int in 0..{}", self.positive()),
            3 => format!("int in -{}..", self.dice.below(5)),
            4 => format!("real{}", self.domain()),
            5 => "category {a, b, \"<=50K\"}".into(),
            6 => format!("vector[{}] in l2({})", 1 + self.dice.below(4), self.positive()),
            7 => "vector[2] in [0, 1]".into(),
            _ => format!("counts[3] of {}", self.positive()),
        }
    }

    fn table(&mut self, index: usize) -> String {
        let keyword = if index > 0 && self.dice.once_in(2) { "public" } else { "private" };
        let n = format!("n{index}");
        let rows = match self.dice.below(5) {
            0 => format!("{n} >= {}", 10 * (1 + self.dice.below(100))),
            1 => format!("{}", 10 * (1 + self.dice.below(100))),
            2 if keyword == "private" => format!("private {n}"),
            _ => n,
        };
        let mut columns = vec![];
        if index == 0 {
            columns.push("g: public category {u, v, w}".to_owned());
        }
        let unit = if keyword == "private" && self.dice.once_in(5) {
            columns.push("id: text".into());
            format!(" by id max {}", 1 + self.dice.below(4))
        } else {
            String::new()
        };
        for _ in 0..1 + self.dice.below(3) {
            let name = self.fresh("c");
            let from = if self.dice.once_in(5) { " from \"a header, with-signs\"" } else { "" };
            let ty = self.column_type();
            columns.push(format!("{name}{from}: {ty}"));
            self.columns.push(if self.dice.once_in(2) { format!("t{index}.{name}") } else { name });
        }
        if self.dice.once_in(3) {
            format!("{keyword} t{index}[{rows}]{unit} {{\n  {}\n}}", columns.join("\n  "))
        } else {
            format!("{keyword} t{index}[{rows}]{unit} {{ {} }}", columns.join(", "))
        }
    }

    fn model(&mut self) -> String {
        format!("model m(y, a: real) {{\n  param p ~ beta(a, {})\n  observe y ~ bernoulli(p)\n  return p\n}}", self.positive())
    }

    fn column(&mut self) -> String {
        let index = self.dice.below(self.columns.len());
        self.columns.get(index).cloned().unwrap_or_else(|| "c".into())
    }

    fn inference(&mut self, lines: &mut Vec<String>, indent: &str) {
        if self.dice.once_in(4) {
            let name = self.fresh("v");
            let column = self.column();
            let value = self.expression(3, &[column.as_str()]);
            lines.push(format!("{indent}let {name} = {value}"));
            self.columns.push(name);
        }
        let p = self.fresh("p");
        let column = self.column();
        let (a, b) = (self.positive(), self.positive());
        let families = [
            (format!("{p} ~ beta({a}, {b})"), format!("bernoulli({p})")),
            (format!("{p} ~ gamma({a}, {b})"), format!("poisson({p})")),
            (format!("{p} ~ normal({a}, {b})"), format!("normal({p}, {a})")),
            (format!("{p} ~ dirichlet([{a}, {b}, 1])"), format!("categorical({p})")),
            (format!("{p}: vector[2] ~ normal(0, {a})"), format!("bernoulli_logit(dot({p}, {column}))")),
            (format!("{p}: real in [0.5, inf] ~ half_normal({a})"), format!("normal(0, {p})")),
            (format!("{p} ~ gamma({a}, {b})"), format!("exponential({p})")),
        ];
        let index = self.dice.below(families.len());
        let (prior, likelihood) = &families[index];
        lines.push(format!("{indent}param {prior}"));
        lines.push(format!("{indent}observe {column} ~ {likelihood}"));
        self.params.push(p.clone());
        let name = self.fresh("r");
        let query = match self.dice.below(6) {
            0 => format!("mean({column})"),
            1 => format!("sum({column})"),
            2 => format!("posterior({p})"),
            3 => format!("draws({p}, {})", 1 + self.dice.below(3)),
            _ => format!("draw({p})"),
        };
        let using = self.dice.pick(&[
            "",
            " using diffuse",
            " using direct",
            " using concentrated(m = 0.5)",
            " using gaussian",
            " using laplace",
            " using ?",
            " using beta_div assuming convergence",
        ]);
        let spend = self.dice.pick(&["", "", " spend 20%", " spend 12.5%", " spend zcdp(0.01)"]);
        lines.push(format!("{indent}release {name} = {query}{using}{spend}"));
        self.public.push(name);
    }

    fn condition(&mut self) -> String {
        let names = self.public.clone();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (a, b) = (self.expression(2, &names), self.expression(1, &names));
        let op = self.dice.pick(&["<", ">", "<=", ">=", "==", "!="]);
        let tail = self.dice.pick(&["", " and true", " or not false"]);
        format!("{a} {op} {b}{tail}")
    }

    fn tail(&mut self, lines: &mut Vec<String>, indent: &str) {
        let names = self.public.clone();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for _ in 0..self.dice.below(3) {
            let name = self.fresh("o");
            let value = self.expression(4, &names);
            lines.push(format!("{indent}output {name} = {value}"));
        }
        if self.dice.once_in(4) {
            let of = if names.is_empty() { "total" } else { self.dice.pick(&names) };
            let budget = self.budget();
            lines.push(format!("{indent}expect certificate({of}) <= {budget}"));
        }
    }

    /// An expression of at most `depth` levels over some names.
    pub fn expression(&mut self, depth: usize, names: &[&str]) -> String {
        if depth == 0 || self.dice.once_in(4) {
            return if names.is_empty() || self.dice.once_in(3) {
                let number = self.number();
                if number.starts_with('-') { format!("({number})") } else { number }
            } else {
                self.dice.pick(names).to_owned()
            };
        }
        let depth = depth - 1;
        let mut inner = || self.expression(depth, names);
        let (a, b) = (inner(), inner());
        match self.dice.below(12) {
            0 => format!("{a} + {b}"),
            1 => format!("{a} - {b}"),
            2 => format!("({a}) * ({b})"),
            3 => format!("({a}) / ({b})"),
            4 => format!("clip({a}, 0, {b})"),
            5 => format!("(if {a} < {b} then {a} else {b})"),
            6 => format!("max({a}, {b})"),
            7 => format!("-({a})^2"),
            8 => format!("[{a}, {b}]"),
            9 => format!("exp({a})"),
            10 => format!("({a} > {b} and not {a} == {b})"),
            _ => format!("mean({a})"),
        }
    }
}

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
const NUMBERS: &[&str] = &[
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

/// A program whose names and types fit: headers, families, mechanisms and budgets in any combination.
pub fn well_typed(seed: u64) -> String {
    let mut dice = Dice::new(seed ^ 0x7461_7475);
    let number = |dice: &mut Dice| {
        if dice.once_in(25) { dice.pick(NUMBERS).to_owned() } else { format!("{}", 1 + dice.below(60)) }
    };
    let mut lines = vec![];
    if !dice.once_in(6) {
        let (a, b) = (number(&mut dice), 1 + dice.below(40));
        lines.push(match dice.below(14) {
            0 => format!("budget eps({b})"),
            1 => format!("budget zcdp(0.{b})"),
            2 => format!("budget gdp({b})"),
            3 => format!("budget dp(eps = {b}, delta = 1e-{})", 1 + dice.below(12)),
            4 => format!("budget rdp(order = {}.5, eps = 0.{b})", 1 + dice.below(12)),
            _ if dice.once_in(3) => format!("budget rdp(order = {a}, eps = 0.{b})"),
            _ => format!("budget rdp(order = 1.{b}, eps = 0.{b})"),
        });
    }
    let rows = match dice.below(4) {
        0 => "private n".to_owned(),
        1 => format!("{}", 1 + dice.below(2_000)),
        2 => format!("n >= {}", 1 + dice.below(2_000)),
        _ => "n".to_owned(),
    };
    let unit = if dice.once_in(5) { format!(" by id max {}", 1 + dice.below(5)) } else { String::new() };
    let top = number(&mut dice);
    let columns = format!(
        "id: text, g: public category {{u, v}}, b: bool, i: int in 0..{top}, x: real in [0, {top}], c: category {{r, s, t}}, w: vector[2] in l2({top})"
    );
    lines.push(format!("private t[{rows}]{unit} {{ {columns} }}"));
    let grouped = dice.once_in(4);
    if grouped {
        lines.push("each g of t {".into());
    }
    for index in 0..1 + dice.below(2) {
        let (a, b, s) = (number(&mut dice), number(&mut dice), number(&mut dice));
        let p = format!("p{index}");
        let using = dice.pick(&["", "", " using ?", " using direct", " using diffuse", " using concentrated", " using diffuse(r = 0.25)"]);
        let noise = dice.pick(&[
            "",
            " using ?",
            " using laplace",
            " using gaussian",
            " using geometric",
            " using beta_query",
            " using exponential",
        ]);
        let spend = dice.pick(&["", "", "", " spend 20%", " spend zcdp(0.01)"]);
        let query = dice.pick(&["draw", "draw", "draw", "draws"]);
        let query = if query == "draws" { format!("draws({p}, {})", 1 + dice.below(4)) } else { format!("draw({p})") };
        let (prior, observed) = match dice.below(16) {
            0 => (format!("~ beta({a}, {b})"), format!("b ~ bernoulli({p})")),
            1 => (format!("~ beta({a}, {b})"), format!("i ~ binomial({top}, {p})")),
            2 => (format!("~ beta({a}, {b})"), format!("i ~ geometric({p})")),
            3 => (format!("~ beta({a}, {b})"), format!("i ~ neg_binomial({s}, {p})")),
            4 => (format!("~ dirichlet([{a}, {b}, {s}])"), format!("c ~ categorical({p})")),
            5 => (format!("~ gamma({a}, {b})"), format!("i ~ poisson({p})")),
            6 => (format!("~ gamma({a}, {b})"), format!("x ~ exponential({p})")),
            7 => (format!("~ normal({a}, {b})"), format!("x ~ normal({p}, {s})")),
            8 => (format!("~ gamma({a}, {b})"), format!("x ~ normal({s}, 1 / sqrt({p}))")),
            9 => (format!(": vector[2] ~ normal(0, {b})"), format!("b ~ bernoulli_logit(dot({p}, w))")),
            10 => {
                let aggregate =
                    dice.pick(&["mean(x)", "sum(x)", "sum(i)", "count()", "histogram(c)", "quantile(x, 0.5)", "sum(w)", "mean(b)"]);
                lines.push(format!("release r{index} = {aggregate}{noise}{spend}"));
                continue;
            }
            11 => {
                let clip = format!("clip(x * {a} - i, -{b}, {s})");
                lines.push(format!("let y{index} = {clip}\nrelease r{index} = mean(y{index}){noise}{spend}"));
                continue;
            }
            12 => (format!("~ beta({a}, {b})"), format!("(i > {s}) ~ bernoulli({p})")),
            13 => (format!("~ dirichlet(rep({a}, 3))"), format!("c ~ categorical({p})")),
            14 => (format!(": real in [0, {a}] ~ normal({s}, {b})"), format!("x ~ normal({p}, {s})")),
            _ => (format!("~ normal({a}, {b})"), format!("x ~ normal({p} + {s}, {top})")),
        };
        lines.push(format!(
            "param {p}{}{prior}\nobserve {observed}\nrelease r{index} = {query}{using}{spend}",
            if prior.starts_with(':') { "" } else { " " }
        ));
        if dice.once_in(5) {
            lines.push(format!(
                "output o{index} = {}",
                dice.pick(&["mean(r0)", "r0 * 2", "simulate(normal(0, 1), times = 10)", "100 * r0 - 3"])
            ));
        }
    }
    if grouped {
        lines.push("}".into());
    }
    if dice.once_in(6) {
        lines.push(format!("expect certificate(total) <= zcdp({})", number(&mut dice)));
    }
    lines.join("\n") + "\n"
}
