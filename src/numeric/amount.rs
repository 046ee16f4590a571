//! Amounts of privacy as exact decimals: what is spent, what is charged, what is allowed, what is left.
//!
//! A double in a program, a claim or a certificate stands for its shortest decimal text: 0.1 for the double nearest to 0.1. So
//! ten claims of 0.1 are 1, and what a person reads is what is meant.

use crate::numeric::decimal::{decimal_string, down12, up12};
use dashu_int::UBig;
use dashu_ratio::RBig;
use std::cmp::Ordering;
use std::fmt;

/// Text longer than this is not an amount that a person wrote.
const LONGEST_TEXT: usize = 400;
/// Powers of ten beyond these are refused: they are not amounts of privacy, and their digits would fill the memory.
const LARGEST_EXPONENT: i32 = 300;

/// A non-negative decimal number, `digits / 10^scale`, without trailing zeros behind the point. Sums and products are
/// exact, so ten times 0.1 is 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Amount {
    digits: UBig,
    scale: u32,
}

impl Amount {
    pub fn zero() -> Amount {
        Amount { digits: UBig::ZERO, scale: 0 }
    }

    /// A positive number as people write it: `1`, `0.1`, `1e-6`. `None` for anything else (`nan`, `inf`, `-1`, `0`), and
    /// for numbers outside 1e-300 ..= 1e300.
    pub fn positive(text: &str) -> Option<Amount> {
        let amount = Amount::parse(text)?;
        let digits = i64::try_from(amount.digits.to_string().len()).ok()?;
        let exponent = digits - 1 - i64::from(amount.scale);
        let usual = exponent.unsigned_abs() <= LARGEST_EXPONENT.unsigned_abs().into();
        (!amount.is_zero() && usual).then_some(amount)
    }

