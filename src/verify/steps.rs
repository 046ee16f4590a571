//! The order of releases, and what they cost together: sequences compose, branches take the maximum, groups run in parallel.

use super::claim::Claim;
use super::draw::Found;
use super::real::Real;
use super::scope::View;
use serde_json::{Value, json};

/// A step that costs.
pub enum Step {
    Release(usize),
    When(Vec<Step>, Vec<Step>),
    Each { table: String, key: String, levels: u64, public: bool, body: Vec<Step> },
}

/// Reads steps; releases are numbered in order. `key` knows the levels of a column, and whether it is public.
pub fn read(list: &Value, seen: &mut usize, key: &dyn Fn(&str) -> Option<(u64, bool)>) -> Vec<Step> {
    let mut one = |v: &Value| {
        if let Some(then) = v.get("then") {
            let then = read(then, seen, key);
            return Step::When(then, read(v.get("else").unwrap_or(v), seen, key));
        }
        let Some(each) = v.get("each") else {
            *seen += 1;
            return Step::Release(*seen - 1);
        };
        let text = |name: &str| each.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (table, column) = (text("table"), text("key"));
        let (levels, public) = key(&format!("{table}.{column}")).unwrap_or((0, false));
        Step::Each { table, key: column, levels, public, body: read(v.get("steps").unwrap_or(v), seen, key) }
    };
    list.as_array().map_or(&[][..], Vec::as_slice).iter().map(&mut one).collect()
}

/// Steps as certificates write them.
pub fn to_json(steps: &[Step]) -> Value {
    let one = |step: &Step| match step {
        Step::Release(i) => json!({"release": i}),
        Step::When(a, b) => json!({"then": to_json(a), "else": to_json(b)}),
        Step::Each { table, key, levels, public, body } => {
            json!({"each": {"table": table, "key": key, "levels": levels, "public": public}, "steps": to_json(body)})
        }
    };
    steps.iter().map(one).collect()
}

/// Where a release stands: in a group, the view of its rows and whether their number is public.
pub type Place = Option<(View, bool)>;

/// What the costs of steps depend on.
pub struct Costs<'a> {
    /// The cost of one release at its place.
    pub one: &'a dyn Fn(usize, Place) -> Found<Claim>,
    /// The table that a release reads.
    pub table: &'a dyn Fn(usize) -> &'a str,
    /// How neighbours differ in a table, and the most rows of one unit.
    pub unit: &'a dyn Fn(&str) -> (View, u64),
}

impl Costs<'_> {
    /// The cost of those steps whose releases pass the test.
    pub fn of(&self, steps: &[Step], place: Place, counts: &dyn Fn(usize) -> bool) -> Found<Claim> {
        let mut parts = vec![];
        for step in steps {
            match step {
                Step::Release(i) if counts(*i) => parts.push((self.one)(*i, place)?),
                Step::Release(_) => {}
                Step::When(a, b) => {
                    let either = |place: Place| -> Found<Claim> {
                        let both = [self.of(a, place, counts)?, self.of(b, place, counts)?];
                        Ok(joined(both.into_iter().filter(|c| !c.is_free()).collect(), Claim::Max))
                    };
                    // Two groups may take one branch each.
                    parts.push(match place {
                        Some((View::Crossing, public)) => {
                            let one = either(Some((View::AddRemove, public)))?;
                            Claim::Product(vec![one.clone(), one])
                        }
                        place => either(place)?,
                    });
                }
                Step::Each { table, levels, public, body, .. } => {
                    let (own, k) = (self.unit)(table);
                    let inner = |view| {
                        self.of(body, Some((view, *public && place.is_none_or(|p| p.1))), &|i| counts(i) && (self.table)(i) == table)
                    };
                    parts.push(parallel((*levels, *public, k), place.map_or(own, |p| p.0), &inner)?);
                    parts.push(self.of(body, place, &|i| counts(i) && (self.table)(i) != table)?.repeat(*levels));
                }
            }
        }
        parts.retain(|c| !c.is_free());
        Ok(joined(parts, Claim::Product))
    }
}

fn joined(mut parts: Vec<Claim>, join: fn(Vec<Claim>) -> Claim) -> Claim {
    if parts.len() == 1 { parts.swap_remove(0) } else { join(parts) }
}

/// All groups together from the cost of one (language, section 7.4).
fn parallel((levels, public, k): (u64, bool, u64), view: View, one: &dyn Fn(View) -> Found<Claim>) -> Found<Claim> {
    let touched = |most: u64| levels.min(most).max(1);
    Ok(match view {
        View::AddRemove => shared(one(view)?, touched(k)),
        View::Replace if public || levels <= 1 => shared(one(view)?, touched(k)),
        View::Replace if k == 1 => Claim::Max(vec![one(View::Replace)?, one(View::Crossing)?]),
        _ => match one(View::Replace).and_then(|a| Ok((a, one(View::AddRemove)?))) {
            Ok((a, b)) if proportional(&a, &b) => moved(a, b),
            _ => one(View::Exchange)?.repeat(touched(k.saturating_mul(2))),
        },
    })
}

/// The dearest spread of k rows over groups: all in one where the cost grows at least in proportion (section 8.11).
fn shared(one: Claim, times: u64) -> Claim {
    if times > 1 && one.convex() { one.by_order() } else { one.repeat(times) }
}

/// Are rows that leave groups and enter others covered by the claims of k rows replaced and of k rows added?
fn proportional(a: &Claim, b: &Claim) -> bool {
    match (a, b) {
        (Claim::Product(a), Claim::Product(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| proportional(a, b)),
        (Claim::Repeated(t, a), Claim::Repeated(s, b)) => t == s && proportional(a, b),
        (Claim::Gdp(_), Claim::Gdp(_)) | (Claim::Laplace(_), Claim::Laplace(_)) => true,
        (Claim::Pure(_), Claim::Pure(_)) | (Claim::Range(_), Claim::Range(_)) => true,
        _ => false,
    }
}

/// Squares of normal losses: all rows leave one group and enter it, or one other. Other losses: 2k rows.
fn moved(a: Claim, b: Claim) -> Claim {
    let two = Real::int(2);
    match (a, b) {
        (Claim::Gdp(a), Claim::Gdp(b)) => Claim::Gdp(a.max(&(two.sqrt() * b))),
        (Claim::Product(a), Claim::Product(b)) => Claim::Product(a.into_iter().zip(b).map(|(a, b)| moved(a, b)).collect()),
        (Claim::Repeated(t, a), Claim::Repeated(_, b)) => Claim::Repeated(t, Box::new(moved(*a, *b))),
        (_, Claim::Laplace(e)) => Claim::Laplace(two * e),
        (_, Claim::Pure(e)) => Claim::Pure(two * e),
        (_, Claim::Range(e)) => Claim::Range(two * e),
        (_, other) => other,
    }
}
