//! Epsilon in other words: an attacker's highest probability of a right guess, and how far odds may move.

use super::curves::most_hits;
use crate::numeric::decimal::sig_up;
use crate::privacy::Claim;
use maud::{Markup, html};

/// What is left out of the statement on odds.
const RARE: f64 = 1e-6;

/// The highest probability of a right guess between two neighbours, one of which is there with the chance `before`.
pub fn best_guess(claim: &Claim, before: f64) -> f64 {
    let hits = most_hits(claim);
    // Hits rise with alarms, so between two points of the grid both are bounded by an end.
    let hits: Vec<f64> = (0..=1000).map(|i| hits(f64::from(i) / 1000.0)).collect();
    let points = hits.iter().skip(1).enumerate().map(|(i, above)| before * above + (1.0 - before) * (1.0 - i as f64 / 1000.0));
    points.fold(before.max(1.0 - before), f64::max).min(1.0)
}

/// The most that log-odds may move, up or down, except on outcomes of total probability at most `rare`.
///
/// (e, d)-DP does not say so of e itself: with L the privacy loss, d >= E[(1 - exp(e - L))+] >= P(L > e + t) (1 - exp(-t)).
/// So the loss is above e + t with chance at most d / (1 - exp(-t)); each direction has half of `rare`.
fn log_odds(claim: &Claim, rare: f64) -> f64 {
    let ts = (0..60).map(|i| 0.001 * 1.15_f64.powi(i));
    let beyond = ts.map(|t| claim.epsilon(0.5 * rare * -libm::expm1(-t)) + t);
    beyond.fold(claim.pure(), f64::min)
}

/// A chance in three digits, rounded up.
pub fn chance(p: f64) -> String {
    format!("{:.3}", ((p * 1000.0).ceil() / 1000.0).min(1.0))
}

/// The most that somebody may believe who held something about one unit for `before` likely, but for outcomes of chance one in a million.
pub fn after(claim: &Claim, before: f64) -> f64 {
    let factor = log_odds(claim, RARE).exp() * (1.0 + 1e-9);
    if factor.is_finite() { (before * factor / (1.0 - before + before * factor)).min(1.0) } else { 1.0 }
}

/// The section of the page.
pub fn section(total: &Claim) -> Markup {
    let factor = log_odds(total, RARE).exp() * (1.0 + 1e-9);
    let shown = if factor < 1e6 { sig_up(factor, 3) } else { "more than a million".into() };
    html! {
        section {
            h2 { "What an attacker can gain" }
            p {
                "Someone knows every other row, and two possible contents of one unit. The table says how far their belief may rise, and how often \
                 their best guess can be right, after all releases. Odds change by a factor of at most " (shown) ", except on outcomes of total probability "
                (format!("{RARE:e}")) "."
            }
            table class="facts" {
                tr { @for head in ["probability before", "probability after", "highest probability of a right guess"] { th scope="col" { (head) } } }
                @for before in [0.01, 0.1, 0.5, 0.9] {
                    tr {
                        td { (before) }
                        td { "at most " (chance(after(total, before))) }
                        td { "at most " (chance(best_guess(total, before))) }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pure_claims_move_odds_by_epsilon() {
        let claim = Claim::Pure { epsilon: 0.7 };
        assert!((log_odds(&claim, RARE) - 0.7).abs() < 1e-9);
        // The best test against randomised response is right with chance e^eps / (1 + e^eps).
        let best = best_guess(&claim, 0.5);
        let truth = 0.7_f64.exp() / (1.0 + 0.7_f64.exp());
        assert!(best >= truth && best < truth + 2e-3, "{best} {truth}");
    }

    /// The loss of a Gaussian mechanism is normal with mean mu^2 / 2 and deviation mu: its own tail is the judge.
    #[test]
    fn the_loss_of_a_gaussian_stays_within_the_odds() {
        for mu in [0.1, 0.5, 1.0, 3.0] {
            let bound = log_odds(&Claim::Gdp { mu }, RARE);
            let upper = |z: f64| 0.5 * libm::erfc(z / std::f64::consts::SQRT_2);
            let outside = upper((bound - 0.5 * mu * mu) / mu) + upper((bound + 0.5 * mu * mu) / mu);
            assert!(outside <= RARE, "{mu}: {outside}");
            // Epsilon at delta 1e-6 alone would not do.
            let epsilon = Claim::Gdp { mu }.epsilon(RARE);
            assert!(upper((epsilon - 0.5 * mu * mu) / mu) > RARE && bound < 1.5 * epsilon + 0.5, "{mu}: {bound} {epsilon}");
        }
    }
}
