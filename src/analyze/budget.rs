//! Budgets and their parts: shares, the fraction a cost takes, and how both are written.

use crate::model::BudgetKind;
use crate::model::print::number;
use crate::numeric::Amount;
use crate::numeric::amount::ratio_down12;
use crate::numeric::decimal::{down12, sig_down, sig_up, up12};
use crate::privacy::Claim;
use dashu_ratio::RBig;

/// The share `p` of a budget (LANGUAGE §9): p of `dp` is (p eps, p delta), of `gdp` p mu squared, of several orders p eps at
/// each. Rounded down from the exact product, so that the shares of a whole never add up to more than it.
pub fn share(budget: &BudgetKind, p: &RBig) -> BudgetKind {
    if *p >= RBig::ONE {
        return budget.clone();
    }
    let part = |x: f64| ratio_down12(&(p * ratio(x)));
    match budget {
        BudgetKind::Pure(epsilon) => BudgetKind::Pure(part(*epsilon)),
        BudgetKind::Dp { epsilon, delta } => BudgetKind::Dp { epsilon: part(*epsilon), delta: part(*delta) },
        BudgetKind::Zcdp(rho) => BudgetKind::Zcdp(part(*rho)),
        BudgetKind::Gdp(mu) => {
            let (near, square) = (p.to_f64().value().sqrt() * mu, p * ratio(*mu).sqr());
            let fits = |x: &f64| ratio(*x).sqr() <= square;
            BudgetKind::Gdp([up12(near), down12(near)].into_iter().find(fits).unwrap_or_else(|| down12(down12(near).next_down())))
        }
        BudgetKind::Rdp(points) => BudgetKind::Rdp(points.iter().map(|&(order, eps)| (order, part(eps))).collect()),
    }
}

/// A budget so many times as large; deltas and orders stay.
pub fn scaled(kind: &BudgetKind, factor: f64) -> BudgetKind {
    match kind {
        BudgetKind::Pure(e) => BudgetKind::Pure(e * factor),
        BudgetKind::Dp { epsilon, delta } => BudgetKind::Dp { epsilon: epsilon * factor, delta: *delta },
        BudgetKind::Zcdp(rho) => BudgetKind::Zcdp(rho * factor),
        BudgetKind::Gdp(mu) => BudgetKind::Gdp(mu * factor),
        BudgetKind::Rdp(points) => BudgetKind::Rdp(points.iter().map(|(order, e)| (*order, e * factor)).collect()),
    }
}

/// The decimal that an amount stands for.
fn ratio(x: f64) -> RBig {
    Amount::of(x).map_or(RBig::ZERO, |x| x.ratio())
}

/// The fraction of `budget` that `cost` takes; `None` where costs of that kind cannot be counted against it. Exact where both are
/// of one kind.
pub fn fraction(cost: &BudgetKind, budget: &BudgetKind) -> Option<RBig> {
    use BudgetKind::{Dp, Gdp, Pure, Rdp, Zcdp};
    let of = |part: f64, whole: f64| ratio(part) / ratio(whole);
    let value = match (cost, budget) {
        (Pure(x), Pure(all)) | (Zcdp(x), Zcdp(all)) => return Some(of(*x, *all)),
        (Gdp(x), Gdp(all)) => return Some(of(*x, *all).sqr()),
        (Dp { epsilon, delta }, Dp { epsilon: e, delta: d }) => return Some(of(*epsilon, *e).max(of(*delta, *d))),
        (Rdp(points), Rdp(limits)) => {
            let at = |&(order, all): &(f64, f64)| {
                let higher = points.iter().filter(|(o, _)| *o >= order);
                higher.map(|(_, eps)| of(*eps, all)).min()
            };
            return limits.iter().map(at).collect::<Option<Vec<RBig>>>()?.into_iter().max();
        }
        (Dp { .. } | Rdp(_), _) => return None,
        (_, Pure(e)) => claim_of(cost)?.pure() / e,
        (_, Zcdp(rho)) => claim_of(cost)?.zcdp() / rho,
        (_, Gdp(mu)) => (claim_of(cost)?.gdp() / mu).powi(2),
        (_, Rdp(limits)) => {
            let claim = claim_of(cost)?;
            let parts = limits.iter().map(|&(order, eps)| claim.rdp(order) / eps);
            parts.fold(0.0, f64::max)
        }
        (_, Dp { epsilon, delta }) => dp_fraction(&claim_of(cost)?, *epsilon, *delta),
    };
    RBig::try_from(value).ok()
}

