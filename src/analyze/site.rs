//! Where a release stands: the groups around it, and how its cost in one group becomes its cost in all.

use super::parallel::{Groups, parallel};
use super::spend::table_of;
use crate::model::{Each, Program, ReleaseStep, Step, TableId};
use crate::privacy::Claim;
use crate::rules::offer::{Knob, View};
use std::cell::RefCell;

/// One `each` around a release.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Layer {
    /// Groups of the table that the release reads.
    Parallel(Groups),
    /// Groups of another table: the release runs once per level, on all its rows.
    Repeat(u64),
}

/// A release and every `each` around it, outermost first.
#[derive(Clone, Debug)]
pub struct Site<'a> {
    pub release: &'a ReleaseStep,
    /// How neighbours differ in the whole table.
    pub view: View,
    layers: Vec<Layer>,
    /// Of many releases: where the last search for a mechanism's knob ended, which is where the next one begins.
    ended: Option<RefCell<Vec<(Solved, f64)>>>,
}

/// A mechanism and its knob.
type Solved = (&'static str, Knob);

/// So many releases are many.
pub const MANY: usize = 17;

impl Site<'_> {
    /// Where a search may begin.
    pub fn near(&self, of: Solved) -> Option<f64> {
        self.ended.as_ref()?.borrow().iter().find(|(known, _)| *known == of).map(|(_, x)| *x)
    }

    /// Keeps where it ended.
    pub fn keep(&self, of: Solved, x: f64) {
        if let Some(mut ended) = self.ended.as_ref().map(RefCell::borrow_mut) {
            ended.retain(|(known, _)| *known != of);
            ended.push((of, x));
        }
    }

    /// Does the release see only the rows of one group of its table?
    pub fn grouped(&self) -> bool {
        self.layers.iter().any(|l| matches!(l, Layer::Parallel(_)))
    }

    /// Is there a private key around it, so that group sizes are secret?
    pub fn secret_groups(&self) -> bool {
        self.layers.iter().any(|l| matches!(l, Layer::Parallel(g) if !g.public_key))
    }

    /// The cost of the release in all groups, from its cost in one.
    pub fn cost(&self, one: &dyn Fn(View) -> Option<Claim>) -> Option<Claim> {
        through(&self.layers, self.view, one)
    }
}

fn through(layers: &[Layer], view: View, one: &dyn Fn(View) -> Option<Claim>) -> Option<Claim> {
    match layers.split_first() {
        None => one(view),
        Some((Layer::Parallel(groups), inner)) => parallel(*groups, view, &|v| through(inner, v, one)),
        Some((Layer::Repeat(times), inner)) => Some(through(inner, view, one)?.repeat(*times)),
    }
}

/// Every release of the program with its site, in program order.
pub fn sites(program: &Program) -> Vec<Site<'_>> {
    let mut found = Vec::new();
    collect(program, &program.steps, &mut Vec::new(), &mut found);
    if found.len() >= MANY {
        found.iter_mut().for_each(|site| site.ended = Some(RefCell::default()));
    }
    found
}

fn collect<'a>(program: &'a Program, steps: &'a [Step], around: &mut Vec<&'a Each>, found: &mut Vec<Site<'a>>) {
    for step in steps {
        match step {
            Step::Release(release) => found.push(site(program, release, around)),
            Step::When { then, otherwise, .. } => {
                collect(program, then, around, found);
                collect(program, otherwise, around, found);
            }
            Step::Each(each) => {
                around.push(each);
                collect(program, &each.body, around, found);
                around.pop();
            }
            Step::Output { .. } | Step::Expect(_) => {}
        }
    }
}

fn site<'a>(program: &Program, release: &'a ReleaseStep, around: &[&Each]) -> Site<'a> {
    let table = table_of(&release.query);
    let layer = |each: &&Each| {
        if each.table == table { Layer::Parallel(groups(program, each)) } else { Layer::Repeat(level_count(each)) }
    };
    Site { release, view: view_of(program, table), layers: around.iter().map(layer).collect(), ended: None }
}

fn view_of(program: &Program, table: TableId) -> View {
    let relation = program.tables.get(table.0).map(|t| t.relation);
    relation.map_or(View::Replace, View::from)
}

fn level_count(each: &Each) -> u64 {
    u64::try_from(each.levels.len()).unwrap_or(u64::MAX)
}

fn groups(program: &Program, each: &Each) -> Groups {
    Groups {
        levels: level_count(each),
        public_key: each.public_key,
        unit_rows: program.tables.get(each.table.0).map_or(1, |t| t.unit_rows()),
    }
}

