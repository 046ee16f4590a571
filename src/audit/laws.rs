//! Output laws in doubles, from their definition in the plan and made-up rows; nothing here is shared with the rules.

use crate::data::eval::{NoEnvironment, compile};
use crate::data::layout::width;
use crate::mechanism::plan::{PosteriorLaw, Statistic, StatisticKind};
use crate::model::{Expr, Table, TableId};
use std::collections::BTreeSet;

/// A law with a density that can be integrated, or chances that can be added.
#[derive(Clone, PartialEq, Debug)]
pub enum Law {
    Beta(f64, f64),
    Dirichlet(Vec<f64>),
    Gamma {
        shape: f64,
        rate: f64,
    },
    Normal {
        mean: f64,
        variance: f64,
    },
    /// Independent numbers of one variance.
    Normals {
        means: Vec<f64>,
        variance: f64,
    },
    Laplace {
        mean: f64,
        scale: f64,
    },
    /// Two-sided geometric on the integers: chances `~ exp(-|k - mean| / scale)`.
    Geometric {
        mean: f64,
        scale: f64,
    },
    /// A normal number rounded to an integer.
    Rounded {
        mean: f64,
        sigma: f64,
    },
    /// Independent numbers.
    Each(Vec<Law>),
    /// In one of the intervals up to these ends, which ascend, with the logarithms of their chances.
    Choice {
        ends: Vec<f64>,
        logs: Vec<f64>,
    },
}

/// What one row adds to the sums of a statistic, from the row's numbers; `None` where the audit does not know it.
pub fn row_sums(statistic: &Statistic, table: &Table, rows: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let (value, levels) = match &statistic.kind {
        StatisticKind::Sum(e) => (e, None),
        StatisticKind::Levels { value, dim, first } => (value, Some((usize::try_from(*dim).ok()?, *first as f64))),
        _ => return None,
    };
    let compiled = compile(value, statistic.table, table, &NoEnvironment).ok()?;
    let mut stack = vec![];
    rows.iter()
        .map(|row| {
            stack.clear();
            compiled.row(row, &mut stack);
            let found = stack.get(stack.len().checked_sub(width(&value.ty))?..)?.to_vec();
            Some(match levels {
                None => found,
                Some((dim, first)) => {
                    let at = *found.first()? - first;
                    (0..dim).map(|j| f64::from(u8::from(j as f64 == at))).collect()
                }
            })
        })
        .collect()
}

/// The number that an expression is on every row; `None` where the audit does not know it.
pub fn row_values(value: &Expr, id: TableId, table: &Table, rows: &[Vec<f64>]) -> Option<Vec<f64>> {
    let compiled = compile(value, id, table, &NoEnvironment).ok()?;
    let of = |row: &Vec<f64>| {
        let mut stack = vec![];
        compiled.row(row, &mut stack);
        stack.last().copied()
    };
    rows.iter().map(of).collect()
}

/// The choice of a point t of a grid with weight `exp(-strength d)`, d how far q n is from the numbers between `#{x < t}` and
/// `#{x <= t}`, for values that so many rows have each: by the points between `cuts`, which hold all values, and the cuts themselves.
pub fn choice((q, strength): (f64, f64), (lo, hi): (i64, i64), cuts: &BTreeSet<i64>, values: &[(i64, f64)]) -> (Vec<i64>, Vec<f64>) {
    let n: f64 = values.iter().map(|(_, rows)| rows).sum();
    let rows = |of: &dyn Fn(i64) -> bool| values.iter().filter(|(x, _)| of(*x)).map(|(_, rows)| rows).sum::<f64>();
    let (mut parts, mut from) = (vec![], lo);
    for cut in cuts {
        parts.extend([(from, cut - 1), (*cut, *cut)]);
        from = cut + 1;
    }
    parts.push((from, hi));
    parts.retain(|(a, b)| a <= b);
    let log = |(a, b): &(i64, i64)| {
        let off = (rows(&|x| x < *a) - q * n).max(q * n - rows(&|x| x <= *b)).max(0.0);
        ((b - a) as f64 + 1.0).ln() - strength * off
    };
    let logs: Vec<f64> = parts.iter().map(log).collect();
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let whole = most + logs.iter().map(|l| (l - most).exp()).sum::<f64>().ln();
    (parts.into_iter().map(|(_, b)| b).collect(), logs.into_iter().map(|l| l - whole).collect())
}

