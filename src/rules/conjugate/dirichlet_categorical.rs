//! Dirichlet prior, categorical rows: one draw of all shares.
//!
//! ## Shape
//! `s ~ dirichlet(alpha)`; each row `~ categorical(s)` with a category, bool or bounded integer outcome of as many
//! levels. Public rows strengthen the prior.
//!
//! ## Claim
//! With the two smallest counts `a1 <= a2` (after public rows, divided by m) and three levels or more:
//! `Gamma(a1)` against `Gamma(a1 + r)` plus `Gamma(a2 + r)` against `Gamma(a2)`, whatever n is; two levels are a Beta
//! draw (§1.1); k rows a unit are k items of a multinomial (§2.3). Finite below order `1 + a1 / (r k)` (§2.1). (eps,
//! delta) by the exact curve of the Beta pair of a1 and a2 where a unit has one row, else by conversion (§17). When
//! rows are added or removed: `Gamma(a1)` against `Gamma(a1 + r k)`, likewise.
//!
//! ## Refuses
//! Counts that may vanish; a number of levels other than that of the prior; units of too many rows to enumerate.
//!
//! ## Checked by
//! All data sets with n <= 3 and up to 4 levels in both roles, groups included; golden values.

use super::dirichlet_multinomial::{Shares, alphas, levels_match};
use super::facts::{Facts, all_observations, one_private, the_parameter};
use crate::mechanism::plan::Statistic;
use crate::model::Model;
use crate::rules::public::levels;
use crate::rules::tempered::{EXACT, judge};
use crate::rules::{Answers, Context, Match, Rule, not_mine};

pub static RULE: Rule = Rule {
    name: "dirichlet_categorical",
    summary: "dirichlet prior, categorical rows: one draw of all shares",
    section: "2.1",
    source: include_str!("dirichlet_categorical.rs"),
    answers: Answers::Draws,
    mechanisms: EXACT,
    judge: |question| judge(question, find),
};

