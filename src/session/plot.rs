//! A Rényi curve as text: epsilon over the order, both on logarithmic scales.

use crate::numeric::decimal::{sig_down, sig_up};
use crate::privacy::Claim;

const WIDTH: usize = 56;
const HEIGHT: usize = 12;
/// Orders shown, unless the claim has a limit order below.
const ORDERS: (f64, f64) = (1.25, 256.0);

/// The curve of a claim, a star a column; upper bounds all of them.
pub fn curve(title: &str, claim: &Claim) -> String {
    let limit = claim.max_order();
    let last = ORDERS.1.min(limit * (1.0 - 1e-3));
    let first = ORDERS.0.min(f64::midpoint(1.0, last));
    let order = |i: usize| first * (last / first).powf(i as f64 / (WIDTH - 1) as f64);
    let points: Vec<(f64, f64)> = (0..WIDTH).map(|i| (order(i), claim.rdp(order(i)))).collect();
    let shown: Vec<f64> = points.iter().map(|p| p.1).filter(|e| e.is_finite() && *e > 0.0).collect();
    let (low, high) = shown.iter().fold((f64::INFINITY, 0.0_f64), |(l, h), e| (l.min(*e), h.max(*e)));
    if shown.is_empty() {
        return format!("{title}: no finite positive epsilon at any order\n");
    }
    let row = |e: f64| {
        if high <= low {
            return 0;
        }
        let part = (e / low).ln() / (high / low).ln();
        (part * (HEIGHT - 1) as f64).round() as usize
    };
    let mut out = format!("{title}: Rényi epsilon (log scale) by order (log scale)\n");
    for level in (0..HEIGHT).rev() {
        let mark = match level {
            l if l == HEIGHT - 1 && high > low => sig_up(high, 3),
            0 => sig_up(low, 3),
            _ => String::new(),
        };
        let cell = |(_, e): &(f64, f64)| if e.is_finite() && *e > 0.0 && row(*e) == level { '*' } else { ' ' };
        let line: String = points.iter().map(cell).collect();
        out.push_str(&format!("{mark:>9} |{}\n", line.trim_end()));
    }
    out.push_str(&format!("{:>9} +{}\n", "", "-".repeat(WIDTH)));
    let (left, right) = (sig_up(first, 3), sig_down(last, 3));
    out.push_str(&format!("{:>9}  {left}{right:>width$}\n", "order", width = WIDTH - left.len()));
    if limit.is_finite() {
        out.push_str(&format!("infinite from order {} on\n", sig_down(limit, 4)));
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_rising_curve_rises() {
        let text = curve("x", &Claim::Zcdp { rho: 0.1 });
        let column = |line: usize| text.lines().nth(line).unwrap().rfind('*');
        // The top row holds the last order, the bottom row the first.
        assert_eq!(column(1).unwrap(), 10 + WIDTH);
        assert!(column(HEIGHT).unwrap() < 20);
        assert!(text.lines().all(|l| l.chars().count() <= 80));
        assert!(text.contains("25.6") && text.contains("0.125"));
    }

    #[test]
    fn flat_and_free_curves() {
        assert!(curve("x", &Claim::Product(vec![])).contains("no finite positive"));
        assert!(curve("x", &Claim::BoundedRange { eta: 1e-3 }).contains('*'));
    }
}
