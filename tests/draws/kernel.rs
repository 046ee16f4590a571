//! The likelihood kernel against a naive second implementation, finite differences, and itself on other threads.

use dpm::kernel::{Block, Design, DesignBuilder, Family, KernelError, Layout, Likelihood};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

const FAMILIES: [Family; 8] = [
    Family::Logistic,
    Family::Binomial { trials: 7 },
    Family::Softmax { classes: 3 },
    Family::Probit,
    Family::Cloglog,
    Family::Poisson { most: 9 },
    Family::Gaussian { variance: 0.5, bound: 2.0 },
    Family::BetaLogistic { beta: 1.5 },
];

/// Rows as they were read, with everything the naive sum needs.
struct Rows {
    dense: Vec<Vec<f64>>,
    levels: Vec<Vec<u32>>,
    outcome: Vec<f64>,
}

fn rows(n: usize, width: usize, blocks: &[Block], family: Family, seed: u64) -> Rows {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut all = Rows { dense: vec![], levels: vec![], outcome: vec![] };
    for _ in 0..n {
        // Multiples of 1/64 are 32-bit numbers: the naive sum sees the same features.
        all.dense.push((0..width).map(|_| f64::from(rng.random_range(-64i32..=64)) / 64.0).collect());
        all.levels.push(blocks.iter().map(|b| rng.random_range(0..b.levels as u32)).collect());
        all.outcome.push(match family {
            Family::Gaussian { .. } => f64::from(rng.random_range(-64i32..=64)) / 32.0,
            Family::Softmax { classes } => f64::from(rng.random_range(0..classes)),
            Family::Binomial { trials: k } | Family::Poisson { most: k } => f64::from(rng.random_range(0..=k)),
            _ => f64::from(rng.random_range(0..2u32)),
        });
    }
    all
}

fn encode(rows: &Rows, layout: Layout, family: Family, declared: Option<usize>) -> Design {
    let mut builder = DesignBuilder::new(layout, family, declared).unwrap();
    for ((x, l), y) in rows.dense.iter().zip(&rows.levels).zip(&rows.outcome) {
        builder.push(x, l, *y).unwrap();
    }
    builder.finish()
}

/// One row with its indicators written out.
fn written_out(rows: &Rows, i: usize, blocks: &[Block]) -> Vec<f64> {
    let mut x = rows.dense[i].clone();
    for (block, level) in blocks.iter().zip(&rows.levels[i]) {
        for l in (0..block.levels).filter(|l| block.reference != Some(*l)) {
            x.push(if l as u32 == *level { block.value } else { 0.0 });
        }
    }
    x
}

/// Loss in plain library functions: no code of the kernel.
fn naive_loss(family: Family, z: &[f64], y: f64) -> f64 {
    use statrs::distribution::{ContinuousCDF, Normal};
    let t = z[0];
    match family {
        Family::Logistic => t.exp().ln_1p() - y * t,
        Family::Binomial { trials } => f64::from(trials) * t.exp().ln_1p() - y * t,
        Family::Softmax { .. } => z.iter().map(|z| z.exp()).sum::<f64>().ln() - z[y as usize],
        Family::Probit => -Normal::standard().cdf(if y > 0.5 { t } else { -t }).ln(),
        Family::Cloglog => {
            let none = (-t.exp()).exp();
            -(if y > 0.5 { 1.0 - none } else { none }).ln()
        }
        Family::Poisson { .. } => t.exp() - y * t,
        Family::Gaussian { variance, .. } => (y - t).powi(2) / (2.0 * variance),
        Family::BetaLogistic { beta: b } => {
            let p = (if y > 0.5 { -t } else { t }).exp();
            let p = 1.0 / (1.0 + p);
            -p.powf(b - 1.0) / (b - 1.0) + (p.powf(b) + (1.0 - p).powf(b)) / b
        }
    }
}

fn naive(rows: &Rows, blocks: &[Block], family: Family, theta: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in 0..rows.outcome.len() {
        let x = written_out(rows, i, blocks);
        let z: Vec<f64> = theta.chunks_exact(x.len()).map(|t| t.iter().zip(&x).map(|(t, x)| t * x).sum()).collect();
        sum += naive_loss(family, &z, rows.outcome[i]);
    }
    sum
}

fn point(d: usize, seed: u64) -> Vec<f64> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    (0..d).map(|_| rng.random_range(-0.2..0.2)).collect()
}

