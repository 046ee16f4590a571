//! Releases from programs follow their laws: 1e5 draws a point, five points a mechanism.
//!
//! A right law fails with chance at most 1e-9 a point (45 points; the seeds are fixed, so the outcome is too); the law
//! with its scale times 0.9 or 1.1 is refused by the same test. The long form is `benches/laws.rs`: 1e7 draws at the
//! first point and 1e6 at the others, against scales 0.99 and 1.01.

use crate::mechanisms::laws::points;

const DRAWS: u64 = 100_000;
const LEAST: f64 = 1e-9;

fn check(mechanism: &str) {
    let mut seen = 0;
    for point in points().iter().filter(|p| p.mechanism == mechanism) {
        let verdict = point.test(DRAWS, &[0.9, 1.1]);
        assert!(verdict.right > LEAST, "{mechanism} {}: p = {:e}", point.point, verdict.right);
        if point.point == 0 {
            assert!(verdict.scaled.iter().all(|p| *p < LEAST), "{mechanism}: a scaled law passes with {:?}", verdict.scaled);
        }
        seen += 1;
    }
    assert_eq!(seen, 5);
}

macro_rules! laws {
    ($($name:ident),*) => { $(#[test] fn $name() { check(stringify!($name)); })* };
}

laws!(beta, gamma, dirichlet, normal, mv_normal, laplace, gaussian, geometric, quantile);
