//! Diagnostics of chains against ArviZ 0.23 (benches/diagnostics.py) and against what is known without it.

mod loo;
mod made_up;

use dpm::numeric::diagnostics::*;
use made_up::*;

type Row = (&'static str, u64, u64, u64, [f64; 9]);

#[test]
fn arviz() {
    let rows: &[Row] = &include!("arviz.txt");
    for (kind, count, n, seed, expected) in rows {
        let s = summary(&chains(kind, *count, *n, *seed));
        let found = [s.mean, s.sd, s.q5, s.median, s.q95, s.mcse, s.rhat, s.ess_bulk, s.ess_tail];
        for (i, (a, b)) in found.iter().zip(expected).enumerate() {
            // Ten digits; a mean near 0 has lost some of its own.
            assert!(distance(*a, *b) < 1e-9 || (i == 0 && (a - b).abs() < 1e-12), "{kind} {n}, {i}: {a} against {b}");
        }
    }
}

/// Independent draws are worth their number, up to noise; of an autoregression (1 - rho) / (1 + rho) of them.
#[test]
fn known_worth() {
    let within = |kind, worth: f64, by: f64| {
        let draws = chains(kind, 4, 4000, 77);
        for found in [ess_bulk(&draws), ess_mean(&draws)] {
            assert!((found / (16_000.0 * worth)).ln().abs() < by, "{kind}: {found}");
        }
        assert!((rhat(&draws) - 1.0).abs() < 0.01);
    };
    within("normal", 1.0, 0.1);
    within("slow", 0.1 / 1.9, 0.2);
    within("swinging", 1.4 / 0.6, 0.2);
    let tail = ess_tail(&chains("normal", 4, 4000, 77));
    assert!((tail / 16_000.0 - 1.0).abs() < 0.1, "{tail}");
    // Chains that alternate are cut at n log10(n).
    let cut = ess_mean(&chains("alternating", 2, 4000, 77));
    assert!(distance(cut, 8000.0 * 8000f64.log10()) < 1e-12, "{cut}");
}

/// Repeated runs: the error of the mean is what `mcse_mean` says.
#[test]
fn error_of_the_mean() {
    let runs = 200;
    let (mut square, mut claimed) = (0.0, 0.0);
    for run in 0..runs {
        let draws = chains("slow", 4, 500, 10_000 + 10 * run);
        let mean = draws.concat().iter().sum::<f64>() / 2000.0;
        square += mean * mean;
        claimed += mcse_mean(&draws).powi(2);
    }
    assert!((square / claimed).ln().abs() < 0.3, "{}", square / claimed);
}

/// Ranks do not change with a rising function, so the sizes do not either; a factor changes only the error of the mean.
#[test]
fn ranks_only() {
    let draws = chains("slow", 4, 300, 5);
    let curved: Vec<Vec<f64>> = draws.iter().map(|c| c.iter().map(|x| x.exp()).collect()).collect();
    assert_eq!((ess_bulk(&draws), ess_tail(&draws)), (ess_bulk(&curved), ess_tail(&curved)));
    let moved: Vec<Vec<f64>> = draws.iter().map(|c| c.iter().map(|x| 1024.0 * x).collect()).collect();
    assert_eq!((rhat(&draws), 1024.0 * mcse_mean(&draws)), (rhat(&moved), mcse_mean(&moved)));
}

#[test]
fn a_chain_elsewhere_and_chains_that_never_move() {
    assert!(rhat(&chains("stuck", 4, 300, 3)) > 1.5);
    assert!(rhat(&chains("wide", 4, 300, 3)) > 1.2);
    assert_eq!(rhat(&chains("frozen", 4, 100, 3)), f64::INFINITY);
    assert!(ess_bulk(&chains("frozen", 4, 100, 3)) < 10.0);
}

#[test]
fn nonsense_is_nan() {
    let nan = |draws: &[Vec<f64>]| {
        let found = [rhat(draws), ess_bulk(draws), ess_tail(draws), ess_mean(draws), mcse_mean(draws)];
        assert!(found.iter().all(|x| x.is_nan()), "{found:?}");
    };
    nan(&[]);
    nan(&[vec![], vec![]]);
    nan(&[vec![1.0, 2.0, 3.0], vec![1.0, 2.0, 4.0]]);
    nan(&[vec![1.0, 2.0, 3.0, 4.0], vec![1.0, 2.0, 4.0, 5.0, 6.0]]);
    nan(&[vec![7.0; 100], vec![7.0; 100]]);
    nan(&[vec![0.0, -0.0, 0.0, -0.0], vec![0.0; 4]]);
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut draws = chains("normal", 4, 100, 1);
        draws[2][50] = bad;
        nan(&draws);
        assert!(summary(&draws).mean.is_nan() && summary(&draws).median.is_nan());
    }
    let s = summary(&[vec![7.0; 100], vec![7.0; 100]]);
    assert_eq!((s.mean, s.sd, s.q5, s.median, s.q95), (7.0, 0.0, 7.0, 7.0, 7.0));
    let s = summary(&[]);
    assert!(s.mean.is_nan() && s.sd.is_nan() && s.q5.is_nan());
    // Huge draws overflow to NaN or infinity, and nothing worse.
    let huge: Vec<Vec<f64>> = chains("normal", 2, 50, 1).iter().map(|c| c.iter().map(|x| x * 1e307).collect()).collect();
    let s = summary(&huge);
    assert!(s.rhat < 1.2 && s.ess_bulk > 20.0, "{s:?}");
    // One chain says nothing of others, yet something of itself.
    let one = chains("normal", 1, 200, 1);
    assert!(rhat(&one).is_nan() && ess_bulk(&one) > 100.0);
    // Only the middle draw, which is left out, differs.
    nan(&[vec![1.0, 1.0, 2.0, 1.0, 1.0], vec![1.0; 5]]);
}

#[test]
fn quantiles() {
    let x = [1.0, 2.0, 4.0, 8.0];
    assert_eq!(quantile(&x, 0.5), 3.0);
    assert_eq!((quantile(&x, 0.0), quantile(&x, 1.0), quantile(&x, 2.0), quantile(&x, -1.0)), (1.0, 8.0, 8.0, 1.0));
    assert!((quantile(&x, 0.95) - 7.4).abs() < 1e-14);
    assert!(quantile(&[], 0.5).is_nan() && quantile(&x, f64::NAN).is_nan());
    assert_eq!(quantile(&[3.0], 0.05), 3.0);
    // Of n = 20 k + 1 values one is the quantile itself; ArviZ misses some by rounding.
    let x: Vec<f64> = (0..121).map(|i| f64::from(i).sqrt()).collect();
    assert_eq!((quantile(&x, 0.05), quantile(&x, 0.95)), (x[6], x[114]));
    assert_eq!(quantile(&[0.1; 7], 0.3), 0.1);
}