fn evaluate(design: &Design, theta: &[f64]) -> (f64, Vec<f64>) {
    let mut gradient = vec![f64::NAN; theta.len()];
    let loss = Likelihood::new(design, f64::INFINITY).unwrap().loss_and_gradient(theta, &mut gradient).unwrap();
    (loss, gradient)
}

fn mixed() -> Vec<Block> {
    vec![
        Block { levels: 9, reference: Some(0), value: 0.5 },
        Block::full(16),
        Block { levels: 300, reference: Some(7), value: 0.75 },
        Block { levels: 2, reference: Some(1), value: 1.0 },
        Block::full(5),
        Block { levels: 256, reference: None, value: 0.25 },
    ]
}

/// Losses to 1e-12 (probit: 1e-10); gradients to 1e-7 by central differences of the naive loss. Sizes cross every edge of tiles and segments.
#[test]
fn agrees_with_the_naive_sum() {
    for (k, family) in FAMILIES.into_iter().enumerate() {
        for (n, width, blocks) in [
            (1, 3, vec![]),
            (7, 17, vec![]),
            (263, 40, vec![]),
            (515, 5, mixed()),
            (300, 0, mixed()),
            (515, 21, mixed()),
            (263, 32, vec![]),
            (263, 33, vec![]),
        ] {
            let data = rows(n, width, &blocks, family, 10 + k as u64);
            let design = encode(&data, Layout::new(width, blocks.clone(), 20.0).unwrap(), family, Some(n));
            let theta = point(design.dimension(), 3);
            let (loss, gradient) = evaluate(&design, &theta);
            let expected = naive(&data, &blocks, family, &theta);
            // The naive normal distribution function is good to 11 digits.
            let digits = if family == Family::Probit { 1e-10 } else { 1e-12 };
            assert!((loss / expected - 1.0).abs() < digits, "{family:?} {n} {width}: {loss} {expected}");
            let mut plain = vec![0.0; theta.len()];
            Likelihood::new(&design, f64::INFINITY).unwrap().gradient(&theta, &mut plain).unwrap();
            assert_eq!(gradient, plain);
            for j in (0..theta.len()).step_by(theta.len().div_ceil(12)) {
                let shifted = |h: f64| {
                    let mut t = theta.clone();
                    t[j] += h;
                    naive(&data, &blocks, family, &t)
                };
                let slope = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
                let scale = 1.0 + n as f64;
                assert!((gradient[j] - slope).abs() < 1e-7 * scale, "{family:?} {n} {width} at {j}: {} {slope}", gradient[j]);
            }
        }
    }
}

/// Indicators as one byte a pair and the same matrix written out in numbers.
#[test]
fn sparse_equals_dense() {
    let blocks = mixed();
    for family in FAMILIES {
        let data = rows(700, 4, &blocks, family, 77);
        let sparse = encode(&data, Layout::new(4, blocks.clone(), 20.0).unwrap(), family, None);
        let d = sparse.layout().dimension();
        let dense: Vec<Vec<f64>> = (0..700).map(|i| written_out(&data, i, &blocks)).collect();
        let full = Rows { dense, levels: vec![vec![]; 700], outcome: data.outcome.clone() };
        let full = encode(&full, Layout::new(d, vec![], 20.0).unwrap(), family, Some(700));
        let theta = point(sparse.dimension(), 5);
        let ((a, g), (b, h)) = (evaluate(&sparse, &theta), evaluate(&full, &theta));
        assert!((a / b - 1.0).abs() < 1e-13, "{family:?}");
        assert!(g.iter().zip(&h).all(|(g, h)| (g - h).abs() < 1e-11 * 700.0), "{family:?}");
    }
}

/// A projected row is scaled as a whole, indicators included: the same as projecting the row written out.
#[test]
fn projection_scales_indicators() {
    let blocks = mixed();
    let data = rows(300, 6, &blocks, Family::Logistic, 9);
    for norm in [0.3, 1.0, 2.0, 50.0] {
        let sparse = encode(&data, Layout::projected(6, blocks.clone(), norm).unwrap(), Family::Logistic, Some(300));
        let d = sparse.dimension();
        let dense: Vec<Vec<f64>> = (0..300).map(|i| written_out(&data, i, &blocks)).collect();
        let full = Rows { dense, levels: vec![vec![]; 300], outcome: data.outcome.clone() };
        let full = encode(&full, Layout::projected(d, vec![], norm).unwrap(), Family::Logistic, Some(300));
        let theta = point(d, 5);
        let ((_, g), (_, h)) = (evaluate(&sparse, &theta), evaluate(&full, &theta));
        assert!(g.iter().zip(&h).all(|(g, h)| (g - h).abs() < 1e-6 * 300.0), "{norm}");
    }
}

