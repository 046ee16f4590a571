//! Released counts as a posterior: written down as they are, or with all counts that may stand behind the noise (rule book §15).

use super::Posterior;
use super::cells::{Cells, from_logs};
use super::normal::Mean;
use super::waiting::Waiting;
use crate::dist::sample::uniform;
use crate::mechanism::plan::{WholeFamily, WholeLaw, WholeNoise};
use crate::mechanism::{BitSource, Number, Released};
use crate::numeric::special::ln_neg_binomial;
use crate::run::bits::Bits;

/// Noise beyond so many scales (standard deviations) is left out: its mass is below `exp(-30)` (`exp(-72)`).
const SCALES: f64 = 30.0;
const SDS: f64 = 12.0;
/// Of the mixture, what may be left out; the window grows until it is not more.
const DROPPED: f64 = 1e-10;
/// Draws of the counts where the mixture has too many components to be written out.
pub(super) const DRAWN: usize = 1000;
/// Values of one count on either side that are weighed, or as far as three times the noise reaches.
const WEIGHED: f64 = 2e6;
/// Noise that reaches over more numbers than this is weighed by cells of several.
const FINE: f64 = 32_768.0;
/// Numbers of rows that are weighed where a sum says little of them.
const SIZES: f64 = 512.0;
/// Products in a table of sums; the windows narrow until they fit, then numbers go together.
const PRODUCTS: f64 = 3e8;

/// The logarithm of the probability of noise, up to a constant.
pub(super) fn ln_noise(noise: WholeNoise, distance: f64) -> f64 {
    match noise {
        WholeNoise::Geometric { scale } | WholeNoise::FloorLaplace { scale } => -distance.abs() / scale,
        WholeNoise::Gaussian { sigma } => -0.5 * (distance / sigma) * (distance / sigma),
        WholeNoise::Hellinger { .. }
        | WholeNoise::Moments { .. }
        | WholeNoise::Scores { .. }
        | WholeNoise::Steps { .. }
        | WholeNoise::Rows { .. } => 0.0,
    }
}

/// How far noise reaches, in whole numbers: a public fact.
pub(super) fn reach(noise: WholeNoise, part: f64) -> f64 {
    match noise {
        WholeNoise::Gaussian { sigma } => (part * SDS * sigma).ceil() + 2.0,
        WholeNoise::Geometric { scale } | WholeNoise::FloorLaplace { scale } => (part * SCALES * scale).ceil() + 2.0,
        WholeNoise::Hellinger { .. }
        | WholeNoise::Moments { .. }
        | WholeNoise::Scores { .. }
        | WholeNoise::Steps { .. }
        | WholeNoise::Rows { .. } => 0.0,
    }
}

