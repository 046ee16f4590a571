//! Decimal text of numbers: twelve digits to the safe side for records, few digits to nearest for people.

/// Significant digits of recorded numbers.
const DIGITS: usize = 12;

/// `x` to twelve significant decimal digits, never below `x` (as doubles).
pub fn up12(x: f64) -> f64 {
    let near = parsed(&format!("{x:.*e}", DIGITS - 1), x);
    if !x.is_finite() || near >= x {
        return near;
    }
    // One unit of the last digit more, rounded again so that the text stays short.
    let unit = 10_f64.powf(x.abs().log10().floor() - (DIGITS - 1) as f64);
    let next = parsed(&format!("{:.*e}", DIGITS - 1, near + unit), x);
    if next >= x { next } else { x }
}

/// `x` to twelve significant decimal digits, never above `x` (as doubles).
pub fn down12(x: f64) -> f64 {
    -up12(-x)
}

fn parsed(text: &str, otherwise: f64) -> f64 {
    text.parse().unwrap_or(otherwise)
}

/// The shortest decimal that reads back as the same double: `0.1`, `7`, `1e-6`, `inf`.
pub fn decimal_string(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 {
        "0".to_owned()
    } else if !x.is_finite() || (1e-5..1e16).contains(&size) {
        format!("{x}")
    } else {
        format!("{x:e}")
    }
}

/// `x` to nearest with at most this many significant digits, for people: `0.668`, `1.414`, `6`.
pub fn sig(x: f64, digits: usize) -> String {
    if !x.is_finite() {
        return decimal_string(x);
    }
    let text = format!("{x:.*e}", digits.saturating_sub(1));
    decimal_string(parsed(&text, x))
}

/// An upper bound for people: at most this many digits, never below it by however little. Records hold the bound itself, with
/// [`up12`].
pub fn sig_up(x: f64, digits: usize) -> String {
    if !x.is_finite() || x == 0.0 {
        return decimal_string(x);
    }
    let near = parsed(&format!("{x:.*e}", digits.saturating_sub(1)), x);
    let unit = 10_f64.powf(x.abs().log10().floor() + 1.0 - digits as f64);
    // Beside a power of ten the next decimal may be a tenth of a unit away.
    let next = [0.0, 0.1 * unit, unit].map(|by| sig(near + by, digits));
    next.into_iter().find(|text| parsed(text, x) >= x).unwrap_or_else(|| decimal_string(x))
}

/// A limit for people: at most this many digits, never above it.
pub fn sig_down(x: f64, digits: usize) -> String {
    match sig_up(-x, digits) {
        text if text == "0" => text,
        text => text.strip_prefix('-').map_or(format!("-{text}"), str::to_owned),
    }
}

/// [`sig_up`] as the number it is.
pub fn rounded_up(x: f64, digits: usize) -> f64 {
    parsed(&sig_up(x, digits), x)
}

/// [`sig_down`] as the number it is.
pub fn rounded_down(x: f64, digits: usize) -> f64 {
    parsed(&sig_down(x, digits), x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twelve_digits_to_the_safe_side() {
        assert_eq!(up12(0.123_456_789_012_3), 0.123_456_789_013);
        assert_eq!(down12(0.123_456_789_012_3), 0.123_456_789_012);
        assert_eq!(up12(-0.123_456_789_012_3), -0.123_456_789_012);
        assert_eq!((up12(0.1), down12(0.1)), (0.1, 0.1));
        assert_eq!((up12(0.0), up12(f64::INFINITY)), (0.0, f64::INFINITY));
        assert_eq!(up12(9.999_999_999_999), 10.0);
        assert_eq!(down12(9.999_999_999_999), 9.999_999_999_99);
        let mut x = 1.234_567_890_123_456_7e-300;
        while x < 1e300 {
            assert!(up12(x) >= x && up12(x) <= x * (1.0 + 1.1e-11));
            assert!(down12(x) <= x && down12(x) >= x * (1.0 - 1.1e-11));
            assert!(decimal_string(up12(x)).bytes().filter(u8::is_ascii_digit).count() <= 19);
            x *= 7.3;
        }
    }

    #[test]
    fn text_reads_back() {
        for x in [0.1, 7.0, 1e-6, 1.5e300, -2.5e-7, 1e15, 123456.789] {
            assert_eq!(decimal_string(x).parse::<f64>().unwrap(), x);
        }
        assert_eq!(decimal_string(1e-6), "1e-6");
        assert_eq!(decimal_string(0.0), "0");
        assert_eq!(decimal_string(f64::INFINITY), "inf");
    }

    #[test]
    fn bounds_for_people() {
        assert_eq!((sig_up(18.13, 3), sig_down(18.13, 3)), ("18.2".into(), "18.1".into()));
        assert_eq!((sig_up(0.02, 3), sig_down(0.02, 3)), ("0.02".into(), "0.02".into()));
        assert_eq!((sig_up(0.02_f64.next_up(), 3), sig_down(0.02_f64.next_down(), 3)), ("0.0201".into(), "0.0199".into()));
        assert_eq!((sig_up(10.0_f64.next_up(), 3), sig_down(10.0_f64.next_down(), 3)), ("10.1".into(), "9.99".into()));
        assert_eq!((sig_up(9.996, 3), sig_down(7.0, 4), sig_down(f64::INFINITY, 4)), ("10".into(), "7".into(), "inf".into()));
        assert_eq!((sig_up(f64::MIN_POSITIVE, 3), sig_up(-0.5, 3)), ("2.23e-308".into(), "-0.5".into()));
        let mut x: f64 = 1.234_567_890_123_456_7e-300;
        while x < 1e300 {
            // Also where all but a last digit is a short decimal.
            for x in [x, x.next_up(), parsed(&sig(x, 3), x).next_up(), parsed(&sig(x, 3), x).next_down()] {
                let (up, down) = (parsed(&sig_up(x, 3), 0.0), parsed(&sig_down(x, 3), f64::INFINITY));
                assert!(up >= x && up <= 1.0101 * x && down <= x && down >= 0.9899 * x, "{x}: {down} {up}");
            }
            x *= 7.3;
        }
    }

    #[test]
    fn few_digits_for_people() {
        assert_eq!(sig(0.667_97, 3), "0.668");
        assert_eq!(sig(2.0_f64.sqrt(), 4), "1.414");
        assert_eq!(sig(6.0, 4), "6");
        assert_eq!(sig(6.999_999_999, 4), "7");
        assert_eq!(sig(1.0e-6, 3), "1e-6");
        assert_eq!(sig(12_345.678, 3), "12300");
    }
}
