//! Logistic regression at the budgets of Geumlek et al., Figure 3: a posterior that is released whole, and DP-SGD with settings fixed beforehand.

use super::baselines::{FIXED, noisy_descent};
use super::certified::posterior_means;
use super::data::{self, Set};
use super::geumlek::{BETA, ORDERS, budget};
use super::table::{Table, error_of_mean, say};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use std::fmt::Write;

const METHODS: [(&str, &str); 2] = [
    ("auto-posterior", "dpm, `posterior(w) using auto`: the mean of what is released, each time anew"),
    ("dp-sgd-fixed", "DP-SGD, all rows in each of 100 steps of length 1 / L, gradients uncut: nothing is tuned; exact Gaussian accounting"),
];

fn point(set: &Set, csv: &str, method: &str, (order, epsilon): (f64, f64), draws: u64) -> Vec<f64> {
    let (n, d) = (set.train.len(), set.dim());
    let precision = n as f64 * BETA;
    let estimates = if method == "dp-sgd-fixed" {
        // A mu-GDP release is Renyi private with order mu^2 / 2 at every order; at order 1 this is its zCDP.
        let mu = (2.0 * epsilon / order).sqrt();
        (0..draws).map(|seed| noisy_descent(&set.train, 1.0, precision, mu, FIXED, &mut ChaCha20Rng::seed_from_u64(seed))).collect()
    } else {
        let text = format!(
            "{}private rows[{n}] {{ x: vector[{d}] in l2(1), y: bool }}\nparam w: vector[{d}] ~ normal(0, {})\n\
             observe y ~ bernoulli_logit(dot(w, x))\nrelease w_hat = posterior(w) using auto\n",
            budget(order, epsilon),
            precision.powf(-0.5)
        );
        posterior_means(&text, csv, draws)
    };
    let scores: Vec<(f64, f64)> = estimates.iter().map(|w| set.score(w)).collect();
    let errors = error_of_mean(&scores.iter().map(|s| s.0).collect::<Vec<_>>());
    let logs = error_of_mean(&scores.iter().map(|s| s.1).collect::<Vec<_>>());
    vec![errors[0], errors[1], logs[0], logs[1], draws as f64]
}

/// MNIST is left out: `posterior` takes at most 100 weights, and it has 784.
pub fn figure(full: bool) {
    let name = if full { "geumlek-certified-full" } else { "geumlek-certified" };
    let draws = if full { 50 } else { 20 };
    let header = "data,order,log_epsilon,mechanism,error,error_se,log_likelihood,log_likelihood_se,draws";
    let mut table = Table::open(&format!("{name}.csv"), 4, header);
    for set in [data::abalone(), data::adult()] {
        let csv = set.csv();
        let key = |(m, o, e): (&str, f64, i32)| [set.name.to_string(), o.to_string(), e.to_string(), m.to_string()];
        let places = ORDERS.iter().flat_map(|o| (-5..=3).flat_map(move |e| METHODS.map(|(m, _)| (m, *o, e))));
        let places: Vec<_> = places.map(|at| (key(at), at)).collect();
        table.all(&places, |(method, order, exponent)| point(&set, &csv, method, (*order, f64::from(*exponent).exp()), draws));
    }
    let mut text = format!("Test error at the budgets of Geumlek et al. (2017), Figure 3, mean of {draws} releases.\n");
    METHODS.iter().for_each(|(m, words)| writeln!(text, "{m:15} {words}").unwrap());
    writeln!(text, "\n{:8} {:>5} {:>4} {}", "data", "order", "ln e", METHODS.map(|(m, _)| format!(" {m:>17}")).concat()).unwrap();
    let (mut places, mut behind) = (0, vec![]);
    for site in table.places(&METHODS.map(|m| m.0)) {
        let of =
            |m: &str| (table.points[&[&site[..], &[m.to_string()]].concat()][0], table.points[&[&site[..], &[m.to_string()]].concat()][1]);
        let cells = METHODS.map(|(m, _)| format!(" {:>17}", format!("{:.4} +- {:.4}", of(m).0, of(m).1)));
        writeln!(text, "{:8} {:>5} {:>4} {}", site[0], site[1], site[2], cells.concat()).unwrap();
        let (ours, other) = (of("auto-posterior"), of("dp-sgd-fixed"));
        places += 1;
        if ours.0 > other.0 + 2.0 * ours.1.hypot(other.1) {
            behind.push(format!("  {} order {} ln epsilon {}: {:.4} against {:.4}", site[0], site[1], site[2], ours.0, other.0));
        }
    }
    writeln!(text, "\nOurs is behind by more than two standard errors of the difference in {} of {places} places.", behind.len()).unwrap();
    behind.iter().for_each(|b| writeln!(text, "{b}").unwrap());
    say(name, &text);
}
