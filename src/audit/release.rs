//! The audit of one release: choose neighbours, draw, attack, compare with the certificate.

use super::attack::{Roc, Scores, lower_bounds, roc};
use super::exact::{self, LawPair};
use super::fit::LawCheck;
use super::neighbours::{Neighbours, all, sizes};
use super::pilot::{Direction, dearest_by_pilot};
use super::rows::{FAR, NEAR, made, used, walk};
use super::target::Target;
use super::{NotAudited, Options, Outcome};
use crate::analyze::{Analysis, Chosen, PublicData};
use crate::data::Environment;
use crate::mechanism::bits::{BitSource, OsBits};
use crate::mechanism::plan::{MechanismPlan, PosteriorLaw};
use crate::mechanism::{MechanismError, Scope, prepare};
use crate::model::{Each, ExprKind, Program, ReleaseId, ReleaseStep, ScalarId, Step};
use crate::run::{Bound, Known};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// Deltas at which epsilon is bounded: a conversion can hide at one what shows at another.
const DELTAS: [f64; 5] = [0.0, 1e-6, 1e-4, 1e-2, 0.1];
const ORDERS: [f64; 8] = [1.25, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
/// Doubles on the way from a claim to a number of its curve.
const SLACK: f64 = 1e-9;
/// Most cells of a made-up file.
const MOST_CELLS: u64 = 20_000_000;
const MOST_COLUMNS: u64 = 5_000;
/// Most rows where a base is of two.
const MOST_SPLIT: usize = 8;

#[derive(Clone, PartialEq, Debug)]
pub struct LowerBound {
    pub delta: f64,
    /// What the attack proves at the stated confidence.
    pub attack: f64,
    /// The integral over the dearest of the made-up neighbours, where the law is known.
    pub exact: Option<f64>,
    pub certified: f64,
}

/// Divergence by integration against the certificate.
#[derive(Clone, PartialEq, Debug)]
pub struct Exact {
    pub order: f64,
    pub found: f64,
    pub certified: f64,
}

/// What an attacker who knows all rows but one ranks draws by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Score {
    /// The ratio of the two densities, both known.
    Densities,
    /// The difference of the losses of the two rows (rule book §11.2).
    Losses,
    /// The direction that tells a first half of the draws apart best; another attacker may do better.
    Direction,
}

impl Score {
    pub fn name(self) -> &'static str {
        match self {
            Score::Densities => "densities",
            Score::Losses => "losses",
            Score::Direction => "direction",
        }
    }

    pub fn words(self) -> &'static str {
        match self {
            Score::Densities => "the ratio of the two densities, which no attacker beats",
            Score::Losses => "the losses of the two rows at the draw, which no attacker of the ideal posterior beats",
            Score::Direction => "a direction learned from half of the draws; another attacker may do better",
        }
    }
}

#[derive(Clone, PartialEq, Debug)]
pub struct ReleaseAudit {
    pub name: String,
    /// What the attacker ranks draws by.
    pub score: Score,
    pub mechanism: &'static str,
    pub rule: &'static str,
    pub trials: u64,
    pub confidence: f64,
    /// The neighbours of the attack, in words.
    pub neighbours: String,
    pub bounds: Vec<LowerBound>,
    pub exact: Vec<Exact>,
    pub law: Option<LawCheck>,
    pub roc: Roc,
    /// The certificate's own trade-off: least rate of misses at a rate of false alarms.
    pub certified_roc: Roc,
    /// Everything found lies at or below the certificate, and the draws follow their law.
    pub ok: bool,
}

impl ReleaseAudit {
    /// The largest epsilon that so many draws could show, where that is below the certificate at every delta.
    pub fn too_few(&self) -> Option<f64> {
        let reach = |b: &LowerBound| super::attack::reach(self.trials, b.delta, self.bounds.len(), self.confidence);
        let all = self.bounds.iter().all(|b| reach(b) < b.certified);
        self.bounds.iter().filter(|_| all).map(reach).reduce(f64::max)
    }

    /// What was found, in words.
    pub fn verdict(&self) -> &'static str {
        let follows = self.law.as_ref().is_none_or(LawCheck::follows);
        match (self.ok, follows) {
            (true, _) => "lower bounds at or below the certificate",
            (false, true) => "ABOVE THE CERTIFICATE",
            (false, false) => "THE DRAWS DO NOT FOLLOW THEIR LAW",
        }
    }
}

/// Where a release stands.
fn group_of(steps: &[Step], id: ReleaseId) -> Option<&Each> {
    steps.iter().find_map(|s| match s {
        Step::Each(e) if crate::model::releases(&e.body).iter().any(|r| r.id == id) => Some(e),
        Step::When { then, otherwise, .. } => group_of(then, id).or_else(|| group_of(otherwise, id)),
        _ => None,
    })
}

