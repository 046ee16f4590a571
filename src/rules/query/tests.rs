//! Tests of the query mechanisms: claims against integrals and sums of their laws, and what they refuse.

use super::beta_query::RULE as BETA_QUERY;
use super::exponential::RULE as EXPONENTIAL;
use super::noise::{GAUSSIAN, GEOMETRIC, LAPLACE, longer};
use crate::mechanism::plan::MechanismPlan;
use crate::model::*;
use crate::privacy::Claim;
use crate::rules::arguments::Arguments;
use crate::rules::offer::{Offer, View};
use crate::rules::tempered::Matched;
use crate::rules::testing::{self as t, Build, assert_bounds, beta, diverge, tempered};
use crate::rules::{Ask, PublicTotals, Rule, Verdict};
use crate::source::Diagnostic;
use std::rc::Rc;

const VIEW: View = View::Replace;

fn query(kind: ExprKind, ty: Type, sensitivity: f64) -> AggregateQuery {
    AggregateQuery {
        table: t::TABLE,
        value: t::expr(kind, ty, Label::Aggregate(t::TABLE)),
        sensitivity: Norms::scalar(sensitivity),
        records: Build::beta(1.0, 1.0).model.records,
    }
}

/// The sum of a bool column, with the sensitivity given.
fn sum_query(sensitivity: f64) -> AggregateQuery {
    let column = t::expr(ExprKind::Column(t::TABLE, ColumnId(0)), Type::Bool, Label::Row(t::TABLE));
    let kind = ExprKind::Call(Builtin::RowSum, vec![column]);
    query(kind, Type::Int(Range::ALL), sensitivity)
}

fn judge(rule: &'static Rule, q: &AggregateQuery, args: &[(&'static str, f64)]) -> Verdict {
    let b = Build::beta(1.0, 1.0);
    let given = args.iter().fold(Arguments::default(), |all, (name, x)| all.with(name, *x, t::span(0, 1)));
    let written = (!args.is_empty()).then_some((rule.own(), &given));
    (rule.judge)(&t::question(Ask::Query(q), &b.program, &PublicTotals::unbound(), written))
}

fn matched(rule: &'static Rule, q: &AggregateQuery, args: &[(&'static str, f64)]) -> Box<dyn Offer> {
    match judge(rule, q, args) {
        Verdict::Offers(mut offers) => offers.swap_remove(0),
        Verdict::Refused(r) => panic!("refused: {:?}", r.diagnostic),
        Verdict::NotMine(reason) => panic!("not mine: {reason}"),
    }
}

fn refused(rule: &'static Rule, q: &AggregateQuery, args: &[(&'static str, f64)]) -> Diagnostic {
    match judge(rule, q, args) {
        Verdict::Refused(r) => r.diagnostic,
        _ => panic!("not refused"),
    }
}

fn not_mine(rule: &'static Rule, q: &AggregateQuery, args: &[(&'static str, f64)]) -> String {
    match judge(rule, q, args) {
        Verdict::NotMine(reason) => reason,
        _ => panic!("mine"),
    }
}

#[test]
fn no_shift_within_the_sensitivity_costs_more() {
    let m = matched(&LAPLACE, &sum_query(3.0), &[]);
    let Claim::Laplace { epsilon } = m.claim(VIEW, 1.5).unwrap() else {
        panic!("a Laplace claim");
    };
    assert_eq!(epsilon, 2.0);
    let density = |x: f64| (-(x.abs()) / 1.5).exp() / 3.0;
    for shift in [-3.0, -1.0, 0.5, 3.0] {
        for i in -100..100 {
            let x = f64::from(i) / 10.0;
            assert!((density(x) / density(x - shift)).ln() <= epsilon * (1.0 + 1e-12));
        }
    }
    assert!((m.predicted_error(1.5).value - 4.4936).abs() < 1e-3);
}

/// Of normal noise against quantiles of the chi law; of Laplace noise against draws.
#[test]
fn noise_on_many_components_is_as_long_as_its_law_says() {
    for (k, chi) in [(1.0, 1.95996), (2.0, 2.44775), (12.0, 4.58537), (100.0, 11.15077)] {
        assert!((1.95996 * longer(k, 0.5) / chi - 1.0).abs() < 0.02, "{k}");
    }
    for (k, length) in [(1.0, 2.996), (3.0, 4.51), (12.0, 7.33), (100.0, 16.75)] {
        assert!((20f64.ln() * longer(k, 0.2) / length - 1.0).abs() < 0.03, "{k}");
    }
}

