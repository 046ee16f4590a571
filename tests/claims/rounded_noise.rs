//! Normal noise rounded to integers: claims against the chances of the integers themselves, and which answers get such noise.

use dpm::check::NoFiles;
use dpm::mechanism::plan::{MechanismPlan, Noise};
use dpm::pipeline;
use dpm::privacy::Claim;
use dpm::run::Bound;

/// The claim and the noise of the only release.
fn released(query: &str, sigma: f64) -> (Claim, Noise) {
    let table = "private t[n >= 50] { b: bool, i: int in 0..9, x: real in [0, 1], g: category {u, v, w}, h: public category {p, q} }\n";
    // A release is one call; a function may write arithmetic.
    let text = format!("fn whole(v) = v\nbudget gdp(1e6)\n{table}release r = whole({query}) using gaussian(sigma = {sigma})\n");
    let checked = pipeline::check("p.dpm", &text, &NoFiles);
    let (analysis, said) = pipeline::analyze(&checked, &Bound::default(), false);
    assert!(!said.iter().any(|d| d.is_error()), "{query}: {said:?}");
    let chosen = analysis.unwrap().releases.remove(0).chosen.unwrap();
    match chosen.plan {
        Some(MechanismPlan::Noise { noise, .. }) => (chosen.claim, noise),
        other => panic!("{query}: {other:?}"),
    }
}

/// `P(k)` as a difference of tails on one side.
fn chance(k: f64, sigma: f64) -> f64 {
    let tail = |x: f64| 0.5 * libm::erfc(x / (sigma * 2f64.sqrt()));
    tail(k.abs() - 0.5) - tail(k.abs() + 0.5)
}

/// Chances of the integers, and those of the same noise moved by `shift`; what both leave out is below 1e-200.
fn pairs(sigma: f64, shift: f64) -> Vec<(f64, f64)> {
    let reach = (30.0 * sigma + shift.abs() + 3.0).ceil() as i64;
    let all = (-reach..=reach).map(|k| (chance(k as f64, sigma), chance(k as f64 - shift, sigma)));
    all.filter(|(p, q)| *p > 1e-250 && *q > 1e-250).collect()
}

fn renyi(pairs: &[(f64, f64)], order: f64) -> f64 {
    let logs: Vec<f64> = pairs.iter().map(|(p, q)| order * p.ln() - (order - 1.0) * q.ln()).collect();
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (most + logs.iter().map(|l| (l - most).exp()).sum::<f64>().ln()) / (order - 1.0)
}

/// One count moves by `shift`, or two by it in opposite directions: divergences of orders, and deltas at epsilons.
#[test]
fn claims_are_not_below_sums_over_the_integers() {
    for (query, shift, cells) in [("count(b)", 1.0, 1.0), ("sum(i)", 9.0, 1.0), ("histogram(g)", 1.0, 2.0), ("histogram(g, b)", 1.0, 2.0)] {
        for sigma in [0.3, 1.0, 4.0, 30.0] {
            let (claim, noise) = released(query, sigma);
            assert_eq!(noise, Noise::Rounded { sigma }, "{query}");
            let one = pairs(sigma, shift);
            for order in [1.1, 1.5, 2.0, 4.0, 16.0] {
                let (found, certified) = (cells * renyi(&one, order), claim.rdp(order));
                // Sums of chances below 1e-250 are lost where the orders look far out.
                let whole = order * shift / sigma < 20.0;
                assert!(found <= certified * (1.0 + 1e-9), "{query} {sigma} at {order}: {found} above {certified}");
                assert!(!whole || sigma < 30.0 || found >= 0.999 * certified, "{query} {sigma} at {order}: {found} of {certified}");
            }
            if cells == 1.0 {
                for e in [0.01, 0.2, 1.0, 3.0_f64] {
                    let delta: f64 = one.iter().map(|(p, q)| (p - e.exp() * q).max(0.0)).sum();
                    assert!(delta <= claim.delta(e) * (1.0 + 1e-9) + 1e-14, "{query} {sigma} at {e}: {delta} above {}", claim.delta(e));
                }
            }
        }
    }
}

/// Rounding an answer that is not an integer would move it by more than is claimed.
#[test]
fn only_integers_get_integer_noise() {
    for whole in ["count(b)", "sum(i)", "histogram(g)", "histogram(h, b)", "count(b) + sum(i)", "3 * count(b)"] {
        assert_eq!(released(whole, 2.0).1, Noise::Rounded { sigma: 2.0 }, "{whole}");
    }
    for other in ["sum(x)", "mean(b)", "count(b) / 2", "0.5 * count(b)", "clip(count(b), 0.5, 30)", "mean(i)", "sum(x) + count(b)"] {
        assert_eq!(released(other, 2.0).1, Noise::Gaussian { sigma: 2.0 }, "{other}");
    }
}
