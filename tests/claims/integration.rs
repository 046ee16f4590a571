//! Claimed pairs, read from certificates, integrated numerically: the certified epsilon is their divergence.

use crate::numbers_support::certified_at;
use serde_json::Value;

/// Natural logarithms of a density on a line, up to a constant; concave, so one peak.
enum Law {
    /// Beta(a, b) on the logit line: `a t - (a + b) ln(1 + e^t)`.
    Beta(f64, f64),
    /// Gamma(shape, rate) on the log line: `shape t - rate e^t`.
    Gamma(f64, f64),
}

impl Law {
    fn log_density(&self, t: f64) -> f64 {
        match *self {
            // Of ln(1 + e^t) and ln(1 + e^-t) the one that does not overflow.
            Law::Beta(a, b) if t > 0.0 => -b * t - (a + b) * (-t).exp().ln_1p(),
            Law::Beta(a, b) => a * t - (a + b) * t.exp().ln_1p(),
            Law::Gamma(shape, rate) => shape * t - rate * t.exp(),
        }
    }

    /// The peak and how far the curve falls as a normal one of this deviation.
    fn peak(&self) -> (f64, f64) {
        match *self {
            Law::Beta(a, b) => ((a / b).ln(), ((a + b) / (a * b)).sqrt()),
            Law::Gamma(shape, rate) => ((shape / rate).ln(), 1.0 / shape.sqrt()),
        }
    }
}

/// `ln` of the integral of `exp(f)` by the trapezoid rule, which converges faster than any power for these analytic
/// integrands; steps of `width / 8` from `start` outwards until nothing is added.
fn log_integral(f: impl Fn(f64) -> f64, start: f64, width: f64) -> f64 {
    let step = (width / 8.0).min(0.1);
    let top = f(start);
    let (mut sum, mut lost) = (0.0, 0.0);
    let mut add = |x: f64| {
        // Kahan's sum: the rounding of a million steps would show in small divergences.
        let y = x - lost;
        let t = sum + y;
        lost = (t - sum) - y;
        sum = t;
    };
    add(1.0);
    for side in [-step, step] {
        let mut k = 1.0;
        loop {
            let term = (f(start + side * k) - top).exp();
            add(term);
            if term < 1e-25 {
                break;
            }
            k += 1.0;
            assert!(k < 1e7, "the integral from {start} in steps of {step} does not end");
        }
    }
    top + (sum * step).ln()
}

/// Rényi divergence of order l by three integrals: of both densities, for their constants, and of `p^l q^(1 - l)`.
fn divergence(l: f64, p: &Law, q: &Law) -> f64 {
    let constant = |law: &Law| {
        let (peak, width) = law.peak();
        log_integral(|t| law.log_density(t), peak, width)
    };
    let (zp, zq) = (constant(p), constant(q));
    let log_ratio = |t: f64| l * (p.log_density(t) - zp) - (l - 1.0) * (q.log_density(t) - zq);
    // The product belongs to the family too; only its peak and width are taken from there.
    let mix = |x: f64, y: f64| l * x - (l - 1.0) * y;
    let far = match (p, q) {
        (Law::Beta(a, b), Law::Beta(c, d)) => Law::Beta(mix(*a, *c), mix(*b, *d)),
        (Law::Gamma(a, b), Law::Gamma(c, d)) => Law::Gamma(mix(*a, *c), mix(*b, *d)),
        _ => panic!("two families"),
    };
    let (peak, width) = far.peak();
    assert!(peak.is_finite() && width.is_finite(), "the integral diverges at order {l}");
    log_integral(log_ratio, peak, width) / (l - 1.0)
}

