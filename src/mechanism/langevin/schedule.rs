//! Step sizes and lengths of a Langevin chain from public facts alone, and why their change costs nothing.
//!
//! **Accuracy.** A step h leaves along a direction of curvature l what is left of the start, `exp(-K h l)`, and draws with
//! a variance too large by the factor `1 / (1 - h l / 2)`. The first phase, `h = 1 / M`, forgets the start: its K leaves
//! `exp(-3 l / m)` of it, at most 5 % where the data say nothing and the start is the centre of the posterior anyway, and
//! less than 1e-6 where they say five times as much as the prior. Where m holds what all rows say at least (rule book §4.4), in
//! units of the prior's sd, the centre may lie sqrt(m) of its own sds away, and K grows by `ln(sqrt(m)) / (h m)`. Its variance along the steepest direction may be twice
//! too large. 64 steps of `1 / (8 M)` mend that: they forget the first phase where l is large, and their own excess is at
//! most 7 %. Two more phases of 64 steps, each 8 times finer, are for chains projected onto a set: a state within
//! `sqrt(2 h)` of the edge is often thrown onto it, so the edge is too likely by that width, in the end by a
//! sixteenth of the narrowest standard deviation. Nothing depends on the rows but their public number.
//!
//! **Privacy.** For potentials that are m-strongly convex and M-smooth with gradients that differ by at most G, and any
//! steps `0 < h_k <= 2 / (m + M)`, the last state is mu-GDP with `mu^2 <= G^2 / m * (1 - b_0) / (1 + b_0)`, where
//! `b_k` is the product of `c_j = 1 - h_j m` over all later steps. So it never costs more than the ideal draw, `G^2 / m`.
//! Proof (the shifted interpolation of Bok, Su and Altschuler 2024, whose lemma takes each step by itself): a step maps
//! with Lipschitz constant `c_k`, differs by at most `s_k = h_k G`, and adds noise of variance `2 h_k`; for any
//! `z_k = c_k z_(k-1) + s_k - a_k` with `z_0 = z_K = 0` and all `z_k, a_k >= 0`, `mu^2 = sum a_k^2 / (2 h_k)`. Take
//! `a_k = C b_k h_k (2 - h_k m)`. As `b_k - b_(k-1) = b_k h_k m` and `b_k^2 - b_(k-1)^2 = b_k^2 h_k m (2 - h_k m)`, the sums
//! telescope: `b_k z_k = G (b_k - b_0) / m - C (b_k^2 - b_0^2) / m`, which is 0 at k = K for `C = G / (1 + b_0)` and, as
//! `b_k <= 1`, not negative before. And `sum a_k^2 / (2 h_k) <= C^2 sum b_k^2 h_k (2 - h_k m) = C^2 (1 - b_0^2) / m`.

/// How much of the start the first phase forgets where the posterior is as flat as it can be: `exp(-3)` of its sd.
const FORGET: f64 = 3.0;
/// Steps of each later phase, and how much smaller they are than those of the first.
const FINE_STEPS: u64 = 64;
const FINER: [f64; 3] = [8.0, 64.0, 512.0];
/// A longer chain is not a plan.
const MOST_STEPS: f64 = 1e9;

/// Step size and number of steps of each phase for m-strongly convex, M-smooth potentials; `steps` is the length of the
/// first phase where the program says it.
///
/// `None` unless `0 < m <= M` are finite and the chain has at most 1e9 steps.
pub fn schedule(strong: f64, smooth: f64, steps: Option<u64>) -> Option<Vec<(f64, u64)>> {
    if !(strong > 0.0 && strong <= smooth && smooth.is_finite()) {
        return None;
    }
    // 1 / M is at most 2 / (m + M); rounded down.
    let step = (1.0 / smooth).next_down();
    let far = 0.5 * libm::log(strong.max(1.0));
    let needed = ((FORGET + far) / (step * strong)).ceil().max(1.0);
    if !(step > 0.0 && (steps.is_some() || needed <= MOST_STEPS)) {
        return None;
    }
    let fine = FINER.iter().map(|finer| (step / finer, FINE_STEPS));
    Some(std::iter::once((step, steps.unwrap_or(needed as u64))).chain(fine).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On Gaussian targets the shift and the variance of the last state are sums: any steps stay below the bound, and below
    /// the ideal draw.
    #[test]
    fn any_steps_cost_no_more_than_the_ideal_draw() {
        let mut state = 7u64;
        let mut unit = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut closest: f64 = 0.0;
        for _ in 0..2000 {
            let (m, condition, count) = (0.1 + 5.0 * unit(), 1.0 + 30.0 * unit() * unit(), 1 + (60.0 * unit()) as usize);
            let steps: Vec<f64> = (0..count).map(|_| 2.0 / (m + m * condition) * unit().max(1e-3)).collect();
            let (mut b, mut shift, mut variance) = (1.0, 0.0, 0.0);
            for h in steps.iter().rev() {
                shift += b * h;
                variance += b * b * 2.0 * h;
                b *= 1.0 - h * m;
            }
            let (found, bound) = (shift * shift / variance, (1.0 - b) / (1.0 + b) / m);
            assert!(found <= bound * (1.0 + 1e-12) && bound <= 1.0 / m, "{found} {bound}");
            closest = closest.max(found / bound);
        }
        assert!(closest > 0.99, "{closest}");
    }

    #[test]
    fn schedules_keep_the_premises() {
        for (m, smooth) in [(1.0, 1.0), (1.0, 1e6), (0.3, 17.0)] {
            for (h, steps) in schedule(m, smooth, None).unwrap() {
                assert!(steps >= 1 && h > 0.0 && h * (m + smooth) <= 2.0);
            }
        }
        assert_eq!(schedule(1.0, 10.0, Some(7)).unwrap()[0].1, 7);
        assert!(schedule(0.0, 1.0, None).is_none() && schedule(2.0, 1.0, None).is_none() && schedule(1.0, f64::INFINITY, None).is_none());
        assert!(schedule(1.0, 1e13, None).is_none() && schedule(1.0, 1e13, Some(5)).is_some());
    }
}
