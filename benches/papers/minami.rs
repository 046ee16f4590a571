//! Minami, Arai, Sato and Nakagawa (2016): the step that (epsilon, delta) allows a Gibbs posterior, by their bounds and by ours.

use super::baselines::{printed_epsilon, printed_mu, theorem_mu};
use super::certified::chosen;
use super::table::{Table, say};
use dpm::privacy::Claim;
use std::fmt::Write;

/// The mu of the largest weight that dpm certifies, for rows so long (`mu = 200 rho`) that the weight stays below 1.
fn certified(epsilon: f64, delta: f64) -> f64 {
    let text = format!(
        "budget dp(eps = {epsilon}, delta = {delta})\nprivate rows[100] {{ x: vector[2] in l2(1000), y: bool }}\n\
         param w: vector[2] ~ normal(0, 0.1)\nobserve y ~ bernoulli_logit(dot(w, x))\nrelease v = draw(w) using gibbs\n"
    );
    match chosen(&text).claim {
        Claim::Gdp { mu } => mu,
        other => panic!("{other:?}"),
    }
}

pub fn figure(full: bool) {
    let name = if full { "minami-full" } else { "minami" };
    let mut table = Table::open(&format!("{name}.csv"), 2, "log10_delta,epsilon,corollary_8,theorem_7,dpm,delta_of_corollary");
    let points = if full { 60 } else { 15 };
    let epsilons: Vec<f64> = (0..=points).map(|i| 0.05 * 400f64.powf(f64::from(i) / f64::from(points))).collect();
    let exponents: Vec<i32> = vec![-2, -3, -5, -6, -8, -10];
    for &exponent in &exponents {
        let delta = 10f64.powi(exponent);
        for &epsilon in &epsilons {
            table.at(&[format!("{exponent:03}"), format!("{epsilon:07.4}")], || {
                let printed = printed_mu(epsilon, delta);
                vec![printed, theorem_mu(epsilon, delta), certified(epsilon, delta), Claim::Gdp { mu: printed }.delta(epsilon).log10()]
            });
        }
    }
    let own = |exponent: i32| {
        let key = format!("{exponent:03}");
        table.points.iter().filter(move |(k, _)| k[0] == key).map(|(k, v)| (k[1].parse::<f64>().unwrap(), v.as_slice()))
    };
    let mut text = format!(
        "Minami et al. (2016): the largest mu = 2 rho L / sqrt(m) that (epsilon, delta) allows a Gibbs posterior of L-Lipschitz, convex losses\n\
         and an m-strongly convex prior; rho is the weight of the rows ({}). More is better. dpm: the weight that `gibbs` certifies.\n\
         Corollary 8 follows from Theorem 7 only below the epsilon named; above, where its mu passes that of dpm, its release is not\n\
         (epsilon, delta)-private for a Gaussian posterior: its true delta stands beside.\n",
        if full { "--full" } else { "--quick" }
    );
    let mut least = f64::INFINITY;
    for &exponent in &exponents {
        let delta = 10f64.powi(exponent);
        writeln!(text, "\ndelta 1e{exponent}; Corollary 8 follows up to epsilon {:.4}", printed_epsilon(delta)).unwrap();
        writeln!(
            text,
            "{:>8} {:>10} {:>10} {:>10} {:>12} {:>14}",
            "epsilon", "corollary", "theorem", "dpm", "dpm/theorem", "true log delta"
        )
        .unwrap();
        for (e, v) in own(exponent) {
            least = least.min(v[2] / v[1]);
            let broken = if v[3] > f64::from(exponent) { format!("{:.2} BROKEN", v[3]) } else { format!("{:.2}", v[3]) };
            writeln!(text, "{e:8.4} {:10.5} {:10.5} {:10.5} {:12.4} {broken:>14}", v[0], v[1], v[2], v[2] / v[1]).unwrap();
        }
    }
    let valid = table.points.iter().filter(|(k, _)| k[1].parse::<f64>().unwrap() <= printed_epsilon(10f64.powi(k[0].parse().unwrap())));
    let ratio = valid.map(|(_, v)| v[2] / v[0]).fold(f64::INFINITY, f64::min);
    let broken = table.points.iter().filter(|(k, v)| v[3] > k[0].parse::<f64>().unwrap()).count();
    writeln!(
        text,
        "\ndpm allows at least {least:.4} times Theorem 7 everywhere, and {ratio:.4} times Corollary 8 where that follows.\n\
         Corollary 8 breaks its promise in {broken} of {} places.",
        table.points.len()
    )
    .unwrap();
    if least < 1.0 || ratio < 1.0 {
        text += "dpm is not everywhere ahead of what is proved.\n";
    }
    say(name, &text);
}
