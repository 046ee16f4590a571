//! Programs made at random: mostly well-formed ones, and mutations of any text. Used by every sweep that must not panic.

#![allow(dead_code, unused_imports, clippy::indexing_slicing)]

mod mutate;
mod typed;

pub use mutate::{mutate, renumber, soup};
pub use typed::well_typed;

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
            5 if self.dice.once_in(2) => "date in [\"2020-01-01\", \"2024-12-31\"]".into(),
            5 => "category {a, b, \"<=50K\"}".into(),
            6 => format!("vector[{}] in l2({})", 1 + self.dice.below(4), self.positive()),
            7 => "vector[2] in [0, 1]".into(),
            _ if self.dice.once_in(2) => format!("counts[3] of at_most({})", self.positive()),
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
            // By the number of the column: the dice fall as they did for programs without `else`.
            let missing = if self.next.is_multiple_of(3) { otherwise(&ty) } else { "" };
            columns.push(format!("{name}{from}: {ty}{missing}"));
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

/// What a missing cell of a column may count as.
fn otherwise(ty: &str) -> &'static str {
    match ty {
        "bool" => " else true",
        "vector[2] in [0, 1]" => " else [0.5, 1]",
        _ if ty.starts_with("category") => " else \"<=50K\"",
        _ if ty.starts_with("date") => " else \"2020-02-29\"",
        _ if ty.starts_with("counts") => "",
        _ => " else 0",
    }
}
