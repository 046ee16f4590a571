//! A matched generalised linear model: its bound, its premises and the chain that draws from it.

use super::link;
use super::predictor::{Predictor, Problem, latent, predictor, public_features};
use super::priors::{Block, block, scaled_norm, stored};
use super::refusals;
use crate::mechanism::plan::{Domain, Feature, GlmLaw, Link, PosteriorLaw, Sampler, Statistic, StatisticKind, WeightBlock};
use crate::model::{Expr, Model, Observation, Range, Records, Relation, Request};
use crate::numeric::Interval;
use crate::numeric::amount::stated_up;
use crate::numeric::logistic::flatter;
use crate::numeric::round::{add_down, add_up, div_down, div_up, mul_down, mul_up, sqrt_down, sqrt_up};
use crate::numeric::stored::{LARGEST, SMALLEST};
use crate::privacy::Claim;
use crate::rules::conjugate::expected;
use crate::rules::conjugate::facts::{Facts, one_private, point};
use crate::rules::count::{count_down, count_up};
use crate::rules::offer::assumed_rows;
use crate::rules::tempered::{LimitReason, Matched, Tempering};
use crate::rules::text::{four_down, four_up};
use crate::rules::{Context, Design, Match, Premise, Rule, not_mine, refuse};
use crate::source::{Diagnostic, Span};

/// Beside larger offsets a weight's part of the predictor is lost in the rounding of doubles, and with it the posterior.
const MOST_OFFSET: f64 = 1e4;
/// Larger counts are not a 32-bit numbers.
const MOST_COUNT: f64 = 16_777_216.0;

/// The parts of a model that the rules of this family look at.
pub(super) struct Parts<'a> {
    pub observation: &'a Observation,
    pub link: Link,
    pub outcome: Range,
    pub blocks: Vec<Block>,
    /// What is added to the predictor and contains no weight, times a factor.
    pub offsets: Vec<(Expr, f64)>,
    /// Upper bound on the absolute value of the predictor; infinite where weights or features are unbounded.
    pub most: f64,
    /// Where the predictor lies: with a single weight on one side of 0, if it does.
    pub predictor: Interval,
    /// Are all features public, so that neighbours differ in the outcome alone?
    pub labels_only: bool,
}

impl Parts<'_> {
    /// Is every weight cut to a bounded set?
    pub fn bounded(&self) -> bool {
        self.blocks.iter().all(|b| match b.domain {
            Domain::All => false,
            Domain::Box(range) => range.is_finite(),
            Domain::Ball(_) => true,
        })
    }

    /// What a row adds at least to the second derivative of the potential of a single weight, in units of its prior's sd (rule
    /// book §4.4), and the size of feature times sd that it takes; 0 where a row may leave the potential flat in some direction.
    fn least_curvature(&self) -> (f64, f64) {
        let [Block { single: Some(x), sd, .. }] = self.blocks.as_slice() else { return (0.0, 0.0) };
        let size = x.abs() * Interval::point(sd.hi);
        let least = size.square() * Interval::point(link::least_curvature(self.link, self.predictor));
        (least.lo.max(0.0), mul_down(x.abs().lo, sd.lo))
    }

    /// The first unbounded feature.
    pub fn unbounded_feature(&self) -> Option<&Expr> {
        self.blocks.iter().find(|b| !b.norm.is_finite()).and_then(|b| match &b.feature {
            Feature::Value(e, _) | Feature::Level(e, _) => Some(e),
            Feature::One => None,
        })
    }
}