/// What a claim costs, written as `spend` takes it: in the budget's own kind, rounded up. `None` where it costs nothing,
/// or more than any budget of the kind.
pub fn cost(claim: &Claim, budget: &BudgetKind) -> Option<BudgetKind> {
    let cost = match budget {
        BudgetKind::Pure(_) => BudgetKind::Pure(up12(claim.pure())),
        BudgetKind::Zcdp(_) => BudgetKind::Zcdp(up12(claim.zcdp())),
        BudgetKind::Gdp(_) => BudgetKind::Gdp(up12(claim.gdp())),
        BudgetKind::Rdp(points) => BudgetKind::Rdp(points.iter().map(|&(order, _)| (order, up12(claim.rdp(order)))).collect()),
        BudgetKind::Dp { epsilon, delta } => {
            let p = dp_fraction(claim, *epsilon, *delta);
            BudgetKind::Dp { epsilon: up12(p * epsilon), delta: up12(p * delta) }
        }
    };
    let usual = limits(&cost).into_iter().all(|x| x.is_finite() && x > 0.0);
    (usual && claim.implies(&cost)).then_some(cost)
}

/// The smallest share p with `claim` within (p eps, p delta), from above.
fn dp_fraction(claim: &Claim, epsilon: f64, delta: f64) -> f64 {
    let fits = |p: f64| claim.epsilon(p * delta) <= p * epsilon;
    if !fits(1.0) {
        return claim.epsilon(delta) / epsilon;
    }
    let (mut no, mut yes) = (0.0, 1.0);
    for _ in 0..40 {
        let middle = f64::midpoint(no, yes);
        if fits(middle) { yes = middle } else { no = middle }
    }
    yes
}

/// A cost given as one constant, as a claim; `None` for dp and rdp, which determine no other kind.
fn claim_of(kind: &BudgetKind) -> Option<Claim> {
    match kind {
        BudgetKind::Pure(epsilon) => Some(Claim::Pure { epsilon: *epsilon }),
        BudgetKind::Zcdp(rho) => Some(Claim::Zcdp { rho: *rho }),
        BudgetKind::Gdp(mu) => Some(Claim::Gdp { mu: *mu }),
        BudgetKind::Dp { .. } | BudgetKind::Rdp(_) => None,
    }
}

/// What a claim costs over what is allowed: at most 1 exactly where it implies the limit.
pub fn over(claim: &Claim, limit: &BudgetKind) -> f64 {
    let over = |(spent, allowed): (&f64, f64)| {
        let ratio = spent / allowed;
        if *spent <= allowed { ratio.min(1.0) } else { ratio.max(1.0_f64.next_up()) }
    };
    claim.costs(limit).iter().zip(limit.numbers()).map(over).fold(0.0, f64::max)
}

/// Can this claim imply a budget of the kind at all, however large?
pub fn reaches(claim: &Claim, kind: &BudgetKind) -> bool {
    claim.costs(kind).iter().all(|cost| cost.is_finite())
}

/// What `claim` leaves of the budget in the units that add, rounded down, at least 0.
pub fn unspent(claim: &Claim, kind: &BudgetKind) -> Vec<f64> {
    let added = |x: f64| match kind {
        BudgetKind::Gdp(_) => ratio(x).sqr(),
        _ => ratio(x),
    };
    let left = |(cost, limit): (&f64, f64)| if *cost >= limit { 0.0 } else { ratio_down12(&(added(limit) - added(*cost))) };
    claim.costs(kind).iter().zip(kind.numbers()).map(left).collect()
}

/// The numbers of a budget in the units that add: epsilon, rho, mu squared, epsilon at each order.
pub fn limits(kind: &BudgetKind) -> Vec<f64> {
    match kind {
        BudgetKind::Gdp(mu) => vec![Amount::of(*mu).map_or(0.0, |mu| mu.squared().to_f64())],
        _ => kind.numbers(),
    }
}

