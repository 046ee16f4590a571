//! The posterior of a normal mean given a noisy sum: in closed form, or by a sum over what may stand behind the noise (rule book §15).

use super::Posterior;
use super::cells::{Cells, from_logs};
use crate::mechanism::plan::WholeNoise;

/// Weights below `exp(-DEPTH)` of the largest are left out.
const DEPTH: f64 = 45.0;
/// A component is never narrower than this part of the noise or of what is known of the sum, whichever is less: it widens the
/// posterior by less than one part in 10,000 where it matters.
const FINEST: f64 = 1.0 / 64.0;
/// Grid steps in the sd of noise from which on its lattice cannot be seen: beyond `exp(-2 pi^2 64)`.
const SMOOTH: f64 = 8.0;
/// So many grid points are summed one by one.
const FEW: f64 = 4096.0;
/// Width of a panel, in the scale on which the integrand changes.
const PANEL: f64 = 6.0;
/// More panels than any posterior has unless its noise was far out: then components are wider.
const PANELS: f64 = 1200.0;
/// Nodes and weights of the Gauss-Legendre rule of 16 points on [-1, 1], one side of it. On a panel its error is below 1e-11
/// of the largest value times half the width: the integrand, a normal density times an exponential, stays below `exp(26.1)` of
/// that value on the ellipse with foci at the ends and semi-axes that sum to 5, and the error is at most 64/15 of it over
/// `24 * 5^32`.
const RULE: [(f64, f64); 8] = [
    (0.095_012_509_837_637_44, 0.189_450_610_455_068_5),
    (0.281_603_550_779_258_9, 0.182_603_415_044_923_6),
    (0.458_016_777_657_227_4, 0.169_156_519_395_002_54),
    (0.617_876_244_402_643_7, 0.149_595_988_816_576_73),
    (0.755_404_408_355_003, 0.124_628_971_255_533_87),
    (0.865_631_202_387_831_7, 0.095_158_511_682_492_78),
    (0.944_575_023_073_232_6, 0.062_253_523_938_647_89),
    (0.989_400_934_991_649_9, 0.027_152_459_411_754_095),
];

/// A normal prior and `rows` rows of a known sd.
#[derive(Clone, Copy)]
pub(super) struct Mean {
    pub mean: f64,
    pub precision: f64,
    pub sd: f64,
    pub rows: f64,
}

impl Mean {
    /// The posterior given the sum itself.
    pub(super) fn exact(self, sum: f64) -> Posterior {
        let total = self.total();
        Posterior::Normal((self.precision * self.mean + sum / (self.sd * self.sd)) / total, 1.0 / total.sqrt())
    }

    fn total(self) -> f64 {
        self.precision + self.rows / (self.sd * self.sd)
    }

    /// The posterior given a noisy sum on a grid of this step.
    pub(super) fn given(self, noisy: f64, noise: WholeNoise, step: f64) -> Option<Posterior> {
        if self.rows < 1.0 {
            return Some(Posterior::Normal(self.mean, 1.0 / self.precision.sqrt()));
        }
        match noise {
            WholeNoise::Gaussian { sigma } if sigma >= SMOOTH * step => {
                let seen = self.rows * self.rows / (self.rows * self.sd * self.sd + sigma * sigma);
                let precision = self.precision + seen;
                let mean = (self.precision * self.mean + seen * noisy / self.rows) / precision;
                Some(Posterior::Normal(mean, 1.0 / precision.sqrt()))
            }
            WholeNoise::Gaussian { .. } | WholeNoise::Geometric { .. } => self.mixture(noisy, noise, step),
            _ => None,
        }
    }

    /// The posterior given a sum with normal noise, of a number of rows that is one of these: of n rows the sum has mean n m and variance
    /// n sd^2 + sigma^2 given the mean m, so each has its normal posterior, and its weight besides `ln` is the density of what was released.
    /// Means and sums count from `middle`.
    pub(super) fn of_some_rows(self, rows: Cells, ln: &dyn Fn(f64) -> f64, (noisy, sigma): (f64, f64), middle: f64) -> Posterior {
        let one = |n: f64| {
            let row = n * self.sd * self.sd + sigma * sigma;
            let (all, seen) = (row + n * n / self.precision, n / row);
            let precision = self.precision + n * seen;
            let mean = (self.precision * self.mean + seen * noisy) / precision;
            let weight = ln(n) - 0.5 * (all.ln() + (noisy - n * self.mean).powi(2) / all);
            (weight, Posterior::Normal(mean + middle, 1.0 / precision.sqrt()))
        };
        let (logs, components): (Vec<f64>, Vec<Posterior>) = rows.middles().into_iter().map(one).unzip();
        let weights = from_logs(logs);
        let total: f64 = weights.iter().sum();
        Posterior::Mixture { weights: weights.iter().map(|w| w / total).collect(), components }
    }

