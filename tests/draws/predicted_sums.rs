//! What models of released events and exposures predict, against integration over rates, exact exposures and exact numbers of events.

use crate::fits::{outputs, rounded};
use dpm::run::{Results, Value};

const SIGMA: f64 = 4.0;
/// By group noisy events, and noisy exposures in units of 10.
const NOISY: [[f64; 2]; 2] = [[34.0, 21.0], [4.0, 12.0]];

const MODEL: &str = "budget gdp(9)\nprivate t[n] { g: category {a, b}, died: bool, years: real in [0, 10] }\n\
    release s = sums(died, years, groups = g) using gaussian(sigma = 4)\nparam rate: vector[g] ~ gamma(20, 200)\n\
    observe s.died ~ poisson(rate[g] * years)\noutput post = posterior(rate)\noutput before = prior(rate)\n\
    param same ~ gamma(20, 200)\nobserve s.died ~ poisson(same * years)\noutput one = posterior(same)\n";

fn asked(more: &str) -> Results {
    let noisy: Vec<i128> = NOISY.iter().flatten().map(|x| *x as i128).collect();
    outputs(&format!("{MODEL}{more}"), &format!("g,died,years\n{}", "a,1,1\n".repeat(200)), &noisy)
}

fn numbers(results: &Results, name: &str, part: &str) -> Vec<f64> {
    let found = results.outputs.iter().find(|(n, ..)| n == name);
    let Some((_, Value::Record(parts), _)) = found else { panic!("{name}: {found:?}") };
    parts.iter().find(|(n, _)| n == part).unwrap().1.numbers()
}

/// Of one group, for rates at the middle of 120 intervals under gamma(20, 200): the rate, and for every exact exposure the mean, its
/// weight given what was seen of the exposure, and the likelihood of the noisy events.
fn group([events, exposure]: [f64; 2]) -> Vec<(f64, Vec<[f64; 3]>)> {
    let mass: Vec<f64> = (0..110).map(|c| rounded(events - f64::from(c), SIGMA)).collect();
    let one = |rate: f64| {
        let seen = (0..160).map(|j| 0.25 * (f64::from(j) + 0.5)).map(|s| {
            let mean = rate * 10.0 * s;
            let mut poisson = (-mean).exp();
            let mut likelihood = 0.0;
            for (c, m) in mass.iter().enumerate() {
                likelihood += poisson * m;
                poisson *= mean / (c as f64 + 1.0);
            }
            [mean, (19.0 * rate.ln() - 200.0 * rate).exp() * (-0.5 * ((exposure - s) / SIGMA).powi(2)).exp(), likelihood]
        });
        (rate, seen.collect())
    };
    (0..120).map(|i| one(0.3 * (f64::from(i) + 0.5) / 120.0)).collect()
}

/// Mean and the quantiles at 5 % and 95 % of noisy events whose exact mean has these weights.
fn predicted(means: &[(f64, f64)]) -> [f64; 3] {
    let all: f64 = means.iter().map(|(_, w)| w).sum();
    let mut counts = vec![0.0; 400];
    for (mean, w) in means {
        let mut poisson = (-mean).exp() * w / all;
        for (c, p) in counts.iter_mut().enumerate() {
            *p += poisson;
            poisson *= mean / (c as f64 + 1.0);
        }
    }
    let below = |y: f64| {
        let part = |(c, p): (usize, &f64)| p * 0.5 * libm::erfc((c as f64 - y) / (SIGMA * 2f64.sqrt()));
        counts.iter().enumerate().map(part).sum::<f64>()
    };
    let quantile = |q: f64| (-200..4000).map(|i| 0.1 * f64::from(i)).find(|y| below(*y) >= q).unwrap();
    [counts.iter().enumerate().map(|(c, p)| c as f64 * p).sum(), quantile(0.05), quantile(0.95)]
}

#[test]
fn checks_are_integrals() {
    let more = "output first = predictive(s, before)\noutput check = predictive(s, post)\noutput all = predictive(margin(s, g), post)\n";
    let found = asked(more);
    for (g, seen) in NOISY.into_iter().enumerate() {
        let group = group(seen);
        let weighed = |learned: bool| -> Vec<(f64, f64)> {
            group.iter().flat_map(|(_, all)| all.iter().map(|[m, w, l]| (*m, if learned { w * l } else { *w }))).collect()
        };
        for (name, learned) in [("first", false), ("check", true)] {
            let [mean, low, high] = predicted(&weighed(learned));
            let of = |part| numbers(&found, name, part)[g];
            assert_eq!(of("released"), seen[0]);
            // A tenth of the standard deviation.
            let off = 0.1 * (high - low) / 3.3;
            assert!((of("mean") - mean).abs() < off, "{name} {g}: {} for {mean}", of("mean"));
            assert!(
                (of("low") - low).abs() < 2.0 * off && (of("high") - high).abs() < 2.0 * off,
                "{name} {g}: {low} {high} {:?}",
                found.outputs
            );
            // The noise is in it, and so is the law of the events.
            assert!(!learned || high - low > 1.2 * 3.29 * SIGMA);
        }
    }
    assert_eq!(numbers(&found, "check", "within"), [2.0]);
    for part in ["released", "mean", "low"] {
        assert_eq!(numbers(&found, "check", part), numbers(&found, "all", part));
    }
}

