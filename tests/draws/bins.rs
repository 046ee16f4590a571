//! Posteriors of released counts of numbers in bins against sums over every table of exact counts, on grids of parameters.

use crate::fits::{close, fitted, geometric, rounded};
use dpm::check::NoFiles;
use dpm::pipeline;
use dpm::run::Draws;

fn phi(x: f64) -> f64 {
    0.5 * libm::erfc(-x / 2f64.sqrt())
}

/// The midpoints of so many parts of an interval.
fn grid(lo: f64, hi: f64, parts: u32) -> impl Iterator<Item = f64> + Clone {
    (0..parts).map(move |i| lo + (hi - lo) * (f64::from(i) + 0.5) / f64::from(parts))
}

/// Mean and sd of the first and of the second number under a density on a grid of both.
fn moments(points: impl Iterator<Item = ([f64; 2], f64)>) -> [(f64, f64); 2] {
    let all: Vec<([f64; 2], f64)> = points.collect();
    let sum: f64 = all.iter().map(|(_, d)| d).sum();
    [0, 1].map(|i| {
        let mean = all.iter().map(|(x, d)| x[i] * d).sum::<f64>() / sum;
        (mean, (all.iter().map(|(x, d)| (x[i] - mean).powi(2) * d).sum::<f64>() / sum).sqrt())
    })
}

/// The probability of noisy counts of n rows that fall into cells with these probabilities: every table of counts, cell by cell.
fn multinomial(n: usize, chances: &[f64], noisy: &[i128], noise: &dyn Fn(f64) -> f64) -> f64 {
    let mut before = vec![0.0; n + 1];
    before[0] = 1.0;
    for (p, y) in chances.iter().zip(noisy) {
        let mut one = 1.0;
        let terms: Vec<f64> = (0..=n)
            .map(|c| {
                if c > 0 {
                    one *= p / c as f64;
                }
                one * noise(*y as f64 - c as f64)
            })
            .collect();
        before = (0..=n).map(|all| (0..=all).map(|c| before[all - c] * terms[c]).sum()).collect();
    }
    before[n]
}

#[track_caller]
fn differs(found: &Draws, place: usize, (mean, sd): (f64, f64)) {
    let s = found.summaries()[place];
    assert!((s.mean - mean).abs() > 0.2 * sd || (s.sd / sd - 1.0).abs() > 0.2, "a planted mistake is not seen: {s:?} {mean} {sd}");
}

fn rows(column: &str, value: &str, n: usize) -> String {
    format!("{column}\n{}", format!("{value}\n").repeat(n))
}

/// Mean and sd unknown; a good part of the rows was moved into the last bin.
#[test]
fn a_normal_law_in_bins() {
    const EDGES: [f64; 4] = [20.0, 35.0, 50.0, 60.0];
    let text = "budget gdp(9)\nprivate t[n] { pay: real in [0, 70] }\nparam mu ~ normal(40, 25)\nparam sd ~ half_normal(25)\n\
                release cells = histogram(bin(pay, [20, 35, 50, 60])) using gaussian(sigma = 1.5)\n\
                observe cells.pay ~ normal(mu, sd)\noutput post = posterior(mu, sd)\n";
    let noisy = [5, 4, 9, 5, 17];
    let found = fitted(text, &rows("pay", "30", 40), &noisy);
    let exact = |open: bool| {
        let law = move |[mu, sd]: [f64; 2]| {
            let f = |x: f64| phi((x - mu) / sd);
            let mut at: Vec<f64> = vec![if open { 0.0 } else { f(0.0) }];
            at.extend(EDGES.map(f));
            at.push(if open { 1.0 } else { f(70.0) });
            let all = at[5] - at[0];
            let chances: Vec<f64> = at.windows(2).map(|w| (w[1] - w[0]) / all).collect();
            let prior = (-(mu - 40.0f64).powi(2) / 1250.0 - sd * sd / 1250.0).exp();
            ([mu, sd], prior * multinomial(40, &chances, &noisy, &|k| rounded(k, 1.5)))
        };
        moments(grid(20.0, 130.0, 110).flat_map(|mu| grid(5.0, 100.0, 95).map(move |sd| [mu, sd])).map(law))
    };
    for (i, (right, closed)) in exact(true).into_iter().zip(exact(false)).enumerate() {
        close(&found, i, right, 0.08);
        differs(&found, i, closed);
    }
}

