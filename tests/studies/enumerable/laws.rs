//! The law of a program's output for one pair of neighbours, as a list of chances under both.

use super::{Change, Noise, Program, Query, Row, Step};
use statrs::function::beta::beta_reg;
use statrs::function::erf::erfc;

/// Chances of one outcome under either data set, and a number that stands for it.
#[derive(Clone, Copy, Debug)]
pub struct Atom {
    pub p: f64,
    pub q: f64,
    value: f64,
}

/// Most atoms kept. Merging outcomes never makes two laws easier to tell apart.
const MOST: usize = 120;

/// Outcomes of nearly equal ratio as one: of equal ratio, if that leaves few enough.
fn merged(atoms: Vec<Atom>) -> Vec<Atom> {
    let mut list: Vec<(f64, Atom)> = atoms.into_iter().filter(|a| a.p > 0.0 || a.q > 0.0).map(|a| (a.p.ln() - a.q.ln(), a)).collect();
    list.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut width = 1e-12;
    loop {
        let mut kept: Vec<(f64, Atom)> = vec![];
        for (ratio, atom) in &list {
            match kept.last_mut() {
                Some((first, last)) if ratio - *first <= width => {
                    last.p += atom.p;
                    last.q += atom.q;
                }
                _ => kept.push((*ratio, *atom)),
            }
        }
        if kept.len() <= MOST {
            return kept.into_iter().map(|(_, atom)| atom).collect();
        }
        let span = kept.last().unwrap().0 - kept[0].0;
        width = if width < 1e-3 { span / MOST as f64 } else { width * 1.5 };
    }
}

fn both(a: &[Atom], b: &[Atom]) -> Vec<Atom> {
    let pairs = a.iter().flat_map(|x| b.iter().map(move |y| Atom { p: x.p * y.p, q: x.q * y.q, value: 0.0 }));
    merged(pairs.collect())
}

/// The logarithm of a sum, of logarithms that may lie beyond the range of `exp`.
fn ln_sum(terms: &[f64]) -> f64 {
    let most = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most.is_finite() { most + terms.iter().map(|t| (t - most).exp()).sum::<f64>().ln() } else { most }
}

/// `ln E (p/q)^(order - 1)` under P of some outcomes.
fn moment(atoms: &[Atom], order: f64) -> f64 {
    let terms: Vec<f64> = atoms.iter().filter(|a| a.p > 0.0).map(|a| order * a.p.ln() - (order - 1.0) * a.q.ln()).collect();
    ln_sum(&terms)
}

fn largest_ratio(atoms: &[Atom]) -> f64 {
    atoms.iter().filter(|a| a.p > 1e-12).map(|a| (a.p / a.q).ln()).fold(f64::NEG_INFINITY, f64::max)
}

/// Orders at which divergences are compared; the largest log ratio stands behind them.
pub const ORDERS: [f64; 4] = [1.2, 2.0, 4.0, 9.0];
pub type Values = [f64; ORDERS.len() + 1];

/// The moments of some outcomes, and their largest log ratio: along a sequence all of them add.
fn values(atoms: &[Atom]) -> Values {
    std::array::from_fn(|i| ORDERS.get(i).map_or_else(|| largest_ratio(atoms), |l| moment(atoms, *l)))
}

fn sum(a: Values, b: Values) -> Values {
    std::array::from_fn(|i| a[i] + b[i])
}

/// Outcomes of either list.
fn either(a: Values, b: Values) -> Values {
    std::array::from_fn(|i| if i < ORDERS.len() { ln_sum(&[a[i], b[i]]) } else { a[i].max(b[i]) })
}

/// Chance of two-sided geometric noise at most k: weights `exp(-|k|/scale)`.
fn geometric_below(k: i64, scale: f64) -> f64 {
    let a = (-1.0 / scale).exp();
    if k < 0 { a.powi(-k as i32) / (1.0 + a) } else { 1.0 - a.powi(k as i32 + 1) / (1.0 + a) }
}

/// Chance of noise in `(lo, hi]`, from the tail that is smaller.
fn between(lo: f64, hi: f64, tail: impl Fn(f64) -> f64) -> f64 {
    // `tail(z)`: chance above z >= 0, symmetric.
    let (lo, hi) = if lo + hi < 0.0 { (-hi, -lo) } else { (lo, hi) };
    if lo >= 0.0 { tail(lo) - tail(hi) } else { 1.0 - tail(-lo) - tail(hi) }
}

/// Ascending cuts make intervals with both ends of the line.
fn intervals(mut cuts: Vec<f64>, chance: impl Fn(f64, f64) -> (f64, f64)) -> Vec<Atom> {
    cuts.sort_by(f64::total_cmp);
    // A cell as thin as rounding would have no chance under one law only.
    cuts.dedup_by(|a, b| *a - *b < 1e-9);
    let mut ends = vec![f64::NEG_INFINITY];
    ends.extend(cuts);
    ends.push(f64::INFINITY);
    ends.windows(2)
        .map(|w| {
            let (p, q) = chance(w[0], w[1]);
            // Cuts are upper ends: the interval lies wholly above a cut or wholly not above.
            Atom { p, q, value: if w[1].is_finite() { w[1] } else { w[0] + 1.0 } }
        })
        .collect()
}