#[test]
fn infinite_sensitivity_is_refused_by_laplace() {
    assert_eq!(refused(&LAPLACE, &sum_query(f64::INFINITY), &[]).code, "E0202");
}

#[test]
fn scales_without_a_grid_are_refused() {
    for scale in [1e-201, 1e-300, 1e201] {
        assert_eq!(refused(&LAPLACE, &sum_query(1.0), &[("scale", scale)]).code, "E0203");
        assert_eq!(refused(&LAPLACE, &sum_query(scale), &[]).code, "E0203");
        let Claim::Laplace { epsilon } = matched(&LAPLACE, &sum_query(1.0), &[]).claim(VIEW, scale).unwrap() else {
            panic!("a Laplace claim");
        };
        assert_eq!(epsilon, f64::INFINITY);
    }
}

#[test]
fn a_divisor_that_leaves_no_grid_costs_everything() {
    let real = t::expr(ExprKind::Column(t::TABLE, ColumnId(0)), Type::Real(Range::UNIT), Label::Row(t::TABLE));
    let mean_like = |by: f64| {
        let sum = t::expr(ExprKind::Call(Builtin::RowSum, vec![real.clone()]), Type::Real(Range::ALL), Label::Aggregate(t::TABLE));
        let third = t::expr(ExprKind::Call(Builtin::Div, vec![sum, t::number(3.0)]), Type::Real(Range::ALL), Label::Aggregate(t::TABLE));
        query(ExprKind::Call(Builtin::Div, vec![third, t::number(by)]), Type::Real(Range::ALL), 1.0)
    };
    let epsilon = |by: f64| match matched(&LAPLACE, &mean_like(by), &[]).claim(VIEW, 1e-190).unwrap() {
        Claim::Laplace { epsilon } => epsilon,
        other => panic!("{other:?}"),
    };
    assert!(epsilon(1.0).is_finite());
    assert_eq!(epsilon(1e-100), f64::INFINITY);
}

#[test]
fn what_cannot_be_computed_is_refused_before_data_are_read() {
    let column = t::expr(ExprKind::Column(t::TABLE, ColumnId(0)), Type::Bool, Label::Row(t::TABLE));
    let most = query(ExprKind::Call(Builtin::RowMax, vec![column.clone()]), Type::Real(Range::UNIT), 1.0);
    assert_eq!(refused(&LAPLACE, &most, &[]).code, "E0300");
    let counts = sum_query(1.0).value;
    let counts = Expr { kind: ExprKind::Call(Builtin::RowHistogram, vec![column]), ty: t::ball(2, 1.0), ..counts };
    let top = query(ExprKind::Call(Builtin::VecMax, vec![counts]), Type::Real(Range::ALL), 1.0);
    assert_eq!(refused(&LAPLACE, &top, &[]).code, "E0300");
}

#[test]
fn program_13() {
    // D2 = 72 / 500, sigma 0.72: zcdp mu^2 / 2 = 0.02.
    let m = matched(&GAUSSIAN, &sum_query(72.0 / 500.0), &[]);
    let Claim::Gdp { mu } = m.claim(VIEW, 0.72).unwrap() else {
        panic!("a GDP claim");
    };
    assert!((mu * mu / 2.0 - 0.02).abs() < 1e-12);
}

#[test]
fn two_shifted_normals_integrated() {
    let m = matched(&GAUSSIAN, &sum_query(1.0), &[]);
    let (sigma, l) = (2.0, 2.0);
    let Claim::Gdp { mu } = m.claim(VIEW, sigma).unwrap() else {
        panic!("a GDP claim");
    };
    let log = |x: f64, m: f64| -(x - m) * (x - m) / (2.0 * sigma * sigma);
    let z = sigma * std::f64::consts::TAU.sqrt();
    let total: f64 = (-4000..4000)
        .map(|i| {
            let x = f64::from(i) / 100.0;
            (l * log(x, 0.0) + (1.0 - l) * log(x, 1.0)).exp() / z * 0.01
        })
        .sum();
    assert!((total.ln() / (l - 1.0) - l * mu * mu / 2.0).abs() < 1e-10);
}

