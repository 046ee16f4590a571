//! Special functions as enclosures: log-gamma by a shifted Stirling series, the normal cdf, divergences of gamma pairs.

use super::real::{Real, once};

/// B_2k / (2k (2k - 1)), k = 1..: coefficients of the Stirling series of ln Gamma.
const STIRLING: [(i128, i128); 14] = [
    (1, 12),
    (-1, 360),
    (1, 1260),
    (-1, 1680),
    (1, 1188),
    (-691, 360_360),
    (1, 156),
    (-3617, 122_400),
    (43867, 244_188),
    (-174_611, 125_400),
    (77683, 5796),
    (-236_364_091, 1_506_960),
    (657_931, 300),
    (-3_392_780_147, 93960),
];
thread_local! {
    static SERIES: Vec<Real> = STIRLING.iter().map(|(a, b)| Real::ratio(*a, *b)).collect();
}
/// From here on the last of these terms is below 1e-32.
const SHIFT: u64 = 24;
/// From here on what five derivatives leave is below a unit.
const EDGE: f64 = 32.0;

/// ln Gamma(x) without the constant ln(2 pi)/2, which cancels in every divergence; unknown unless x > 0.
///
/// The series envelops: what is left out is below the last term that is added, and of the other sign.
pub fn ln_gamma(x: &Real) -> Real {
    if x.positive() { once(format!("ln_gamma {x:?}"), || stirling(x)) } else { Real::UNKNOWN }
}

fn stirling(x: &Real) -> Real {
    let (mut z, mut product) = (x.clone(), Real::one());
    while !Real::int(SHIFT).le(&z) {
        product = product * &z;
        z = z + Real::one();
    }
    let square = Real::one() / z.square();
    let mut power = Real::one() / &z;
    let (mut sum, mut last) = ((&z - Real::ratio(1, 2)) * z.ln() - &z, Real::zero());
    for part in SERIES.with(Vec::clone) {
        last = &part * &power;
        sum = sum + &last;
        power = power * &square;
    }
    sum.hull(&(&sum - &last)) - product.ln()
}

/// The same in doubles, and by how much it may be off: every argument, product and logarithm below by a few units in the last place of the
/// terms that are added here, of which 16 are taken; the series by less than 1e-15.
pub fn ln_gamma_near(x: f64) -> (f64, f64) {
    let (mut z, mut product, mut steps) = (x, 1.0, 0.0);
    while z < SHIFT as f64 {
        product *= z;
        steps += 1.0;
        z = x + steps;
    }
    let (ln, shift, w) = (libm::log(z), libm::log(product), 1.0 / (z * z));
    let rest = (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - w / 1680.0) * w) * w) / z;
    ((z - 0.5) * ln - z + rest - shift, 8.0 * f64::EPSILON * (z * ln + z + shift.abs() + 50.0))
}

/// Renyi divergence of Gamma(a) from Gamma(a + step) in shapes of one rate (rule book, section 2); unknown from the limit order on.
pub fn shape_divergence(a: &Real, step: &Real, order: &Real) -> Real {
    let m = order - &Real::one();
    let moved = || (ln_gamma(&(a - &(&m * step))) - order * ln_gamma(a)) / &m + ln_gamma(&(a + step));
    if step.is_zero() { Real::zero() } else { moved() }
}

/// Gamma(shape, rate) from Gamma(shape, rate + step) (section 3.2).
pub fn rate_divergence(shape: &Real, rate: &Real, step: &Real, order: &Real) -> Real {
    let m = order - &Real::one();
    shape / &m * (order * rate.ln() - &m * (rate + step).ln() - (rate - &(&m * step)).ln())
}

/// At least the divergence of [`shape_divergence`] in doubles; `None` where they may be wrong by more than a part in 10^8. It falls in
/// `a` and grows with the size of the step, so rounding these loses nothing.
///
/// `m D` is the sum of `K(-m s/x) + m K(s/x)` over x = a, a + 1, .., where `K(t) = t - ln(1 + t)` is not negative: first orders cancel.
/// `K(c/x)` is completely monotone in x, being the transform of `(exp(-c t) - 1 + c t)/t`, so the formula of Euler and Maclaurin envelops: from
/// some x on the sum is the integral `x M(c/x)`, with `M(t) = (1 + t) ln(1 + t) - t`, half of the first term, and terms of derivatives, of which
/// the last one here is positive.
pub fn shape_above(a: f64, step: f64, order: f64) -> Option<f64> {
    let m = order - 1.0;
    let least = a.min(a + step).min(a - m * step);
    let (mut sum, mut off) = (0.0, 0.0);
    // A quotient that is off by a unit moves K by t^2/(1 + t) units, and M by less.
    let mut add = |factor: f64, t: f64, value: f64| {
        sum += factor * value;
        off += factor * 32.0 * f64::EPSILON * (value + t * t / (1.0 + t));
    };
    let both = [(1.0, -m * step), (m, step)];
    let (mut x, mut far) = (a, least);
    while far < EDGE && x - a < 2.0 * EDGE {
        both.iter().for_each(|(factor, c)| add(*factor, c / x, lost_by_log(c / x)));
        (x, far) = (x + 1.0, far + 1.0);
    }
    for (factor, c) in both {
        let (t, y) = (c / x, x + c);
        // The derivatives of K(c/x), but for factorials.
        let change = |n: i32| (0..=n).map(|i| f64::from(i + 1) * x.powi(-2 - i) * y.powi(i - 1 - n)).sum::<f64>() * c * c;
        let rest = change(0) / 12.0 - change(2) / 360.0 + change(4) / 1260.0 - change(6) / 1680.0 + change(8) / 1188.0;
        add(factor, t, x * won_by_log(t));
        add(factor, t, lost_by_log(t) / 2.0 + rest);
    }
    let fine = least > 1e-6 * a && off <= 1e-8 * sum;
    fine.then_some((sum + off) / m * (1.0 + 1e-15))
}