    /// The integral over sums S of `w(S) N(mean given S)`, w the normal law of S before the noise times the noise from S to what
    /// was released. Sums are counted from that of the largest weight, so that nothing cancels. How many components it has is a
    /// public fact, unless the noise was far out; so is how many it has at most.
    fn mixture(self, noisy: f64, noise: WholeNoise, step: f64) -> Option<Posterior> {
        let row = self.sd * self.sd;
        let (before, variance) = (self.rows * self.mean, self.rows * row + self.rows * self.rows / self.precision);
        let (gap, spread) = (noisy - before, variance.sqrt());
        // The largest weight, seen from the prior and from what was released; how the noise falls from it; how far noise reaches.
        let (up, off, size, reach) = match noise {
            WholeNoise::Geometric { scale } => {
                let up = gap.max(-variance / scale).min(variance / scale);
                (up, up - gap, scale, 1.15 * DEPTH * scale)
            }
            WholeNoise::Gaussian { sigma } => {
                (gap / (1.0 + (sigma / spread).powi(2)), -gap / (1.0 + (spread / sigma).powi(2)), sigma, (2.0 * DEPTH).sqrt() * sigma)
            }
            _ => return None,
        };
        // From the nearer end: the other may be so far that nothing is left of the difference.
        let mode = if off.abs() < up.abs() { noisy + off } else { before + up };
        // How far the logarithm of the weight has fallen at a distance: slopes of the prior and of the noise that end each other
        // there are left out.
        let fallen = |d: f64| {
            let own = 0.5 * (d / spread).powi(2);
            match noise {
                WholeNoise::Gaussian { sigma } => own + 0.5 * (d / sigma).powi(2),
                _ if off == 0.0 => own + d * (up / variance) + d.abs() / size,
                // Twice what lies beyond the kink.
                _ => own + 2.0 * (d * -off.signum() - off.abs()).max(0.0) / size,
            }
        };
        let usual = 2.0 * reach.min((2.0 * DEPTH).sqrt() * 1.05 * spread);
        let (low, high) = (edge(&fallen, -size.min(spread)), edge(&fallen, size.min(spread)));
        // In units of the sum: the sd of a component, and the scale on which the integrand changes.
        let own = (row * self.total().sqrt()).max(FINEST * size.min(spread));
        let change = 1.0 / (1.0 / (own * own) + 1.0 / variance + 1.0 / (size * size)).sqrt();
        let panels = ((usual / (PANEL * change)).ceil() + 1.0).max(((high - low) / (PANEL * change)).ceil()).min(PANELS);
        let own = own.max((high - low) / (PANEL * panels));
        let (first, phase) = ((low / step).floor(), mode % step);
        let points = ((usual / step).ceil() + 3.0).max((high / step).ceil() - first + 1.0);
        let nodes = if points <= (panels * 2.0 * RULE.len() as f64).max(FEW) {
            (0..points as u64).map(|i| ((first + i as f64) * step - phase, 1.0)).collect()
        } else {
            panelled(low, high, -off, panels)
        };
        let weights: Vec<f64> = nodes.iter().map(|(d, w)| w * (-fallen(*d)).exp()).collect();
        let total: f64 = weights.iter().sum();
        let centre = |d: f64| (self.precision * self.mean + (mode + d) / row) / self.total();
        let components = nodes.iter().map(|(d, _)| Posterior::Normal(centre(*d), own / row / self.total())).collect();
        (total > 0.0 && total.is_finite()).then(|| Posterior::Mixture { weights: weights.iter().map(|w| w / total).collect(), components })
    }
}

/// Where a convex function from 0 reaches `DEPTH`, on the side of `first`.
fn edge(fallen: &dyn Fn(f64) -> f64, first: f64) -> f64 {
    let mut far = first;
    // Quadratic at least: doublings end, with an infinity if doubles do.
    for _ in 0..2200 {
        if fallen(far) < DEPTH {
            far *= 2.0;
        }
    }
    let mut near = 0.0;
    for _ in 0..40 {
        let middle = 0.5 * (near + far);
        if fallen(middle) < DEPTH { near = middle } else { far = middle }
    }
    far
}

/// Nodes and weights on panels that end where the noise has its kink.
fn panelled(low: f64, high: f64, kink: f64, panels: f64) -> Vec<(f64, f64)> {
    let left = if kink > low && kink < high { (panels * (kink - low) / (high - low)).round().min(panels - 1.0).max(1.0) } else { panels };
    let parts = if left < panels { vec![(low, kink, left), (kink, high, panels - left)] } else { vec![(low, high, panels)] };
    let mut out = vec![];
    for (from, to, panels) in parts {
        let half = 0.5 * (to - from) / panels;
        for i in 0..panels as u64 {
            let middle = from + (2.0 * i as f64 + 1.0) * half;
            out.extend(RULE.iter().flat_map(|(x, w)| [(middle - half * x, half * w), (middle + half * x, half * w)]));
        }
    }
    out
}