/// The last number stands for all beyond; a family without an end may be in bins as well.
#[test]
fn counts_without_an_end() {
    let program = |of: &str, law: &str| {
        format!(
            "budget eps(9)\nprivate t[n] {{ k: int in 0..6 }}\nparam r ~ gamma(2, 0.5)\nrelease cells = histogram({of}) using geometric(scale = 1)\n\
             observe cells.k ~ {law}\noutput post = posterior(r)\n"
        )
    };
    // So many failures before the r-th success of probability 1 / (1 + m).
    let failures = |r: f64, m: f64, k: f64| (libm::lgamma(k + r) - libm::lgamma(r) + k * m.ln() - (k + r) * m.ln_1p()).exp();
    let mass = |law: &str, m: f64, k: u32| {
        let k = f64::from(k);
        let ways = libm::lgamma(k + 1.0);
        match law.split('(').next() {
            Some("geometric") => failures(1.0, m, k) / ways.exp(),
            Some("neg_binomial") => failures(1.5, m, k) / ways.exp(),
            _ => (k * m.ln() - m - ways).exp(),
        }
    };
    let single: [(u32, u32); 7] = [0, 1, 2, 3, 4, 5, 6].map(|k| (k, k + 1));
    let one = [1, 0, 4, 3, 6, 4, 14];
    let wide = [(0, 3), (3, 5), (5, 7)];
    let sums = [4, 9, 18];
    type Case<'c> = (&'c str, &'c str, &'c [(u32, u32)], &'c [i128]);
    let cases: [Case; 4] = [
        ("k", "poisson(r)", &single, &one),
        ("bin(k, [3, 5])", "poisson_log(log(r))", &wide, &sums),
        ("k", "geometric(1 / (1 + r))", &single, &one),
        ("k", "neg_binomial(1.5, 1 / (1 + r))", &single, &one),
    ];
    for (of, law, bins, noisy) in cases {
        let found = fitted(&program(of, law), &rows("k", "3", 30), noisy);
        let exact = |open: bool| {
            let at = move |r: f64| {
                let mass = |k| mass(law, r, k);
                let mut chances: Vec<f64> = bins.iter().map(|(from, to)| (*from..*to).map(mass).sum()).collect();
                if open {
                    *chances.last_mut().unwrap() += 1.0 - (0..7).map(mass).sum::<f64>();
                }
                let all: f64 = chances.iter().sum();
                chances.iter_mut().for_each(|c| *c /= all);
                ([r, r], r * (-0.5 * r).exp() * multinomial(30, &chances, noisy, &|k| geometric(k, 1.0)))
            };
            moments(grid(0.02, 25.0, 1000).map(at))[0]
        };
        close(&found, 0, exact(true), 0.08);
        differs(&found, 0, exact(false));
    }
}

