//! Made-up draws, the same bits as in benches/diagnostics.py: a hash, sums and products, no function of the system.
#![allow(dead_code)]

/// The finaliser of splitmix64 as a hash of (chain, i); inside of (0, 1).
pub fn uniform(chain: u64, i: u64) -> f64 {
    let mut z = (chain.wrapping_mul(1_000_003).wrapping_add(i)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    ((z >> 12) * 2 + 1) as f64 * 2f64.powi(-53)
}

/// Twelve uniforms less 6.
pub fn normal(chain: u64, i: u64) -> f64 {
    (0..12).fold(-6.0, |sum, j| sum + uniform(chain, 12 * i + j))
}

pub fn chains(kind: &str, count: u64, n: u64, seed: u64) -> Vec<Vec<f64>> {
    (0..count).map(|c| chain(kind, c, n, seed)).collect()
}

fn chain(kind: &str, c: u64, n: u64, seed: u64) -> Vec<f64> {
    let u = |i| uniform(seed + c, i);
    let e = |i| normal(seed + c, i);
    let first = c == 0;
    let each = |f: &dyn Fn(u64) -> f64| (0..n).map(f).collect();
    let autoregressive = |rho: f64| {
        let mut x = 0.0;
        (0..n).map(|i| (x = rho * x + e(i), x).1).collect()
    };
    match kind {
        "normal" => each(&e),
        "stuck" => each(&|i| e(i) + if first { 5.0 } else { 0.0 }),
        "wide" => each(&|i| e(i) * if first { 4.0 } else { 1.0 }),
        "heavy" => each(&|i| (2.0 * u(i) - 1.0) / (u(i) * (1.0 - u(i)))),
        "ties" => each(&|i| (4.0 * u(i)).floor()),
        "binary" => each(&|i| if u(i) < 0.3 { 1.0 } else { 0.0 }),
        "offset" => each(&|i| 1e6 + e(i)),
        "trend" => each(&|i| e(i) + 0.01 * i as f64),
        "frozen" => each(&|_| c as f64),
        "onefrozen" => each(&|i| if first { 0.25 } else { e(i) }),
        "slow" => autoregressive(0.9),
        "slower" => autoregressive(0.99),
        "swinging" => autoregressive(-0.4),
        "antithetic" => autoregressive(-0.7),
        "alternating" => autoregressive(-0.98),
        _ => panic!("{kind}"),
    }
}

/// Log likelihoods, draws outside and points inside.
pub fn likelihood(kind: &str, draws: u64, points: u64, seed: u64, scale: f64) -> Vec<Vec<f64>> {
    let entry = |s, i| {
        let d = 1.5 * normal(seed + 2, i) - 0.3 * normal(seed, s);
        let more = if kind == "factor" { 0.1 * i as f64 * normal(seed + 1, s) } else { 0.0 };
        -0.9 - scale * (d * d + more)
    };
    (0..draws).map(|s| (0..points).map(|i| entry(s, i)).collect()).collect()
}

/// Relative; 0 if both are NaN or the same infinity.
pub fn distance(found: f64, expected: f64) -> f64 {
    if found == expected || (found.is_nan() && expected.is_nan()) {
        return 0.0;
    }
    let d = (found - expected).abs() / expected.abs();
    if d.is_nan() { f64::INFINITY } else { d }
}
