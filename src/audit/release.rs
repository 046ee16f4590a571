//! The audit of one release: choose neighbours, draw, attack, compare with the certificate.

use super::attack::{Roc, Scores, lower_bounds, roc};
use super::divergence::distribution;
use super::exact::{self, LawPair};
use super::laws::Law;
use super::loss;
use super::neighbours::{Neighbours, Sizes, all, sizes};
use super::rows::{Cells, FAR, NEAR, corners, used};
use super::{NotAudited, Options, Outcome};
use crate::analyze::{Analysis, Chosen, PublicData};
use crate::data::{Source, scan};
use crate::mechanism::bits::{BitSource, OsBits};
use crate::mechanism::plan::{MechanismPlan, PosteriorLaw};
use crate::mechanism::{MechanismError, Scope, execute, prepare};
use crate::model::{ColumnId, Each, Program, ReleaseId, ReleaseStep, Step, Table};
use crate::run::{Bound, Known};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Deltas at which epsilon is bounded: a conversion can hide at one what shows at another.
const DELTAS: [f64; 5] = [0.0, 1e-6, 1e-4, 1e-2, 0.1];
const ORDERS: [f64; 8] = [1.25, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
/// The most draws that choose the neighbours where no law is known.
const PILOT: u64 = 200;
const PILOTS: usize = 10;
/// Base rows that are tried where losses rank the neighbours.
const BASES: usize = 3;
/// Slack of the integration.
const SLACK: f64 = 1e-5;
/// A law is refused below this chance.
const LAW_ALPHA: f64 = 1e-9;

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

/// Do the draws follow the law that the certificate names? (Kolmogorov and Smirnov)
#[derive(Clone, PartialEq, Debug)]
pub struct LawCheck {
    pub distance: f64,
    pub p_value: f64,
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
    /// Everything found lies at or below the certificate.
    pub ok: bool,
}

/// Where a release stands.
fn group_of(steps: &[Step], id: ReleaseId) -> Option<&Each> {
    steps.iter().find_map(|s| match s {
        Step::Each(e) if crate::model::releases(&e.body).iter().any(|r| r.id == id) => Some(e),
        Step::When { then, otherwise, .. } => group_of(then, id).or_else(|| group_of(otherwise, id)),
        _ => None,
    })
}

/// One release with what its draws need.
struct Target<'a> {
    plan: &'a MechanismPlan,
    table: &'a Table,
    group: Option<(ColumnId, usize)>,
    known: Known<'a>,
    corners: Vec<Cells>,
    sizes: Sizes,
}

impl Target<'_> {
    /// So many draws for either data set.
    fn draws<B: BitSource>(&self, n: &Neighbours, trials: u64, bits: &mut B) -> Result<[Vec<Vec<f64>>; 2], MechanismError> {
        let scope = Scope { table: self.table, group: self.group, env: &self.known };
        let mut plan = self.plan.clone();
        let mut repeats = trials;
        if let MechanismPlan::Posterior { times, .. } = &mut plan {
            (*times, repeats) = (trials, 1);
        }
        let mut both = [vec![], vec![]];
        for (file, out) in n.files(self.table, &self.corners, self.sizes).into_iter().zip(&mut both) {
            let job = prepare(&plan, &scope)?;
            let source = Source::new(std::io::Cursor::new(file.into_bytes()));
            let measured = scan(self.table, source, &[job]).map_err(|_| MechanismError::Parameter)?;
            let measured = measured.first().ok_or(MechanismError::Parameter)?;
            for _ in 0..repeats {
                out.extend(execute(&plan, &scope, measured, bits)?.iter().map(|r| r.to_f64()));
            }
        }
        Ok(both)
    }

    /// The Bayes-optimal score of every draw, where the losses of rows say it.
    fn losses(&self, n: &Neighbours, draws: &[Vec<f64>]) -> Option<Vec<f64>> {
        let rows = exact::numbers(self.table, &self.corners)?;
        let found = loss::scores(self.plan, (self.table, &self.known), &rows, (n, self.sizes.unit), draws)?;
        found.iter().all(|s| s.is_finite()).then_some(found)
    }
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
    let Some(plan) = &chosen.plan else { return not("its law depends on an earlier release or on a public value that is not bound") };
    let id = plan.table();
    let Some(table) = program.tables.get(id.0) else { return not("its table is unknown") };
    let group = group_of(&program.steps, release.id).filter(|e| e.table == id).map(|e| (e.key, 0));
    let aggregates = |e: &crate::model::Expr| public.aggregate(e);
    let sizes = sizes(table);
    let mut scalars = public.scalars().clone();
    for (i, s) in program.scalars.iter().enumerate() {
        if let Some(x) = s.value.as_ref().and_then(crate::model::Expr::constant) {
            scalars.entry(crate::model::ScalarId(i)).or_insert(x);
        }
    }
    let known = Known {
        released: BTreeMap::new(),
        scalars,
        rows: [(id, sizes.base + sizes.unit)].into(),
        public: &aggregates,
        rng: RefCell::new(OsBits::new()?),
    };
    let chain = matches!(plan, MechanismPlan::Posterior { law: PosteriorLaw::Density(_), .. });
    let corners = corners(table, &used(release, id), group, if chain { NEAR } else { FAR });
    let target = Target { plan, table, group, known, corners, sizes };
    if prepare(plan, &Scope { table, group, env: &target.known }).is_err() {
        return not("it needs a value that an earlier release gives");
    }
    let candidates = all(table, target.corners.len());
    if candidates.is_empty() {
        return not("every row has the same effect");
    }
    let pairs = exact::pairs(plan, table, &target.corners, sizes, &candidates);
    attacked(&target, release, chosen, &candidates, pairs, options, bits).map(Ok)
}