pub fn audit<B: BitSource>(
    program: &Program,
    analysis: &Analysis,
    public: &Bound,
    release: &ReleaseStep,
    options: Options,
    bits: &mut B,
) -> Result<Outcome, MechanismError> {
    let not = |reason: &str| Ok(Err(NotAudited { name: release.name.clone(), reason: reason.to_string() }));
    let Some(chosen) = analysis.release(release.id).and_then(|r| r.chosen.as_ref()) else { return not("it has no mechanism") };
    let mut scalars = public.scalars().clone();
    for (i, s) in program.scalars.iter().enumerate() {
        if let Some(x) = s.value.as_ref().and_then(crate::model::Expr::constant) {
            scalars.entry(crate::model::ScalarId(i)).or_insert(x);
        }
    }
    let mut asked = BTreeSet::new();
    walk(release, &mut |e| asked.extend(if let ExprKind::Scalar(i) = e.kind { Some(i) } else { None }));
    let open = (0..)
        .zip(&program.scalars)
        .find(|(i, s)| !scalars.contains_key(&ScalarId(*i)) && s.value.is_none() && asked.contains(&ScalarId(*i)));
    if let Some((_, s)) = open {
        return not(&format!("it needs a value of `{0}`:   --public {0}=..", s.name));
    }
    let Some(plan) = &chosen.plan else { return not("its law depends on an earlier release or on a public table that is not bound") };
    let id = plan.table();
    let Some(table) = program.tables.get(id.0) else { return not("its table is unknown") };
    let each = group_of(&program.steps, release.id).filter(|e| e.table == id);
    let group = each.map(|e| (e.key, 0));
    let aggregates = |e: &crate::model::Expr, env: &dyn Environment| public.aggregate(e, env);
    let sizes = sizes(table);
    let width: u64 = table.declared().map(|c| c.headers.len() as u64).sum();
    if width > MOST_COLUMNS || (sizes.base.saturating_add(sizes.unit)).saturating_add(100).saturating_mul(width) > MOST_CELLS {
        return not("a file of so many rows, or so wide, is not made up");
    }
    let known = Known {
        released: BTreeMap::new(),
        scalars,
        laws: BTreeMap::new(),
        rows: [(id, sizes.base + sizes.unit)].into(),
        public: &aggregates,
        rng: RefCell::new(OsBits::new()?),
    };
    let law = if let MechanismPlan::Posterior { law, times, .. } = plan { Some((law, *times)) } else { None };
    // Chains are dear: seconds a draw, and milliseconds.
    let (far, random, usual) = match law {
        Some((PosteriorLaw::Density(_), _)) => (NEAR, 2, 100),
        Some((PosteriorLaw::Glm(_) | PosteriorLaw::Refined(_), _)) => (FAR, 2, 1_000),
        _ => (FAR, 8, 20_000),
    };
    let mut rows = made(table, &used(release, id), group, far, random);
    // Of bases of two rows there are many.
    let quantile = matches!(plan, MechanismPlan::Quantile { .. });
    rows.truncate(if quantile { MOST_SPLIT } else { usize::MAX });
    let copies = law.map_or(1, |(_, times)| times.max(1));
    // A draw of many numbers takes as long as many draws.
    let wide = crate::data::layout::width(&release.ty) as u64 / 20;
    let trials = options.trials.unwrap_or((usual / copies.max(wide).max(1)).max(20));
    let target = Target { plan, table, group, known, rows, sizes, copies, trials };
    if prepare(plan, &Scope { table, group, env: &target.known }).is_err() {
        return not("it needs a value that an earlier release or the data give");
    }
    const SAME: &str = "all made-up rows have the same effect on it";
    let candidates = all(table, &target.rows, quantile);
    if candidates.is_empty() {
        return not(SAME);
    }
    let pairs = match exact::pairs((plan, chosen.claim.max_order()), table, &target.rows, sizes, &candidates) {
        exact::Known::Same => return not(SAME),
        exact::Known::Pairs(pairs) => Some(pairs),
        exact::Known::Unknown => None,
    };
    let mut found = attacked(&target, release, chosen, &candidates, pairs, options.confidence, bits)?;
    if let Some(e) = each {
        let column = table.columns.get(e.key.0);
        let level = column.and_then(|c| c.ty.levels()).and_then(|l| l.first());
        let (level, key) = (level.map_or("", |l| l), column.map_or("", |c| &c.name));
        found.neighbours.push_str(&format!("; of the groups, `{level}` of `{key}` alone is drawn"));
    }
    Ok(Ok(found))
}