/// A budget as the language writes it, numbers in full: `rdp(order = 8, eps = 0.5)`.
pub fn written(kind: &BudgetKind) -> String {
    match kind {
        BudgetKind::Pure(epsilon) => format!("eps({})", number(*epsilon)),
        BudgetKind::Dp { epsilon, delta } => {
            format!("dp(eps = {}, delta = {})", number(*epsilon), number(*delta))
        }
        BudgetKind::Zcdp(rho) => format!("zcdp({})", number(*rho)),
        BudgetKind::Gdp(mu) => format!("gdp({})", number(*mu)),
        BudgetKind::Rdp(points) => match points.as_slice() {
            [(order, eps)] => format!("rdp(order = {}, eps = {})", number(*order), number(*eps)),
            _ => {
                let list = |f: fn(&(f64, f64)) -> f64| {
                    let texts: Vec<String> = points.iter().map(|p| number(f(p))).collect();
                    texts.join(", ")
                };
                format!("rdp(order = [{}], eps = [{}])", list(|p| p.0), list(|p| p.1))
            }
        },
    }
}

/// The short form with the order inside: `rdp(8, 0.5)`.
pub fn short(kind: &BudgetKind) -> String {
    match kind {
        BudgetKind::Rdp(points) => {
            let texts: Vec<String> = points.iter().map(|(order, eps)| format!("rdp({}, {})", number(*order), number(*eps))).collect();
            texts.join(" and ")
        }
        BudgetKind::Dp { epsilon, delta } => {
            format!("dp({}, {})", number(*epsilon), number(*delta))
        }
        other => written(other),
    }
}

/// `zcdp`, `rdp`, ..: the kind alone.
pub fn kind_name(kind: &BudgetKind) -> &'static str {
    match kind {
        BudgetKind::Pure(_) => "eps",
        BudgetKind::Dp { .. } => "dp",
        BudgetKind::Zcdp(_) => "zcdp",
        BudgetKind::Gdp(_) => "gdp",
        BudgetKind::Rdp(_) => "rdp",
    }
}

/// A cost in the budget's kind with its limit, rounded up to 4 digits: ("eps = 10", "6"), ("rdp(8) = 0.92", "0.5").
/// Of several orders the one that exceeds its limit most.
pub fn against(claim: &Claim, kind: &BudgetKind) -> (String, String) {
    let up = |x: f64| if x.is_finite() { sig_up(x, 4) } else { "inf".into() };
    match kind {
        BudgetKind::Pure(e) => (format!("eps = {}", up(claim.pure())), number(*e)),
        BudgetKind::Zcdp(rho) => (format!("zcdp = {}", up(claim.zcdp())), number(*rho)),
        BudgetKind::Gdp(mu) => (format!("gdp = {}", up(claim.gdp())), number(*mu)),
        BudgetKind::Dp { epsilon, delta } => {
            let cost = up(claim.epsilon(*delta));
            (format!("eps = {cost} at delta = {}", number(*delta)), number(*epsilon))
        }
        BudgetKind::Rdp(points) => {
            let worst =
                points.iter().map(|&(order, eps)| (order, eps, claim.rdp(order))).max_by(|a, b| (a.2 / a.1).total_cmp(&(b.2 / b.1)));
            let (order, eps, cost) = worst.unwrap_or((2.0, 0.0, f64::INFINITY));
            (format!("rdp({}) = {}", number(order), up(cost)), number(eps))
        }
    }
}

/// What a claim can promise in each kind, as budgets that it meets: offered where the wanted kind is out of reach.
pub fn reachable(claim: &Claim) -> Vec<String> {
    let mut offers = Vec::new();
    let plain = [("eps", claim.pure()), ("zcdp", claim.zcdp()), ("gdp", claim.gdp())];
    for (name, value) in plain {
        if value.is_finite() {
            offers.push(format!("budget {name}({})", sig_up(value, 4)));
        }
    }
    let limit = claim.max_order();
    let order = [8.0, 4.0, 2.0, 1.5].into_iter().find(|o| *o < limit).unwrap_or(f64::midpoint(1.0, limit));
    let cost = claim.rdp(order);
    if cost.is_finite() {
        // At most this at the order that is shown, which is rounded down.
        offers.push(format!("budget rdp(order = {}, eps = {})", sig_down(order, 4), sig_up(cost, 4)));
    }
    let epsilon = claim.epsilon(1e-6);
    if epsilon.is_finite() {
        offers.push(format!("budget dp(eps = {}, delta = 1e-6)", sig_up(epsilon, 4)));
    }
    offers
}