/// The law for `n` rows with these sums, as `PosteriorLaw` documents it.
pub fn law(law: &PosteriorLaw, r: f64, n: f64, sums: &[f64]) -> Option<Law> {
    let s = *sums.first()?;
    Some(match law {
        PosteriorLaw::Beta { a, b, trials } => {
            let one = |s: &f64| Law::Beta(a + r * s, b + r * (*trials as f64 * n - s));
            if let [s] = sums { one(s) } else { Law::Each(sums.iter().map(one).collect()) }
        }
        PosteriorLaw::BetaFailures { a, b, successes } => Law::Beta(a + r * n * successes, b + r * s),
        PosteriorLaw::Dirichlet { alpha } => Law::Dirichlet(alpha.iter().zip(sums).map(|(a, s)| a + r * s).collect()),
        PosteriorLaw::GammaShape { shape, rate } => Law::Gamma { shape: shape + r * s, rate: rate + r * n },
        PosteriorLaw::GammaRate { shape, rate, per_row, scale } => {
            Law::Gamma { shape: shape + r * n * per_row, rate: rate + r * s * scale }
        }
        PosteriorLaw::Normal { precision, precision_mean, variance } => {
            let total = precision + r * n / variance;
            Law::Normal { mean: (precision_mean + r * s / variance) / total, variance: 1.0 / total }
        }
        _ => return None,
    })
}

impl Law {
    /// Its numbers bit by bit: equal laws have equal keys.
    pub fn key(&self) -> (u8, Vec<u64>) {
        let (kind, numbers) = match self {
            Law::Beta(a, b) => (0, vec![*a, *b]),
            Law::Dirichlet(alpha) => (1, alpha.clone()),
            Law::Gamma { shape, rate } => (2, vec![*shape, *rate]),
            Law::Normal { mean, variance } => (3, vec![*mean, *variance]),
            Law::Normals { means, variance } => (4, [means.as_slice(), &[*variance]].concat()),
            Law::Laplace { mean, scale } => (5, vec![*mean, *scale]),
            Law::Geometric { mean, scale } => (6, vec![*mean, *scale]),
            Law::Each(parts) => return (7, parts.iter().flat_map(|p| p.key().1).collect()),
            Law::Choice { logs, .. } => (8, logs.clone()),
            Law::Rounded { mean, sigma } => (9, vec![*mean, *sigma]),
        };
        (kind, numbers.into_iter().map(f64::to_bits).collect())
    }

    /// How many numbers it holds, about.
    pub fn numbers(&self) -> usize {
        match self {
            Law::Each(parts) => parts.len(),
            Law::Normals { means, .. } => means.len(),
            Law::Dirichlet(alpha) => alpha.len(),
            Law::Choice { logs, .. } => logs.len(),
            _ => 2,
        }
    }

    /// Coordinates of a draw, without those that follow from others.
    pub fn log_density(&self, x: &[f64]) -> f64 {
        let at = |i: usize| x.get(i).copied().unwrap_or(f64::NAN);
        let small = |v: f64| v.max(f64::MIN_POSITIVE).ln();
        match self {
            Law::Beta(a, b) => (a - 1.0) * small(at(0)) + (b - 1.0) * small(1.0 - at(0)) - ln_beta(*a, *b),
            Law::Dirichlet(alpha) => {
                let total: f64 = alpha.iter().sum();
                let constant = libm::lgamma(total) - alpha.iter().map(|a| libm::lgamma(*a)).sum::<f64>();
                constant + alpha.iter().zip(x).map(|(a, x)| (a - 1.0) * small(*x)).sum::<f64>()
            }
            Law::Gamma { shape, rate } => shape * rate.ln() + (shape - 1.0) * small(at(0)) - rate * at(0) - libm::lgamma(*shape),
            Law::Laplace { mean, scale } => -(at(0) - mean).abs() / scale - (2.0 * scale).ln(),
            Law::Geometric { mean, scale } => -(at(0) - mean).abs() / scale + (0.5 / scale).tanh().ln(),
            Law::Rounded { mean, sigma } => ln_rounded(at(0) - mean, *sigma),
            Law::Normal { mean, variance } => -0.5 * ((at(0) - mean).powi(2) / variance + (std::f64::consts::TAU * variance).ln()),
            Law::Each(parts) => parts.iter().zip(x).map(|(p, x)| p.log_density(&[*x])).sum(),
            Law::Choice { ends, logs } => logs.get(ends.partition_point(|end| *end < at(0))).copied().unwrap_or(f64::NAN),
            Law::Normals { means, variance } => {
                let squares: f64 = means.iter().zip(x).map(|(m, x)| (x - m).powi(2)).sum();
                -0.5 * (squares / variance + means.len() as f64 * (std::f64::consts::TAU * variance).ln())
            }
        }
    }
}

/// The logarithm of `Phi((t + 1/2) / sigma) - Phi((t - 1/2) / sigma)`: a difference of tails, and by Simpson's rule where that
/// would cancel.
pub fn ln_rounded(t: f64, sigma: f64) -> f64 {
    let tail = |x: f64| libm::erfc(x / sigma * std::f64::consts::FRAC_1_SQRT_2);
    if sigma <= 1e3 {
        return (0.5 * (tail(t.abs() - 0.5) - tail(t.abs() + 0.5))).ln();
    }
    let log = |x: f64| -0.5 * (x / sigma).powi(2);
    let mean = (4.0 + (log(t - 0.5) - log(t)).exp() + (log(t + 0.5) - log(t)).exp()) / 6.0;
    log(t) + mean.ln() - 0.5 * (std::f64::consts::TAU * sigma * sigma).ln()
}

pub fn ln_beta(a: f64, b: f64) -> f64 {
    libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b)
}
