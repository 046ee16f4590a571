//! The budget of a registered data set: how it is written, its components, and what a claim costs in each.

use crate::numeric::Amount;
use crate::numeric::decimal::decimal_string;
use crate::privacy::{Claim, Unit};
use std::fmt;

/// A budget in its own terms; every number is positive and exact.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Budget {
    Pure(Amount),
    /// 0 < delta < 1.
    Dp {
        epsilon: Amount,
        delta: Amount,
    },
    Zcdp(Amount),
    Gdp(Amount),
    /// (order, epsilon), orders above 1, all to hold at once.
    Rdp(Vec<(Amount, Amount)>),
}

impl Budget {
    /// Reads `eps(1)`, `dp(eps = 1, delta = 1e-6)`, `zcdp(0.5)`, `gdp(1)`, `rdp(order = 8, eps = 0.5)` or
    /// `rdp(order = [2, 8], eps = [0.1, 0.5])`. `None` for other text, and for numbers that are not amounts.
    pub fn parse(text: &str) -> Option<Budget> {
        let (name, rest) = text.trim().split_once('(')?;
        let arguments = arguments(rest.strip_suffix(')')?)?;
        let list = |key: &str, place: usize| -> Option<Vec<Amount>> {
            let (_, values) = match arguments.iter().find(|(k, _)| *k == key) {
                Some(found) => found,
                None => arguments.get(place).filter(|(k, _)| k.is_empty())?,
            };
            values.iter().map(|v| Amount::positive(v)).collect()
        };
        let one = |key: &str, place: usize| match list(key, place)?.as_slice() {
            [x] => Some(x.clone()),
            _ => None,
        };
        let wanted = if matches!(name.trim(), "dp" | "rdp") { 2 } else { 1 };
        if arguments.len() != wanted {
            return None;
        }
        let unit = Amount::positive("1")?;
        Some(match name.trim() {
            "eps" => Budget::Pure(one("eps", 0)?),
            "dp" => Budget::Dp { epsilon: one("eps", 0)?, delta: one("delta", 1).filter(|d| *d < unit)? },
            "zcdp" => Budget::Zcdp(one("rho", 0)?),
            "gdp" => Budget::Gdp(one("mu", 0)?),
            "rdp" => {
                let (mut orders, limits) = (list("order", 0)?, list("eps", 1)?);
                let same = orders.len() == limits.len() && !orders.is_empty() && orders.iter().all(|o| *o > unit);
                let points = orders.clone().into_iter().zip(limits).collect();
                orders.sort();
                orders.dedup();
                if !same || orders.len() != Vec::len(&points) {
                    return None;
                }
                Budget::Rdp(points)
            }
            _ => return None,
        })
    }

    /// Is it counted in the same terms, so that charges of one are charges of the other?
    pub fn is_like(&self, other: &Budget) -> bool {
        let delta = |b: &Budget| if let Budget::Dp { delta, .. } = b { Some(delta.clone()) } else { None };
        let names = |b: &Budget| b.components().into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        std::mem::discriminant(self) == std::mem::discriminant(other) && delta(self) == delta(other) && names(self) == names(other)
    }

    /// What is limited, in units that add: `eps`, `rho`, `mu_squared`, `eps at order 8`; with its limit.
    pub fn components(&self) -> Vec<(String, Amount)> {
        match self {
            Budget::Pure(limit) | Budget::Dp { epsilon: limit, .. } => vec![("eps".into(), limit.clone())],
            Budget::Zcdp(limit) => vec![("rho".into(), limit.clone())],
            Budget::Gdp(mu) => vec![("mu_squared".into(), mu.squared())],
            Budget::Rdp(points) => points.iter().map(|(order, limit)| (format!("eps at order {}", shown(order)), limit.clone())).collect(),
        }
    }

    /// What one claim costs alone, component by component, rounded up; `None` where it has no bound in a component
    /// or its cost is not an amount (zero, subnormal).
    pub fn cost(&self, claim: &Claim) -> Option<Vec<Amount>> {
        match self {
            Budget::Pure(_) => Some(vec![Amount::cost(claim.pure())?]),
            Budget::Dp { delta, .. } => {
                // A claim so small that delta alone covers it has epsilon 0; it is charged by what it does promise, and
                // counts with all others whenever the total is priced.
                let priced = [claim.epsilon(delta.down()), claim.pure(), claim.rdp(2.0)];
                Some(vec![priced.into_iter().find_map(Amount::cost)?])
            }
            Budget::Zcdp(_) => Some(vec![Amount::cost(claim.zcdp())?]),
            Budget::Gdp(_) => Some(vec![Amount::cost(claim.spent(Unit::Gdp)?.up())?]),
            Budget::Rdp(points) => points.iter().map(|(order, _)| Amount::cost(claim.rdp(order.up()))).collect(),
        }
    }
}

