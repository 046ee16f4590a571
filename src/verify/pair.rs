//! Pairs of distributions that a claim names, and their Renyi divergence (rule book, sections 1 to 3).

use super::real::Real;
use super::special::{rate_above, rate_divergence, shape_above, shape_divergence};
use serde_json::{Value, json};

/// `P` has `a`, `Q` has `a + step`; the last one is a family of pairs.
#[derive(Clone, Debug)]
pub enum Pair {
    Shapes {
        family: &'static str,
        moves: Vec<(Real, Real)>,
        total: Option<(Real, Real)>,
    },
    Rate {
        shape: Real,
        rate: Real,
        step: Real,
    },
    Spread {
        counts: Vec<Real>,
        base: Real,
        items: u64,
        weight: Real,
    },
    /// Noise on a sum over a sample: the share of rows in it, and how many sds a row moves the sum.
    Sampled {
        share: Real,
        mu: Real,
    },
}

impl Pair {
    pub fn rdp(&self, order: &Real) -> Real {
        let one = |(a, step): &(Real, Real)| shape_divergence(a, step, order);
        match self {
            Pair::Rate { shape, rate, step } => rate_divergence(shape, rate, step, order),
            Pair::Shapes { moves, total, .. } => {
                moves.iter().map(one).fold(Real::zero(), |s, d| s + d) - total.as_ref().map_or(Real::zero(), one)
            }
            Pair::Spread { counts, base, items, weight } => spread(counts, base, *items, weight, order),
            Pair::Sampled { share, mu } => sampled(share, mu, order),
        }
    }

    /// At least the same in doubles; `None` where they do not suffice.
    pub fn rdp_above(&self, order: f64) -> Option<f64> {
        let one = |(a, step): &(Real, Real)| {
            let step = if step.positive() { step.above() } else { -(-step).above() };
            shape_above(-(-a).above(), step, order)
        };
        match self {
            Pair::Rate { shape, rate, step } => rate_above(shape.above(), (step / rate).above(), order),
            Pair::Shapes { moves, total: None, .. } => moves.iter().map(one).sum(),
            _ => None,
        }
    }

    /// Orders below this are finite; unknown if all are.
    pub fn limit(&self) -> Real {
        let one = |a: &Real, s: &Real| if s.positive() { Real::one() + a / s } else { Real::UNKNOWN };
        let least = |limits: Vec<Real>| limits.iter().fold(Real::UNKNOWN, |m, x| m.min(x));
        match self {
            Pair::Sampled { .. } => Real::UNKNOWN,
            Pair::Rate { rate, step, .. } => one(rate, step),
            Pair::Shapes { moves, .. } => least(moves.iter().map(|(a, s)| one(a, s)).collect()),
            Pair::Spread { counts, items, weight, .. } => {
                let step = weight * &Real::int(*items);
                least(counts.iter().map(|a| one(a, &step)).collect())
            }
        }
    }

    /// rho of zCDP; unknown if there is none.
    pub fn zcdp(&self) -> Real {
        match self {
            Pair::Sampled { mu, .. } => mu.square() / Real::int(2),
            _ => Real::UNKNOWN,
        }
    }

    /// Does one shape gain, and nothing else move?
    pub fn gains(&self) -> bool {
        matches!(self, Pair::Shapes { moves, total: None, .. } if matches!(moves.as_slice(), [(_, step)] if step.positive()))
    }