#[test]
fn infinite_sensitivity_is_refused_by_gaussian() {
    assert_eq!(refused(&GAUSSIAN, &sum_query(f64::INFINITY), &[]).code, "E0202");
}

#[test]
fn a_unit_shift_of_the_integer_law_is_pure_dp() {
    let m = matched(&GEOMETRIC, &sum_query(1.0), &[]);
    let Claim::Pure { epsilon } = m.claim(VIEW, 1.0).unwrap() else {
        panic!("a pure claim");
    };
    assert_eq!(epsilon, 1.0);
    // KL divergence summed over the integers: eps tanh(eps / 2) = 0.4621, more than the continuous 0.3679.
    let z = (1.0 + (-1f64).exp()) / (1.0 - (-1f64).exp());
    let kl: f64 = (-200i32..200)
        .map(|k| {
            let p = (-f64::from(k.abs())).exp() / z;
            p * (f64::from((k - 1).abs()) - f64::from(k.abs()))
        })
        .sum();
    assert!((kl - 0.5f64.tanh()).abs() < 1e-12);
}

#[test]
fn the_95_percent_bound_holds_and_is_least() {
    let m = matched(&GEOMETRIC, &sum_query(1.0), &[]);
    for scale in [0.2, 1.0, 7.5] {
        let t = m.predicted_error(scale).value as i32;
        let z: f64 = (-2000i32..2000).map(|k| (-f64::from(k.abs()) / scale).exp()).sum();
        let outside = |t: i32| -> f64 {
            let tail = t + 1..2000;
            tail.map(|k| 2.0 * (-f64::from(k) / scale).exp() / z).sum()
        };
        assert!(outside(t) <= 0.05 && (t == 0 || outside(t - 1) > 0.05), "{scale} {t}");
    }
}

#[test]
fn only_integers() {
    let real = t::expr(ExprKind::Number(0.5), Type::Real(Range::UNIT), Label::Row(t::TABLE));
    let sum = ExprKind::Call(Builtin::RowSum, vec![real]);
    let q = query(sum, Type::Real(Range::ALL), 1.0);
    assert!(not_mine(&GEOMETRIC, &q, &[]).contains("integers"));
}

fn quantile(q: f64, range: Range, relation: Relation, k: u64) -> AggregateQuery {
    let value = t::expr(ExprKind::Number(0.0), Type::Real(range), Label::Row(t::TABLE));
    let kind = ExprKind::Call(Builtin::RowQuantile, vec![value, t::number(q)]);
    let mut query = query(kind, Type::Real(range), 1.0);
    query.records.relation = relation;
    query.records.unit_rows = k;
    query
}

/// Log probabilities of the grid points for a data set.
fn log_law(data: &[f64], grid: &[f64], q: f64, eps: f64, d: f64) -> Vec<f64> {
    let n = data.len() as f64;
    let count = |of: &dyn Fn(f64) -> bool| data.iter().filter(|x| of(**x)).count() as f64;
    let score = |t: &f64| -(count(&|x| x < *t) - q * n).max(q * n - count(&|x| x <= *t)).max(0.0);
    let w: Vec<f64> = grid.iter().map(|t| eps * score(t) / (2.0 * d)).collect();
    let z = w.iter().map(|x| x.exp()).sum::<f64>().ln();
    w.iter().map(|x| x - z).collect()
}

