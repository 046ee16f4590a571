//! The logarithm of the Gamma function and its differences, enclosed.
//!
//! Above `SHIFT` by Stirling's series, which envelops: the error after any term lies between zero and the next one. Smaller
//! arguments are moved up by whole steps.

use super::Interval;

const SHIFT: f64 = 16.0;
/// `B_2k / (2k (2k - 1))` as reciprocals or quotients; the last bounds the error.
const SERIES: [(f64, f64); 7] =
    [(1.0, 12.0), (-1.0, 360.0), (1.0, 1260.0), (-1.0, 1680.0), (1.0, 1188.0), (-691.0, 360_360.0), (1.0, 156.0)];

fn point(x: f64) -> Interval {
    Interval::point(x)
}

/// Steps that move `x` to `SHIFT` or beyond.
fn steps(x: f64) -> impl Iterator<Item = Interval> {
    (0..=SHIFT as i32).map(f64::from).take_while(move |j| x + j < SHIFT).map(point)
}

/// What Stirling's formula leaves at `z >= SHIFT`.
fn rest(z: Interval) -> Interval {
    let (inverse, mut power, mut sum) = ((Interval::ONE / z).square(), Interval::ONE / z, Interval::ZERO);
    for (place, (a, b)) in SERIES.into_iter().enumerate() {
        let term = power * point(a) / point(b);
        sum = sum + if place + 1 == SERIES.len() { term.hull(Interval::ZERO) } else { term };
        power = power * inverse;
    }
    sum
}

/// `ln Gamma(x)`; the whole line unless x is positive and finite.
pub fn ln_gamma(x: f64) -> Interval {
    if !(x > 0.0 && x.is_finite()) {
        return Interval::ENTIRE;
    }
    let (mut product, mut z) = (Interval::ONE, point(x));
    for j in steps(x) {
        product = product * (point(x) + j);
        z = point(x) + j + Interval::ONE;
    }
    let root = Interval::new(std::f64::consts::TAU.next_down(), std::f64::consts::TAU.next_up()).ln() / point(2.0);
    (z - point(0.5)) * z.ln() - z + root + rest(z) - product.ln()
}

/// `ln Gamma(x + w) - ln Gamma(x)` for positive x and w, without cancellation; the whole line elsewhere.
pub fn ln_gamma_step(x: Interval, w: f64) -> Interval {
    if !(x.lo > 0.0 && x.hi.is_finite() && w > 0.0 && w.is_finite()) {
        return Interval::ENTIRE;
    }
    let (w, mut z, mut moved) = (point(w), x, Interval::ZERO);
    for j in steps(x.lo) {
        moved = moved + (w / (x + j)).ln_1p();
        z = x + j + Interval::ONE;
    }
    let above = z + w;
    (z - point(0.5)) * (w / z).ln_1p() + w * (above.ln() - Interval::ONE) + (rest(above) - rest(z)) - moved
}

#[cfg(test)]
mod tests {
    use super::*;

    /// mpmath, 60 digits: `ln Gamma(x)`, and what a step of 0.001 adds.
    #[test]
    fn known_values() {
        let known: [(f64, f64, f64); 6] = [
            (0.3, 1.095_797_994_818_075_6, -0.003_496_414_054_467_738),
            (1.0, 0.0, -0.000_576_393_598_283_369_5),
            (7.25, 7.052_185_450_738_539_4, 0.001_910_527_462_862_424_8),
            (15.999, 27.896_530_402_760_15, 0.002_740_981_080_742_734_6),
            (250.0, 1_128.523_770_872_990_7, 0.005_519_461_588_533_702),
            (1e9, 19723265827.503716, 0.020_723_265_836_446_91),
        ];
        for (x, value, step) in known {
            let holds = |found: Interval, exact: f64, room: f64| {
                let unit = 2.5e-16 * exact.abs();
                assert!(found.lo - unit <= exact && exact <= found.hi + unit && found.hi - found.lo < room, "{x}: {found:?}, {exact}");
            };
            holds(ln_gamma(x), value, 1e-12 + 2e-14 * value);
            holds(ln_gamma_step(point(x), 0.001), step, 2e-16 + 1e-13 * step.abs());
        }
        assert_eq!(ln_gamma(0.0), Interval::ENTIRE);
        assert_eq!(ln_gamma_step(point(-1.0), 1.0), Interval::ENTIRE);
    }
}
