//! Random programs whose output laws can be written down exactly, and those laws, from the definitions of the mechanisms.

pub mod judge;
pub mod laws;

use std::fmt::Write;

/// A row: its group, a bool and an integer.
pub type Row = (usize, i64, i64);

/// A small generator of numbers: the same programs everywhere.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }
}

/// What one unit may do to the data.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Change {
    /// Up to k rows get other contents.
    Replace(usize),
    /// Up to k rows come or go.
    Add(usize),
}

impl Change {
    pub fn rows(self) -> usize {
        let (Change::Replace(k) | Change::Add(k)) = self;
        k
    }
}

/// What a release reads and how it draws; a parameter is `None` where the compiler solves it.
#[derive(Clone, PartialEq, Debug)]
pub enum Query {
    /// `count(y)` or `sum(x)` with noise.
    Noisy { sum: bool, noise: Noise, size: Option<f64> },
    /// `quantile(x, q)` over all integers of the range.
    Quantile { q: f64, epsilon: Option<f64> },
    /// `times` draws of the posterior of a rate.
    Draw { prior: (f64, f64), weight: Option<f64>, times: usize },
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Noise {
    Geometric,
    Laplace,
    Gaussian,
}

impl Noise {
    fn name(self) -> &'static str {
        match self {
            Noise::Geometric => "geometric",
            Noise::Laplace => "laplace",
            Noise::Gaussian => "gaussian",
        }
    }

    fn parameter(self) -> &'static str {
        if self == Noise::Gaussian { "sigma" } else { "scale" }
    }
}

/// One step; releases are counted in program order.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    Release(usize),
    /// Is the number released as the first larger than the second?
    When(usize, f64, Vec<Step>, Vec<Step>),
    Each(Vec<Step>),
}

#[derive(Clone, Debug)]
pub struct Program {
    pub change: Change,
    pub public_key: bool,
    /// The values of x.
    pub range: (i64, i64),
    pub queries: Vec<Query>,
    pub steps: Vec<Step>,
    pub budget: Option<&'static str>,
}

impl Program {
    pub fn random(seed: u64) -> Program {
        let mut dice = Dice::new(seed);
        let k = dice.pick(&[1, 1, 2]);
        let mut program = Program {
            change: if dice.chance(50) { Change::Replace(k) } else { Change::Add(k) },
            public_key: dice.chance(50),
            range: dice.pick(&[(0, 1), (0, 2), (-1, 1), (1, 3)]),
            queries: vec![],
            steps: vec![],
            budget: None,
        };
        program.budget =
            dice.pick(&[None, None, None, Some("dp(eps = 1, delta = 1e-3)"), Some("dp(eps = 2, delta = 0.01)"), Some("zcdp(0.5)")]);
        let count = 2 + dice.below(3);
        let mut branched = false;
        while program.queries.len() < count {
            let left = count - program.queries.len();
            let kind = dice.below(100);
            if kind < 30 && left >= 2 && !branched {
                branched = true;
                program.branch(&mut dice, left);
            } else if kind < 55 {
                let body = program.releases(&mut dice, 1 + usize::from(left > 1 && kind < 38), true);
                program.steps.push(Step::Each(body));
            } else {
                let one = program.releases(&mut dice, 1, false);
                program.steps.extend(one);
            }
        }
        program
    }

    /// A release, and a branch on it.
    fn branch(&mut self, dice: &mut Dice, left: usize) {
        let control = self.releases(dice, 1, false);
        self.steps.extend(control);
        let index = self.queries.len() - 1;
        if let Query::Draw { times, .. } = &mut self.queries[index] {
            *times = 1;
        }
        let at = match &self.queries[index] {
            Query::Draw { .. } => 0.5,
            Query::Quantile { .. } => (self.range.0 + self.range.1) as f64 / 2.0,
            Query::Noisy { .. } => dice.pick(&[0.0, 1.0, 2.0]),
        };
        let many = 1 + usize::from(left > 2 && dice.chance(40));
        let then = self.releases(dice, many, false);
        let mut otherwise = if dice.chance(70) { self.releases(dice, 1, false) } else { vec![] };
        if dice.chance(25) {
            let body = self.releases(dice, 1, true);
            otherwise.push(Step::Each(body));
        }
        self.steps.push(Step::When(index, at, then, otherwise));
    }

    fn releases(&mut self, dice: &mut Dice, count: usize, grouped: bool) -> Vec<Step> {
        let mut list = vec![];
        for _ in 0..count {
            let query = self.query(dice, grouped);
            self.queries.push(query);
            list.push(Step::Release(self.queries.len() - 1));
        }
        list
    }

