//! Days of the proleptic Gregorian calendar as whole numbers: day 0 is 1970-01-01.

/// The first and the last day that a date can be.
pub const FIRST: f64 = -719_162.0;
pub const LAST: f64 = 2_932_896.0;

/// Days from 0000-03-01 to 1970-01-01; years that begin in March have the leap day at their end.
const SHIFT: i64 = 719_468;
/// Days of 400 years, after which the calendar repeats.
const ERA: i64 = 146_097;

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// The number of a day; `None` if the calendar has no such day.
pub fn day(year: i64, month: i64, day: i64) -> Option<f64> {
    let length = match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) || !(1..=9999).contains(&year) {
        return None;
    }
    let year = if month > 2 { year } else { year - 1 };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some((era * ERA + of_era * 365 + of_era / 4 - of_era / 100 + of_year - SHIFT) as f64)
}

/// Year, month from 1 and day from 1 of the day that a number lies in; total, by the nearest day there is.
pub fn date(x: f64) -> (i64, i64, i64) {
    let shifted = if x.is_nan() { 0.0 } else { libm::floor(x).clamp(FIRST, LAST) } as i64 + SHIFT;
    let (era, of_era) = (shifted.div_euclid(ERA), shifted.rem_euclid(ERA));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let month_from_1 = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month >= 10), month_from_1, of_year - (153 * month + 2) / 5 + 1)
}

pub fn year(x: f64) -> f64 {
    date(x).0 as f64
}

pub fn month(x: f64) -> f64 {
    date(x).1 as f64
}

/// 1 for Monday to 7 for Sunday, as in ISO 8601.
pub fn weekday(x: f64) -> f64 {
    let day = if x.is_nan() { 0.0 } else { libm::floor(x).clamp(FIRST, LAST) } as i64;
    ((day + 3).rem_euclid(7) + 1) as f64
}

/// `2020-02-29`: four, two and two digits; `None` for anything else and for days that there are not.
pub fn parse(text: &[u8]) -> Option<f64> {
    let number = |digits: &[u8]| {
        let all = digits.iter().all(u8::is_ascii_digit);
        all.then(|| digits.iter().fold(0, |n, d| 10 * n + i64::from(d - b'0')))
    };
    match (text.len(), text.split_at_checked(4), text.get(5..7), text.get(8..)) {
        (10, Some((y, [b'-', ..])), Some(m), Some(d)) if text.get(7) == Some(&b'-') => day(number(y)?, number(m)?, number(d)?),
        _ => None,
    }
}

/// A day as [`parse`] reads it.
pub fn text(x: f64) -> String {
    let (year, month, day) = date(x);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Day by day from the first to the last, by a calendar that only counts.
    #[test]
    fn every_day_there_is() {
        let (mut y, mut m, mut d, mut w) = (1, 1, 1, 1);
        let mut x = FIRST;
        let lengths = |y: i64| [31, if is_leap(y) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        while x <= LAST {
            assert_eq!((date(x), day(y, m, d), weekday(x)), ((y, m, d), Some(x), f64::from(w)));
            if d == 1 {
                assert_eq!(parse(text(x).as_bytes()), Some(x));
                assert_eq!(day(y, m, lengths(y)[m as usize - 1] + 1), None);
            }
            (x, d, w) = (x + 1.0, d + 1, w % 7 + 1);
            if d > lengths(y)[m as usize - 1] {
                (d, m) = (1, m + 1);
            }
            if m > 12 {
                (m, y) = (1, y + 1);
            }
        }
        assert_eq!((y, m, d), (10_000, 1, 1));
        // What is known of some days: Apollo 11, a leap day, the day that the numbers begin.
        assert_eq!((parse(b"1969-07-20"), weekday(-165.0)), (Some(-165.0), 7.0));
        assert_eq!((text(11_016.0), weekday(11_016.0), weekday(0.0)), ("2000-02-29".into(), 2.0, 4.0));
    }

    #[test]
    fn other_texts_are_no_days() {
        for text in [
            "",
            "2020",
            "2020-1-01",
            "20-01-2020",
            "01/02/2020",
            "2020-02-30",
            "1900-02-29",
            "2020-13-01",
            "2020-00-10",
            "2020-01-00",
            "0000-01-01",
            "2020-01-01T00:00",
            "+020-01-01",
            "2020-01-0a",
            "２020-01-01",
            "2020_01_01",
            "20200101",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
        assert_eq!([f64::NAN, f64::NEG_INFINITY, f64::INFINITY].map(year), [1970.0, 1.0, 9999.0]);
        assert_eq!([-0.5, 0.5].map(date), [(1969, 12, 31), (1970, 1, 1)]);
    }
}