/// `key = value`, `value`, with a value or a list `[a, b]`.
fn arguments(text: &str) -> Option<Vec<(&str, Vec<&str>)>> {
    let mut found = vec![];
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (key, after) = match rest.split_once('=') {
            Some((key, after)) if !key.contains([',', '[']) => (key.trim(), after.trim()),
            _ => ("", rest),
        };
        let (value, after) = match after.strip_prefix('[') {
            Some(list) => {
                let (inside, after) = list.split_once(']')?;
                let after = after.trim();
                (inside.split(',').map(str::trim).collect(), if after.is_empty() { "" } else { after.strip_prefix(',')? })
            }
            None => {
                let (value, after) = after.split_once(',').unwrap_or((after, ""));
                (vec![value.trim()], after)
            }
        };
        found.push((key, value));
        rest = after.trim();
    }
    Some(found)
}

/// The short decimal where a double holds the amount exactly: `1e-6` rather than `0.000001`.
pub fn shown(amount: &Amount) -> String {
    let short = decimal_string(amount.to_f64());
    if Amount::positive(&short).as_ref() == Some(amount) { short } else { amount.to_string() }
}

/// As the language writes it.
impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Budget::Pure(epsilon) => write!(f, "eps({})", shown(epsilon)),
            Budget::Dp { epsilon, delta } => write!(f, "dp(eps = {}, delta = {})", shown(epsilon), shown(delta)),
            Budget::Zcdp(rho) => write!(f, "zcdp({})", shown(rho)),
            Budget::Gdp(mu) => write!(f, "gdp({})", shown(mu)),
            Budget::Rdp(points) => match points.as_slice() {
                [(order, epsilon)] => write!(f, "rdp(order = {}, eps = {})", shown(order), shown(epsilon)),
                _ => {
                    let orders: Vec<String> = points.iter().map(|(order, _)| shown(order)).collect();
                    let limits: Vec<String> = points.iter().map(|(_, limit)| shown(limit)).collect();
                    write!(f, "rdp(order = [{}], eps = [{}])", orders.join(", "), limits.join(", "))
                }
            },
        }
    }
}

/// One component of a budget.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Balance {
    /// `eps`, `rho`, `mu_squared`, `eps at order 8`.
    pub component: String,
    pub spent: String,
    pub limit: String,
    pub left: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_read_back() {
        for text in [
            "eps(1)",
            "dp(eps = 1, delta = 1e-6)",
            "zcdp(0.5)",
            "gdp(1.25)",
            "rdp(order = 8, eps = 0.5)",
            "rdp(order = [2, 8], eps = [0.1, 0.5])",
        ] {
            assert_eq!(Budget::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Budget::parse(" dp ( 1 , 1e-6 ) "), Budget::parse("dp(delta = 1e-6, eps = 1.0)"));
        assert_eq!(Budget::parse("eps(eps = 1)"), Budget::parse("eps(1)"));
    }

    #[test]
    fn what_is_no_budget() {
        for text in [
            "",
            "1",
            "eps",
            "eps()",
            "eps(0)",
            "eps(-1)",
            "eps(nan)",
            "eps(inf)",
            "eps(1e400)",
            "eps(1e-320)",
            "eps(1, 2)",
            "eps(1) x",
            "dp(1)",
            "dp(eps = 1, delta = 0)",
            "dp(eps = 1, delta = 1)",
            "dp(eps = 1, eps = 1)",
            "dp(eps = 1, rho = 1)",
            "free(1)",
            "rdp(order = 1, eps = 1)",
            "rdp(order = [2, 8], eps = 1)",
            "rdp(order = [2, 2], eps = [1, 2])",
            "rdp(order = [], eps = [])",
            "rdp(order = [2, eps = 1)",
            "eps(delta = 1)",
            "zcdp([1, 2])",
        ] {
            assert_eq!(Budget::parse(text), None, "{text}");
        }
    }

    #[test]
    fn costs_in_the_terms_of_the_budget() {
        let cost = |budget: &str, claim: &Claim| {
            Budget::parse(budget).unwrap().cost(claim).map(|c| c.iter().map(Amount::to_string).collect::<Vec<_>>())
        };
        assert_eq!(cost("eps(1)", &Claim::Pure { epsilon: 0.1 }), Some(vec!["0.1".into()]));
        assert_eq!(cost("gdp(1)", &Claim::Gdp { mu: 0.3 }), Some(vec!["0.09".into()]));
        assert_eq!(cost("rdp(order = [2, 4], eps = [1, 1])", &Claim::Zcdp { rho: 0.1 }), Some(vec!["0.2".into(), "0.4".into()]));
        assert_eq!(cost("eps(1)", &Claim::Gdp { mu: 0.3 }), None);
        assert_eq!(cost("dp(eps = 1, delta = 1e-6)", &Claim::Pure { epsilon: 1e-12 }), Some(vec!["0.000000000001".into()]));
        for bad in [f64::NAN, f64::INFINITY, 0.0, -1.0, 1e-320] {
            assert_eq!(cost("eps(1)", &Claim::Pure { epsilon: bad }), None);
            assert_eq!(cost("zcdp(1)", &Claim::Zcdp { rho: bad }), None);
            assert_eq!(cost("dp(eps = 1, delta = 1e-6)", &Claim::Zcdp { rho: bad }), None, "{bad}");
        }
    }
}