/// The posterior that a mechanism has released; `rows_are_public` says that the number of items stands first. What doubles cannot
/// compute is nan: after a charge there is a posterior, whatever the rows.
///
/// `None` if no randomness is left or the law wants a number of rows that is not there, which no mechanism causes.
pub fn released(law: &WholeLaw, release: &Released, rows_are_public: bool, source: &mut dyn BitSource) -> Option<Posterior> {
    let numbers: Vec<f64> = release.components.iter().map(|n| n.to_f64()).collect();
    let (total, noisy) = match (rows_are_public, numbers.split_first()) {
        (true, Some((total, rest))) => (Some(*total), rest.to_vec()),
        (false, _) => (None, numbers),
        _ => return None,
    };
    let step = release.components.last().map_or(1.0, |n| Number::new(1, n.exponent).to_f64());
    let mut rng = Bits::new(source);
    let found = match (&law.family, total) {
        (WholeFamily::Gamma { shape, rate }, total) => of_rate((*shape, *rate), total, &noisy, law, &mut rng),
        (WholeFamily::Failures { a, b, successes }, Some(rows)) => of_failures([*a, *b], rows * successes, &noisy, law),
        (WholeFamily::Failures { .. }, None) => return None,
        (WholeFamily::Counts { alpha, single, .. }, total) => of_counts((alpha, *single), total, &noisy, law, &mut rng),
        (WholeFamily::Normal { mean, precision, sd, secret: Some(range) }, None) => {
            let ([rows, sum], [of_rows, WholeNoise::Gaussian { sigma }]) = (noisy.as_slice(), law.noise.parts()?) else { return None };
            let (middle, likely) = (f64::midpoint(range.lo, range.hi), Cells::around(*rows, reach(of_rows, 1.0), SIZES));
            let before = Mean { mean: *mean - middle, precision: *precision, sd: *sd, rows: 0.0 };
            Some(before.of_some_rows(likely, &|n| ln_noise(of_rows, rows - n), (*sum, sigma), middle))
        }
        (
            WholeFamily::Normal { .. }
            | WholeFamily::Rate { .. }
            | WholeFamily::Means { .. }
            | WholeFamily::Weights { .. }
            | WholeFamily::Scored { .. },
            None,
        ) => return None,
        (WholeFamily::Rate { shape, rate, per_row, scale }, Some(rows)) => {
            let waiting = Waiting { shape: *shape, rate: *rate, more: rows * per_row, scale: *scale };
            let sum = *noisy.last()?;
            if law.aware { waiting.given(sum, law.noise) } else { Some(waiting.exact(sum)) }
        }
        (WholeFamily::Means { .. }, Some(rows)) => super::linear::means(law, rows, &noisy),
        (WholeFamily::Weights { .. } | WholeFamily::Scored { .. }, Some(rows)) if matches!(law.noise, WholeNoise::Steps { .. }) => {
            super::linear::stepwise(law, rows, &noisy)
        }
        (WholeFamily::Weights { .. }, Some(rows)) => super::linear::given(law, rows, &noisy, &mut rng),
        (WholeFamily::Scored { .. }, Some(_)) => super::linear::seen(law, &noisy),
        (WholeFamily::Normal { mean, precision, sd, .. }, Some(rows)) => {
            let prior = Mean { mean: *mean, precision: *precision, sd: *sd, rows };
            let sum = *noisy.last()?;
            if law.aware { prior.given(sum, law.noise, step) } else { Some(prior.exact(sum)) }
        }
    };
    (!rng.failed()).then(|| found.unwrap_or_else(|| unknown(&law.family)))
}

fn of_rate((shape, rate): (f64, f64), total: Option<f64>, noisy: &[f64], law: &WholeLaw, rng: &mut Bits) -> Option<Posterior> {
    match (total, noisy) {
        (Some(n), [sum]) if law.aware => rate_given(shape, rate, n, *sum, law.noise),
        (Some(n), [sum]) => Some(Posterior::Gamma(shape + sum.max(0.0), rate + n)),
        (None, [rows, sum]) => super::rate::given(shape, rate, [*rows, *sum], law.noise.parts()?, rng),
        _ => None,
    }
}

/// Of a sum S of failures before so many successes, `Beta(a + successes, b + S)`; given the noisy sum a mixture of these over S, whose
/// probability is beta negative binomial: three negative binomial ones at common odds q / p, of which powers of q are left.
fn of_failures([a, b]: [f64; 2], successes: f64, noisy: &[f64], law: &WholeLaw) -> Option<Posterior> {
    let [sum] = noisy else { return None };
    let component = |s: f64| Posterior::Beta(a + successes, b + s);
    if !law.aware {
        return Some(component(sum.max(0.0)));
    }
    let odds = b / a;
    let q = -(1.0 / odds).ln_1p();
    let part = |shape: f64, s: f64| ln_neg_binomial(shape, odds, s);
    let ln = |s: f64| part(successes, s) + part(b, s) - part(a + b + successes, s) - s * q + ln_noise(law.noise, sum - s);
    mixture(sum.max(0.0), (3.0 * reach(law.noise, 1.0), f64::INFINITY), law.noise, ln, component)
}