#[test]
fn the_log_ratio_of_all_small_neighbours_has_width_eps() {
    let grid: Vec<f64> = (0..5).map(f64::from).collect();
    let values = [0.0, 1.5, 2.5, 4.0];
    for (q, relation) in [(0.5, Relation::ReplaceOne), (0.9, Relation::AddRemove), (0.3, Relation::AddRemove)] {
        let m = matched(&EXPONENTIAL, &quantile(q, Range::new(0.0, 4.0), relation, 1), &[]);
        let MechanismPlan::Quantile { epsilon, levels, .. } = m.plan(0.8).unwrap() else {
            panic!("a quantile plan");
        };
        let d = levels[0].sensitivity;
        let mut widest: f64 = 0.0;
        for a in values {
            for b in values {
                for c in values {
                    for e in values {
                        let p = [a, b, c];
                        let q_data: &[f64] = match relation {
                            Relation::ReplaceOne => &[a, b, e],
                            Relation::AddRemove => &[a, b],
                        };
                        let x = log_law(&p, &grid, q, epsilon, d);
                        let y = log_law(q_data, &grid, q, epsilon, d);
                        let ratio: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x - y).collect();
                        let hi = ratio.iter().copied().fold(f64::MIN, f64::max);
                        let lo = ratio.iter().copied().fold(f64::MAX, f64::min);
                        widest = widest.max(hi - lo);
                    }
                }
            }
        }
        assert!(widest <= 0.8 + 1e-12, "{q}: {widest}");
        assert!(widest > 0.39, "{q}: {widest}");
    }
}

/// The bound on rows holds for any data: enumerated on a grid of five points, and with the number of points in its place.
#[test]
fn ninety_five_percent_are_within_the_rows_predicted() {
    let grid: Vec<f64> = (0..5).map(f64::from).collect();
    for (q, eps) in [(0.5, 0.7), (0.9, 2.0), (0.25, 0.2)] {
        let m = matched(&EXPONENTIAL, &quantile(q, Range::new(0.0, 4.0), Relation::ReplaceOne, 1), &[]);
        let MechanismPlan::Quantile { levels, .. } = m.plan(eps).unwrap() else { panic!("a quantile plan") };
        let bound = 2.0 / eps * (20.0_f64 * 4.0).ln();
        for split in 0..=100 {
            for (low, high) in [(0.0, 4.0), (2.0, 2.0), (3.0, 4.0), (1.0, 2.0)] {
                let data: Vec<f64> = (0..100).map(|i| if i < split { low } else { high }).collect();
                let count = |of: &dyn Fn(f64) -> bool| data.iter().filter(|x| of(**x)).count() as f64;
                let off = |t: f64| (count(&|x| x < t) - 100.0 * q).max(100.0 * q - count(&|x| x <= t)).max(0.0);
                let law = log_law(&data, &grid, q, eps, levels[0].sensitivity);
                let far: f64 = grid.iter().zip(&law).filter(|(t, _)| off(**t) > bound).map(|(_, l)| l.exp()).sum();
                assert!(far <= 0.05, "{q} {eps} {split}: {far}");
            }
        }
    }
    let q = quantile(0.5, Range::new(0.0, 1.0), Relation::ReplaceOne, 1);
    let mut many = q.clone();
    many.records.rows = crate::model::RowCount { at_least: 50_000, exactly: Some(50_000) };
    let error = matched(&EXPONENTIAL, &many, &[]).predicted_error(1.0);
    // The grid is fine, not continuous.
    assert!((error.value - 2.0 * 20f64.ln()).abs() < 1e-6, "{error:?}");
    assert!((error.further[0].1 - 2.0 * 20f64.ln() / 5e4).abs() < 1e-9, "{error:?}");
    assert!((error.further[1].1 - 2.0 * (20.0 * 2f64.powi(40)).ln()).abs() < 1.5, "{error:?}");
}

#[test]
fn several_levels_cost_as_many_times() {
    let row = t::expr(ExprKind::Number(0.0), Type::Real(Range::UNIT), Label::Row(t::TABLE));
    let list = ExprKind::List([0.25, 0.5, 0.75].map(t::number).to_vec());
    let list = t::expr(list, Type::Real(Range::UNIT), Label::Public);
    let q = query(ExprKind::Call(Builtin::RowQuantile, vec![row, list]), Type::Real(Range::UNIT), 1.0);
    let m = matched(&EXPONENTIAL, &q, &[]);
    let claim = m.claim(crate::rules::offer::View::Replace, 0.5).unwrap();
    assert_eq!(claim, crate::privacy::Claim::Repeated { times: 3, claim: Box::new(crate::privacy::Claim::BoundedRange { eta: 0.5 }) });
    assert!((claim.pure() - 1.5).abs() < 1e-12);
    let MechanismPlan::Quantile { levels, .. } = m.plan(0.5).unwrap() else { panic!("a quantile plan") };
    assert_eq!(levels.iter().map(|l| l.q).collect::<Vec<_>>(), [0.25, 0.5, 0.75]);
}

