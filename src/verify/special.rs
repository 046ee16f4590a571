//! Special functions as enclosures: log-gamma by a shifted Stirling series, the normal cdf, divergences of gamma pairs.

use super::real::Real;
use std::sync::OnceLock;

/// B_2k / (2k (2k - 1)), k = 1..: coefficients of the Stirling series of ln Gamma.
const STIRLING: [(i128, u64); 22] = [
    (1, 12),
    (-1, 360),
    (1, 1260),
    (-1, 1680),
    (1, 1188),
    (-691, 360360),
    (1, 156),
    (-3617, 122400),
    (43867, 244188),
    (-174611, 125400),
    (77683, 5796),
    (-236364091, 1506960),
    (657931, 300),
    (-3392780147, 93960),
    (1723168255201, 2492028),
    (-7709321041217, 505920),
    (151628697551, 396),
    (-26315271553053477373, 2418179400),
    (154210205991661, 444),
    (-261082718496449122051, 21106800),
    (1520097643918070802691, 3109932),
    (-2530297234481911294093, 118680),
];
/// From here on the series with these coefficients is good to about 1e-55.
const SHIFT: f64 = 36.0;

/// ln Gamma(x) without the constant ln(2 pi)/2, which cancels in every divergence; unknown unless x > 0.
fn ln_gamma(x: &Real) -> Real {
    if !x.positive() {
        return Real::UNKNOWN;
    }
    let (mut z, mut product) = (x.clone(), Real::one());
    while z.about() < SHIFT {
        product = product * &z;
        z = z + Real::one();
    }
    let inverse = Real::one() / &z;
    let square = inverse.square();
    let mut power = inverse;
    let mut sum = (&z - Real::ratio(1, 2)) * z.ln() - &z;
    let mut last = Real::zero();
    static COEFFICIENTS: OnceLock<Vec<Real>> = OnceLock::new();
    for c in COEFFICIENTS.get_or_init(|| STIRLING.iter().map(|(a, b)| Real::ratio(*a, *b)).collect()) {
        last = c * &power;
        sum = sum + &last;
        power = power * &square;
    }
    // The rest of an alternating enveloping series is below the last term used, on the other side.
    Real::hull_of(&(&sum + &last), &(&sum - &last)) - product.ln()
}

/// Renyi divergence of Gamma(a) from Gamma(a + step) in shapes of one rate (rule book, section 2); unknown from the limit order on.
pub fn shape_divergence(a: &Real, step: &Real, order: &Real) -> Real {
    let m = order - &Real::one();
    let tilted = a - &(&m * step);
    if !tilted.positive() || !(a + step).positive() {
        return Real::UNKNOWN;
    }
    (ln_gamma(&tilted) - order * ln_gamma(a)) / &m + ln_gamma(&(a + step))
}

/// Gamma(shape, rate) from Gamma(shape, rate + step).
pub fn rate_divergence(shape: &Real, rate: &Real, step: &Real, order: &Real) -> Real {
    let m = order - &Real::one();
    let tilted = rate - &(&m * step);
    if !tilted.positive() || !(rate + step).positive() {
        return Real::UNKNOWN;
    }
    shape / &m * (order * rate.ln() - &m * (rate + step).ln() - tilted.ln())
}

/// Phi(x) for doubles and enclosures: by the series of positive terms, or by the continued fraction of the upper tail.
pub fn normal_cdf(x: &Real) -> Real {
    let about = x.about();
    if !about.is_finite() {
        return Real::UNKNOWN;
    }
    let side = |end: Real| {
        let size = end.about().abs();
        let density = (-&(end.square() / Real::int(2))).exp() / two_pi().sqrt();
        if size <= 7.0 {
            let square = end.square();
            let (mut term, mut sum) = (end.clone(), end.clone());
            let mut odd = 1;
            while term.about().abs() > 1e-70 || odd < 60 {
                odd += 2;
                term = &term * &square / Real::int(odd);
                sum = sum + &term;
                if odd > 4000 {
                    return Real::UNKNOWN;
                }
            }
            // What is left is below twice the last term once odd > 2 x^2.
            let rest = &(&term * Real::int(2));
            let sum = Real::hull_of(&(&sum - rest), &(&sum + rest));
            return Real::ratio(1, 2) + density * sum;
        }
        // x + 1/(x + 2/(x + 3/..)): convergents from both sides.
        let t = Real::new(1.0) * end.max(&-&end);
        let fraction = |depth: u64| (1..=depth).rev().fold(t.clone(), |f, k| &t + Real::int(k) / f);
        let tail = density / Real::hull_of(&fraction(120), &fraction(121));
        if end.positive() { Real::one() - tail } else { tail }
    };
    Real::hull_of(&side(x.low()), &side(x.high()))
}

fn two_pi() -> Real {
    // 2 pi to 36 decimals, enclosed.
    Real::hull_of(
        &(Real::ratio(62_831_853_071_795_864_769_252_867_665_590_057_683, 1) / Real::ratio(10_i128.pow(37), 1)),
        &(Real::ratio(62_831_853_071_795_864_769_252_867_665_590_057_684, 1) / Real::ratio(10_i128.pow(37), 1)),
    )
}