fn of_counts(prior: (&[f64], bool), total: Option<f64>, noisy: &[f64], law: &WholeLaw, rng: &mut Bits) -> Option<Posterior> {
    let (alpha, single) = prior;
    match (total, alpha, noisy) {
        (Some(total), [a, b], [s]) if law.aware => share_given([*a, *b], total, *s, (law.noise, single)),
        (Some(total), [a, b], [s]) => {
            let wins = s.clamp(0.0, total);
            Some(shares(&[a + wins, b + (total - wins)], single))
        }
        (Some(_), _, all) if !law.aware => Some(shares(&alpha.iter().zip(all).map(|(a, c)| a + c.max(0.0)).collect::<Vec<f64>>(), single)),
        _ => shares_given(prior, total, noisy, law.noise, rng),
    }
}

fn unknown(family: &WholeFamily) -> Posterior {
    let none = f64::NAN;
    match family {
        WholeFamily::Counts { alpha, single, .. } => shares(&vec![none; alpha.len()], *single),
        WholeFamily::Gamma { .. } | WholeFamily::Rate { .. } => Posterior::Gamma(none, none),
        WholeFamily::Failures { .. } => Posterior::Beta(none, none),
        WholeFamily::Normal { .. } => Posterior::Normal(none, none),
        WholeFamily::Weights { mean, .. } | WholeFamily::Scored { mean, .. } | WholeFamily::Means { precision_mean: mean, .. } => {
            Posterior::MultiNormal { mean: vec![none; mean.len()], factor: (1..=mean.len()).map(|i| vec![none; i]).collect() }
        }
    }
}

/// A Beta posterior has one number, a Dirichlet posterior one a level, two at least.
fn shares(alpha: &[f64], single: bool) -> Posterior {
    match alpha {
        [a, b] if single => Posterior::Beta(*a, *b),
        _ => Posterior::Dirichlet(alpha.to_vec()),
    }
}

/// `sum over s of w_s Beta(a + s, b + n - s)`, `w_s` proportional to the noise from s to what was released times the
/// beta-binomial probability of s.
fn share_given([a, b]: [f64; 2], total: f64, noisy: f64, (noise, single): (WholeNoise, bool)) -> Option<Posterior> {
    // Of two independent counts with these odds, given that they sum to n.
    let odds = total / (a + b);
    let ln = |s: f64| ln_neg_binomial(a, odds, s) + ln_neg_binomial(b, odds, total - s) + ln_noise(noise, noisy - s);
    let component = |s: f64| shares(&[a + s, b + (total - s)], single);
    mixture(noisy.clamp(0.0, total), (WEIGHED.max(3.0 * reach(noise, 1.0)), total), noise, ln, component)
}

/// The same for a rate: sums S of Poisson counts have a negative binomial law, and the posterior given S is a Gamma.
fn rate_given(shape: f64, rate: f64, rows: f64, noisy: f64, noise: WholeNoise) -> Option<Posterior> {
    // Below 0 no sum lies, and far above what was released none has a chance: noise falls by e at every scale.
    let ln = |s: f64| ln_neg_binomial(shape, rows / rate, s) + ln_noise(noise, noisy - s);
    let component = |s: f64| Posterior::Gamma(shape + s, rate + rows);
    mixture(noisy.max(0.0), (3.0 * reach(noise, 1.0), f64::INFINITY), noise, ln, component)
}

/// All numbers up to `most` that lie no further from `centre` than `far`, each with the exponential of `ln` for its weight; kept in
/// a window whose width public facts say, grown until what is left out is at most `DROPPED`.
fn mixture(
    centre: f64,
    (far, most): (f64, f64),
    noise: WholeNoise,
    ln: impl Fn(f64) -> f64,
    component: impl Fn(f64) -> Posterior,
) -> Option<Posterior> {
    let size = ((2.0 * reach(noise, 1.0) + 1.0) / FINE).ceil();
    let cells = Cells::new((centre - far).max(0.0).floor(), (centre + far).min(most).floor(), size);
    // The last cell may reach past the end.
    let at = |i: usize| cells.middle(i).min(most);
    let weights = from_logs((0..cells.count).map(|i| ln(at(i))).collect());
    let mut sums = vec![0.0];
    let mut sum = 0.0;
    for w in &weights {
        sum += w;
        sums.push(sum);
    }
    let mut width = ((2.0 * reach(noise, 1.0) + 1.0) / size) as usize;
    loop {
        width = width.clamp(1, weights.len().max(1));
        let inside = |i: usize| Some(sums.get(i + width)? - sums.get(i)?);
        let best = (0..=weights.len() - width).filter_map(|i| Some((i, inside(i)?))).max_by(|a, b| a.1.total_cmp(&b.1));
        let (start, mass) = best?;
        if width == weights.len() || sum - mass <= DROPPED * sum {
            let kept = weights.get(start..start + width)?;
            let components = (start..start + width).map(|i| component(at(i))).collect();
            return Some(Posterior::Mixture { weights: kept.iter().map(|w| w / mass).collect(), components });
        }
        width = width.saturating_mul(2);
    }
}