#[test]
fn the_grid_must_be_finite() {
    let q = quantile(0.5, Range::ALL, Relation::ReplaceOne, 1);
    assert_eq!(refused(&EXPONENTIAL, &q, &[]).code, "E0202");
    let q = quantile(0.5, Range::new(0.0, 1.0), Relation::AddRemove, 3);
    let MechanismPlan::Quantile { levels, .. } = matched(&EXPONENTIAL, &q, &[]).plan(1.0).unwrap() else {
        panic!("a quantile plan");
    };
    assert!((1.5..1.500_000_1).contains(&levels[0].sensitivity));
    // 2^62 points are as many as an interval may hold.
    let mut wide = quantile(0.5, Range::ALL, Relation::ReplaceOne, 1);
    if let ExprKind::Call(_, args) = &mut wide.value.kind {
        args[0].ty = Type::Int(Range::ALL);
    }
    assert_eq!(refused(&EXPONENTIAL, &wide, &[("lo", -1e300), ("hi", 1e300)]).code, "E0208");
}

fn mean(range: Range, n: u64) -> AggregateQuery {
    let e = t::expr(ExprKind::Number(0.0), Type::Real(range), Label::Row(t::TABLE));
    let mut q = query(ExprKind::Call(Builtin::RowMean, vec![e]), Type::Real(range), 1.0);
    q.records.rows.at_least = n;
    q
}

fn drawn(q: &AggregateQuery, a: f64, b: f64) -> Rc<dyn Matched> {
    matched(&BETA_QUERY, q, &[("a", a), ("b", b)]).matched().unwrap()
}

#[test]
fn program_05() {
    let draw = drawn(&mean(Range::UNIT, 500), 6.0, 18.0);
    assert!(diverge(&draw.claim(tempered(0.363, 1.0)), 15.0) <= 0.3);
    assert!(diverge(&draw.claim(tempered(0.364, 1.0)), 15.0) > 0.3);
    assert!(diverge(&draw.claim(tempered(1.0, 0.191)), 15.0) <= 0.3);
    assert!(diverge(&draw.claim(tempered(1.0, 0.192)), 15.0) > 0.3);
    let error = draw.predicted_error(tempered(0.363, 1.0), 500.0);
    assert!((0.02..0.06).contains(&error), "{error}");
}

#[test]
fn real_valued_rows_cost_no_more() {
    let draw = drawn(&mean(Range::UNIT, 3), 2.0, 3.0);
    let claim = diverge(&draw.claim(tempered(1.0, 1.0)), 2.0);
    assert!((claim - 0.875_468_737_353_9).abs() < 1e-9, "{claim}");
    for i in 0..=30 {
        for d in 0..=10 {
            let (s, q) = (f64::from(i) / 10.0, (f64::from(i + d) / 10.0).min(3.0));
            let at = |s: f64| [2.0 + s, 3.0 + 3.0 - s];
            assert_bounds(claim, beta(2.0, at(s), at(q)).max(beta(2.0, at(q), at(s))), (i, d));
        }
    }
}

#[test]
fn what_it_refuses() {
    let code = |q: &AggregateQuery, a: f64, b: f64| refused(&BETA_QUERY, q, &[("a", a), ("b", b)]).code;
    assert_eq!(code(&mean(Range::new(0.0, 2.0), 3), 1.0, 1.0), "E0203");
    for far in [1e101, 1e-101] {
        assert_eq!(code(&mean(Range::UNIT, 3), 1.0, far), "E0203");
    }
    assert_eq!(refused(&BETA_QUERY, &mean(Range::UNIT, 3), &[("a", 1.0)]).code, "E0208");
    assert_eq!(refused(&BETA_QUERY, &mean(Range::UNIT, 3), &[("a", 1.0), ("b", 1.0), ("r", 0.5), ("m", 0.5)]).code, "E0208");
    assert!(not_mine(&BETA_QUERY, &mean(Range::UNIT, 3), &[]).contains("prior counts"));
}