fn attacked<B: BitSource>(
    target: &Target,
    release: &ReleaseStep,
    chosen: &Chosen,
    candidates: &[Neighbours],
    pairs: Option<Vec<LawPair>>,
    confidence: f64,
    bits: &mut B,
) -> Result<ReleaseAudit, MechanismError> {
    let claim = &chosen.claim;
    let limit = claim.max_order();
    let mut exact = vec![];
    let mut at = vec![None; DELTAS.len()];
    let mut law = None;
    let (score, neighbours, scores) = match &pairs {
        Some(pairs) => {
            for order in ORDERS.into_iter().filter(|o| *o < limit) {
                if let Some((found, _)) = exact::renyi(pairs, order) {
                    // Independent draws add up.
                    exact.push(Exact { order, found: found * target.copies as f64, certified: claim.rdp(order) });
                }
            }
            at = DELTAS.iter().map(|d| if *d > 0.0 && target.copies == 1 { exact::epsilon(pairs, *d) } else { None }).collect();
            let middle = ORDERS.into_iter().find(|o| *o < limit).unwrap_or(f64::midpoint(1.0, limit));
            let dearest = exact::renyi(pairs, middle).and_then(|(_, i)| pairs.get(i)).or(pairs.first());
            let Some(pair) = dearest else { return Err(MechanismError::Parameter) };
            let [first, second] = target.draws(&pair.neighbours, target.trials, bits)?;
            law = LawCheck::of(&pair.first, &first, target.step(&pair.neighbours, bits)?);
            let ratio = |x: &[f64]| pair.first.log_density(x) - pair.second.log_density(x);
            let score = |x: &Vec<f64>| target.each_draw(x).map(ratio).sum::<f64>();
            let scores = Scores { first: first.iter().map(score).collect(), second: second.iter().map(score).collect() };
            (Score::Densities, pair.neighbours, scores)
        }
        None => {
            let neighbours = dearest_by_pilot(target, candidates, bits)?;
            let half = (target.trials / 2).max(1);
            let [a, b] = target.draws(&neighbours, half, bits)?;
            let direction = Direction::fit(&a, &b);
            let [c, d] = target.draws(&neighbours, target.trials.saturating_sub(half).max(1), bits)?;
            let (first, second) = ([a, c].concat(), [b, d].concat());
            match target.losses(&neighbours, &first).zip(target.losses(&neighbours, &second)) {
                Some((first, second)) => (Score::Losses, neighbours, Scores { first, second }),
                None => {
                    // The direction comes from the first half, as the threshold will.
                    let scores = |x: &[Vec<f64>]| x.iter().map(|v| direction.score(v)).collect::<Vec<f64>>();
                    (Score::Direction, neighbours, Scores { first: scores(&first), second: scores(&second) })
                }
            }
        }
    };
    let found = lower_bounds(&scores, &DELTAS, confidence);
    let bounds: Vec<LowerBound> = DELTAS
        .iter()
        .zip(found)
        .zip(at)
        .map(|((delta, attack), exact)| {
            let certified = if *delta == 0.0 { claim.pure() } else { claim.epsilon(*delta) };
            LowerBound { delta: *delta, attack, exact, certified }
        })
        .collect();
    let within = |found: f64, certified: f64| found <= certified * (1.0 + SLACK) + 1e-12;
    let ok = bounds.iter().all(|b| b.attack <= b.certified && b.exact.is_none_or(|e| within(e, b.certified)))
        && exact.iter().all(|e| within(e.found, e.certified))
        && law.as_ref().is_none_or(LawCheck::follows);
    Ok(ReleaseAudit {
        name: release.name.clone(),
        score,
        mechanism: chosen.mechanism.name,
        rule: chosen.rule.name,
        trials: target.trials,
        confidence,
        neighbours: neighbours.words(target.table, &target.rows, target.sizes),
        bounds,
        exact,
        law,
        roc: roc(&scores, 200),
        certified_roc: certified_roc(claim),
        ok,
    })
}

/// Points of the certificate's trade-off: a test with this many false alarms hits at most that often.
fn certified_roc(claim: &crate::privacy::Claim) -> Roc {
    let curve: Vec<(f64, f64)> = DELTAS
        .iter()
        .filter(|d| **d > 0.0)
        .map(|d| (*d, claim.epsilon(*d)))
        .chain(std::iter::once((0.0, claim.pure())))
        .chain([1e-5, 1e-3, 0.03, 0.2].map(|d| (d, claim.epsilon(d))))
        .filter(|(_, e)| e.is_finite())
        .collect();
    (0..=100)
        .map(|i| {
            let alarms = f64::from(i) / 100.0;
            let hits = curve.iter().map(|(d, e)| (d + e.exp() * alarms).min(1.0 - (-e).exp() * (1.0 - d - alarms).max(0.0)));
            (alarms, hits.fold(1.0, f64::min))
        })
        .collect()
}
