//! The smallest ball around the scores that rows can have at public weights (rule book §20.3): rows that are sure of their outcome have long scores on one side only.
//!
//! No claim rests on it: that a row stays inside is held in integers.

use super::Law;

/// Predictors on either side of 0 that are looked at, the farthest in units of `reach`; closer together near 0, where scores change fast.
const PLACES: i32 = 128;
const FARTHEST: f64 = 4.0;
/// Between these, few scores are further out than this.
const BETWEEN: f64 = 1.002;
const HALVINGS: usize = 32;
/// How much faster than those of logistic rows scores of cloglog rows grow, which are exponentials.
const CLOGLOG: f64 = 3.2;

/// Scores `a s u` of rows of d features with predictor `t = b'u`, `a = min(1, (cut / |u|)^2)`, all lie within the second number of the first one times the
/// direction of b, both in units of the cut, where `reach = |b| cut`.
pub fn ball(law: Law, d: usize, kept: (f64, f64), reach: f64) -> (f64, f64) {
    let around = (0.0, kept.0);
    let (Some(ends), true) = (law.ends(), reach.is_finite()) else { return around };
    // A score s of a row of length l with the predictor `reach c`, `l >= |c|`, is `a s / l` times (c, the rest of l) away from 0. Of these the one of
    // length max(1, |c|) is furthest from m in the direction of b, if any is further than 0 is: its square is `m^2 + (s / l)^2 - 2 m s c / l^2`.
    // One feature is as long as its predictor says.
    let share = |c: f64| if d == 1 { (c.abs().min(1.0 / c.abs()), c.signum()) } else { (1.0 / c.abs().max(1.0), c / c.abs().max(1.0)) };
    let cubes = (-PLACES..=PLACES).map(|k| FARTHEST * (f64::from(k) / f64::from(PLACES)).powi(3));
    let mut points = vec![];
    for c in cubes.chain([-1.0, 1.0]) {
        let (a, along) = share(c);
        let both = ends.map(|y| law.score((reach * c, 0.0), y, kept));
        points.extend(both.map(|s| (a * s * a * s, a * s * along)));
    }
    // The score that is furthest from m, or 0: its square and its place along b.
    let furthest = |m: f64| {
        let further = |a: (f64, f64), b: (f64, f64)| if b.0 - 2.0 * m * b.1 > a.0 - 2.0 * m * a.1 { b } else { a };
        points.iter().copied().fold((0.0, 0.0), further)
    };
    let radius = |m: f64| {
        let (square, along) = furthest(m);
        (m * m + square - 2.0 * m * along).sqrt()
    };
    // The largest of distances is convex in the centre: it falls towards the score that is furthest.
    let (mut low, mut high) = (-kept.0, kept.0);
    for _ in 0..HALVINGS {
        let m = 0.5 * (low + high);
        if furthest(m).1 < m { high = m } else { low = m }
    }
    let centre = 0.5 * (low + high);
    let found = BETWEEN * radius(centre);
    if found < kept.0 { (centre, found) } else { around }
}

/// The second number, within 7 % of the cut, where many are needed: at weights 0 scores are half of the largest, and far out nearly it.
pub fn radius_about(law: Law, (clip, most): (f64, f64), reach: f64) -> f64 {
    let (Some(ends), (_, largest)) = (law.ends(), law.most()) else { return clip };
    let still = ends.into_iter().map(|y| law.score((0.0, 0.0), y, (clip, most)).abs()).fold(0.0, f64::max);
    // How much faster than those of logistic rows the scores grow.
    let (slope, variance) = law.first();
    let faster = if law == Law::Cloglog { CLOGLOG } else { slope / variance };
    clip.min(largest - (largest - still) * (1.0 + 0.12 * (reach * faster).powi(2)).powf(-0.7))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of any length and direction are inside, and some at the edge; where weights are 0 the ball has half the radius, and
    /// far out it is that around 0.
    #[test]
    fn scores_are_inside() {
        for (law, clip) in [(Law::Logit { trials: 1 }, 1.0), (Law::Logit { trials: 8 }, 5.2), (Law::Probit, 2.0), (Law::Cloglog, 2.4)] {
            for (d, reach) in [1, 2].into_iter().flat_map(|d| [0.0, 0.1, 1.0, 2.5, 7.0, 40.0].map(|reach| (d, reach))) {
                let (centre, radius) = ball(law, d, (clip, 1.0), reach);
                let mut farthest: f64 = 0.0;
                // One feature has two directions.
                let angles = (0..=1000).step_by(if d == 1 { 1000 } else { 1 });
                for (i, k) in angles.flat_map(|i| (1..=240).map(move |k| (i, k))) {
                    let (angle, length) = (std::f64::consts::PI * f64::from(i) / 1000.0, 0.025 * f64::from(k));
                    for y in law.ends().into_iter().flatten() {
                        let s = length.min(1.0 / length) * law.score((reach * length * angle.cos(), 0.0), y, (clip, 1.0));
                        farthest = farthest.max((s * angle.cos() - centre).hypot(s * angle.sin()));
                    }
                }
                assert!(farthest <= radius * 1.01 && farthest > 0.99 * radius, "{law:?} {d} {reach}: {farthest} of {radius}");
                let about = radius_about(law, (clip, 1.0), reach);
                assert!(d == 1 || (about - radius).abs() < 0.07 * clip, "{law:?} {reach}: {about} for {radius}");
            }
        }
        let (centre, radius) = ball(Law::Logit { trials: 1 }, 2, (1.0, 0.25), 0.0);
        assert!(centre.abs() < 1e-9 && radius < 0.502, "{centre} {radius}");
        // Along one feature two outcomes of rows of one length are 1 apart, wherever the weights are.
        assert!(ball(Law::Logit { trials: 1 }, 1, (1.0, 0.25), 5.0).1 < 0.53);
        assert_eq!(ball(Law::Logit { trials: 1 }, 2, (1.0, 0.25), f64::INFINITY), (0.0, 1.0));
        assert_eq!(ball(Law::Normal { sd: 1.0 }, 2, (1.0, 0.25), 1.0), (0.0, 1.0));
    }
}