fn attacked<B: BitSource>(
    target: &Target,
    release: &ReleaseStep,
    chosen: &Chosen,
    candidates: &[Neighbours],
    pairs: Option<Vec<LawPair>>,
    options: Options,
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
                    exact.push(Exact { order, found, certified: claim.rdp(order) });
                }
            }
            at = DELTAS.iter().map(|d| if *d > 0.0 { exact::epsilon(pairs, *d) } else { None }).collect();
            let middle = ORDERS.into_iter().find(|o| *o < limit).unwrap_or(f64::midpoint(1.0, limit));
            let dearest = exact::renyi(pairs, middle).and_then(|(_, i)| pairs.get(i)).or(pairs.first());
            let Some(pair) = dearest else { return Err(MechanismError::Parameter) };
            let [first, second] = target.draws(&pair.neighbours, options.trials, bits)?;
            law = law_check(&pair.first, &first);
            let score = |x: &Vec<f64>| pair.first.log_density(x) - pair.second.log_density(x);
            let scores = Scores { first: first.iter().map(score).collect(), second: second.iter().map(score).collect() };
            (Score::Densities, pair.neighbours, scores)
        }
        None => {
            let neighbours = dearest_by_pilot(target, candidates, options.trials, bits)?;
            let half = (options.trials / 2).max(1);
            let [a, b] = target.draws(&neighbours, half, bits)?;
            let direction = Direction::fit(&a, &b);
            let [c, d] = target.draws(&neighbours, half, bits)?;
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
    let found = lower_bounds(&scores, &DELTAS, options.confidence);
    let bounds: Vec<LowerBound> = DELTAS
        .iter()
        .zip(found)
        .zip(at)
        .map(|((delta, attack), exact)| {
            let certified = if *delta == 0.0 { claim.pure() } else { claim.epsilon(*delta) };
            LowerBound { delta: *delta, attack, exact, certified }
        })
        .collect();
    let within = |found: f64, certified: f64| found <= certified * (1.0 + SLACK) + SLACK;
    let ok = bounds.iter().all(|b| b.attack <= b.certified && b.exact.is_none_or(|e| within(e, b.certified)))
        && exact.iter().all(|e| within(e.found, e.certified))
        && law.as_ref().is_none_or(|l| l.p_value >= LAW_ALPHA);
    Ok(ReleaseAudit {
        name: release.name.clone(),
        score,
        mechanism: chosen.mechanism,
        rule: chosen.rule,
        trials: options.trials,
        confidence: options.confidence,
        neighbours: neighbours.words(&target.corners, target.sizes),
        bounds,
        exact,
        law,
        roc: roc(&scores, 200),
        certified_roc: certified_roc(claim),
        ok,
    })
}