/// `t - ln(1 + t)`, by its series where that cancels; what is left of the series is below a unit.
fn lost_by_log(t: f64) -> f64 {
    let series = || (2..28).rev().fold(0.0, |sum, k| 1.0 / f64::from(k) - t * sum);
    if t.abs() > 0.25 { t - libm::log1p(t) } else { t * t * series() }
}

/// `(1 + t) ln(1 + t) - t`.
fn won_by_log(t: f64) -> f64 {
    let series = || (2..28).rev().fold(0.0, |sum, k| 1.0 / f64::from(k * (k - 1)) - t * sum);
    if t.abs() > 0.25 { (1.0 + t) * libm::log1p(t) - t } else { t * t * series() }
}

/// The same of [`rate_divergence`], which grows with the shape and with the size of the step over the rate.
pub fn rate_above(shape: f64, ratio: f64, order: f64) -> Option<f64> {
    let m = order - 1.0;
    let (p, q) = (m * libm::log1p(ratio), libm::log1p(-m * ratio));
    let off = 8.0 * f64::EPSILON * (p.abs() + q.abs() + m * ratio + m * ratio / (1.0 - m * ratio));
    let fine = m * ratio < 1.0 - 1e-6 && ratio > 0.0 && off <= 1e-8 * (-p - q);
    fine.then_some(shape / m * (off - p - q) * (1.0 + 1e-15))
}

/// Phi(x): a series of positive terms in the middle, a continued fraction in the tails.
pub fn normal_cdf(x: &Real) -> Real {
    let [low, high] = x.ends().map(|end| at_point(&end));
    low.hull(&high)
}

fn at_point(x: &Real) -> Real {
    let density = (-&(x.square() / Real::int(2))).exp() / two_pi().sqrt();
    let size = x.max(&-x);
    if size.le(&Real::int(7)) {
        // x + x^3/3 + x^5/15 + ..: once the odd number is above 2 x^2, what is left is below the last term.
        let (square, mut term, mut sum) = (x.square(), x.clone(), x.clone());
        let (twice, tiny) = (&square + &square, Real::new(2.0_f64.powi(-200)));
        for odd in (3..300).step_by(2) {
            term = term * &square / Real::int(odd);
            sum = sum + &term;
            if twice.le(&Real::int(odd)) && term.max(&-&term).le(&tiny) {
                break;
            }
        }
        return Real::ratio(1, 2) + density * sum.hull(&(&sum + &term));
    }
    // x + 1/(x + 2/(x + 3/..)): neighbouring convergents stand on either side.
    let fraction = |depth: u64| (1..=depth).rev().fold(size.clone(), |f, k| &size + Real::int(k) / f);
    let tail = density / fraction(120).hull(&fraction(121));
    if x.positive() { Real::one() - tail } else { tail }
}

/// 2 pi between two numbers of 38 digits.
pub fn two_pi() -> Real {
    const DIGITS: i128 = 62_831_853_071_795_864_769_252_867_665_590_057_683;
    let unit = 10_i128.pow(37);
    Real::ratio(DIGITS, unit).hull(&Real::ratio(DIGITS + 1, unit))
}

/// ln(2 pi) / 2, worked out once.
pub fn half_ln_two_pi() -> Real {
    once("ln(2 pi) / 2".to_owned(), || two_pi().ln() / Real::int(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ln_gamma_in_doubles() {
        for x in [1e-9, 0.003, 0.5, 1.0, 1.7, 2.0, 6.0521, 23.99, 24.0, 117.3, 700.0, 1e6].map(|x: f64| x.next_up()) {
            let (exact, (near, off)) = (ln_gamma(&Real::new(x)), ln_gamma_near(x));
            // A tenth of what is allowed is enough.
            assert!(Real::new(near - 0.1 * off).le(&exact) && exact.le(&Real::new(near + 0.1 * off)), "{x}: {near} {off}");
        }
    }

    /// Doubles are never below the enclosures, and close.
    #[test]
    fn divergences_in_doubles() {
        let mut seen = 0;
        for (a, w) in [0.02, 0.7, 3.0, 40.0, 5e3].into_iter().flat_map(|a| [0.004, 0.3, 8.0, -0.01].map(|w| (a, w))) {
            for m in [1e-3, 0.1, 0.5, 0.99].map(|part| if w > 0.0 { part * a / w } else { 30.0 * part }) {
                let [x, y, order] = [a, w, 1.0 + m].map(Real::new);
                let exact = [shape_divergence(&x, &y, &order), rate_divergence(&Real::one(), &x, &y, &order)];
                let found = [shape_above(a, w, 1.0 + m), rate_above(1.0, (&y / &x).above(), 1.0 + m)];
                for (exact, found) in exact.into_iter().zip(found).filter_map(|(exact, found)| Some((exact, found?))) {
                    seen += 1;
                    assert!(exact.le(&Real::new(found)) && found <= exact.above() * (1.0 + 2e-8), "{a} {w} {m}: {found}");
                }
            }
        }
        assert!(seen > 100, "{seen}");
    }
}