/// Reads a model as a generalised linear one; `Refused` where it is one but for a convex loss or a strong prior.
pub(super) fn parts<'a>(model: &'a Model, context: &Context) -> Match<Parts<'a>> {
    if !matches!(model.request, Request::Draw { .. }) {
        return not_mine("releases draws, not a whole posterior");
    }
    let ours = |o: &Observation| link::FAMILIES.contains(&o.likelihood.name());
    if model.private.is_empty() || !model.private.iter().all(ours) {
        return not_mine("rows must follow a generalised linear model");
    }
    let name = model.parameters.first().map_or("w", |p| p.name.as_str());
    let observation = one_private(model, name)?;
    let outcome = link::outcome(observation)?;
    if !latent(outcome.predictor) {
        return not_mine("the predictor mentions no parameter");
    }
    if outcome_mentions(observation, outcome.predictor) {
        return not_mine("only the predictor may depend on parameters");
    }
    if !model.public.is_empty() {
        return not_mine("public rows are not part of this rule");
    }
    let read = match predictor(outcome.predictor) {
        Ok(read) => read,
        Err(Problem::Unread) => return not_mine("the predictor must be a sum like dot(w, x) + b, each parameter once"),
        // A mean that is curved in one parameter is some other model: the conjugate rules say more.
        Err(Problem::Curved(node, other)) => return refuse(refusals::not_convex(node, other, model, context)),
    };
    if read.terms.len() != model.parameters.len() {
        return not_mine("every parameter must be part of the predictor");
    }
    let classes = if let Link::Softmax { classes } = outcome.link { classes } else { 0 };
    let labels_only = public_features(&read, model, context) && model.records.relation == Relation::ReplaceOne;
    let Predictor { terms, offsets } = read;
    if !offsets.is_empty() && (classes > 0 || !offsets.iter().all(|(e, _)| e.ty.is_scalar_number())) {
        return not_mine("an offset must be a number, and of a single predictor");
    }
    let size = |(e, factor): &(Expr, f64)| e.ty.range().map_or(f64::INFINITY, |r| mul_up(r.magnitude(), factor.abs()));
    if !offsets.iter().all(|o| size(o) <= MOST_OFFSET) {
        return not_mine("what is added to the predictor must be bounded, and at most 10000 in size");
    }
    let mut blocks = vec![];
    for term in terms {
        let Some(parameter) = model.parameters.iter().find(|p| p.id == term.parameter) else {
            return not_mine("every parameter must be part of the predictor");
        };
        blocks.push((parameter.id, block(term, parameter, classes)?));
    }
    // In the order of declaration, which is that of a release.
    blocks.sort_by_key(|(id, _)| model.parameters.iter().position(|p| p.id == *id));
    let blocks: Vec<Block> = blocks.into_iter().map(|(_, b)| b).collect();
    let most = blocks.iter().map(|b| b.reach).chain(offsets.iter().map(size)).fold(0.0, add_up);
    let added = |(e, factor): &(Expr, f64)| stored(e.ty.range().unwrap_or(Range::ALL), *factor);
    let predictor = blocks.iter().map(Block::part).chain(offsets.iter().map(added)).fold(Interval::ZERO, |sum, t| sum + t);
    Ok(Parts { observation, link: outcome.link, outcome: outcome.range, blocks, offsets, most, predictor, labels_only })
}

/// Does another argument of the likelihood, or the outcome, mention a parameter?
fn outcome_mentions(o: &Observation, predictor: &Expr) -> bool {
    latent(&o.outcome) || o.likelihood.args.iter().any(|a| !std::ptr::eq(a, predictor) && latent(a))
}

/// A matched model, owned.
pub(super) struct GlmDraw {
    pub rule: &'static Rule,
    /// Are all weights bounded, so that the design of the rows counts where it is public and given?
    bounded: bool,
    /// How far one replaced, added or removed row moves the slope of the loss in the predictor, at most.
    pub moved: f64,
    law: GlmLaw,
    known: bool,
    statistic: Statistic,
    records: Records,
    /// Upper bound on the features' norm, each times the prior sd of its weight.
    norm: f64,
    /// Lower bound on what the likelihood of all rows adds to the curvature of the prior, which is 1; neighbours share it.
    rows: f64,
    /// That bound takes features times sds of this size to be stored up to a small part of it.
    stored: f64,
    premises: Vec<Premise>,
    prior_span: Span,
    /// Of all weights, where they share one.
    prior_sd: Option<f64>,
    /// Langevin steps need a public n.
    secret: Option<Diagnostic>,
}