    /// The pair as certificates write it.
    pub fn to_json(&self) -> Value {
        let numbers = |list: Vec<Real>| -> Value { list.iter().map(Real::stated).collect() };
        let member = |family: &str, list: Vec<Real>| json!({"family": family, "parameters": numbers(list)});
        match self {
            Pair::Sampled { share, mu } => json!({"sampled_normal": {"share": share.stated(), "mu": mu.stated()}}),
            Pair::Rate { shape, rate, step } => json!({
                "p": member("gamma", vec![shape.clone(), rate.clone()]),
                "q": member("gamma", vec![shape.clone(), rate + step]),
            }),
            Pair::Spread { counts, base, items, weight } => json!({"allocation": {
                "family": "dirichlet",
                "counts": numbers(counts.clone()),
                "base": base.stated(),
                "items": items,
                "weight": weight.stated(),
            }}),
            Pair::Shapes { family, moves, total } => {
                let end = |of: fn(&(Real, Real)) -> Real| {
                    let mut end = member(family, moves.iter().map(of).collect());
                    if let (Some(total), Value::Object(map)) = (total, &mut end) {
                        map.insert("total".into(), of(total).stated().into());
                    }
                    end
                };
                json!({"p": end(|m| m.0.clone()), "q": end(|m| &m.0 + &m.1)})
            }
        }
    }
}

/// Section 12.3, each term of the sum from the one before; between whole orders a chord of `(l - 1) D`.
fn sampled(share: &Real, mu: &Real, order: &Real) -> Real {
    let whole = order.above().floor();
    let own = order * &(mu.square() / Real::int(2));
    if Real::one().le(share) || order.above() > 512.0 {
        return own;
    }
    let grown = mu.square().exp();
    let at = |k: u64| {
        let (mut sum, mut term, mut growth) = (Real::one(), Real::zero(), Real::one());
        for j in 2..=k {
            growth = &growth * &grown;
            if j == 2 {
                let pairs = Real::int(k * (k - 1) / 2) * share.square();
                term = Real::int(2) * &pairs * &growth;
                sum = sum + term.min(&(Real::int(4) * pairs * (&grown - &Real::one())));
                continue;
            }
            term = term * share * &growth * Real::ratio(i128::from(k - j + 1), i128::from(j));
            sum = sum + &term;
        }
        sum.ln()
    };
    let below = whole as u64;
    let part = order - &Real::int(below);
    let low = at(below.max(1));
    let chord = if part.is_zero() { low } else { (Real::one() - &part) * low + part * at(below + 1) };
    own.min(&(chord / (order - &Real::one())))
}

/// Section 2.3 by plain recursion over categories: Q's category gains all items, the others lose what P holds there, and the
/// other rows' weight sits on one of them.
fn spread(counts: &[Real], base: &Real, items: u64, weight: &Real, order: &Real) -> Real {
    let loss = |a: &Real, x: u64| {
        let s = weight * &Real::int(x);
        if x == 0 { Real::zero() } else { shape_divergence(&(a + &s), &-&s, order) }
    };
    let losses = |a: &Real| -> Vec<Real> { (0..=items).map(|x| loss(a, x)).collect() };
    let gain = |a: &Real| shape_divergence(a, &(weight * &Real::int(items)), order);
    // Of every category: what Q gains there, and what is lost there by the number of items, without and with the base.
    let one = |a: &Real| [(gain(a), losses(a)), (gain(&(a + base)), losses(&(a + base)))];
    let all: Vec<[(Real, Vec<Real>); 2]> = counts.iter().map(one).collect();
    let mut worst = Real::zero();
    let places = if base.positive() { counts.len() } else { 1 };
    for (place, i) in (0..places).flat_map(|place| (0..counts.len()).map(move |i| (place, i))) {
        let at = |j: usize| all.get(j).map(|[plain, heavy]| if j == place { heavy } else { plain });
        // The worst loss of the categories so far, by how many items P holds there.
        let mut best = vec![Real::zero()];
        for (_, lost) in (0..counts.len()).filter(|j| *j != i).filter_map(at) {
            let split = |t: usize| {
                let ways = best.iter().zip(lost.iter().take(t + 1).rev());
                ways.map(|(b, l)| b + l).reduce(|a, b| a.max(&b)).unwrap_or(Real::UNKNOWN)
            };
            let first = best.len() == 1;
            best = if first { lost.clone() } else { (0..lost.len()).map(split).collect() };
        }
        worst = worst.max(&best.last().zip(at(i)).map_or(Real::UNKNOWN, |(rest, (gain, _))| gain + rest));
    }
    worst
}