    fn query(&self, dice: &mut Dice, grouped: bool) -> Query {
        let solved = self.budget.is_some();
        let given = |x: f64| if solved { None } else { Some(x) };
        let kind = dice.below(100);
        // A quantile in secret groups draws with the sensitivity of an exchange: its law is left to other tests.
        if kind < 15 && (!grouped || self.public_key) {
            return Query::Quantile { q: dice.pick(&[0.25, 0.5, 0.75]), epsilon: given(dice.pick(&[0.3, 1.0, 2.0])) };
        }
        if kind < 35 && self.budget != Some("zcdp(0.5)") {
            let weight = if solved { None } else { Some(dice.pick(&[1.0, 0.5])) };
            let prior = dice.pick(&[(3.0, 2.5), (8.0, 6.0), (12.0, 20.0), (30.0, 30.0)]);
            return Query::Draw { prior, weight, times: dice.pick(&[1, 1, 2]) };
        }
        let noise = dice.pick(&[Noise::Geometric, Noise::Geometric, Noise::Laplace, Noise::Gaussian]);
        Query::Noisy { sum: dice.chance(50), noise, size: given(dice.pick(&[0.7, 1.0, 2.0, 4.0])) }
    }

    pub fn header(&self) -> String {
        let size = if matches!(self.change, Change::Add(_)) { "t[private n]" } else { "t[n]" };
        if self.change.rows() > 1 { format!("{size} by u max {}", self.change.rows()) } else { size.into() }
    }

    pub fn text(&self) -> String {
        let (lo, hi) = self.range;
        let key = if self.public_key { "public " } else { "" };
        let mut text = String::new();
        if let Some(budget) = self.budget {
            writeln!(text, "budget {budget}").unwrap();
        }
        writeln!(text, "private {} {{ u: text, g: {key}category {{a, b}}, y: bool, x: int in {lo}..{hi} }}", self.header()).unwrap();
        self.write(&self.steps, &mut text, "");
        text
    }

    fn write(&self, steps: &[Step], text: &mut String, margin: &str) {
        // Parameters before everything else in their block; a branch may not declare any.
        for step in steps {
            match step {
                Step::Release(index) => self.parameter(*index, text, margin),
                Step::When(_, _, then, otherwise) => {
                    for step in then.iter().chain(otherwise) {
                        if let Step::Release(index) = step {
                            self.parameter(*index, text, margin);
                        }
                    }
                }
                Step::Each(_) => {}
            }
        }
        for step in steps {
            match step {
                Step::Release(index) => writeln!(text, "{margin}{}", self.release(*index)).unwrap(),
                Step::When(index, at, then, otherwise) => {
                    let inner = format!("{margin}  ");
                    writeln!(text, "{margin}when r{index} > {at} {{").unwrap();
                    self.body(then, text, &inner);
                    if !otherwise.is_empty() {
                        writeln!(text, "{margin}}} else {{").unwrap();
                        self.body(otherwise, text, &inner);
                    }
                    writeln!(text, "{margin}}}").unwrap();
                }
                Step::Each(body) => {
                    writeln!(text, "{margin}each g of t {{").unwrap();
                    self.write(body, text, &format!("{margin}  "));
                    writeln!(text, "{margin}}}").unwrap();
                }
            }
        }
    }

    /// A branch: its parameters stand outside.
    fn body(&self, steps: &[Step], text: &mut String, margin: &str) {
        for step in steps {
            match step {
                Step::Release(index) => writeln!(text, "{margin}{}", self.release(*index)).unwrap(),
                other => self.write(std::slice::from_ref(other), text, margin),
            }
        }
    }

    fn parameter(&self, index: usize, text: &mut String, margin: &str) {
        if let Query::Draw { prior: (a, b), .. } = &self.queries[index] {
            writeln!(text, "{margin}param p{index} ~ beta({a}, {b})\n{margin}observe y ~ bernoulli(p{index})").unwrap();
        }
    }

    fn release(&self, index: usize) -> String {
        let (lo, hi) = self.range;
        match &self.queries[index] {
            Query::Noisy { sum, noise, size } => {
                let query = if *sum { "sum(x)" } else { "count(y)" };
                let size = size.map_or(String::new(), |s| format!("({} = {s})", noise.parameter()));
                format!("release r{index} = {query} using {}{size}", noise.name())
            }
            Query::Quantile { q, epsilon } => {
                let epsilon = epsilon.map_or(String::new(), |e| format!(", eps = {e}"));
                format!("release r{index} = quantile(x, {q}) using exponential(lo = {lo}, hi = {hi}{epsilon})")
            }
            Query::Draw { weight, times, .. } => {
                let draw = if *times == 1 { format!("draw(p{index})") } else { format!("draws(p{index}, {times})") };
                let using = match weight {
                    None => "diffuse".to_string(),
                    Some(1.0) => "direct".to_string(),
                    Some(r) => format!("diffuse(r = {r})"),
                };
                format!("release r{index} = {draw} using {using}")
            }
        }
    }

    /// Fills in what the compiler solved: the parameters of every release, in program order.
    pub fn solve(&mut self, parameters: &[Vec<(String, f64)>]) {
        for (query, found) in self.queries.iter_mut().zip(parameters) {
            let named = |name: &str| found.iter().find(|(n, _)| n == name).map(|(_, value)| *value);
            match query {
                Query::Noisy { noise, size, .. } => *size = size.or(named(noise.parameter())),
                Query::Quantile { epsilon, .. } => *epsilon = epsilon.or(named("eps")),
                Query::Draw { weight, .. } => *weight = weight.or(named("r")).or(Some(1.0)),
            }
        }
    }
}
