//! Bounds of hockey-stick divergences against incomplete functions in 60 digits.

use super::*;

/// Never below, and close; in a sweep, too, a little less close.
fn check(side: Side, e: f64, exact: f64) {
    let (found, _) = side.height(e);
    assert!(found >= exact * (1.0 - 1e-15) && found <= exact * (1.0 + 1e-3), "{side:?} at {e}: {found}, {exact}");
    let width = 2.0_f64.powi(-9);
    for (i, found) in side.heights(width, 1024).into_iter().enumerate() {
        if f64::from(i as u32) * width == e {
            assert!(found >= exact * (1.0 - 1e-15), "{side:?} at {e}: {found}, {exact}");
        }
    }
}

/// Differences of incomplete Beta functions in 60 digits (mpmath).
#[test]
fn beta_pairs() {
    for (a, b, w, e, exact) in [
        (6.0, 112.0, 1.0, 0.0, 0.1648631813996157),
        (6.0, 112.0, 1.0, 2.5, 2.307039546763943e-6),
        (112.0, 6.0, 1.0, 1.0, 0.00044322666241611395),
        (0.3, 0.4, 1.0, 3.0, 0.3247039849170805),
        (40.0, 60.0, 0.001, 0.0005, 5.925990477119741e-7),
        (3.0, 2000.0, 0.25, 0.4, 0.001440889666702696),
        (5000.0, 7000.0, 2.0, 0.05, 0.0015561800848052302),
        (0.02, 5.0, 0.5, 9.0, 0.5935696391273303),
    ] {
        check(Side::beta(a, b, w), e, exact);
    }
}

/// Incomplete Gamma functions, both orders.
#[test]
fn gamma_pairs() {
    for (a, w, e, exact) in [
        (16.9, 1.5, 0.2, [0.07496572469852349, 0.0690223767085727]),
        (2.0, 3.0, 4.0, [0.11530331089918387, 0.004166605481345546]),
        (0.4, 1.0, 0.0, [0.5236648604477927, 0.5236648604477927]),
        (300.0, 0.01, 0.001, [1.0681850701138624e-5, 8.963809403175316e-6]),
        (5000.0, 2.0, 0.05, [0.00045878635573436436, 0.00043858460971128255]),
    ] {
        Side::shapes(a, w).into_iter().zip(exact).for_each(|(side, exact)| check(side, e, exact));
    }
    for (a, b, s, e, exact) in [
        (12.0, 3.0, 1.0, 0.5, [0.2526093536538791, 0.21415248662185887]),
        (1.0, 2.0, 1.0, 0.3, [0.0813054275694854, 0.014526838521322775]),
        (200.0, 50.0, 0.5, 0.2, [0.006182144035946287, 0.004674314873124856]),
        (13.27, 15.13, 5.0, 3.0, [0.014518003559849689, 1.2437561187804637e-6]),
        (1000.5, 3000.0, 1.0, 0.01, [0.0009991603990350405, 0.000945277304654396]),
    ] {
        Side::rates(a, b, s).into_iter().zip(exact).for_each(|(side, exact)| check(side, e, exact));
    }
}

/// Incomplete Beta functions, both orders.
#[test]
fn pairs_of_one_count() {
    for (a, t, w, e, exact) in [
        (1.0, 2.0, 1.0, 0.3, [0.0813054275694854, 0.014526838521322775]),
        (12.5, 3.0, 4.0, 0.5, [0.5000154121587701, 0.45995315611135507]),
        (400.0, 6.0, 2.0, 0.25, [0.2255025447822933, 0.21242426476664278]),
        (3.0, 0.25, 1.0, 1.0, [0.4585305959010616, 0.25741810475067317]),
        (30.0, 200.0, 15.0, 0.0625, [0.12290570942113697, 0.11986379311919859]),
        (5000.0, 40.0, 0.5, 0.01, [0.026963796173091102, 0.026751904686355115]),
        (4.0, 900.0, 40.0, 0.03125, [0.02277960758078139, 0.018821356114330653]),
        (60.0, 0.02, 3.0, 5.0, [0.9498630365266614, 0.5251569842632412]),
    ] {
        Side::counts(a, t, w).into_iter().zip(exact).for_each(|(side, exact)| check(side, e, exact));
    }
}

/// The points of a sweep lie above single heights less their room, and near them where many cells stand above.
#[test]
fn a_sweep_and_single_heights() {
    for side in [
        Side::beta(6.0, 112.0, 1.0),
        Side::shapes(3.0, 0.5)[0],
        Side::shapes(3.0, 0.5)[1],
        Side::rates(9.0, 4.0, 1.0)[0],
        Side::rates(9.0, 4.0, 1.0)[1],
    ] {
        let width = 2.0_f64.powi(-7);
        for (i, found) in side.heights(width, 512).into_iter().enumerate() {
            let (one, _) = side.height(i as f64 * width);
            assert!(found >= one * (1.0 - 2e-3) || one <= NOTHING, "{side:?} {i}: {found} {one}");
            assert!(found <= one * 1.02 || i > 400 || one < 1e-12, "{side:?} {i}: {found} {one}");
        }
    }
}

#[test]
fn nonsense_is_no_bound() {
    for (a, b, w) in [(-1.0, 2.0, 1.0), (f64::NAN, 2.0, 1.0), (1.0, f64::INFINITY, 1.0), (1.0, 1.0, -0.5), (1.0, 1.0, f64::INFINITY)] {
        assert_eq!(Side::beta(a, b, w).height(1.0).0, 1.0, "{a} {b} {w}");
        assert!(Side::beta(a, b, w).heights(0.25, 3).iter().all(|h| *h == 1.0));
    }
}