fn noisy(noise: Noise, size: f64, (s, t): (i64, i64), cut: Option<f64>) -> Vec<Atom> {
    let (low, high) = (s.min(t), s.max(t));
    match noise {
        Noise::Geometric => {
            let cut = cut.map(|c| c as i64);
            let (low, high) = (cut.map_or(low, |c| low.min(c)), cut.map_or(high, |c| high.max(c + 1)));
            let chance = |value: i64, truth: i64| match value {
                v if v == low => geometric_below(v - truth, size),
                // By symmetry, without cancellation.
                v if v == high => geometric_below(truth - v, size),
                v => (0.5 / size).tanh() * (-((v - truth).abs() as f64) / size).exp(),
            };
            if low == high {
                return vec![Atom { p: 1.0, q: 1.0, value: low as f64 }];
            }
            (low..=high).map(|v| Atom { p: chance(v, s), q: chance(v, t), value: v as f64 }).collect()
        }
        Noise::Laplace => {
            let steps = 24;
            let mut cuts: Vec<f64> = (0..=steps).map(|i| low as f64 + (high - low) as f64 * f64::from(i) / f64::from(steps)).collect();
            cuts.extend(cut);
            let tail = |z: f64| 0.5 * (-z / size).exp();
            intervals(cuts, |a, b| (between(a - s as f64, b - s as f64, tail), between(a - t as f64, b - t as f64, tail)))
        }
        Noise::Gaussian => {
            let steps = 60;
            let (from, to) = (low as f64 - 6.0 * size, high as f64 + 6.0 * size);
            let mut cuts: Vec<f64> = (0..=steps).map(|i| from + (to - from) * f64::from(i) / f64::from(steps)).collect();
            cuts.extend(cut);
            let tail = |z: f64| 0.5 * erfc(z / size / std::f64::consts::SQRT_2);
            intervals(cuts, |a, b| (between(a - s as f64, b - s as f64, tail), between(a - t as f64, b - t as f64, tail)))
        }
    }
}

fn rate(a: (f64, f64), b: (f64, f64)) -> Vec<Atom> {
    let mut cuts: Vec<f64> = (1..40).map(|i| f64::from(i) / 40.0).collect();
    cuts.extend([0.01, 0.99]);
    let chance = |(s, f): (f64, f64), lo: f64, hi: f64| {
        let below = |x: f64| {
            if x <= 0.0 {
                0.0
            } else if x >= 1.0 {
                1.0
            } else {
                beta_reg(s, f, x)
            }
        };
        // From the end that is nearer.
        let above = |x: f64| {
            if x <= 0.0 {
                1.0
            } else if x >= 1.0 {
                0.0
            } else {
                beta_reg(f, s, 1.0 - x)
            }
        };
        if lo >= s / (s + f) { above(lo) - above(hi) } else { below(hi) - below(lo) }
    };
    let atoms = intervals(cuts, |lo, hi| (chance(a, lo, hi), chance(b, lo, hi)));
    // Bins too thin for the incomplete beta function join their neighbours.
    let mut kept: Vec<Atom> = vec![];
    for atom in atoms {
        match kept.last_mut() {
            Some(last) if (last.p.min(last.q) < 1e-7 || atom.p.min(atom.q) < 1e-7) && (last.value > 0.5) == (atom.value > 0.5) => {
                last.p += atom.p;
                last.q += atom.q;
            }
            _ => kept.push(atom),
        }
    }
    kept
}

/// Points with weights `exp(eps u/(2 D))`, `u(t) = -max(0, #{x < t} - q n, q n - #{x <= t})`.
fn quantile(rows: &[Row], q: f64, grid: &[f64], strength: f64) -> Vec<f64> {
    let rank = q * rows.len() as f64;
    let less = |t: &f64| rows.iter().filter(|r| (r.2 as f64) < *t).count() as f64;
    let most = |t: &f64| rows.iter().filter(|r| (r.2 as f64) <= *t).count() as f64;
    let score = |t: &f64| -(less(t) - rank).max(rank - most(t)).max(0.0);
    let weights: Vec<f64> = grid.iter().map(|t| (strength * score(t)).exp()).collect();
    let all: f64 = weights.iter().sum();
    weights.iter().map(|w| w / all).collect()
}

