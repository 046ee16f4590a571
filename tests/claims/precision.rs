//! Certified divergences against 256-bit evaluations of the closed forms: never below, and above by at most 1e-9.

use crate::numbers_support::claim;
use crate::numbers_support::worst::random;
use dashu_float::FBig;
use dashu_float::round::mode::HalfEven;
use dashu_ratio::RBig;
use dpm::numeric::gamma_divergence::{divergence, limit_order, rate_divergence};
use dpm::numeric::interval::Interval;

type Real = FBig<HalfEven, 2>;

/// Bits beyond the 256 that the comparison asks for: what 1e12 rows and orders near 1 cancel.
const BITS: usize = 384;

fn long() -> bool {
    std::env::var("DPM_LONG").is_ok_and(|v| v == "1")
}

/// Cases of a random comparison.
fn cases() -> usize {
    if long() { 100_000 } else { 2_000 }
}

fn exact(x: f64) -> RBig {
    RBig::try_from(x).unwrap()
}

fn real(x: &RBig) -> Real {
    x.to_float::<HalfEven, 2>(BITS).value()
}

fn whole(n: u32) -> Real {
    real(&RBig::from(n))
}

/// Stirling's series for lnGamma without its constant, which cancels in every divergence.
struct Stirling {
    /// `B_2k / (2k (2k - 1))`.
    weights: Vec<Real>,
}

/// The argument is shifted to at least this: 40 terms then leave less than 1e-90.
const SHIFTED: u32 = 60;

impl Stirling {
    fn new() -> Stirling {
        // Bernoulli numbers by sum_{j<=m} binomial(m + 1, j) B_j = 0.
        let mut numbers = vec![RBig::from(1)];
        for m in 1..=80u32 {
            let (mut sum, mut binomial) = (RBig::from(0), RBig::from(1));
            for (j, b) in (0u32..).zip(&numbers) {
                sum += &binomial * b;
                binomial = binomial * RBig::from(m + 1 - j) / RBig::from(j + 1);
            }
            numbers.push(-sum / RBig::from(m + 1));
        }
        let weight = |k: u32| real(&(&numbers[2 * k as usize] / RBig::from(2 * k * (2 * k - 1))));
        Stirling { weights: (1..=40).map(weight).collect() }
    }

    fn ln_gamma(&self, x: &RBig) -> Real {
        let (mut z, mut product) = (real(x), whole(1));
        let (one, far) = (whole(1), whole(SHIFTED));
        while z < far {
            product *= &z;
            z += &one;
        }
        let inverse = &one / &z;
        let square = &inverse * &inverse;
        // Horner's rule on the series in 1 / z^2.
        let series = self.weights.iter().rev().fold(whole(0), |sum, w| sum * &square + w);
        let half = real(&(RBig::from(1) / RBig::from(2)));
        (&z - half) * z.ln() - &z + series * inverse - product.ln()
    }

    /// `[lnG(a - (l-1) s) - l lnG(a)] / (l-1) + lnG(a + s)`; `None` where it is infinite.
    fn shape(&self, a: &RBig, s: &RBig, order: f64) -> Option<Real> {
        let m = exact(order) - RBig::from(1);
        let (left, right) = (a - &m * s, a + s);
        if left <= RBig::from(0) {
            return None;
        }
        let [left, centre, right] = [&left, a, &right].map(|x| self.ln_gamma(x));
        Some((left - centre.clone()) / real(&m) - centre + right)
    }
}

/// `A / (l-1) [l ln b - (l-1) ln(b + s) - ln(b - (l-1) s)]`.
fn rate(a: f64, b: f64, s: f64, order: f64) -> Option<Real> {
    let m = exact(order) - RBig::from(1);
    let (b, s) = (exact(b), exact(s));
    let left = &b - &m * &s;
    if left <= RBig::from(0) {
        return None;
    }
    let [p, q, far] = [&b, &(&b + &s), &left].map(|x| real(x).ln());
    Some(real(&exact(a)) * (((&p - far) / real(&m)) + p - q))
}

/// `found` is at least the true value and above it by at most 1e-9.
fn judge(found: f64, truth: Option<Real>, case: impl Fn() -> String) {
    let Some(truth) = truth else {
        assert!(found.is_infinite(), "{found}, but the truth is infinite: {}", case());
        return;
    };
    assert!(found.is_finite(), "infinite, but the truth is {truth:?}: {}", case());
    let found_exactly = real(&exact(found));
    assert!(found_exactly >= truth, "{found} lies below {}: {}", truth.to_f64().value(), case());
    let excess = ((found_exactly - &truth) / truth).to_f64().value();
    assert!(excess <= 1e-9, "{found} exceeds the truth by {excess}: {}", case());
}

/// Log-uniform in `[lo, hi]`.
fn spread(lo: f64, hi: f64, state: &mut u64) -> f64 {
    lo * (hi / lo).powf(random(state))
}