fn in_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
}

/// The same bits on 1, 2, 3 and 5 threads, and again.
#[test]
fn sums_do_not_depend_on_threads() {
    for (family, blocks) in FAMILIES.into_iter().zip([vec![], mixed()].into_iter().cycle()) {
        let data = rows(9_001, 21, &blocks, family, 4);
        let design = encode(&data, Layout::new(21, blocks, 20.0).unwrap(), family, Some(9_001));
        let theta = point(design.dimension(), 6);
        let bits = |(loss, gradient): (f64, Vec<f64>)| [vec![loss], gradient].concat().into_iter().map(f64::to_bits).collect::<Vec<_>>();
        let once = bits(in_threads(1, || evaluate(&design, &theta)));
        for threads in [1, 2, 3, 5] {
            assert_eq!(once, bits(in_threads(threads, || evaluate(&design, &theta))), "{family:?}");
        }
    }
}

/// However many rows were declared, the matrix is that of the rows that came.
#[test]
fn the_declared_number_of_rows_only_sets_sizes() {
    let blocks = mixed();
    let data = rows(400, 5, &blocks, Family::Logistic, 2);
    let at = |declared| {
        let design = encode(&data, Layout::projected(5, blocks.clone(), 1.0).unwrap(), Family::Logistic, declared);
        evaluate(&design, &point(design.dimension(), 1))
    };
    let all = at(Some(400));
    for declared in [None, Some(0), Some(1), Some(255), Some(300), Some(399), Some(10_000)] {
        assert_eq!(all, at(declared), "{declared:?}");
    }
}