impl GlmDraw {
    /// `slope` bounds the slope of one row's loss in the predictor.
    pub fn new(rule: &'static Rule, parts: Parts, slope: f64, model: &Model, context: &Context) -> Match<GlmDraw> {
        let norm = scaled_norm(&parts.blocks);
        if norm == 0.0 {
            return not_mine("no feature moves the predictor");
        }
        let most = match parts.link {
            Link::Logit { trials } => trials as f64,
            Link::Softmax { classes } => 256.0 * classes as f64,
            Link::PoissonLog => parts.outcome.hi,
            _ => 0.0,
        };
        if most > MOST_COUNT {
            return not_mine("counts up to 16777216 and classes up to 65536 are stored exactly, larger ones are not");
        }
        let label = link::label_slope(parts.link, parts.outcome, parts.predictor);
        let added = model.records.relation == Relation::AddRemove;
        // A replaced row swaps one gradient for another, an added one brings its own (§4.2).
        let twice = if added { slope } else { mul_up(2.0, slope) };
        // With an offset the predictor no longer fixes the sign of the weight: both slopes can be as far apart as 2.
        let one_weight =
            parts.offsets.is_empty() && matches!((parts.link, parts.blocks.as_slice()), (Link::Logit { .. }, [b]) if b.dim == 1);
        let twice = if one_weight && !added { twice.min(mul_up(link::slope(parts.link), link::ONE_WEIGHT)) } else { twice };
        let moved = if parts.labels_only { label.min(twice) } else { twice };
        let Some(first) = model.parameters.first() else { return not_mine("the model has no parameter") };
        // Of two neighbours with rows added or removed the smaller one counts, and n is secret: the prior alone.
        let (mut row, mut stored) = if added { (0.0, 0.0) } else { parts.least_curvature() };
        let fewest = model.records.rows.exactly.unwrap_or(model.records.rows.at_least).max(1);
        let mut rows = mul_down(count_down(fewest), row);
        // The actual X'X of public features says more of several weights, and of a single one.
        let design = context.public.design.as_ref().filter(|_| !added && parts.blocks.iter().all(|b| b.sd.is_point()));
        let together = |d: &Design| mul_down(link::least_curvature(parts.link, parts.predictor), d.stored_least(norm));
        let known = design.map(|d| (together(d), d.rows)).filter(|(by_design, _)| *by_design > rows);
        if let Some((by_design, n)) = known {
            (rows, stored) = (by_design, norm);
            row = div_down(by_design, count_up(n));
        }
        let premises = premises(&parts, slope, (norm, rows, known.map(|(_, n)| n)), model, context, rule);
        let drawn = match &model.request {
            Request::Draw { parameters, .. } => parameters.clone(),
            Request::Posterior { .. } => vec![],
        };
        let blocks = parts.blocks.iter().zip(&model.parameters).map(|(b, p)| WeightBlock {
            dim: b.dim,
            mean: b.mean.lo,
            sd: b.sd.lo,
            domain: b.domain,
            released: drawn.iter().position(|id| *id == p.id),
        });
        // An offset is a weight that every prior and every chain keeps at 1.
        let fixed = WeightBlock { dim: 1, mean: 1.0, sd: 1.0, domain: Domain::Box(Range::new(1.0, 1.0)), released: None };
        let blocks = blocks.chain(parts.offsets.iter().map(|_| fixed.clone()));
        let prior = first.prior.span;
        let last = model.parameters.last().map_or(prior, |p| p.prior.span);
        let law = GlmLaw {
            link: parts.link,
            blocks: blocks.collect(),
            offsets: parts.offsets.len(),
            norm,
            slope,
            curvature: link::curvature(parts.link, parts.most),
            least_curvature: row,
            steps: None,
            sampler: Sampler::Langevin,
        };
        let features = parts.blocks.iter().map(|b| b.feature.clone());
        let features = features.chain(parts.offsets.iter().map(|(e, factor)| Feature::Value(e.clone(), *factor)));
        Ok(GlmDraw {
            rule,
            bounded: parts.bounded(),
            moved,
            known: parts.blocks.iter().all(|b| point(b.mean).is_some() && point(b.sd).is_some()),
            law,
            statistic: Statistic {
                table: model.records.table,
                kind: StatisticKind::Rows { features: features.collect(), outcome: parts.observation.outcome.clone() },
            },
            records: model.records,
            norm,
            rows,
            stored,
            premises,
            prior_span: if last.file == prior.file { prior } else { last },
            prior_sd: parts.blocks.first().filter(|_| same_sds(&parts.blocks)).map(|b| b.sd.hi),
            secret: added.then(|| refusals::secret_rows(rule.name, &parts, model, context)),
        })
    }
}