impl Program {
    fn one(&self, index: usize, (d, e): (&[Row], &[Row]), cut: Option<f64>) -> Vec<Atom> {
        let ones = |rows: &[Row]| rows.iter().map(|r| r.1).sum::<i64>();
        match &self.queries[index] {
            Query::Noisy { sum, noise, size } => {
                let truth = |rows: &[Row]| if *sum { rows.iter().map(|r| r.2).sum() } else { ones(rows) };
                noisy(*noise, size.unwrap(), (truth(d), truth(e)), cut)
            }
            Query::Quantile { q, epsilon } => {
                let grid: Vec<f64> = (self.range.0..=self.range.1).map(|x| x as f64).collect();
                let k = self.change.rows() as f64;
                let sensitivity = if matches!(self.change, Change::Add(_)) { k * q.max(1.0 - q) } else { k };
                let law = |rows: &[Row]| quantile(rows, *q, &grid, epsilon.unwrap() / (2.0 * sensitivity));
                let (p, q) = (law(d), law(e));
                grid.iter().zip(p.iter().zip(&q)).map(|(t, (p, q))| Atom { p: *p, q: *q, value: *t }).collect()
            }
            Query::Draw { prior: (a, b), weight, times } => {
                let r = weight.unwrap();
                let law = |rows: &[Row]| {
                    let ones = ones(rows) as f64;
                    (a + r * ones, b + r * (rows.len() as f64 - ones))
                };
                let one = rate(law(d), law(e));
                // One draw keeps its values for a branch.
                (1..*times).fold(one.clone(), |all, _| both(&all, &one))
            }
        }
    }

    /// Rényi divergences of the whole output and its largest log ratio; nothing is merged but the cells of continuous noise.
    pub fn divergences(&self, d: &[Row], e: &[Row]) -> Values {
        let all = self.folded(&self.steps, d, e);
        std::array::from_fn(|i| ORDERS.get(i).map_or(all[i], |l| all[i].max(0.0) / (l - 1.0)))
    }

    fn folded(&self, steps: &[Step], d: &[Row], e: &[Row]) -> Values {
        let decides = |index: usize| steps.iter().any(|s| matches!(s, Step::When(i, ..) if *i == index));
        let one = |step: &Step| match step {
            Step::Release(index) if decides(*index) => Values::default(),
            Step::Release(index) => values(&self.one(*index, (d, e), None)),
            Step::When(index, at, then, otherwise) => {
                let (over, under): (Vec<Atom>, Vec<Atom>) = self.one(*index, (d, e), Some(*at)).into_iter().partition(|a| a.value > *at);
                let over = sum(values(&over), self.folded(then, d, e));
                either(over, sum(values(&under), self.folded(otherwise, d, e)))
            }
            Step::Each(body) => {
                let group = |group: usize| {
                    let own = |rows: &[Row]| rows.iter().copied().filter(|r| r.0 == group).collect::<Vec<_>>();
                    self.folded(body, &own(d), &own(e))
                };
                sum(group(0), group(1))
            }
        };
        steps.iter().map(one).fold(Values::default(), sum)
    }

    /// The law of the whole output.
    pub fn law(&self, d: &[Row], e: &[Row]) -> Vec<Atom> {
        self.sequence(&self.steps, d, e)
    }

    fn sequence(&self, steps: &[Step], d: &[Row], e: &[Row]) -> Vec<Atom> {
        let decides = |index: usize| steps.iter().any(|s| matches!(s, Step::When(i, ..) if *i == index));
        let mut all = vec![Atom { p: 1.0, q: 1.0, value: 0.0 }];
        for step in steps {
            match step {
                // Released where the branch is taken.
                Step::Release(index) if decides(*index) => {}
                Step::Release(index) => all = both(&all, &self.one(*index, (d, e), None)),
                Step::When(index, at, then, otherwise) => {
                    let (over, under): (Vec<Atom>, Vec<Atom>) =
                        self.one(*index, (d, e), Some(*at)).into_iter().partition(|a| a.value > *at);
                    let mut either = both(&merged(over), &self.sequence(then, d, e));
                    either.extend(both(&merged(under), &self.sequence(otherwise, d, e)));
                    all = both(&all, &merged(either));
                }
                Step::Each(body) => {
                    for group in 0..2 {
                        let own = |rows: &[Row]| rows.iter().copied().filter(|r| r.0 == group).collect::<Vec<_>>();
                        all = both(&all, &self.sequence(body, &own(d), &own(e)));
                    }
                }
            }
        }
        all
    }

    /// What the law depends on: equal keys, equal laws.
    pub fn key(&self, rows: &[Row]) -> Vec<i64> {
        let mut key = vec![];
        let groups = [vec![0, 1], vec![0], vec![1]];
        // All sums by group; a quantile needs the whole histogram.
        let whole = self.queries.iter().any(|q| matches!(q, Query::Quantile { .. }));
        let grouped = grouped(&self.steps);
        for set in groups.iter().take(if grouped { 3 } else { 1 }) {
            let mine: Vec<&Row> = rows.iter().filter(|r| set.contains(&r.0)).collect();
            key.extend([mine.len() as i64, mine.iter().map(|r| r.1).sum(), mine.iter().map(|r| r.2).sum()]);
            if whole {
                key.extend((self.range.0..=self.range.1).map(|x| mine.iter().filter(|r| r.2 == x).count() as i64));
            }
        }
        key
    }
}

pub fn grouped(steps: &[Step]) -> bool {
    steps.iter().any(|s| match s {
        Step::Each(_) => true,
        Step::When(_, _, then, otherwise) => grouped(then) || grouped(otherwise),
        Step::Release(_) => false,
    })
}
