//! The curves of a claim as charts: Rényi epsilon by order, epsilon by delta, and the trade-off of an attacker's errors.

use crate::model::{Budget, BudgetKind};
use crate::numeric::decimal::sig_down;
use crate::plot::{Axis, Chart, Line};
use crate::privacy::Claim;

/// What `dpm plot` can draw of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Rényi epsilon by order, with the limit order and the budget.
    Rdp,
    /// Epsilon by delta.
    Dp,
    /// Hits by false alarms of the best attacker.
    Tradeoff,
}

const POINTS: u32 = 120;

fn spread(lo: f64, hi: f64) -> impl Iterator<Item = f64> {
    (0..=POINTS).map(move |i| lo * (hi / lo).powf(f64::from(i) / f64::from(POINTS)))
}

/// One chart over named claims; the first is drawn solid, the others dashed.
pub fn chart(kind: Kind, title: &str, claims: &[(String, &Claim)], budget: Option<&Budget>) -> Option<Chart> {
    match kind {
        Kind::Rdp => rdp(title, claims, budget),
        Kind::Dp => dp(title, claims, budget),
        Kind::Tradeoff => tradeoff(title, claims),
    }
}

fn lines(claims: &[(String, &Claim)], at: &dyn Fn(&Claim) -> Vec<(f64, f64)>) -> Vec<Line> {
    claims.iter().enumerate().map(|(i, (name, c))| Line { name: name.clone(), points: at(c), dashed: i > 0 }).collect()
}

fn rdp(title: &str, claims: &[(String, &Claim)], budget: Option<&Budget>) -> Option<Chart> {
    let limit = claims.iter().map(|(_, c)| c.max_order()).fold(1.0, f64::max);
    let most = if limit.is_finite() { limit.min(256.0) } else { 64.0 };
    let points = |c: &Claim| -> Vec<(f64, f64)> {
        spread(0.02, (most - 1.0).max(0.04)).map(|above| 1.0 + above).filter(|l| *l < c.max_order()).map(|l| (l, c.rdp(l))).collect()
    };
    let mut lines = lines(claims, &points);
    // What grows without bound near its limit is cut where it is five times the middle of the range.
    let middle = claims.iter().map(|(_, c)| c.rdp((1.0 + 0.5 * (c.max_order().min(most) - 1.0)).max(1.01))).filter(|x| x.is_finite());
    let cut = middle.fold(0.0, f64::max) * 5.0;
    let top = lines.iter().flat_map(|l| &l.points).map(|p| p.1).filter(|y| y.is_finite() && *y <= cut).fold(0.0, f64::max);
    lines.iter_mut().for_each(|l| l.points.retain(|p| p.1 <= cut));
    for (_, c) in claims.iter().filter(|(_, c)| c.max_order().is_finite() && c.max_order() <= most) {
        lines.push(Line {
            name: format!("limit order {}", sig_down(c.max_order(), 5)),
            points: vec![(c.max_order(), 0.0), (c.max_order(), top)],
            dashed: true,
        });
    }
    if let Some(BudgetKind::Rdp(points)) = budget.map(|b| &b.kind) {
        for (order, epsilon) in points.iter().filter(|(o, _)| *o <= most) {
            lines.push(Line {
                name: format!("budget rdp({order}) = {epsilon}"),
                points: vec![(1.0, *epsilon), (*order, *epsilon), (*order, 0.0)],
                dashed: true,
            });
        }
    }
    let x = Axis { name: "Rényi order".into(), lo: 1.0, hi: most * 1.02, logarithmic: false };
    let y = Axis::around("epsilon", lines.iter().flat_map(|l| l.points.iter().map(|p| p.1)).chain([0.0]), false)?;
    Some(Chart { title: title.into(), x, y, lines })
}

fn dp(title: &str, claims: &[(String, &Claim)], budget: Option<&Budget>) -> Option<Chart> {
    let points = |c: &Claim| spread(1e-12, 0.1).map(|d| (d, c.epsilon(d))).collect::<Vec<_>>();
    let mut lines = lines(claims, &points);
    if let Some(BudgetKind::Dp { epsilon, delta }) = budget.map(|b| &b.kind) {
        lines.push(Line {
            name: format!("budget dp({epsilon}, {delta:e})"),
            points: vec![(1e-12, *epsilon), (*delta, *epsilon), (*delta, 0.0)],
            dashed: true,
        });
    }
    let x = Axis { name: "delta".into(), lo: 1e-12, hi: 0.1, logarithmic: true };
    let y = Axis::around("epsilon", lines.iter().flat_map(|l| l.points.iter().map(|p| p.1)).chain([0.0]), false)?;
    Some(Chart { title: title.into(), x, y, lines })
}

/// The most hits that a claim allows at a rate of false alarms.
pub fn most_hits(claim: &Claim) -> impl Fn(f64) -> f64 + use<> {
    let epsilons = (0..=48).map(|i| 0.005 * 1.18_f64.powi(i)).chain([0.0]);
    let curve: Vec<(f64, f64)> = epsilons.map(|e| (e, claim.delta(e))).collect();
    move |alarms: f64| {
        let bound = |(e, d): &(f64, f64)| (d + e.exp() * alarms).min(1.0 - (-e).exp() * (1.0 - d - alarms).max(0.0));
        curve.iter().map(bound).fold(1.0, f64::min)
    }
}

fn tradeoff(title: &str, claims: &[(String, &Claim)]) -> Option<Chart> {
    let points = |c: &Claim| {
        let hits = most_hits(c);
        (0..=100).map(|i| f64::from(i) / 100.0).map(|a| (a, hits(a))).collect::<Vec<_>>()
    };
    let mut lines = lines(claims, &points);
    lines.push(Line { name: "guessing".into(), points: vec![(0.0, 0.0), (1.0, 1.0)], dashed: true });
    let unit = |name: &str| Axis { name: name.into(), lo: 0.0, hi: 1.0, logarithmic: false };
    Some(Chart { title: title.into(), x: unit("false positive rate"), y: unit("true positive rate"), lines })
}