    /// Reads back what `Display` wrote, and other decimals with or without an exponent.
    pub fn parse(text: &str) -> Option<Amount> {
        if text.len() > LONGEST_TEXT {
            return None;
        }
        let (number, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let exponent: i32 = exponent.parse().ok().filter(|e: &i32| e.abs() <= LARGEST_EXPONENT + 30)?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let all = format!("{whole}{fraction}");
        if whole.is_empty() || !all.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let digits: UBig = all.parse().ok()?;
        let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        Some(match u32::try_from(scale) {
            Ok(scale) => Amount { digits, scale }.shortened(),
            Err(_) => Amount { digits: digits * ten_to(scale.unsigned_abs()), scale: 0 },
        })
    }

    pub fn whole(n: u64) -> Amount {
        Amount { digits: n.into(), scale: 0 }
    }

    /// What a double stands for; `None` for what is not an amount: not a number, infinite, negative.
    pub fn of(x: f64) -> Option<Amount> {
        Amount::parse(&decimal_string(x))
    }

    /// What a double is, to its last binary digit.
    pub fn exactly(x: f64) -> Option<Amount> {
        // n / 2^k = n 5^k / 10^k
        let (numerator, denominator) = RBig::try_from(x).ok()?.into_parts();
        let k = denominator.trailing_zeros()?;
        let digits = UBig::try_from(numerator).ok()? * UBig::from(5_u8).pow(k);
        Some(Amount { digits, scale: u32::try_from(k).ok()? }.shortened())
    }

    /// A cost, rounded up to twelve significant digits as certificates print it. `None` for what is not a cost: not a number, infinite, zero, negative, or too small to be rounded (subnormal).
    pub fn cost(x: f64) -> Option<Amount> {
        (x > 0.0 && x.is_normal()).then(|| Amount::positive(&decimal_string(up12(x))))?
    }

    pub fn is_zero(&self) -> bool {
        self.digits.is_zero()
    }

    pub fn plus(&self, other: &Amount) -> Amount {
        let (a, b, scale) = self.aligned(other);
        Amount { digits: a + b, scale }.shortened()
    }

    /// The difference, zero where `other` is larger.
    pub fn minus(&self, other: &Amount) -> Amount {
        let (a, b, scale) = self.aligned(other);
        if a <= b { Amount::zero() } else { Amount { digits: a - b, scale }.shortened() }
    }

    pub fn squared(&self) -> Amount {
        Amount { digits: &self.digits * &self.digits, scale: self.scale.saturating_mul(2) }.shortened()
    }

    pub fn times(&self, other: &Amount) -> Amount {
        Amount { digits: &self.digits * &other.digits, scale: self.scale.saturating_add(other.scale) }.shortened()
    }

    pub fn half(&self) -> Amount {
        Amount { digits: &self.digits * UBig::from(5_u8), scale: self.scale.saturating_add(1) }.shortened()
    }

    pub fn ratio(&self) -> RBig {
        RBig::from(self.digits.clone()) / RBig::from(ten_to(self.scale))
    }

    /// The nearest double, for prices that have no exact form.
    pub fn to_f64(&self) -> f64 {
        self.to_string().parse().unwrap_or(f64::INFINITY)
    }

    /// The largest double that stands for as much or less.
    pub fn down(&self) -> f64 {
        let near = self.to_f64();
        if Amount::of(near).is_some_and(|x| x > *self) { near.next_down() } else { near }
    }

    /// The least double that stands for as much or more.
    pub fn up(&self) -> f64 {
        let near = self.to_f64();
        if Amount::of(near).is_some_and(|x| x < *self) { near.next_up() } else { near }
    }

    /// The least double whose square stands for as much or more.
    pub fn root_up(&self) -> f64 {
        let near = self.to_f64().sqrt();
        let enough = |x: &f64| Amount::of(*x).is_some_and(|x| x.squared() >= *self);
        [near.next_down(), near, near.next_up(), near.next_up().next_up()].into_iter().find(enough).unwrap_or(f64::INFINITY)
    }

    fn aligned(&self, other: &Amount) -> (UBig, UBig, u32) {
        let scale = self.scale.max(other.scale);
        let raised = |x: &Amount| &x.digits * ten_to(scale.saturating_sub(x.scale));
        (raised(self), raised(other), scale)
    }

    fn shortened(mut self) -> Amount {
        let ten = UBig::from(10_u8);
        while self.scale > 0 && (&self.digits % &ten).is_zero() {
            self.digits /= &ten;
            self.scale -= 1;
        }
        self
    }
}

/// The least double that stands for at least `x`, as doubles that were rounded up by hand do not always: its decimal may lie
/// below it.
pub fn stated_up(x: f64) -> f64 {
    if Amount::of(x) < Amount::exactly(x) { x.next_up() } else { x }
}

/// A double that is not below the decimal it stands for, for arithmetic in doubles.
pub fn above(x: f64) -> f64 {
    if Amount::exactly(x) < Amount::of(x) { x.next_up() } else { x }
}

/// A double that is not above the decimal it stands for.
pub fn below(x: f64) -> f64 {
    if Amount::exactly(x) > Amount::of(x) { x.next_down() } else { x }
}

/// The least of the doubles next to `near` that is enough.
fn least(near: f64, enough: impl Fn(&f64) -> bool) -> f64 {
    [near.next_down(), near, near.next_up()].into_iter().find(enough).unwrap_or(f64::INFINITY)
}

/// The least double that stands for at least `a / b`; infinite where one is not an amount, or b is zero.
pub fn quotient_up(a: Option<Amount>, b: Option<Amount>) -> f64 {
    let (Some(a), Some(b)) = (a, b.filter(|b| !b.is_zero())) else { return f64::INFINITY };
    least((a.ratio() / b.ratio()).to_f64().value(), |x| Amount::of(*x).is_some_and(|x| x.times(&b) >= a))
}

/// The least double that stands for at least the quotient of two doubles.
pub fn ratio_up(a: f64, b: f64) -> f64 {
    quotient_up(Amount::exactly(a), Amount::exactly(b))
}

/// The least double that stands for at least a decimal times a double.
pub fn times_up(x: f64, factor: f64) -> f64 {
    Amount::of(x).zip(Amount::exactly(factor)).map_or(f64::INFINITY, |(x, factor)| x.times(&factor).up())
}

/// The least double that is itself at least a double over a decimal.
pub fn over_up(a: f64, x: f64) -> f64 {
    let (Some(a_), Some(x_)) = (Amount::exactly(a), Amount::of(x)) else { return a / x };
    least(a / x, |y| Amount::exactly(*y).is_some_and(|y| y.times(&x_) >= a_))
}

/// The largest decimal of twelve digits that is not above `x`.
pub fn ratio_down12(x: &RBig) -> f64 {
    let near = x.to_f64().value();
    let fits = |c: &f64| Amount::of(*c).is_some_and(|c| c.ratio() <= *x);
    let lower = down12(near);
    [up12(near), lower, down12(lower.next_down())].into_iter().find(fits).unwrap_or(0.0)
}

fn ten_to(power: u32) -> UBig {
    UBig::from(10_u8).pow(power as usize)
}

impl PartialOrd for Amount {
    fn partial_cmp(&self, other: &Amount) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Amount {
    fn cmp(&self, other: &Amount) -> Ordering {
        let (a, b, _) = self.aligned(other);
        a.cmp(&b)
    }
}

/// All digits, never an exponent: `0.000001`.
impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = self.scale as usize;
        let digits = format!("{:0>1$}", self.digits.to_string(), scale + 1);
        let (whole, fraction) = digits.split_at_checked(digits.len() - scale).unwrap_or((&digits, ""));
        if fraction.is_empty() { write!(f, "{whole}") } else { write!(f, "{whole}.{fraction}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(text: &str) -> Amount {
        Amount::positive(text).unwrap()
    }

    #[test]
    fn sums_are_exact() {
        let mut sum = Amount::zero();
        for _ in 0..10 {
            sum = sum.plus(&Amount::cost(0.1).unwrap());
        }
        assert_eq!(sum, amount("1"));
        assert!(sum.plus(&amount("1e-300")) > amount("1"));
        assert_eq!(amount("0.3").plus(&amount("0.7")).to_string(), "1");
        assert_eq!(amount("1").minus(&amount("0.9")).to_string(), "0.1");
        assert_eq!(amount("0.1").minus(&amount("1")), Amount::zero());
        assert_eq!(amount("0.05").squared().to_string(), "0.0025");
    }

    /// Decimals and binary digits of doubles, and the sides they round to.
    #[test]
    fn a_double_and_its_decimal() {
        let of = |x| Amount::of(x).unwrap();
        assert_eq!(Amount::exactly(0.1).unwrap().to_string(), "0.1000000000000000055511151231257827021181583404541015625");
        assert_eq!((stated_up(0.1), above(0.1), below(0.1)), (0.1_f64.next_up(), 0.1, 0.1_f64.next_down()));
        assert_eq!((stated_up(0.3), above(0.3), below(0.3)), (0.3, 0.3_f64.next_up(), 0.3));
        assert_eq!((stated_up(0.25), above(0.25), below(f64::INFINITY)), (0.25, 0.25, f64::INFINITY));
        assert_eq!((of(0.1).plus(&of(0.2)).up(), of(0.02).root_up(), of(0.25).root_up()), (0.3, 0.02_f64.sqrt().next_up(), 0.5));
        assert_eq!((ratio_up(3.0, 10.0), ratio_up(1.0, 10.0), ratio_up(1.0, 0.0)), (0.3, 0.1, f64::INFINITY));
        assert_eq!((times_up(0.1, 3.0), over_up(1.0, 0.1), over_up(0.3, 0.1)), (0.3, 10.0, 3.0));
        let mut x = 1.234_567_890_123_456_7e-290;
        while x < 1e290 {
            let (up, third) = (stated_up(x), ratio_up(x, 3.0));
            assert!(of(up) >= Amount::exactly(x).unwrap() && up <= x.next_up());
            assert!(Amount::exactly(above(x)).unwrap() >= of(x) && Amount::exactly(below(x)).unwrap() <= of(x));
            assert!(of(third).times(&Amount::whole(3)) >= Amount::exactly(x).unwrap());
            assert!(of(third.next_down()).times(&Amount::whole(3)) < Amount::exactly(x).unwrap());
            let down = ratio_down12(&(of(x).ratio() / RBig::from(7)));
            assert!(of(down).ratio() * RBig::from(7) <= of(x).ratio() && down >= x / 7.0 * (1.0 - 1.1e-11));
            x *= 7.3;
        }
        assert_eq!(ratio_down12(&(of(0.7).ratio() * of(0.1).ratio())), 0.07);
    }

    #[test]
    fn text_reads_back() {
        for (text, shown) in [("1", "1"), ("1.50", "1.5"), ("1e-6", "0.000001"), ("12.5e3", "12500"), ("007", "7"), ("2.", "2")] {
            assert_eq!(amount(text).to_string(), shown);
            assert_eq!(Amount::parse(shown), Some(amount(text)));
        }
        assert_eq!(Amount::parse("0"), Some(Amount::zero()));
    }

    #[test]
    fn what_is_no_amount() {
        let long = "1".repeat(1000);
        for text in [
            "nan",
            "inf",
            "0",
            "0.0",
            "-1",
            "+1",
            "",
            ".",
            ".5",
            "1e400",
            "1e-320",
            "1e",
            "1e5.5",
            "1_0",
            " 1",
            "0x1",
            "1e999999999999",
            &long,
        ] {
            assert_eq!(Amount::positive(text), None, "{text}");
        }
        for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, -1.0, 1e-320, f64::MIN_POSITIVE / 2.0] {
            assert_eq!(Amount::cost(x), None, "{x}");
        }
        assert!(Amount::cost(1e-30).is_some());
    }

    #[test]
    fn costs_are_rounded_up() {
        assert_eq!(Amount::cost(0.123_456_789_012_3).unwrap().to_string(), "0.123456789013");
        assert_eq!(Amount::cost(0.099_999_999_999_999_99).unwrap().to_string(), "0.1");
        let mut x = 1.234_567_890_123_456_7e-290;
        while x < 1e290 {
            assert!(Amount::cost(x).unwrap().to_f64() >= x);
            x *= 7.3;
        }
    }
}