/// A number on the right is integrated over its bin; being private it has shares, whose law is the same for all sizes of bins.
#[test]
fn a_number_on_the_right() {
    let text = "budget gdp(9)\nprivate t[n] { x: real in [0, 10], y: bool }\nparam a ~ normal(0, 2)\nparam b ~ normal(0, 2)\n\
                release cells = histogram(bin(x, [3]), y) using gaussian(sigma = 1)\n\
                observe cells.y ~ bernoulli_logit(a + b * x)\noutput post = posterior(a, b)\n";
    let noisy = [18, 3, 2, 17];
    let found = fitted(text, &rows("x,y", "1,1", 40), &noisy);
    let exact = |integrated: bool| {
        let law = move |[a, b]: [f64; 2]| {
            let area = |t: f64| t.max(0.0) + (-t.abs()).exp().ln_1p();
            let chance = |lo: f64, hi: f64| match integrated {
                true if b.abs() > 1e-9 => (area(a + b * hi) - area(a + b * lo)) / (b * (hi - lo)),
                _ => 1.0 / (1.0 + (-a - b * 0.5 * (lo + hi)).exp()),
            };
            // Shares with the prior Dirichlet(1, 1): all sizes of the two bins are as likely.
            let bin = |p: f64, n: usize, y: &[i128]| multinomial(n, &[1.0 - p, p], y, &|k| rounded(k, 1.0)) * libm::tgamma(n as f64 + 1.0);
            let (p, q) = (chance(0.0, 3.0), chance(3.0, 10.0));
            let all: f64 = (10..=30).map(|n| bin(p, n, &noisy[..2]) * bin(q, 40 - n, &noisy[2..])).sum();
            ([a, b], (-(a * a + b * b) / 8.0).exp() * all)
        };
        moments(grid(-9.0, 3.0, 60).flat_map(|a| grid(-0.5, 6.0, 65).map(move |b| [a, b])).map(law))
    };
    for (i, (right, midpoints)) in exact(true).into_iter().zip(exact(false)).enumerate() {
        close(&found, i, right, 0.1);
        differs(&found, i, midpoints);
    }
}

/// Whole numbers in bins on the right: every one of them is as likely within its bin.
#[test]
fn whole_numbers_on_the_right() {
    let text = "budget gdp(9)\nprivate t[n] { k: public int in 0..9, y: bool }\nparam b ~ normal(0, 1)\n\
                release cells = histogram(bin(k, width = 5), y) using gaussian(sigma = 1)\n\
                observe cells.y ~ bernoulli_logit(b * (k - 4))\noutput post = posterior(b)\n";
    let noisy = [14, 7, 2, 17];
    let found = fitted(text, &format!("k,y\n{}{}", "1,1\n".repeat(20), "6,1\n".repeat(20)), &noisy);
    let law = |b: f64| {
        let chance = |from: i32| (from..from + 5).map(|k| 1.0 / (1.0 + (-b * f64::from(k - 4)).exp())).sum::<f64>() / 5.0;
        let bin = |p: f64, y: &[i128]| multinomial(20, &[1.0 - p, p], y, &|k| rounded(k, 1.0));
        ([b, b], (-b * b / 2.0).exp() * bin(chance(0), &noisy[..2]) * bin(chance(5), &noisy[2..]))
    };
    close(&found, 0, moments(grid(-3.0, 5.0, 2000).map(law))[0], 0.08);
}

/// A number names the bin that it is in, the records say where bins end, and what neighbours change is as for any histogram.
#[test]
fn tables_with_bins() {
    let text = "budget gdp(9)\nprivate t[n] { pay: real in [0, 70], vote: bool }\n\
                release cells = histogram(bin(pay, width = 20), vote) using gaussian(sigma = 1)\n\
                output one = cells[20, true]\noutput same = cells[\"20..40\", true]\noutput top = cells[70, false]\noutput pays = margin(cells, pay)\n";
    let checked = pipeline::check("p.dpm", text, &NoFiles);
    assert!(checked.diagnostics.is_empty(), "{:?}", checked.diagnostics);
    let written = dpm::model::expand::expand(&checked.program, &checked.sources);
    assert!(written.contains("histogram(bin(t.pay, [20, 40, 60]), t.vote)"), "{written}");
    assert!(written.contains("one = cells[\"20..40\", true]") && written.contains("top = cells[\"60..70\", false]"), "{written}");
    let again = pipeline::check("p.dpm", &written, &NoFiles);
    assert!(again.diagnostics.is_empty(), "{:?}", again.diagnostics);
    assert_eq!(written, dpm::model::expand::expand(&again.program, &again.sources));
}
