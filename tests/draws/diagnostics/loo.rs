//! Leave-one-out validation against ArviZ 0.23 (benches/diagnostics.py) and against closed forms.

use super::made_up::*;
use dpm::numeric::loo::*;

type Row = ((&'static str, u64, u64, u64, f64, f64), [f64; 3], [f64; 6], [f64; 6]);

#[test]
fn arviz() {
    let rows: &[Row] = &include!("loo.txt");
    for ((kind, draws, points, seed, scale, efficiency), sums, k, each) in rows {
        let l = loo(&likelihood(kind, *draws, *points, *seed, *scale), *efficiency);
        let found = [l.elpd, l.se, l.p].into_iter().chain(l.points.iter().map(|p| p.k)).chain(l.points.iter().map(|p| p.elpd));
        for (i, (a, b)) in found.zip(sums.iter().chain(k).chain(each)).enumerate() {
            assert!(distance(a, *b) < 1e-9, "{kind} {draws} {scale}, {i}: {a} against {b}");
        }
    }
    // az.compare
    let (a, b) = (loo(&likelihood("plain", 400, 6, 101, 0.5), 1.0), loo(&likelihood("plain", 400, 6, 701, 0.4), 1.0));
    let d = b.compare(&a);
    assert!(distance(b.elpd, -1.090576791e1) < 1e-9 && distance(a.elpd, -1.293738304e1) < 1e-9);
    assert!(distance(d.elpd, 2.031615125) < 1e-9 && distance(d.se, 4.149373712) < 1e-9, "{d:?}");
    let back = a.compare(&b);
    assert_eq!((back.elpd, back.se), (-d.elpd, d.se));
}

/// Normal data of variance 1 with a flat prior: without point i the mean is normal around the mean of the others, in closed form.
#[test]
fn normal_mean() {
    let (n, draws) = (20, 20_000);
    let y: Vec<f64> = (0..n).map(|i| normal(3, i)).collect();
    let mean = y.iter().sum::<f64>() / n as f64;
    let density = |x: f64, variance: f64| -0.5 * (x * x / variance + (std::f64::consts::TAU * variance).ln());
    let row = |s| {
        let mu = mean + normal(4, s) / (n as f64).sqrt();
        y.iter().map(|y| density(y - mu, 1.0)).collect::<Vec<f64>>()
    };
    let l = loo(&(0..draws).map(row).collect::<Vec<_>>(), 1.0);
    let others = (n - 1) as f64;
    for (p, y) in l.points.iter().zip(&y) {
        let exact = density(y - (mean * n as f64 - y) / others, 1.0 + 1.0 / others);
        assert!((p.elpd - exact).abs() < 0.01, "{} against {exact}", p.elpd);
        assert!(p.k < good_k(draws as usize), "{}", p.k);
    }
    // One parameter.
    assert!((l.p - 1.0).abs() < 0.5, "{}", l.p);
}

#[test]
fn nonsense_is_nan() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut m = likelihood("plain", 50, 3, 1, 0.5);
        m[7][1] = bad;
        let l = loo(&m, 1.0);
        assert!(l.elpd.is_nan() && l.se.is_nan() && l.points[1].k.is_nan() && l.points[0].elpd.is_finite());
    }
    let uneven = loo(&[vec![-1.0, -2.0], vec![-1.0]], 1.0);
    assert!(uneven.elpd.is_nan() && uneven.points.len() == 2);
    assert_eq!(loo(&[], 1.0).elpd.to_bits(), 0);
    assert!(point(&[], 1.0).elpd.is_nan());
    // Equal weights: nothing to smooth, and right.
    let same = point(&[-1.5; 100], 1.0);
    assert!((same.elpd + 1.5).abs() < 1e-14 && (same.lpd + 1.5).abs() < 1e-14 && same.k == f64::INFINITY);
    assert!((point(&[-2.0], 1.0).elpd + 2.0).abs() < 1e-15);
    // Weights too far apart or too near for a fit.
    let far: Vec<f64> = (0..100).map(|i| -f64::from(i) * 1e5).collect();
    let near: Vec<f64> = (0..100).map(|i| -1.0 - f64::from(i) * 2e-16).collect();
    for x in [far, near] {
        let p = point(&x, 1.0);
        assert!(p.elpd.is_finite() && !p.k.is_nan(), "{p:?}");
    }
    for efficiency in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
        assert!(point(&(0..100).map(|i| -f64::from(i).sqrt()).collect::<Vec<_>>(), efficiency).elpd.is_finite());
    }
    let (a, b) = (loo(&likelihood("plain", 50, 3, 1, 0.5), 1.0), loo(&likelihood("plain", 50, 4, 1, 0.5), 1.0));
    assert!(a.compare(&b).elpd.is_nan());
}