/// The divergence of a pair as a certificate writes it.
fn pair_divergence(pair: &Value, l: f64) -> f64 {
    let side = |name: &str| {
        let member = &pair[name];
        let parameters: Vec<f64> = member["parameters"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
        (member["family"].as_str().unwrap().to_string(), parameters, member.get("total").map(|t| t.as_f64().unwrap()))
    };
    let ((family, p, p_total), (_, q, q_total)) = (side("p"), side("q"));
    match (family.as_str(), p.as_slice(), q.as_slice()) {
        ("gamma", [a, b], [c, d]) => divergence(l, &Law::Gamma(*a, *b), &Law::Gamma(*c, *d)),
        // The rate is the same on both sides and scales away.
        ("gamma", [a], [c]) => divergence(l, &Law::Gamma(*a, 1.0), &Law::Gamma(*c, 1.0)),
        ("beta", [a, b], [c, d]) => divergence(l, &Law::Beta(*a, *b), &Law::Beta(*c, *d)),
        ("beta", [b], [d]) => match (p_total, q_total) {
            (Some(p), Some(q)) => divergence(l, &Law::Beta(p - b, *b), &Law::Beta(q - d, *d)),
            // The limit of many rows: one count alone, a Gamma shape.
            _ => divergence(l, &Law::Gamma(*b, 1.0), &Law::Gamma(*d, 1.0)),
        },
        // Two categories move and the total does not: the product of two Gamma shapes.
        ("dirichlet", [a, b], [c, d]) => {
            divergence(l, &Law::Gamma(*a, 1.0), &Law::Gamma(*c, 1.0)) + divergence(l, &Law::Gamma(*b, 1.0), &Law::Gamma(*d, 1.0))
        }
        other => panic!("pair {other:?}"),
    }
}

/// Compares every pair of the certificate at `parts` of the way from order 1 to the limit.
fn judge(text: &str) {
    let limit = certified_at(text, &[], &[]).claim().max_order();
    let orders: Vec<f64> = [0.05, 0.3, 0.6, 0.9, 0.98].iter().map(|part| 1.0 + (limit - 1.0).min(40.0) * part).collect();
    let certificate = certified_at(text, &orders, &[]).certificate.to_json();
    let release = &certificate["releases"][0];
    let pairs = release["claim"]["pairs"].as_array().unwrap();
    for order in &orders {
        let printed = release["profile"]["rdp"].as_array().unwrap().iter().find(|e| e["order"].as_f64() == Some(*order));
        let printed = printed.unwrap()["epsilon"].as_f64().unwrap();
        let exact = pairs.iter().map(|pair| pair_divergence(pair, *order)).fold(0.0, f64::max);
        // Rounding of the integrals: about 1e-14 in each logarithm, divided by l - 1.
        let error = 1e-12 * exact + 1e-13 * (1.0 + order) / (order - 1.0);
        assert!(
            printed >= exact - error && printed <= exact * (1.0 + 1e-8) + error,
            "order {order}: certified {printed}, integrated {exact} +- {error}, {} pairs\n{text}",
            pairs.len()
        );
    }
}

const FORMS: [&str; 3] = ["direct", "diffuse(r = 0.3)", "concentrated(m = 0.25)"];

#[test]
fn beta_pairs() {
    for form in FORMS {
        for (a, b, n) in [("0.5", "3", "1"), ("6", "18", "100"), ("2", "2", "50000"), ("0.05", "0.3", "4")] {
            let prior = format!("param m ~ beta({a}, {b})\n");
            for rows in [n.to_string(), "private n".into()] {
                judge(&format!("private t[{rows}] {{ y: bool }}\n{prior}observe y ~ bernoulli(m)\nrelease x = draw(m) using {form}\n"));
            }
            let (n, unit) = ("30", " by id max 2");
            judge(&format!(
                "private t[{n}]{unit} {{ id: text, y: bool }}\n{prior}observe y ~ bernoulli(m)\nrelease x = draw(m) using {form}\n"
            ));
            let rows = "observe y ~ neg_binomial(2, m)";
            judge(&format!("private t[{n}] {{ y: int in 1..3 }}\n{prior}{rows}\nrelease x = draw(m) using {form}\n"));
        }
    }
}

#[test]
fn dirichlet_pairs() {
    for form in FORMS {
        for alpha in ["[1, 1, 1]", "[8, 8, 8, 8]", "[0.3, 2, 5]", "[4, 0.5]"] {
            let levels = ["a", "b", "c", "d"][..alpha.matches(',').count() + 1].join(", ");
            judge(&format!(
                "private t[20] {{ y: category {{{levels}}} }}\nparam m ~ dirichlet({alpha})\nobserve y ~ categorical(m)\n\
                 release x = draw(m) using {form}\n"
            ));
        }
    }
}

#[test]
fn gamma_pairs_that_move_a_shape() {
    for form in FORMS {
        for (a, b, top) in [("2", "1", "3"), ("40", "10", "10"), ("0.4", "7", "1")] {
            judge(&format!(
                "private t[9] {{ y: int in 0..{top} }}\nparam m ~ gamma({a}, {b})\nobserve y ~ poisson(m)\nrelease x = draw(m) using {form}\n"
            ));
        }
    }
}

#[test]
fn gamma_pairs_that_move_a_rate() {
    for form in FORMS {
        for (a, b, lo, hi, n) in [("2", "3", "0", "1", "10"), ("0.5", "0.2", "0.5", "1.5", "200"), ("7", "30", "0", "4", "2000")] {
            let head = format!("private t[{n}] {{ y: real in [{lo}, {hi}] }}\nparam m ~ gamma({a}, {b})\n");
            judge(&format!("{head}observe y ~ exponential(m)\nrelease x = draw(m) using {form}\n"));
            judge(&format!("{head}observe y ~ normal(0.2, 1 / sqrt(m))\nrelease x = draw(m) using {form}\n"));
        }
    }
}
