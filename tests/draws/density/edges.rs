//! Extreme rows and parameters, ranges, refusals and scalar functions.

use super::*;

/// Rows of any size and parameters far out: no panic, every beta-divergence inside its range, every gradient a number.
#[test]
fn extreme_rows_and_parameters() {
    let mut dice = Dice(5);
    let extreme = [1e300, -1e300, 0.0, 1.0, f64::MIN_POSITIVE, -1e-300, 1e8, f64::MAX];
    for (parameters, observation, dimension, bounded) in LIKELIHOODS {
        for loss in [NLL, beta(1.1), beta(1.5), beta(3.0)] {
            if !bounded && loss != NLL {
                continue;
            }
            let case = case(parameters, observation, loss);
            let rows: Vec<Vec<f64>> = (0..150)
                .map(|_| {
                    let mut row = row(&mut dice);
                    for i in [0, 1, 2, 3] {
                        row[i] = extreme[dice.below(extreme.len())];
                    }
                    row[7] = extreme[dice.below(extreme.len())].abs().min(1000.0);
                    row
                })
                .collect();
            with_density(&case, &rows, 1.0, |density, lowered| {
                for _ in 0..20 {
                    let u: Vec<f64> = (0..*dimension).map(|_| [1e8, -1e8, 1e300, -1e300, 0.0, 40.0, -800.0, 1.0][dice.below(8)]).collect();
                    let (mut gradient, mut losses) = (vec![0.0; *dimension], vec![]);
                    let value = density.value_and_gradient(&u, &mut gradient);
                    density.losses(&u, &mut losses);
                    assert!(gradient.iter().all(|g| g.is_finite()), "{observation} {gradient:?}");
                    if loss != NLL {
                        let range = &lowered.program.losses[0];
                        assert!(losses.iter().all(|l| *l >= range.lo && *l <= range.hi), "{observation} {loss:?}");
                        let sum: f64 = losses.iter().sum();
                        assert!(sum.is_finite() && (value.is_nan() || value < f64::INFINITY));
                    }
                }
            });
        }
    }
}

/// The length of every interval is no more than the rule book certifies, and nearly that.
#[test]
fn ranges_are_those_of_the_rule_book() {
    let root = std::f64::consts::TAU.sqrt();
    let pi = std::f64::consts::PI;
    for (parameters, observation, peak) in [
        ("param p ~ normal(0, 1)", "k ~ bernoulli_logit(p)", 1.0),
        ("param p ~ normal(0, 1)", "i ~ poisson_log(p)", 1.0),
        ("param p ~ normal(0, 1)", "x ~ normal(p, 0.5)", 2.0 / root),
        ("param s: real in [0.3, 4] ~ half_normal(1)", "x ~ normal(0, s)", 1.0 / (0.3 * root)),
        ("param s: real in [0.3, 4] ~ half_normal(1)", "x ~ laplace(0, s)", 1.0 / 0.6),
        ("param s: real in [0.3, 4] ~ half_normal(1)", "x ~ student_t(1, 0, s)", 1.0 / (0.3 * pi)),
        ("param r: real in [0.3, 4] ~ half_normal(1)", "w ~ exponential(r)", 4.0),
        ("param r: real in [0.3, 4] ~ half_normal(1)", "w ~ gamma(2, r)", 4.0 / std::f64::consts::E),
        ("param r: real in [0.3, 4] ~ half_normal(1)", "w ~ half_normal(r)", 2.0 / (0.3 * root)),
    ] {
        for b in [1.01, 1.3, 2.0, 3.0] {
            let lowered = case(parameters, observation, beta(b)).lower().unwrap();
            let loss = &lowered.program.losses[0];
            let (found, book) = (loss.hi - loss.lo, peak.powf(b - 1.0) / (b - 1.0));
            assert!(found <= book && found > book * (1.0 - 1e-8), "{observation} {b}: {found} {book}");
        }
    }
    // Probabilities away from 0, and densities of any shape.
    for b in [1.1f64, 1.5, 3.0] {
        let length = |parameters: &str, observation: &str| {
            let lowered = case(parameters, observation, beta(b)).lower().unwrap();
            lowered.program.losses[0].hi - lowered.program.losses[0].lo
        };
        let a = b - 1.0;
        let close = |found: f64, book: f64| assert!(found <= book && found > book * (1.0 - 1e-8), "{b}: {found} {book}");
        close(length("param p: real in [0.1, 0.8] ~ beta(2, 3)", "k ~ bernoulli(p)"), (0.9f64.powf(a) - 0.1f64.powf(a)) / a);
        let peak = 1.0 / (0.5 * root);
        let student = "param nu: real in [1.5, 9] ~ gamma(2, 1)";
        close(length(student, "x ~ student_t(nu, 0, 0.5)"), peak.powf(a) * (1.0 / a + 1.0 / b));
    }
}

