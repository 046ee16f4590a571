//! Scores of counts with a logarithmic link, cut to a bound and moved so that their mean stays 0 (rule book §20.4).

use crate::numeric::special::ln_gamma;

/// Predictors beyond this count as this: the mean is then 1e13.
const END: f64 = 30.0;
/// Beyond this mean, what is cut off on one side is what is cut off on the other.
const LARGE: f64 = 1e3;
/// Up to this mean sums begin at 0.
const SMALL: f64 = 300.0;
/// The upper tail of shapes up to this is long: what it holds follows from the counts below it.
const LONG: f64 = 50.0;
/// Terms of a sum.
const TERMS: usize = 10_000;

/// The mean of a count.
pub fn mean(t: f64) -> f64 {
    t.clamp(-END, END).exp()
}

/// The variance of a score: mean / (1 + mean / shape).
pub fn information(shape: f64, t: f64) -> f64 {
    mean(t) * part(shape, mean(t))
}

/// The predictor at which the logarithm of a count and a half has this mean.
pub fn level(shape: f64, of_log: f64) -> f64 {
    let (mut low, mut high) = (-END, END);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        (low, high) = if mean_log(shape, mean(middle)) < of_log { (middle, high) } else { (low, middle) };
    }
    low
}

/// The mean of log(Y + 1/2); of large means the difference from the logarithm of the mean hardly changes.
fn mean_log(shape: f64, mean: f64) -> f64 {
    // Above -log(1/2), so that no term is negative.
    const UP: f64 = 0.7;
    let few = mean.min(SMALL);
    Tail { shape, mean: few }.sum(0.0, 1.0, |y| (y + 0.5).ln() + UP) - UP + (mean / few).ln()
}

/// The slope of the logarithm of the likelihood is this times how far a count is from its mean.
fn part(shape: f64, mean: f64) -> f64 {
    1.0 / (1.0 + mean / shape)
}

/// The score of a count at this predictor: times what keeps its information at `most`, cut to `[-clip, clip]`, less its mean, and as much
/// smaller as stays inside.
pub fn score(shape: f64, t: f64, y: f64, (clip, most): (f64, f64)) -> f64 {
    let mean = mean(t);
    let times = part(shape, mean).min(most / mean);
    let cut = (times * (y - mean)).clamp(-clip, clip);
    let shift = cut_mean(Tail { shape, mean }, times, clip);
    ((cut - shift) * (clip / (clip + shift.abs()))).clamp(-clip, clip)
}

/// The mean of `times (Y - mean)` cut to `[-clip, clip]`: what is lost below less what is lost above.
fn cut_mean(of: Tail, times: f64, clip: f64) -> f64 {
    let (reach, mean) = (clip / times, of.mean);
    if mean > LARGE || !reach.is_finite() {
        return 0.0;
    }
    let above = if mean + reach > TERMS as f64 {
        // Nothing to speak of, of means up to `LARGE`, but for shapes far below 1.
        0.0
    } else if of.shape <= LONG {
        of.sum(0.0, 1.0, |y| mean + reach - y) - reach
    } else {
        of.sum((mean + reach).floor() + 1.0, 1.0, |y| y - mean - reach)
    };
    let below = if mean > reach { of.sum((mean - reach).ceil() - 1.0, -1.0, |y| mean - reach - y) } else { 0.0 };
    times * (below - above)
}

/// The law of a count.
#[derive(Clone, Copy)]
struct Tail {
    shape: f64,
    mean: f64,
}

impl Tail {
    fn ln(self, y: f64) -> f64 {
        let Tail { shape, mean } = self;
        if shape.is_infinite() {
            return y * mean.ln() - mean - ln_gamma(y + 1.0);
        }
        let odds = mean / (mean + shape);
        ln_gamma(y + shape) - ln_gamma(shape) - ln_gamma(y + 1.0) + shape * (1.0 - odds).ln() + y * odds.ln()
    }

    /// How much likelier y + 1 is than y.
    fn ratio(self, y: f64) -> f64 {
        let Tail { shape, mean } = self;
        if shape.is_infinite() { mean / (y + 1.0) } else { (y + shape) / (y + 1.0) * mean / (mean + shape) }
    }

    /// The sum of a number of each count from one on, upwards or downwards, times its probability, while it is not negative.
    fn sum(self, from: f64, step: f64, of: impl Fn(f64) -> f64) -> f64 {
        let (mut y, mut p, mut sum) = (from, self.ln(from).exp(), 0.0);
        for _ in 0..TERMS {
            if y < 0.0 || of(y) < 0.0 || p * (1.0 + of(y)) <= 1e-14 * sum {
                break;
            }
            sum += p * of(y);
            p *= if step > 0.0 { self.ratio(y) } else { 1.0 / self.ratio(y - 1.0) };
            y += step;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_found_again() {
        for shape in [0.5, 3.0, f64::INFINITY] {
            for t in [-4.0, -1.0, 0.0, 2.0, 5.0, 8.0] {
                let of = Tail { shape, mean: mean(t) };
                if t < 6.0 {
                    let all: f64 = (0..40_000).map(f64::from).map(|y| of.ln(y).exp() * (y + 0.5).ln()).sum();
                    assert!((all - mean_log(shape, mean(t))).abs() < 1e-6, "{shape} {t} {all}");
                }
                assert!((level(shape, mean_log(shape, mean(t))) - t).abs() < 1e-6, "{shape} {t}");
            }
        }
    }

    /// Cut or not, the mean of a score is 0; where nothing is cut its variance is the information.
    #[test]
    fn scores_have_mean_zero() {
        for shape in [0.5, 3.0, f64::INFINITY] {
            for t in [-4.0, -1.0, 0.0, 1.3, 3.0] {
                let of = Tail { shape, mean: mean(t) };
                let all = |f: &dyn Fn(f64) -> f64| (0..3000).map(f64::from).map(|y| of.ln(y).exp() * f(y)).sum::<f64>();
                for most in [f64::INFINITY, 1.0, 0.01] {
                    for clip in [0.3, 1.5, 6.0, 1e6] {
                        let found = all(&|y| score(shape, t, y, (clip, most)));
                        let size = all(&|y| score(shape, t, y, (clip, most)).abs());
                        assert!(found.abs() < 1e-9 * (1.0 + size), "{shape} {t} {most} {clip}: {found} {size}");
                    }
                }
                let variance = all(&|y| score(shape, t, y, (1e12, f64::INFINITY)).powi(2));
                assert!((variance / information(shape, t) - 1.0).abs() < 1e-6, "{shape} {t}: {variance}");
            }
        }
        for t in [f64::NAN, f64::INFINITY, -1e300] {
            for y in [0.0, 1e300, f64::INFINITY, f64::NAN] {
                let s = score(2.0, t, y, (0.7, 1.0));
                assert!(s.is_nan() || s.abs() <= 0.7, "{t} {y} {s}");
            }
        }
    }
}
