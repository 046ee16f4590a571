//! One cell to a value: total for private columns, checked for public ones (language reference §6).

use crate::model::{Levels, Range};

use super::project::into_range;

fn trim(cell: &[u8]) -> &[u8] {
    cell.trim_ascii()
}

/// The grammar's decimal syntax with an optional sign and spaces, or an infinity; `None` if it is anything else.
pub fn number(cell: &[u8]) -> Option<f64> {
    let text = trim(cell);
    let (negative, body) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let infinite = body.eq_ignore_ascii_case(b"inf") || body.eq_ignore_ascii_case(b"infinity");
    let magnitude = if infinite {
        f64::INFINITY
    } else {
        if !is_decimal(body) {
            return None;
        }
        std::str::from_utf8(body).ok()?.parse().ok()?
    };
    Some(if negative { -magnitude } else { magnitude })
}

/// `digits (. digits)? (e sign? digits)?`
fn is_decimal(body: &[u8]) -> bool {
    let digits = |s: &[u8]| s.iter().take_while(|b| b.is_ascii_digit()).count();
    let whole = digits(body);
    if whole == 0 {
        return false;
    }
    let mut rest = body.get(whole..).unwrap_or(&[]);
    if let [b'.', part @ ..] = rest {
        let n = digits(part);
        if n == 0 {
            return false;
        }
        rest = part.get(n..).unwrap_or(&[]);
    }
    if let [b'e' | b'E', part @ ..] = rest {
        let part = match part {
            [b'+' | b'-', after @ ..] => after,
            _ => part,
        };
        let n = digits(part);
        if n == 0 {
            return false;
        }
        rest = part.get(n..).unwrap_or(&[]);
    }
    rest.is_empty()
}

pub fn real(cell: &[u8], range: Range) -> f64 {
    into_range(number(cell).unwrap_or(f64::NAN), range)
}

/// Rounds half to even, then clamps.
pub fn int(cell: &[u8], range: Range) -> f64 {
    into_range(libm::rint(number(cell).unwrap_or(f64::NAN)), range)
}

/// 1 or 0; `None` if it is not a word for either.
pub fn boolean(cell: &[u8]) -> Option<f64> {
    let text = trim(cell);
    let is = |words: [&[u8]; 3]| words.iter().any(|w| text.eq_ignore_ascii_case(w));
    if is([b"1", b"true", b"yes"]) {
        Some(1.0)
    } else if is([b"0", b"false", b"no"]) {
        Some(0.0)
    } else {
        None
    }
}

/// Index of the level with exactly this label.
pub fn level(cell: &[u8], levels: &Levels) -> Option<f64> {
    let found = levels.iter().position(|l| l.as_bytes() == cell);
    found.map(|i| i as f64)
}

/// Index of the last level, which receives unknown values.
pub fn last_level(levels: &Levels) -> f64 {
    levels.len().saturating_sub(1) as f64
}