#[test]
fn what_has_no_bound_is_refused() {
    for (parameters, observation) in [
        ("param s ~ half_normal(1)", "x ~ normal(0, s)"),
        ("param r ~ half_normal(1)", "w ~ exponential(r)"),
        ("param a ~ gamma(2, 1)", "w ~ gamma(a, 1)"),
        ("param r: real in [0.1, 2] ~ gamma(2, 1)", "w ~ gamma(0.5, r)"),
    ] {
        assert_eq!(case(parameters, observation, beta(1.5)).lower().err(), Some(MechanismError::Expression), "{observation}");
    }
}

/// The Jacobian of the map onto a ball, by differences.
#[test]
fn balls_keep_volume() {
    let case = case("param v: vector[3] in l2(0.7) ~ normal(0, 100000000)", "x ~ normal(v[1], 1)", NLL);
    let mut dice = Dice(6);
    with_density(&case, &[], 1.0, |density, lowered| {
        let mut gaps = vec![];
        for u in places(&mut dice, 3, 4) {
            let mut map = |u: &[f64]| density.shared(u, &lowered.parameters[0]);
            let h = 1e-5;
            let m: Vec<Vec<f64>> = (0..3)
                .map(|j| {
                    let (mut a, mut b) = (u.clone(), u.clone());
                    a[j] += h;
                    b[j] -= h;
                    map(&a).iter().zip(map(&b)).map(|(a, b)| (a - b) / (2.0 * h)).collect()
                })
                .collect();
            let x = map(&u);
            assert!(x.iter().map(|x| x * x).sum::<f64>() < 0.49);
            let det = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
                + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
            gaps.push(density.value(&u) - det.abs().ln());
        }
        assert!(gaps.iter().all(|g| (g - gaps[0]).abs() < 1e-8), "{gaps:?}");
    });
}

/// Scalar functions against the library's, on 1e5 arguments.
#[test]
fn scalar_functions_keep_their_digits() {
    use dpm::kernel::density::{digamma, ln, ln_1p, power_sum};
    let mut dice = Dice(7);
    let mut worst = (0.0f64, 0.0f64);
    for _ in 0..100_000 {
        let x = (1400.0 * dice.unit() - 700.0).exp();
        let y = 1.0 + 0.1 * dice.normal();
        for x in [x, y.abs()] {
            worst.0 = worst.0.max((ln(x) - x.ln()).abs() / x.ln().abs().max(f64::MIN_POSITIVE));
        }
        let t = dice.normal() * 10f64.powi(-(dice.below(18) as i32));
        if t > -1.0 {
            worst.1 = worst.1.max((ln_1p(t) - t.ln_1p()).abs() / t.ln_1p().abs());
        }
    }
    assert!(worst.0 < 5e-16 && worst.1 < 1e-15, "{worst:?}");
    assert_eq!((ln(0.0), ln(f64::INFINITY), ln_1p(f64::INFINITY)), (f64::NEG_INFINITY, f64::INFINITY, f64::INFINITY));
    assert!(ln(-1.0).is_nan() && ln(f64::NAN).is_nan() && (ln(5e-324) - 5e-324f64.ln()).abs() < 1e-12);
    assert!((digamma(1.0) + 0.577_215_664_901_532_9).abs() < 1e-14 && (digamma(30.5) - 3.401_271_288_362_95).abs() < 1e-3);
    // Sums over the coarse grid are those over all whole numbers.
    for b in [1.01, 1.3, 2.0, 4.0] {
        for mean in [240.0f64, 260.0, 400.0, 1500.0, 20_000.0] {
            let t = mean.ln();
            let terms = |i: i64| (b * (i as f64 * t - mean - libm::lgamma(i as f64 + 1.0))).exp();
            let width = 14.0 * mean.sqrt();
            let direct: f64 = (((mean - width).max(0.0) as i64)..(mean + width) as i64).map(terms).sum();
            let (sum, slope) = power_sum(b, t);
            assert!((sum / direct - 1.0).abs() < 1e-9, "{b} {mean}: {sum} {direct}");
            let h = 1e-4;
            let difference = (power_sum(b, t + h).0 - power_sum(b, t - h).0) / (2.0 * h);
            assert!((slope - difference).abs() < 1e-6 * sum, "{b} {mean}: {slope} {difference}");
        }
        for t in [-1e300, -700.0, 0.0, 30.0, 600.0, 1e300] {
            let (sum, slope) = power_sum(b, t);
            assert!((0.0..=1.0).contains(&sum) && slope.is_finite(), "{b} {t}: {sum} {slope}");
        }
    }
}