/// The values that one count may have, in units, and how likely each is given its noisy version, up to the sum of all counts.
struct Window {
    first: u64,
    weights: Vec<f64>,
}

/// Several counts: `DRAWN` independent, exact draws of all of them given what was released, and a posterior for each.
///
/// The weight of counts c is a product over levels, negative binomial probabilities with common odds times the noise, restricted
/// to a sum of n; where n is secret every n is as likely before, so the weight is divided by the probability of the sum. So sums
/// of the last levels are tabulated once, and the counts are drawn one after the other.
fn shares_given(
    (alpha, single): (&[f64], bool),
    total: Option<f64>,
    noisy: &[f64],
    noise: WholeNoise,
    rng: &mut Bits,
) -> Option<Posterior> {
    let k = alpha.len();
    if noisy.len() != k || k < 2 {
        return None;
    }
    let size = |part: f64| 2.0 * reach(noise, part) + 1.0;
    let mut part = 1.0;
    while size(part) * size(part) * (k * k) as f64 > PRODUCTS && part > 0.3 {
        part *= 0.8;
    }
    let mut wide = reach(noise, part);
    let seen = noisy.iter().map(|s| s.max(0.0)).sum::<f64>().max(1.0);
    let odds = total.unwrap_or(seen) / alpha.iter().sum::<f64>();
    // The windows hold counts of the right sum unless all noise was far out: then they grow.
    for _ in 0..12 {
        let widest = (2.0 * wide + 1.0).min(total.unwrap_or(f64::INFINITY) + 1.0);
        let unit = (widest * k as f64 / PRODUCTS.sqrt()).ceil();
        let ln = |(a, s): (&f64, &f64)| window(*a, *s, (wide, unit), (odds, total), noise);
        let logs: Vec<(u64, Vec<f64>)> = alpha.iter().zip(noisy).map(ln).collect();
        let all = total.map(|n| (n / unit).round());
        let slope = all.map_or(0.0, |n| slope(&logs, n));
        let tilted = |(first, ln): (u64, Vec<f64>)| Window { first, weights: tilted(&ln, slope) };
        let windows: Vec<Window> = logs.into_iter().map(tilted).collect();
        if let Some(found) = drawn((alpha, single), (all, unit, odds), &windows, rng) {
            return Some(found);
        }
        wide *= 2.0;
    }
    None
}

/// The first value of a window in units, and the logarithms of all weights.
fn window(alpha: f64, noisy: f64, (wide, unit): (f64, f64), (odds, total): (f64, Option<f64>), noise: WholeNoise) -> (u64, Vec<f64>) {
    let top = total.unwrap_or(1e15);
    let centre = noisy.clamp(0.0, top);
    let (lo, hi) = (((centre - wide).max(0.0) / unit).floor() as u64, ((centre + wide).min(top) / unit).ceil() as u64);
    let ln = |c: u64| ln_neg_binomial(alpha, odds, c as f64 * unit) + ln_noise(noise, noisy - c as f64 * unit);
    (lo, (lo..=hi).map(ln).collect())
}

/// Weights whose logarithms get a slope, the largest 1.
fn tilted(ln: &[f64], slope: f64) -> Vec<f64> {
    from_logs(ln.iter().enumerate().map(|(i, x)| x + slope * i as f64).collect())
}

