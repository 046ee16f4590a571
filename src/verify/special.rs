//! Special functions as enclosures: log-gamma by a shifted Stirling series, the normal cdf, divergences of gamma pairs.

use super::real::Real;

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
/// From here on the last of these terms is below 1e-32.
const SHIFT: u64 = 24;

/// ln Gamma(x) without the constant ln(2 pi)/2, which cancels in every divergence; unknown unless x > 0.
///
/// The series envelops: what is left out is below the last term that is added, and of the other sign.
pub fn ln_gamma(x: &Real) -> Real {
    if !x.positive() {
        return Real::UNKNOWN;
    }
    let (mut z, mut product) = (x.clone(), Real::one());
    while !Real::int(SHIFT).le(&z) {
        product = product * &z;
        z = z + Real::one();
    }
    let square = Real::one() / z.square();
    let mut power = Real::one() / &z;
    let (mut sum, mut last) = ((&z - Real::ratio(1, 2)) * z.ln() - &z, Real::zero());
    for (a, b) in STIRLING {
        last = Real::ratio(a, b) * &power;
        sum = sum + &last;
        power = power * &square;
    }
    sum.hull(&(&sum - &last)) - product.ln()
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
        for odd in (3..300).step_by(2) {
            term = term * &square / Real::int(odd);
            sum = sum + &term;
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