/// An order below the limit `1 + ratio`, down to `1 + 1e-6`.
fn some_order(ratio: f64, state: &mut u64) -> f64 {
    let most = (0.999 * ratio).min(1e4);
    1.0 + if most <= 1e-6 { most } else { spread(1e-6, most, state) }
}

#[test]
fn moving_shapes() {
    let stirling = Stirling::new();
    let mut state = 101;
    for index in 0..cases() {
        let s = spread(1e-3, 1e3, &mut state);
        let outwards = random(&mut state) < 0.5;
        let base = spread(1e-3, if random(&mut state) < 0.5 { 1e6 } else { 1e12 }, &mut state);
        let (a, s) = if outwards { (base, s) } else { (base + s, -s) };
        let order = some_order(if outwards { a / s } else { f64::INFINITY }, &mut state);
        let truth = stirling.shape(&exact(a), &exact(s), order);
        let found = divergence(a, s, order);
        let case = || format!("T({a:e}; {s:e}, {order:?}), case {index} of {}", cases());
        assert!(truth.as_ref().is_none_or(|t| real(&exact(found.lo)) <= *t), "lower end {}: {}", found.lo, case());
        judge(found.hi, truth, case);
    }
}

#[test]
fn moving_rates() {
    let mut state = 202;
    for index in 0..cases() {
        let (a, s) = (spread(1e-3, 1e12, &mut state), spread(1e-3, 1e3, &mut state));
        let b = spread(1e-3, if random(&mut state) < 0.5 { 1e6 } else { 1e12 }, &mut state);
        let order = some_order(b / s, &mut state);
        let found = rate_divergence(a, b, s, order);
        judge(found.hi, rate(a, b, s, order), || format!("rate({a:e}, {b:e}; {s:e}, {order:?}), case {index} of {}", cases()));
    }
}

/// §1.1 at the exact parameters of a program, which the claim may round but never to the public side.
#[test]
fn beta_claims_of_programs() {
    let stirling = Stirling::new();
    let mut state = 303;
    let cases = cases() / 2;
    for index in 0..cases {
        let [a, b] = [(); 2].map(|()| spread(1e-3, 1e6, &mut state));
        let n = spread(1.0, 1e12, &mut state).floor();
        let (r, m) = match index % 3 {
            0 => (1.0, 1.0),
            1 => (spread(1e-3, 1.0, &mut state), 1.0),
            _ => (1.0, spread(1e-3, 1.0, &mut state)),
        };
        let form = match index % 3 {
            0 => "direct".to_string(),
            1 => format!("diffuse(r = {r})"),
            _ => format!("concentrated(m = {m})"),
        };
        let text =
            format!("private t[{n}] {{ y: bool }}\nparam p ~ beta({a}, {b})\nobserve y ~ bernoulli(p)\nrelease x = draw(p) using {form}\n");
        let claim = claim(&text);
        let (u, v) = (exact(a.min(b)) / exact(m), exact(a.max(b)) / exact(m));
        let w = exact(r);
        let base = v + &w * exact(n);
        for _ in 0..2 {
            let order = some_order(a.min(b) / m / r, &mut state);
            let case = || format!("order {order:?}, program {index} of {cases}\n{text}");
            let out = stirling.shape(&u, &w, order);
            let into = stirling.shape(&base, &-w.clone(), order).unwrap();
            judge(claim.rdp(order), out.map(|d| d + into), case);
        }
    }
}

#[test]
fn infinite_exactly_from_the_limit_order() {
    let mut state = 404;
    let cases = 100_000;
    let (mut finite, mut infinite) = (0, 0);
    for index in 0..cases {
        // Half of the cases have short numbers, whose limit often is a double itself.
        let short = |x: f64| if index % 2 == 0 { (x * 8.0).ceil() / 8.0 } else { x };
        let (a, s) = (short(spread(1e-3, 1e6, &mut state)), short(spread(1e-3, 1e3, &mut state)));
        let limit = 1.0 + a / s;
        let order = match index % 5 {
            0 => limit,
            1 => limit.next_up(),
            2 => limit.next_down(),
            _ => limit * (1.0 + 2e-12 * (random(&mut state) - 0.5)),
        };
        if order <= 1.0 {
            continue;
        }
        let is_finite = (exact(order) - RBig::from(1)) * exact(s) < exact(a);
        *if is_finite { &mut finite } else { &mut infinite } += 1;
        let found: [Interval; 2] = [divergence(a, s, order), rate_divergence(2.0, a, s, order)];
        for (what, found) in ["shape", "rate"].into_iter().zip(found) {
            assert_eq!(found.hi.is_finite(), is_finite, "{what} {a:?}, step {s:?}, order {order:?}, case {index} of {cases}");
        }
        let reported = exact(limit_order(a, s));
        let most = RBig::from(1) + exact(a) / exact(s);
        assert!(reported <= most, "limit of {a:?} and {s:?} reported above the true one, case {index} of {cases}");
    }
    assert!(finite > cases / 5 && infinite > cases / 5, "{finite} finite and {infinite} infinite cases of {cases}");
}