/// The slope that brings the mean of the sum of all counts to n; where prior and noise say that n is far out, doubles could not
/// reach it. Given the sum, a slope common to all counts changes nothing.
fn slope(windows: &[(u64, Vec<f64>)], n: f64) -> f64 {
    let (mut low, mut high) = (-1e8, 1e8);
    for _ in 0..80 {
        let slope = 0.5 * (low + high);
        let mean = |(first, ln): &(u64, Vec<f64>)| {
            let weights = tilted(ln, slope);
            let sum: f64 = weights.iter().enumerate().map(|(i, w)| i as f64 * w).sum();
            *first as f64 + sum / weights.iter().sum::<f64>()
        };
        if windows.iter().map(mean).sum::<f64>() < n { low = slope } else { high = slope }
    }
    0.5 * (low + high)
}

/// `None` where no counts in the windows have the right sum.
fn drawn(
    (alpha, single): (&[f64], bool),
    (total, unit, odds): (Option<f64>, f64, f64),
    windows: &[Window],
    rng: &mut Bits,
) -> Option<Posterior> {
    // Entry i: weights of the sum of counts i, i + 1, ..
    let mut tables: Vec<Window> = vec![];
    for w in windows.iter().rev() {
        let next = match tables.last() {
            None => Window { first: w.first, weights: w.weights.clone() },
            Some(rest) => convolved(w, rest),
        };
        tables.push(next);
    }
    tables.reverse();
    let everything: f64 = alpha.iter().sum();
    let whole = tables.first()?;
    let weight = |(i, w): (usize, &f64)| {
        let n = (whole.first + i as u64) as f64;
        match total {
            Some(t) if n == t => w.ln(),
            Some(_) => f64::NEG_INFINITY,
            None if *w > 0.0 => w.ln() - ln_neg_binomial(everything, odds, n * unit),
            None => f64::NEG_INFINITY,
        }
    };
    let sums = from_logs(whole.weights.iter().enumerate().map(weight).collect());
    let mut components = Vec::with_capacity(DRAWN);
    for _ in 0..DRAWN {
        let mut left = whole.first + pick(&sums, rng)? as u64;
        let mut counts = Vec::with_capacity(alpha.len());
        for (i, w) in windows.iter().enumerate() {
            let c = match tables.get(i + 1) {
                None => left,
                Some(rest) => {
                    let chance = |(j, own): (usize, &f64)| {
                        let sum = left.checked_sub(w.first + j as u64).and_then(|s| s.checked_sub(rest.first));
                        own * sum.and_then(|s| rest.weights.get(s as usize)).copied().unwrap_or(0.0)
                    };
                    let chances: Vec<f64> = w.weights.iter().enumerate().map(chance).collect();
                    w.first + pick(&chances, rng)? as u64
                }
            };
            counts.push(c as f64 * unit);
            left = left.checked_sub(c)?;
        }
        components.push(shares(&alpha.iter().zip(&counts).map(|(a, c)| a + c).collect::<Vec<f64>>(), single));
    }
    Some(Posterior::Mixture { weights: vec![1.0 / DRAWN as f64; DRAWN], components })
}

/// The weights of sums, scaled to a largest of 1.
fn convolved(a: &Window, b: &Window) -> Window {
    let mut weights = vec![0.0; (a.weights.len() + b.weights.len()).saturating_sub(1)];
    for (i, x) in a.weights.iter().enumerate() {
        let row = weights.iter_mut().skip(i);
        row.zip(&b.weights).for_each(|(sum, y)| *sum += x * y);
    }
    let largest = weights.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    weights.iter_mut().for_each(|w| *w /= largest);
    Window { first: a.first + b.first, weights }
}

/// An index with probability proportional to its weight.
pub(super) fn pick(weights: &[f64], rng: &mut Bits) -> Option<usize> {
    let total: f64 = weights.iter().sum();
    if !(total > 0.0 && total.is_finite()) {
        return None;
    }
    let mut left = uniform(rng) * total;
    let mut last = None;
    for (i, w) in weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
        last = Some(i);
        left -= w;
        if left < 0.0 {
            break;
        }
    }
    last
}