impl GlmDraw {
    /// Features times sds, which a concentration makes smaller, are neither cut off nor lost in 32 bits (rule book §4.4): else the rows
    /// may add nothing.
    fn is_stored(&self, concentration: f64) -> bool {
        self.norm <= LARGEST && mul_down(self.stored, sqrt_down(concentration)) >= SMALLEST
    }
}

/// `1` or `0.25` where all priors share an sd: the strong convexity of the prior.
pub(super) fn strong_convexity(blocks: &[Block]) -> f64 {
    let sd = blocks.iter().map(|b| b.sd.hi).fold(0.0, f64::max);
    1.0 / (sd * sd)
}

/// Norm of the features themselves, without the sds.
pub(super) fn plain_norm(blocks: &[Block]) -> f64 {
    sqrt_up(blocks.iter().map(|b| mul_up(b.norm, b.norm)).fold(0.0, add_up))
}

pub(super) fn has_intercept(blocks: &[Block]) -> bool {
    blocks.len() > 1 && blocks.iter().any(|b| b.feature == Feature::One)
}

fn same_sds(blocks: &[Block]) -> bool {
    blocks.windows(2).all(|pair| matches!(pair, [a, b] if a.sd == b.sd))
}

fn premises(
    parts: &Parts,
    slope: f64,
    (norm, rows, design): (f64, f64, Option<u64>),
    model: &Model,
    context: &Context,
    rule: &'static Rule,
) -> Vec<Premise> {
    let Some(first) = model.parameters.first() else { return vec![] };
    let mut facts = Facts::of_rows(rule, model, first, context);
    let o = parts.observation;
    facts.premise("the loss of a row is convex in the weights", Some(o.likelihood.span));
    facts.premise(format!("its slope in the predictor is at most {}", four_up(slope)), Some(o.likelihood.span));
    let (m, l) = (strong_convexity(&parts.blocks), plain_norm(&parts.blocks));
    let with = if has_intercept(&parts.blocks) { ", with the intercept," } else { "" };
    facts.premise(format!("the features{with} have norm at most {}", four_up(l)), Some(o.likelihood.span));
    let strong = match same_sds(&parts.blocks) {
        true => format!("the prior is strongly log-concave, m = {}", four_down(m)),
        false => format!("the prior is strongly log-concave, and the features times its sds have norm at most {}", four_up(norm)),
    };
    facts.premise(strong, Some(first.prior.span));
    if rows > 0.0 {
        let what = match design {
            Some(n) => format!("the features of all {n} rows are known: by the least eigenvalue of their X'X the rows add"),
            None => "the rows, whose number neighbours share, add".to_owned(),
        };
        let text = format!("{what} at least {} to m, in units of the prior's", four_down(rows));
        facts.premise(text, Some(o.likelihood.span));
    }
    if !parts.offsets.is_empty() {
        facts.premise("what is added to the predictor contains no weight: it leaves the slope bounded as before", Some(o.likelihood.span));
    }
    if parts.labels_only {
        facts.premise("the features are public: neighbours differ in the outcome alone", Some(o.likelihood.span));
    }
    facts.premises
}