fn find(model: &Model, context: &Context) -> Match<Shares> {
    let parameter = the_parameter(model, "dirichlet", 1, "dirichlet(alpha)")?;
    let id = parameter.id;
    all_observations(model, "categorical(s)", |o| {
        let args = o.likelihood.args.as_slice();
        o.likelihood.name() == "categorical" && matches!(args, [s] if s.is_param(id))
    })?;
    let observation = one_private(model, &parameter.name)?;
    let Some(kind) = levels(&observation.outcome) else {
        return not_mine("the outcome must be a category, a bool or a bounded integer");
    };
    let alpha = alphas(parameter)?;
    levels_match(&kind, &alpha)?;
    let facts = Facts::collect(&RULE, model, parameter, context);
    let statistic = Statistic { table: model.records.table, kind };
    Shares::new(facts, alpha, 1, statistic, observation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Expr, ExprKind, Label, Range, Type};
    use crate::rules::tempered::Tempering;
    use crate::rules::testing::{self as t, Build, assert_tight, beta, diverge, tempered};

    fn build(alpha: &[f64]) -> Build {
        let list = alpha.iter().map(|a| t::number(*a)).collect();
        let ty = Type::Simplex { dim: alpha.len() as u64, levels: None };
        let list = t::expr(ExprKind::List(list), Type::real(0.0, 1.0), Label::Public);
        Build::prior_exprs("dirichlet", vec![list], ty).outcome(Type::Int(Range::new(1.0, alpha.len() as f64))).observe("categorical", &[])
    }

    /// All ways to put `n` items into `D` cells.
    fn histograms<const D: usize>(n: u64) -> Vec<[u64; D]> {
        fn fill<const D: usize>(i: usize, left: u64, h: [u64; D], out: &mut Vec<[u64; D]>) {
            if i == D - 1 {
                let mut h = h;
                h[i] = left;
                out.push(h);
                return;
            }
            for x in 0..=left {
                let mut h = h;
                h[i] = x;
                fill(i + 1, left - x, h, out);
            }
        }
        let mut out = vec![];
        fill(0, n, [0; D], &mut out);
        out
    }

    fn brute<const D: usize>(alpha: [f64; D], n: u64, k: u64, r: f64, l: f64) -> f64 {
        let mut worst: f64 = 0.0;
        for p in histograms::<D>(n) {
            for q in histograms::<D>(n) {
                let moved: u64 = p.iter().zip(&q).map(|(a, b)| a.abs_diff(*b)).sum();
                if moved <= 2 * k {
                    let at = |h: [u64; D]| std::array::from_fn(|i| alpha[i] + r * h[i] as f64);
                    worst = worst.max(beta::<D>(l, at(p), at(q)));
                }
            }
        }
        worst
    }

    fn check<const D: usize>(alpha: [f64; D], n: u64, k: u64, r: f64) {
        let m = build(&alpha).exactly(n).unit(k);
        let claim = m.matched(&RULE).claim(tempered(r, 1.0));
        for l in [1.04, 1.3, 1.9] {
            let exact = brute(alpha, n, k, r, l);
            assert_tight(diverge(&claim, l), exact, (alpha, n, k, l));
        }
    }

    #[test]
    fn the_worst_neighbours_of_all_small_data_sets() {
        check([0.6, 2.0], 3, 1, 1.0);
        check([0.6, 2.0], 4, 3, 0.5);
        check([1.0, 0.3, 2.0], 3, 1, 0.7);
        check([0.1, 0.1, 0.1], 3, 2, 1.0);
        check([0.1, 0.1, 0.1, 0.1], 2, 2, 1.0);
        check([0.1, 0.2, 0.15, 3.0], 3, 2, 0.8);
        check([0.2, 0.1, 0.15, 0.3], 4, 3, 0.5);
    }

    #[test]
    fn published_values() {
        let got = diverge(&build(&[1.0; 3]).exactly(5).matched(&RULE).claim(Tempering::DIRECT), 1.5);
        assert!((got - 1.714_095_626_795_238_5).abs() < 1e-9, "{got}");
        let matched = build(&[8.0; 4]).matched(&RULE);
        let got = diverge(&matched.claim(Tempering::DIRECT), 4.0);
        assert!((got - 0.517).abs() < 5e-4, "{got}");
        assert_eq!(matched.prior_text(0.5), "dirichlet([16, 16, 16, 16])");
        let told = matched.limit_reason(9.0, Tempering::DIRECT).unwrap();
        assert_eq!(told.prior, "the smallest prior count is 8, and 1 + min(alpha) = 9");
    }

    #[test]
    fn added_rows_bound_every_direction() {
        let alpha = [0.4, 0.9, 0.5];
        let m = build(&alpha).add_remove().unit(2);
        let claim = m.matched(&RULE).claim(tempered(0.5, 1.0));
        let (l, mut worst) = (1.3, 0.0f64);
        for n in [0u64, 1, 2, 3] {
            for base in histograms::<3>(n) {
                for more in histograms::<3>(1).into_iter().chain(histograms::<3>(2)) {
                    for far in [0.0, 1e4] {
                        let p: [f64; 3] = std::array::from_fn(|i| alpha[i] + 0.5 * base[i] as f64 + if i == 1 { far } else { 0.0 });
                        let q = std::array::from_fn(|i| p[i] + 0.5 * more[i] as f64);
                        worst = worst.max(beta(l, p, q)).max(beta(l, q, p));
                    }
                }
            }
        }
        let bound = diverge(&claim, l);
        assert!(worst <= bound * (1.0 + 1e-8) && worst > 0.99 * bound, "{worst} {bound}");
    }

    #[test]
    fn a_million_levels() {
        let d = 1_000_000u64;
        let rep = Expr { kind: ExprKind::Call(crate::model::Builtin::Rep, vec![t::number(2.0), t::number(d as f64)]), ..t::number(0.0) };
        let ty = Type::Simplex { dim: d, levels: None };
        let m =
            Build::prior_exprs("dirichlet", vec![rep], ty).outcome(Type::Int(Range::new(0.0, d as f64 - 1.0))).observe("categorical", &[]);
        let claim = m.matched(&RULE).claim(Tempering::DIRECT);
        let small = build(&[2.0; 3]).matched(&RULE);
        assert_eq!(claim, small.claim(Tempering::DIRECT));
    }

    #[test]
    fn what_it_refuses() {
        let m = build(&[1.0; 3]).outcome(Type::real(0.0, 1.0));
        assert!(m.model.private.len() == 1);
        let m = Build::beta(1.0, 1.0).bernoulli();
        assert_eq!(m.not_mine(&RULE), "prior must be dirichlet(alpha)");
        assert_eq!(build(&[0.0, 1.0]).refused(&RULE).code, "E0203");
    }
}