/// The cost of the whole program from the cost of every release in one group (LANGUAGE §7.4, §7.5): releases compose,
/// branches take the maximum, groups run in parallel.
///
/// This can be less than the sum over releases of [`Site::cost`], because the worst neighbour is the same for all.
pub fn total(program: &Program, one: &dyn Fn(&ReleaseStep, View) -> Option<Claim>) -> Option<Claim> {
    let view = program.tables.iter().find(|t| t.private).map_or(View::Replace, |t| View::from(t.relation));
    fold(program, &program.steps, view, &|_| true, one)
}

fn fold(
    program: &Program,
    steps: &[Step],
    view: View,
    counts: &dyn Fn(TableId) -> bool,
    one: &dyn Fn(&ReleaseStep, View) -> Option<Claim>,
) -> Option<Claim> {
    let mut parts = Vec::new();
    for step in steps {
        match step {
            Step::Release(release) => {
                if counts(table_of(&release.query)) {
                    parts.push(one(release, view)?);
                }
            }
            Step::When { then, otherwise, .. } => {
                let either = |view| {
                    let [a, b] = [then, otherwise].map(|b| fold(program, b, view, counts, one));
                    Some(maximum(a?, b?))
                };
                // Two groups may take one branch each.
                parts.push(match view {
                    View::Crossing => Claim::Product(vec![either(View::AddRemove)?; 2]),
                    view => either(view)?,
                });
            }
            Step::Each(each) => {
                let own = |t: TableId| t == each.table && counts(t);
                let other = |t: TableId| t != each.table && counts(t);
                parts.push(parallel(groups(program, each), view, &|v| fold(program, &each.body, v, &own, one))?);
                let rest = fold(program, &each.body, view, &other, one)?;
                if !is_free(&rest) {
                    parts.push(rest.repeat(level_count(each)));
                }
            }
            Step::Output { .. } | Step::Expect(_) => {}
        }
    }
    parts.retain(|c| !is_free(c));
    Some(match parts.len() {
        1 => parts.swap_remove(0),
        _ => Claim::Product(parts),
    })
}

/// Nothing was released.
pub fn is_free(claim: &Claim) -> bool {
    match claim {
        Claim::Product(parts) | Claim::Max(parts) => parts.iter().all(is_free),
        Claim::Repeated { claim, .. } => is_free(claim),
        _ => false,
    }
}

fn maximum(a: Claim, b: Claim) -> Claim {
    match (is_free(&a), is_free(&b)) {
        (_, true) => a,
        (true, false) => b,
        (false, false) => Claim::Max(vec![a, b]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    /// Replacing costs 4, adding or removing 1, in units of zcdp.
    fn leaf(_: &ReleaseStep, view: View) -> Option<Claim> {
        let rho = match view {
            View::Replace => 4.0,
            View::AddRemove => 1.0,
            View::Exchange => return None,
            View::Crossing => 2.0,
        };
        Some(Claim::Zcdp { rho })
    }

    fn cost(steps: Vec<Step>) -> f64 {
        total(&program(None, steps), &leaf).unwrap().zcdp()
    }

    fn other(id: usize) -> Step {
        Step::Release(release_of(id, 1, crate::model::MechanismKind::Auto, None))
    }

    #[test]
    fn releases_compose_and_branches_take_the_maximum() {
        assert_up(cost(vec![]), 0.0);
        assert_up(cost(vec![release(0, None), release(1, None)]), 8.0);
        let branch = when(vec![release(1, None), release(2, None)], vec![release(3, None)]);
        assert_up(cost(vec![release(0, None), branch]), 12.0);
        assert_up(cost(vec![when(vec![release(0, None)], vec![])]), 4.0);
    }

    #[test]
    fn groups_run_in_parallel() {
        let body = || vec![release(0, None), release(1, None)];
        assert_up(cost(vec![each(0, true, body())]), 8.0);
        // A move costs 2 releases x 2 groups x 1, less than the substitution.
        assert_up(cost(vec![each(0, false, body())]), 8.0);
        assert_up(cost(vec![each(0, true, vec![each(0, true, body())])]), 8.0);
    }

    #[test]
    fn another_table_is_read_once_per_level() {
        assert_up(cost(vec![each(0, true, vec![release(0, None), other(1)])]), 4.0 + 3.0 * 4.0);
        let sites_program = program(None, vec![each(0, true, vec![other(1)])]);
        let site = &sites(&sites_program)[0];
        assert!(!site.grouped());
        assert_up(site.cost(&|v| leaf(site.release, v)).unwrap().zcdp(), 12.0);
    }

    #[test]
    fn a_release_without_a_bound_leaves_no_total() {
        let none = |_: &ReleaseStep, _: View| None;
        assert_eq!(total(&program(None, vec![release(0, None)]), &none), None);
    }
}