/// As far off as those of counts may be: one sum says much of a rate, so weights have long tails.
#[test]
fn noisy_events_from_the_others() {
    let found = asked(
        "output fit = loo(post)\noutput single = loo(one)\noutput better = loo_compare(post, one)\noutput back = loo_compare(one, post)\n",
    );
    // By rate, of either group: given exposures alone, and given the events too.
    let by_rate = NOISY.map(|seen| {
        let sum = |(_, all): &(f64, Vec<[f64; 3]>)| {
            let given = all.iter().map(|[_, w, _]| w).sum::<f64>();
            [given, all.iter().map(|[_, w, l]| w * l).sum::<f64>()]
        };
        group(seen).iter().map(sum).collect::<Vec<_>>()
    });
    let apart = by_rate.clone().map(|g| (g.iter().map(|x| x[1]).sum::<f64>() / g.iter().map(|x| x[0]).sum::<f64>()).ln());
    // Of one rate: the events of a group weigh in beside those of the other, and the prior counts once.
    let joint = |seen: [usize; 2]| {
        let prior = by_rate[0].iter().map(|x| x[0]);
        by_rate[0].iter().zip(&by_rate[1]).zip(prior).map(|((a, b), p)| a[seen[0]] * b[seen[1]] / p).sum::<f64>()
    };
    let together = [(joint([1, 1]) / joint([0, 1])).ln(), (joint([1, 1]) / joint([1, 0])).ln()];
    for (name, exact) in [("fit", apart), ("single", together)] {
        let cells = numbers(&found, name, "cells");
        for (found, exact) in cells.iter().zip(exact) {
            assert!((found - exact).abs() < 0.165, "{name}: {found} for {exact}");
        }
    }
    let exact = apart.iter().sum::<f64>() - together.iter().sum::<f64>();
    let difference = numbers(&found, "better", "elpd_diff")[0];
    assert!((difference - exact).abs() < 0.33, "{difference} for {exact}");
    assert_eq!(numbers(&found, "back", "elpd_diff"), [-difference]);
}

/// Two sums are observed, in the other order than they were released, beside two exposures: each is predicted in its place and unit, by
/// groups of two columns and by one of them.
#[test]
fn what_is_predicted_is_where_it_was_released() {
    let text = "budget gdp(9)\nprivate t[n] { g: category {a, b}, h: bool, home: real in [0, 10], ill: bool, away: real in [0, 4], falls: int in 0..20 }\n\
         release s = sums(home, ill, away, falls, groups = [g, h]) using laplace(scale = 1)\nparam r ~ gamma(1, 1)\nparam u ~ gamma(1, 1)\nparam v ~ gamma(1, 1)\n\
         observe s.falls ~ poisson((if h then v else u) * home)\nobserve s.ill ~ poisson(r * (home + away))\noutput post = posterior(r, u, v)\n\
         output check = predictive(s, post)\noutput by_h = predictive(margin(s, h), post)\noutput totals = margin(s, h)\noutput fit = loo(post)\n";
    // In every group 3,000 of home and 1,000 of away; 400 ill, 600 or 1,500 falls.
    let noisy: Vec<i128> = (0..4).flat_map(|g| [300, 400, 250, if g % 2 == 0 { 30 } else { 75 }]).collect();
    let found = outputs(&text.replace("gdp(9)", "eps(99)"), &format!("g,h,home,ill,away,falls\n{}", "a,1,1,1,1,1\n".repeat(5000)), &noisy);
    let released = numbers(&found, "check", "released");
    assert_eq!(released, [400.0, 30.0, 400.0, 75.0, 400.0, 30.0, 400.0, 75.0]);
    let close = |found: Vec<f64>, truth: &[f64]| {
        assert!(found.len() == truth.len() && found.iter().zip(truth).all(|(x, t)| (x / t - 1.0).abs() < 0.08), "{found:?} {truth:?}");
    };
    close(numbers(&found, "check", "mean"), &released);
    close(numbers(&found, "by_h", "released"), &[800.0, 60.0, 800.0, 150.0]);
    close(numbers(&found, "by_h", "mean"), &[800.0, 60.0, 800.0, 150.0]);
    let totals = found.outputs.iter().find(|(n, ..)| n == "totals").unwrap().1.numbers();
    assert_eq!(totals, [600.0, 800.0, 500.0, 60.0, 600.0, 800.0, 500.0, 150.0]);
    assert_eq!(numbers(&found, "fit", "cells").len(), 8);
}
