//! Attacks on last digits, holes and tails prove no more than the certificate says: 2e5 draws a side here.
//!
//! Every event's bounds hold with confidence 1 - 1e-9 (40 events; the seeds are fixed). The long form with 2e7 draws a
//! side is `benches/audits.rs`. The positive control draws in doubles, and is caught.

use crate::mechanisms;
use crate::mechanisms::attacks::{DELTAS, EVENTS, excess, pairs};
use crate::mechanisms::csv;
use crate::mechanisms::statistics::{bounds, epsilon};

const DRAWS: u64 = 200_000;

#[test]
fn no_event_beats_the_certificate() {
    for pair in pairs() {
        let mechanism = pair.mechanism();
        let mut hits = [[0; 2]; 8];
        pair.block(&mechanism, 0, DRAWS, &mut hits);
        for (event, hits) in EVENTS.iter().zip(hits) {
            let over = excess(&mechanism, hits, DRAWS);
            assert!(over <= 0.0, "{}: `{event}` {hits:?} proves {over} more than certified", pair.name);
        }
    }
}

#[test]
fn draws_in_doubles_are_caught() {
    let mut caught = 0;
    for pair in pairs() {
        let mechanism = pair.mechanism();
        let Some(hits) = pair.naive(10 * DRAWS) else { continue };
        let most = hits.iter().map(|h| excess(&mechanism, *h, 10 * DRAWS)).fold(f64::NEG_INFINITY, f64::max);
        assert!(most > 0.1, "{}: the naive draw passes, {most}, {hits:?}", pair.name);
        caught += 1;
    }
    assert_eq!(caught, 3);
}

/// On neighbours a release has the same grid, so the same set of possible values, saturation included.
#[test]
fn the_support_is_the_same_on_neighbours() {
    let program = |query: &str| format!("private t[3] {{ y: real in [0, 1000] }}\n{query}\n");
    let counts = |query: &str| format!("private t[3] {{ y: int in 0..1000 }}\n{query}\n");
    for text in [
        counts("param m ~ gamma(2, 3)\nobserve y ~ poisson(m)\nrelease x = draw(m) using diffuse(r = 0.5)"),
        counts("param m ~ beta(2, 3)\nobserve y ~ binomial(1000, m)\nrelease x = draw(m) using diffuse(r = 0.5)"),
        program("param m ~ gamma(2, 3)\nobserve y ~ exponential(m)\nrelease x = draw(m) using diffuse(r = 0.5)"),
        program("param m ~ normal(0, 1)\nobserve y ~ normal(m, 9)\nrelease x = draw(m) using direct"),
        program("release x = sum(y) using laplace(scale = 3)"),
        program("release x = mean(y) using gaussian(sigma = 0.5)"),
        program("release x = quantile(y, 0.5) using exponential(0, 1000, eps = 1)"),
    ] {
        let mechanism = mechanisms::Mechanism::new(&text);
        let mut grids = vec![];
        for rows in [["0", "0", "0"], ["1000", "0", "0"], ["inf", "1e-300", "0.1"], ["nan", "", "-1e400"]] {
            let measured = mechanism.measure(&csv("y", &rows));
            let draws = mechanism.draws(&measured, 50, &mut mechanisms::Seeded::new(3));
            grids.extend(draws.iter().map(|r| (r.components.len(), r.components[0].exponent, r.components[0].widest())));
        }
        assert!(grids.iter().all(|g| *g == grids[0]), "{text}: {grids:?}");
    }
}

#[test]
fn bounds_of_counts_are_those_of_clopper_and_pearson() {
    // With no hit the upper bound is 1 - a^(1/n), with hits only the lower one a^(1/n).
    let a: f64 = 0.25e-9;
    let (low, high) = bounds(0, 1000);
    assert!(low == 0.0 && (high - (1.0 - a.powf(1e-3))).abs() < 1e-9);
    let (low, high) = bounds(1000, 1000);
    assert!(high == 1.0 && (low - a.powf(1e-3)).abs() < 1e-9);
    // The figures of the known break: 12,847 and 15 hits of 2e7 prove 5.43 at delta 1e-14 or a little less.
    let found = epsilon([12_847, 15], 20_000_000, DELTAS[0]);
    assert!((5.2..5.5).contains(&found), "{found}");
}
