//! Solving an offer: what it costs in its place, the value of its knob that meets a limit, and that value as text.

use super::budget::over;
use super::calibrate::{Price, largest, largest_positive, smallest};
use super::scene::Scene;
use super::site::Site;
use crate::model::BudgetKind;
use crate::model::print::number;
use crate::numeric::decimal::{rounded_down, rounded_up, sig_down, sig_up};
use crate::privacy::{Claim, work};
use crate::rules::arguments::{Arguments, Mechanism, NONE};
use crate::rules::offer::{Knob, Offer};
use std::cell::Cell;

/// Points of curves that the analysis of a program may take: between one and two seconds.
pub const MOST_POINTS: u64 = 500_000;
/// The noise of an answer that costs nothing: far below anything one would read off it.
const FREE: f64 = 1e-9;

/// The cost of an offer for the whole release; `None` where a group around it is not covered.
pub fn cost(site: &Site, offer: &dyn Offer, value: f64) -> Option<Claim> {
    site.cost(&|view| offer.seen(view, value))
}

/// The value of the knob that uses the limit up, on the private side.
pub fn solve(site: &Site, offer: &dyn Offer, limit: &BudgetKind) -> Option<f64> {
    let priced = |x: f64, of: &dyn Fn(&Claim) -> f64| match cost(site, offer, x) {
        Some(claim) if work::done() <= MOST_POINTS => of(&claim),
        _ => f64::INFINITY,
    };
    let exact = |x: f64| priced(x, &|claim| over(claim, limit));
    let last = Cell::new(None);
    let near = |x: f64| match limit {
        BudgetKind::Dp { epsilon, delta } => priced(x, &|claim| claim.over_near(*epsilon, *delta, &last)),
        _ => exact(x),
    };
    let fits = |x: f64| exact(x) <= 1.0;
    let price = Price { exact: &exact, near: &near };
    let of = (offer.mechanism().name, offer.knob());
    let begin = site.near(of);
    let found = match offer.knob() {
        Knob::None => fits(1.0).then_some(1.0),
        Knob::Weight(_) => largest(1.0, begin, price),
        // A query that no row can move is free at any noise.
        Knob::Noise(_) if offer.start() == 0.0 => fits(1.0).then_some(FREE),
        Knob::Noise(_) => smallest(begin.unwrap_or_else(|| offer.start()), price),
        Knob::Loss(_) if offer.start() == 0.0 => fits(1.0).then_some(1.0),
        Knob::Loss(_) => largest_positive(offer.start(), price),
        Knob::Beta(_) => smallest(offer.start(), price),
        Knob::Count(_) => largest_positive(offer.start(), price).map(f64::floor).filter(|x| *x >= 1.0),
    };
    if let Some(x) = found {
        site.keep(of, x);
    }
    found
}

/// Of the offers of one mechanism that whose free number is written; else the one that meets the budget with the least
/// predicted error, last resorts and other priors after all others; else the first.
pub fn pick(scene: &Scene, offers: &[Box<dyn Offer>], mechanism: &Mechanism, args: &Arguments) -> Option<usize> {
    let own: Vec<(usize, &dyn Offer)> = offers.iter().map(AsRef::as_ref).enumerate().filter(|(_, o)| o.mechanism() == mechanism).collect();
    let first = own.first().map(|(i, _)| *i);
    if own.len() < 2 {
        return first;
    }
    let written = own.iter().find(|(_, o)| o.knob().name().is_some_and(|k| args.get(k).is_some()));
    let solved = |(i, o): &(usize, &dyn Offer)| {
        let value = solve(scene.site, *o, scene.allotment?)?;
        Some(((o.changes_prior(), o.last_resort()), [o.predicted_error(value).value, o.noise(value)], *i))
    };
    let less = |x: &[f64; 2], y: &[f64; 2]| x.iter().zip(y).fold(std::cmp::Ordering::Equal, |all, (x, y)| all.then(x.total_cmp(y)));
    let best = || own.iter().filter_map(solved).min_by(|(a, x, _), (b, y, _)| a.cmp(b).then(less(x, y))).map(|(.., i)| i);
    written.map(|(i, _)| *i).or_else(best).or(first)
}

/// The offer of a mechanism where nothing is written after its name.
pub fn plain_offer(scene: &Scene, mechanism: &Mechanism) -> Option<Box<dyn Offer>> {
    let mut judged = scene.plain();
    pick(scene, &judged.offers, mechanism, &NONE).map(|i| judged.offers.swap_remove(i))
}

/// A value of a knob as text, rounded to its private side.
pub fn knob_text(offer: &dyn Offer, value: f64) -> String {
    match offer.knob() {
        Knob::Weight(name) | Knob::Loss(name) if value >= 1.0 => format!("{name} = {}", number(value)),
        knob => digits(knob, value, 3),
    }
}

/// `r = 0.668`: so many digits, rounded to the private side.
pub fn digits(knob: Knob, value: f64, digits: usize) -> String {
    match knob {
        Knob::None => String::new(),
        Knob::Weight(name) | Knob::Loss(name) => format!("{name} = {}", sig_down(value, digits)),
        Knob::Noise(name) => format!("{name} = {}", sig_up(value, digits)),
        Knob::Beta(name) => format!("{name} = {}", beta_text(value)),
        Knob::Count(name) => format!("{name} = {}", number(value)),
    }
}

/// The number that [`knob_text`] shows.
pub fn printed(offer: &dyn Offer, value: f64) -> f64 {
    match offer.knob() {
        Knob::Weight(_) | Knob::Loss(_) if value < 1.0 => rounded_down(value, 3),
        Knob::Noise(_) => rounded_up(value, 3),
        Knob::Beta(_) => beta_printed(value),
        _ => value,
    }
}

/// `beta = 1.3334`: four digits of what beta is above 1, rounded up.
pub fn beta_text(x: f64) -> String {
    number(beta_printed(x))
}

fn beta_printed(x: f64) -> f64 {
    if x >= 1e15 {
        return x;
    }
    let excess = rounded_up(crate::rules::bounded::excess(x), 4);
    match (3.0 - excess.log10().floor()).max(0.0) {
        // The double nearest to so many decimals.
        places if places <= 15.0 => {
            let unit = 10_f64.powi(places as i32);
            ((1.0 + excess) * unit).round() / unit
        }
        _ => 1.0 + excess,
    }
}
