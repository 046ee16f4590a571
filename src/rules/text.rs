//! Numbers in messages: shortest form, or four digits rounded to a stated side.

/// The shortest text that reads back as `x`: `6`, `0.25`, `1e300`.
pub(crate) fn plain(x: f64) -> String {
    if x != 0.0 && x.is_finite() && !(1e-5..1e15).contains(&x.abs()) { format!("{x:e}") } else { format!("{x}") }
}

fn four(x: f64, round: fn(f64) -> f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return plain(x);
    }
    let exponent = x.abs().log10().floor();
    if !(-9.0..15.0).contains(&exponent) {
        return plain(x);
    }
    // Digits after the point that leave four in all; whole numbers keep every digit.
    let decimals = (3.0 - exponent).max(0.0);
    let scale = 10f64.powf(decimals);
    // A relative slack of 1e-12 keeps 0.3 from becoming 0.3001 for want of an exact double.
    let scaled = x * scale;
    let nearest = scaled.round();
    let chosen = if (scaled - nearest).abs() <= 1e-12 * nearest.abs() { nearest } else { round(scaled) };
    plain_decimals(chosen / scale, decimals as usize)
}

fn plain_decimals(x: f64, decimals: usize) -> String {
    let text = format!("{x:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// Four significant digits, rounded up.
pub(crate) fn four_up(x: f64) -> String {
    four(x, f64::ceil)
}

/// A vector in one ratio: its smallest number in four digits, rounded up, and the others in proportion. A prior keeps
/// its mean this way and is never weaker than asked.
pub(crate) fn four_up_together(counts: &[f64]) -> Vec<String> {
    let smallest = counts.iter().copied().fold(f64::INFINITY, f64::min);
    let rounded: f64 = four_up(smallest).parse().unwrap_or(smallest);
    let factor = if smallest > 0.0 && smallest.is_finite() { rounded / smallest } else { 1.0 };
    counts.iter().map(|x| four_up(x * factor)).collect()
}

/// Four significant digits, rounded down.
pub(crate) fn four_down(x: f64) -> String {
    four(x, f64::floor)
}

/// Four significant digits, rounded to nearest: for notes that describe, not for numbers to paste.
pub(crate) fn four_near(x: f64) -> String {
    four(x, f64::round)
}

/// `1 row`, `4 rows`.
pub(crate) fn plural(n: u64, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_digits_on_the_stated_side() {
        assert_eq!(four_up(6.0), "6");
        assert_eq!(four_up(11.4171), "11.42");
        assert_eq!(four_down(0.66789), "0.6678");
        assert_eq!(four_near(0.30000000000000004), "0.3");
        assert_eq!(four_up(123456.2), "123457");
        assert_eq!(four_near(0.1), "0.1");
        assert_eq!(four_up_together(&[11.4128, 34.2384]), ["11.42", "34.26"]);
    }
}