impl Matched for GlmDraw {
    fn rule(&self) -> &'static Rule {
        self.rule
    }

    fn reads_design(&self) -> bool {
        self.bounded
    }

    fn claim(&self, t: Tempering) -> Claim {
        // mu = k r moved norm / sqrt(1 / m + r rows), in units of the prior's sds.
        let unit = mul_up(count_up(self.records.unit_rows), t.weight);
        let gradient = mul_up(mul_up(unit, self.moved), self.norm);
        let rows = if self.is_stored(t.concentration) { self.rows } else { 0.0 };
        let data = mul_down(mul_down(t.weight, rows), t.concentration);
        let spread = if data > 0.0 { div_up(t.concentration, add_down(1.0, data)) } else { t.concentration };
        Claim::Gdp { mu: stated_up(mul_up(gradient, sqrt_up(spread))) }
    }

    fn premises(&self, _: Tempering) -> Vec<Premise> {
        self.premises.clone()
    }

    fn law(&self, t: Tempering) -> Option<(PosteriorLaw, Statistic)> {
        if !self.known {
            return None;
        }
        let mut law = self.law.clone();
        if !self.is_stored(t.concentration) {
            law.least_curvature = 0.0;
        }
        // The claim allows for sqrt(m) rounded up: rounding down keeps the chain's prior at least as strong.
        let factor = t.concentration.sqrt().next_down().min(1.0);
        if t.concentration < 1.0 {
            let weights = law.blocks.len() - law.offsets;
            law.blocks.iter_mut().take(weights).for_each(|b| b.sd *= factor);
            law.norm = mul_up(law.norm, sqrt_up(t.concentration));
            law.least_curvature = mul_down(law.least_curvature, mul_down(factor, factor));
        }
        Some((PosteriorLaw::Glm(Box::new(law)), self.statistic.clone()))
    }

    fn by_chain(&self) -> bool {
        true
    }

    fn chain_refusal(&self) -> Option<Diagnostic> {
        self.secret.clone()
    }

    fn predicted_error(&self, t: Tempering, rows: f64) -> f64 {
        // As if the features were spread evenly over the weights at their largest norm, at the middle of the link; logistic rows say less where predictors
        // are wide.
        let learned = || self.law.blocks.iter().take(self.law.blocks.len() - self.law.offsets);
        let weights: usize = learned().map(|b| b.dim).sum();
        let wide = rows / assumed_rows(self.records.rows) * self.norm * self.norm;
        let flat = if let Link::Logit { .. } = self.law.link { flatter(wide).sqrt() } else { 1.0 };
        let data = rows * self.norm * self.norm * self.law.curvature.min(1.0) / flat / weights.max(1) as f64;
        let classes = if let Link::Softmax { classes } = self.law.link { classes as f64 } else { 1.0 };
        let squares = learned().map(|b| b.dim as f64 * b.sd * b.sd * expected::normal(1.0, data, t.weight, t.concentration));
        (classes * squares.sum::<f64>()).sqrt()
    }

    fn prior_text(&self, concentration: f64) -> String {
        let factor = concentration.sqrt();
        match self.prior_sd {
            Some(sd) => format!("normal of sd {}", four_down(sd * factor)),
            None => format!("the same with every sd times {}", four_down(factor)),
        }
    }

    fn prior_span(&self) -> Span {
        self.prior_span
    }

    fn limit_reason(&self, _: f64, _: Tempering) -> Option<LimitReason> {
        None
    }

    fn claim_add_remove(&self, _: Tempering) -> Option<Claim> {
        None
    }
}