/// Sums without a closed form against all their terms, and their slopes against differences.
#[test]
fn sums_of_powers_are_those_over_all_outcomes() {
    use dpm::kernel::density::{binomial_power, neg_binomial_power};
    let near =
        |found: f64, exact: f64, what: String| assert!((found - exact).abs() <= 1e-7 * exact.abs() + 1e-12, "{what}: {found} for {exact}");
    for b in [1.02, 1.5, 3.0] {
        for r in [0.05, 1.0, 3.7, 80.0, 5_000.0] {
            for t in [-9.0, -3.0, 0.0, 2.0, 5.0, 8.0] {
                let (log_p, log_q): (f64, f64) = (-f64::ln_1p(f64::exp(t)), -f64::ln_1p(f64::exp(-t)));
                let mean = r * f64::exp(t);
                let last = (3.0 * mean + 60.0 * (mean + mean * mean / r).sqrt() + 500.0) as u64;
                // Too many terms to add one by one.
                if last > 4_000_000 {
                    continue;
                }
                let (mut log, mut digamma, mut sum) = (r * log_p, 0.0, [0.0; 3]);
                for k in 0..last {
                    let (k, term) = (k as f64, (b * log).exp());
                    let slopes = [1.0, b * (digamma + log_p), b * (log_p.exp() * k - r * log_q.exp())];
                    sum.iter_mut().zip(slopes).for_each(|(s, slope)| *s += term * slope);
                    log += log_q + ((k + r) / (k + 1.0)).ln();
                    digamma += 1.0 / (k + r);
                }
                let ([sum, by_shape, by_odds], found) = (sum, neg_binomial_power(b, r, t));
                near(found.value, sum, format!("negative binomial {b} {r} {t}"));
                assert!((found.by_shape - by_shape).abs() < 1e-6 * (sum / r + by_shape.abs()), "{b} {r} {t}: {found:?} {by_shape}");
                assert!((found.by_odds - by_odds).abs() < 1e-6 * (sum * (1.0 + r) + by_odds.abs()), "{b} {r} {t}: {found:?} {by_odds}");
            }
        }
        for n in [1_500.0, 40_000.0, 300_000.0] {
            for t in [-20.0, -9.0, -4.0, 0.0, 0.3, 6.0, 30.0] {
                let (log_p, log_q): (f64, f64) = (-f64::ln_1p(f64::exp(-t)), -f64::ln_1p(f64::exp(t)));
                let log = |k: f64| libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0) + k * log_p + (n - k) * log_q;
                let sum: f64 = (0..=n as u32).map(|k| (b * log(f64::from(k))).exp()).sum();
                let found = binomial_power(b, n, t);
                near(found.value, sum, format!("binomial {b} {n} {t}"));
                let by_odds = (binomial_power(b, n, t + 1e-4).value - binomial_power(b, n, t - 1e-4).value) / 2e-4;
                assert!((found.by_odds - by_odds).abs() < 1e-5 * (sum + by_odds.abs()), "{b} {n} {t}: {found:?} {by_odds}");
            }
        }
        for wild in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300, 1e300] {
            for t in [-1e300, -700.0, 0.0, 40.0, 1e300, f64::INFINITY] {
                let found = neg_binomial_power(b, wild, t);
                assert!(
                    (found.value.is_nan() || (0.0..=1.0).contains(&found.value)) && found.by_shape.is_finite() && found.by_odds.is_finite(),
                    "{wild} {t} {found:?}"
                );
                let found = binomial_power(b, 1e9, t);
                assert!((0.0..=1.0).contains(&found.value) && found.by_odds.is_finite(), "{t} {found:?}");
            }
        }
    }
}