/// Among the neighbours over some bases, those whose losses differ most over draws of one pair each: the score of the attack
/// says what every other pair would be worth at these draws. `None` where losses say nothing.
fn dearest_by_losses<B: BitSource>(
    target: &Target,
    all: &[Neighbours],
    pilot: u64,
    bits: &mut B,
) -> Result<Option<Neighbours>, MechanismError> {
    if all.first().is_none_or(|n| target.losses(n, &[]).is_none()) {
        return Ok(None);
    }
    let bases = if target.sizes.base == 0 { 1 } else { BASES.min(all.len()) };
    let mut best: Option<(f64, Neighbours)> = None;
    for i in 0..bases {
        let Some(pair) = all.get(i * all.len() / bases) else { continue };
        let draws = target.draws(pair, pilot, bits)?.concat();
        for n in all.iter().filter(|n| n.base == pair.base) {
            let Some(scores) = target.losses(n, &draws) else { continue };
            let mean = scores.iter().sum::<f64>() / scores.len().max(1) as f64;
            let spread = scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>();
            if best.as_ref().is_none_or(|(most, _)| spread > *most) {
                best = Some((spread, *n));
            }
        }
    }
    Ok(best.map(|(_, n)| n))
}

/// Among some of the neighbours, those that few draws tell apart best.
fn dearest_by_pilot<B: BitSource>(target: &Target, all: &[Neighbours], trials: u64, bits: &mut B) -> Result<Neighbours, MechanismError> {
    // Chains are dear: a pilot takes no more draws for a pair than a fifth of the attack.
    let pilot = (trials / 5).clamp(10, PILOT);
    if let Some(dearest) = dearest_by_losses(target, all, pilot, bits)? {
        return Ok(dearest);
    }
    let mut best: Option<(f64, Neighbours)> = None;
    for i in 0..PILOTS.min(all.len()) {
        let Some(n) = all.get(i * all.len() / PILOTS.min(all.len())) else { continue };
        let [a, b] = target.draws(n, pilot, bits)?;
        let direction = Direction::fit(&a, &b);
        if best.as_ref().is_none_or(|(d, _)| direction.distance > *d) {
            best = Some((direction.distance, *n));
        }
    }
    best.map(|(_, n)| n).ok_or(MechanismError::Parameter)
}

/// The linear score that separates two clouds best if their coordinates are independent.
struct Direction {
    weights: Vec<f64>,
    distance: f64,
}

impl Direction {
    fn fit(a: &[Vec<f64>], b: &[Vec<f64>]) -> Direction {
        let dim = a.first().map_or(0, Vec::len);
        let moments = |x: &[Vec<f64>], j: usize| {
            let values = || x.iter().filter_map(|v| v.get(j).copied());
            let n = x.len().max(1) as f64;
            let mean = values().sum::<f64>() / n;
            (mean, values().map(|v| (v - mean).powi(2)).sum::<f64>() / n)
        };
        let (mut weights, mut distance) = (vec![], 0.0);
        for j in 0..dim {
            let ((m, v), (k, w)) = (moments(a, j), moments(b, j));
            let weight = (m - k) / (0.5 * (v + w)).max(f64::MIN_POSITIVE);
            distance += weight * (m - k);
            weights.push(if weight.is_finite() { weight } else { 0.0 });
        }
        Direction { weights, distance }
    }

    fn score(&self, x: &[f64]) -> f64 {
        self.weights.iter().zip(x).map(|(w, x)| w * x).sum()
    }
}

/// Draws of one number against their distribution function; of a share of several, its first component.
fn law_check(law: &Law, draws: &[Vec<f64>]) -> Option<LawCheck> {
    let one = match law {
        Law::Dirichlet(alpha) => {
            let first = *alpha.first()?;
            Law::Beta(first, alpha.iter().sum::<f64>() - first)
        }
        law => law.clone(),
    };
    let distribution = distribution(&one)?;
    let mut x: Vec<f64> = draws.iter().filter_map(|d| d.first().copied()).collect();
    x.sort_by(f64::total_cmp);
    let n = x.len() as f64;
    let gap = |(i, x): (usize, &f64)| {
        let f = distribution(*x);
        (f - i as f64 / n).abs().max((f - (i + 1) as f64 / n).abs())
    };
    let distance = x.iter().enumerate().map(gap).fold(0.0, f64::max);
    // The integrated distribution function is right to about 1e-4.
    let lambda = (distance - 1e-4).max(0.0) * n.sqrt();
    let sum: f64 = (1..=100).map(|k| (if k % 2 == 1 { 2.0 } else { -2.0 }) * (-2.0 * f64::from(k * k) * lambda * lambda).exp()).sum();
    Some(LawCheck { distance, p_value: if lambda < 0.2 { 1.0 } else { sum.clamp(0.0, 1.0) } })
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