/// One row a gradient: its norm is at most c B for every family, outcome, and cell, those outside their domains too.
#[test]
fn one_row_never_exceeds_its_bound() {
    let mut rng = ChaCha20Rng::seed_from_u64(8);
    let wild = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, 1e-300, 0.0, 1.0, -7.5, 3.0];
    for family in FAMILIES {
        for round in 0..400 {
            let c = rng.random_range(0.1..4.0);
            // A bound below what the family can reach must hold too.
            let bound = family.score_bound(1.5) * if round % 2 == 0 { 1.0 } else { 0.3 };
            let blocks = vec![Block::full(4), Block { levels: 3, reference: Some(2), value: 2.0 }];
            let layout = Layout::projected(5, blocks, c).unwrap();
            let mut builder = DesignBuilder::new(layout, family, Some(1)).unwrap();
            let mut pick = || if rng.random_range(0..3) == 0 { wild[rng.random_range(0..wild.len())] } else { rng.random_range(-1.0..1.0) };
            let row: Vec<f64> = (0..5).map(|_| pick()).collect();
            let outcome = pick();
            builder.push(&row, &[round % 6, round % 5], outcome).unwrap();
            let design = builder.finish();
            let theta: Vec<f64> = point(design.dimension(), u64::from(round)).iter().map(|t| t * 1e3).collect();
            let mut gradient = vec![0.0; theta.len()];
            let loss = Likelihood::new(&design, bound).unwrap().loss_and_gradient(&theta, &mut gradient).unwrap();
            let norm = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
            assert!(norm <= c * bound * (1.0 + 1e-14), "{family:?}: {norm} > {c} * {bound}");
            assert!(!loss.is_nan());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Two data sets that differ in one row: their gradients differ by at most 2 c B, at any point.
    #[test]
    fn neighbours_differ_by_at_most_two_bounds(seed in 0u64..1_000_000, n in 1usize..40, at in 0usize..40) {
        for family in FAMILIES {
            let blocks = vec![Block::full(3)];
            let mut data = rows(n, 4, &blocks, family, seed);
            let other = rows(1, 4, &blocks, family, seed + 1);
            let bound = family.score_bound(2.0);
            let gradient = |data: &Rows| {
                let design = encode(data, Layout::projected(4, blocks.clone(), 1.0).unwrap(), family, Some(n));
                let theta = point(design.dimension(), seed);
                let mut g = vec![0.0; theta.len()];
                Likelihood::new(&design, bound).unwrap().gradient(&theta, &mut g).unwrap();
                g
            };
            let before = gradient(&data);
            let i = at % n;
            data.dense[i] = other.dense[0].clone();
            data.levels[i] = other.levels[0].clone();
            data.outcome[i] = other.outcome[0];
            let apart = gradient(&data).iter().zip(&before).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
            prop_assert!(apart <= 2.0 * bound * (1.0 + 1e-12), "{:?} {}", family, apart);
        }
    }
}

#[test]
fn shapes_are_checked() {
    let mut builder = DesignBuilder::new(Layout::new(2, vec![], 1.0).unwrap(), Family::Logistic, None).unwrap();
    assert_eq!(builder.push(&[0.0], &[], 1.0).err(), Some(KernelError::Length));
    assert_eq!(builder.push(&[0.0, 1.0], &[1], 1.0).err(), Some(KernelError::Length));
    let design = builder.finish();
    let mut likelihood = Likelihood::new(&design, 1.0).unwrap();
    assert_eq!(likelihood.gradient(&[0.0], &mut [0.0]), Err(KernelError::Length));
    // No row at all: a gradient of 0.
    let mut gradient = [1.0, 1.0];
    assert_eq!(likelihood.loss_and_gradient(&[0.5, 0.5], &mut gradient), Ok(0.0));
    assert_eq!(gradient, [0.0, 0.0]);
    assert!(Likelihood::new(&design, f64::NAN).is_err());
    let family = Family::Gaussian { variance: 0.0, bound: 1.0 };
    assert!(DesignBuilder::new(Layout::new(2, vec![], 1.0).unwrap(), family, None).is_err());
}

/// Gradients of all families with few and many numeric columns, with blocks and without, whole and partial tiles: to the last digit those
/// that were recorded, so that draws of the same bits stay the same whatever is computed side by side. Logistic rows and those like
/// them alone: their functions are ours on every machine.
#[test]
fn gradients_are_those_that_were_recorded() {
    let mut digest = 0xcbf2_9ce4_8422_2325u64;
    for family in [FAMILIES[0], FAMILIES[1], FAMILIES[2], FAMILIES[5], FAMILIES[6], FAMILIES[7]] {
        for (width, blocks) in [(1, vec![]), (6, vec![]), (7, mixed()), (0, mixed()), (8, vec![]), (13, mixed())] {
            for n in [1, 7, 8, 9, 255, 256, 700] {
                let data = rows(n, width, &blocks, family, n as u64);
                let design = encode(&data, Layout::projected(width, blocks.clone(), 1.5).unwrap(), family, Some(n));
                let (_, gradient) = evaluate(&design, &point(design.dimension(), 3));
                for byte in gradient.iter().flat_map(|g| (g + 0.0).to_bits().to_le_bytes()) {
                    digest = (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
                }
            }
        }
    }
    assert_eq!(format!("{digest:016x}"), "cdf4d9e779635889");
}

/// A row of weight 1/2 twice is a row of weight 1 once, and rows of weight 0 are not there: losses and gradients, flat and not.
#[test]
fn weights_multiply_rows() {
    for family in FAMILIES {
        for (width, blocks) in [(3, vec![]), (9, vec![]), (4, mixed())] {
            let data = rows(300, width, &blocks, family, 8);
            let plain = encode(&data, Layout::new(width, blocks.clone(), 20.0).unwrap(), family, None);
            let mut builder =
                DesignBuilder::new(Layout::new(width, blocks.clone(), 20.0).unwrap().with_weights(), family, Some(900)).unwrap();
            for ((x, l), y) in data.dense.iter().zip(&data.levels).zip(&data.outcome) {
                for weight in [0.5, 0.0, 0.5] {
                    builder.push_weighted(x, l, *y, weight).unwrap();
                }
            }
            let weighted = builder.finish();
            let theta = point(plain.dimension(), 9);
            let ((a, g), (b, h)) = (evaluate(&plain, &theta), evaluate(&weighted, &theta));
            let close = |x: f64, y: f64| (x - y).abs() <= 1e-9 * (1.0 + x.abs() + y.abs());
            assert!(close(a, b) && g.iter().zip(&h).all(|(x, y)| close(*x, *y)), "{family:?} {width}: {a} {b}");
        }
    }
}
