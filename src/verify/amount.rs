//! Amounts as certificates state them: decimals, added and compared exactly.

use super::claim::{Claim, Memo};
use super::real::Real;
use dashu::rational::RBig;

/// The digits and the power of ten of the shortest text that reads back as this double; none for what is no number.
pub fn digits(x: f64) -> Option<(i128, i32)> {
    let text = format!("{x:e}");
    let (number, power) = text.split_once('e')?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let power = power.parse::<i32>().ok()?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    Some((format!("{whole}{fraction}").parse().ok()?, power))
}

/// What a double stands for.
fn decimal(x: f64) -> Option<RBig> {
    let (digits, power) = digits(x)?;
    Some(RBig::from(digits) * RBig::from(10).pow(isize::try_from(power).ok()?))
}

/// The least of the doubles beside `near` that is enough.
fn least(near: f64, enough: impl Fn(&RBig) -> bool) -> f64 {
    let beside = [near.next_down(), near, near.next_up(), near.next_up().next_up()];
    beside.into_iter().find(|x| decimal(*x).is_some_and(|x| enough(&x))).unwrap_or(f64::INFINITY)
}

fn within(spent: Option<RBig>, limit: Option<RBig>) -> bool {
    spent.zip(limit).is_some_and(|(spent, limit)| spent <= limit)
}

impl Claim {
    /// The sum of what the parts state, in a unit that adds; none where one states nothing.
    fn added(&self, stated: &dyn Fn(&Claim) -> Option<RBig>) -> Option<RBig> {
        match self {
            Claim::Product(parts) => parts.iter().try_fold(RBig::ZERO, |sum, part| Some(sum + part.added(stated)?)),
            Claim::Max(parts) => parts.iter().try_fold(RBig::ZERO, |most, part| Some(most.max(part.added(stated)?))),
            Claim::Repeated(times, one) => Some(one.added(stated)? * RBig::from(*times)),
            one => stated(one),
        }
    }

    fn pure(&self) -> Option<RBig> {
        self.added(&|part| match part {
            Claim::Pure(x) | Claim::Laplace(x) | Claim::Range(x) => decimal(x.stated()),
            _ => None,
        })
    }

    fn squares(&self) -> Option<RBig> {
        self.added(&|part| if let Claim::Gdp(mu) = part { Some(decimal(mu.stated())?.sqr()) } else { None })
    }

    fn zcdp(&self) -> Option<RBig> {
        self.added(&|part| match part {
            Claim::Gdp(_) => Some(part.squares()? / RBig::from(2)),
            other => decimal(other.bounds().zcdp.stated()),
        })
    }

    fn at_order(&self, order: f64, memo: &Memo) -> Option<RBig> {
        self.added(&|part| match part {
            Claim::Gdp(_) | Claim::Zcdp(_) => Some(part.zcdp()? * decimal(order)?),
            other => decimal(other.rdp(order, memo).stated()),
        })
    }

    /// The least double that states the pure epsilon of all parts; infinite where there is none.
    pub fn stated_pure(&self) -> f64 {
        self.pure().map_or(f64::INFINITY, |sum| least(sum.to_f64().value(), |x| *x >= sum))
    }

    /// The same of mu.
    pub fn stated_gdp(&self) -> f64 {
        self.squares().map_or(f64::INFINITY, |sum| least(sum.to_f64().value().sqrt(), |x| x.sqr() >= sum))
    }

    /// Is the sum of the pure epsilons of all parts at most this?
    pub fn pure_within(&self, limit: f64) -> bool {
        within(self.pure(), decimal(limit))
    }

    pub fn gdp_within(&self, limit: f64) -> bool {
        within(self.squares(), decimal(limit).map(|mu| mu.sqr()))
    }

    /// As the sum of what the parts state, or as a whole.
    pub fn zcdp_within(&self, limit: f64) -> bool {
        within(self.zcdp(), decimal(limit)) || self.bounds().zcdp.le(&Real::decimal(limit))
    }

    pub fn rdp_within(&self, order: f64, limit: f64, memo: &Memo) -> bool {
        within(self.at_order(order, memo), decimal(limit)) || self.rdp(order, memo).le(&Real::decimal(limit))
    }
}
