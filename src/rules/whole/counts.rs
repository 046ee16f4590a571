//! Matching: a conjugate posterior that integer counts of the rows determine.

use super::calibrated::few;
use super::refusals;
use crate::mechanism::plan::{MOST_ITEMS, Statistic, StatisticKind, WholeFamily};
use crate::model::{Expr, Model, Observation, Parameter, Range, Relation, Request, Type};
use crate::numeric::round::mul_up;
use crate::rules::conjugate::facts;
use crate::rules::count::count_up;
use crate::rules::public::levels;
use crate::rules::{Match, Premise, Question, Rule, not_mine, refuse};

/// The counts of a matched posterior and how far one unit moves them.
#[derive(Clone)]
pub(super) struct Counts {
    pub facts: facts::Facts,
    /// The prior's numbers: all counts, or shape and rate.
    pub prior: Vec<Range>,
    /// One sum of outcomes leaves, without a bound of its own: a rate, or a chance whose rows count failures.
    pub summed: bool,
    /// Successes of a row whose outcome is a number of failures.
    pub failures: Option<f64>,
    /// A Beta: its statistic is the sum of successes.
    pub single: bool,
    /// Items of one row: a row moves at most so many from one count to another, or a Gamma's sum by as much.
    pub items: u64,
    /// Rows of one group of a private key, which are replaced: they also leave it and enter it, so their number is secret.
    pub exchanged: bool,
    pub statistic: Statistic,
}

/// A Beta, Dirichlet or (where `gamma`) Gamma posterior with integer rows.
pub(super) fn find(rule: &'static Rule, question: &Question, gamma: bool) -> Match<Counts> {
    let shape = if gamma { "beta(a, b), dirichlet(alpha) or gamma(shape, rate)" } else { "beta(a, b) or dirichlet(alpha)" };
    let (model, context) = (question.model()?, &question.context);
    let parameter = the_parameter(model, shape)?;
    let observation = facts::one_private(model, &parameter.name)?;
    let rows = |o: &Observation| row(parameter, o);
    let Some(items) = rows(observation) else { return not_mine(rows_of(parameter, gamma)) };
    let failures = successes(parameter, observation);
    if (failures.is_some() && !gamma) || !model.public.iter().all(|o| rows(o).is_some() && successes(parameter, o) == failures) {
        return not_mine(rows_of(parameter, gamma));
    }
    let args = parameter.prior.args.as_slice();
    let prior = match parameter.prior.name() {
        "dirichlet" => crate::rules::conjugate::alphas(parameter)?,
        "gamma" if !gamma => return not_mine(format!("prior must be {shape}")),
        "beta" | "gamma" => {
            let what = if parameter.prior.name() == "beta" { "a prior count" } else { "a prior number" };
            args.iter().map(|a| facts::positive_argument(a, what)).collect::<Match<_>>()?
        }
        _ => return not_mine(format!("prior must be {shape}")),
    };
    let outcome = &observation.outcome;
    let (single, kind) = match parameter.prior.name() {
        "dirichlet" => match &outcome.ty {
            Type::Counts { .. } => (false, StatisticKind::Sum(outcome.clone())),
            _ => match levels(outcome) {
                Some(kind) => (false, kind),
                None => return not_mine("the outcome must be a category, a bool or a bounded integer"),
            },
        },
        family => (family == "beta", StatisticKind::Sum(outcome.clone())),
    };
    let places = match (&kind, &outcome.ty) {
        (StatisticKind::Levels { dim, .. }, _) | (_, Type::Counts { dim, .. }) => *dim,
        _ => prior.len() as u64,
    };
    if places != prior.len() as u64 || places < 2 {
        return not_mine(format!("{} prior counts for {places} levels", prior.len()));
    }
    let facts = facts::Facts::collect(rule, model, parameter, context);
    let statistic = Statistic { table: model.records.table, kind };
    let summed = parameter.prior.name() == "gamma" || failures.is_some();
    Ok(Counts { facts, prior, summed, failures, single, items, exchanged: false, statistic })
}

pub(super) fn the_parameter<'a>(model: &'a Model, shape: &str) -> Match<&'a Parameter> {
    let [parameter] = model.parameters.as_slice() else {
        return not_mine(format!("the model must have one parameter, with prior {shape}"));
    };
    if parameter.truncated.is_some() {
        return not_mine(format!("prior must be {shape}, not cut to a domain"));
    }
    if !matches!(model.request, Request::Posterior { .. }) {
        return not_mine("releases whole posteriors, not draws");
    }
    if model.private.is_empty() {
        return not_mine("no private rows");
    }
    Ok(parameter)
}

/// `sums`: by noise, which takes sums without a bound of their own too.
fn rows_of(parameter: &Parameter, sums: bool) -> String {
    let rows = match parameter.prior.name() {
        "beta" if sums => "bernoulli(p), binomial(N, p), geometric(p) or neg_binomial(N, p), with bounded whole numbers",
        "beta" => "bernoulli(p) or binomial(N, p), with whole numbers",
        "dirichlet" => "categorical(s), or multinomial(N, s) of counts[d] of N",
        "gamma" => "poisson(rate), with bounded whole numbers",
        other => return format!("no counts determine a {other} posterior"),
    };
    format!("rows must be {rows}")
}

/// The most items of a row, if its outcome is an integer that fits its law.
fn row(parameter: &Parameter, o: &Observation) -> Option<u64> {
    let id = parameter.id;
    let whole = |most: f64| match &o.outcome.ty {
        Type::Bool => Some(1.0),
        Type::Int(r) if r.lo >= 0.0 && r.hi <= most => Some(r.hi),
        _ => None,
    };
    let number = |e: &Expr| e.constant().filter(|n| n.fract() == 0.0 && (1.0..=f64::from(1 << 20)).contains(n));
    let items = match (parameter.prior.name(), o.likelihood.name(), o.likelihood.args.as_slice()) {
        ("beta", "bernoulli", [p]) if p.is_param(id) => whole(1.0).map(|_| 1.0),
        ("beta", "binomial", [n, p]) if p.is_param(id) => number(n).filter(|n| whole(*n).is_some()),
        ("beta", "geometric" | "neg_binomial", _) if successes(parameter, o).is_some() => whole(f64::from(1 << 20)).map(|k| k.max(1.0)),
        ("dirichlet", "categorical", [s]) if s.is_param(id) => Some(1.0),
        ("dirichlet", "multinomial", [n, s]) if s.is_param(id) => {
            number(n).filter(|n| matches!(&o.outcome.ty, Type::Counts { total, fewer: false, .. } if *total as f64 == *n))
        }
        ("gamma", "poisson", [l]) if l.is_param(id) => whole(f64::from(1 << 20)).map(|k| k.max(1.0)),
        _ => None,
    };
    items.map(|n| n as u64)
}

/// The successes that a row waits for, if its outcome is a number of failures.
fn successes(parameter: &Parameter, o: &Observation) -> Option<f64> {
    match (o.likelihood.name(), o.likelihood.args.as_slice()) {
        ("geometric", [p]) if p.is_param(parameter.id) => Some(1.0),
        ("neg_binomial", [n, p]) if p.is_param(parameter.id) => n.constant().filter(|n| facts::REACH.contains(*n)),
        _ => None,
    }
}

impl Counts {
    pub fn places(&self) -> usize {
        self.prior.len()
    }

    /// Items that one unit moves.
    pub fn moved(&self) -> f64 {
        mul_up(count_up(self.items), count_up(self.facts.records.unit_rows))
    }

    fn relation(&self) -> Relation {
        self.facts.records.relation
    }

    pub fn rows_are_public(&self) -> bool {
        self.relation() == Relation::ReplaceOne && !self.exchanged
    }

    /// E0307 where neighbours differ in the number of rows.
    pub fn public_rows(&self, question: &Question, why: (&str, &str)) -> Match<()> {
        if self.rows_are_public() {
            Ok(())
        } else {
            refuse(refusals::secret_rows(&self.facts, question, why, (!self.summed).then(|| self.places())))
        }
    }

    /// The candidates of a Hellinger mechanism, as far as the header says their number: refused where too many.
    pub fn few_candidates(&self, question: &Question) -> Match<()> {
        if let Some(largest) = self.prior.iter().map(|r| r.hi).find(|a| *a > MOST_ITEMS as f64 && a.is_finite()) {
            return refuse(refusals::large_prior(self, question, largest));
        }
        let rows = self.facts.records.rows;
        let items = rows.exactly.unwrap_or(rows.at_least).saturating_mul(self.items);
        match refusals::too_many(self, question, items) {
            Some(d) => refuse(d),
            None => Ok(()),
        }
    }

    /// Prior counts and the number of items for exact calibration: refused where they are not known, or too many.
    pub fn all_known(&self, question: &Question) -> Match<(Vec<f64>, u64)> {
        let items = self.facts.records.rows.exactly.map(|n| n.saturating_mul(self.items));
        let private_only = question.model()?.public.is_empty();
        match (items, self.family()) {
            (Some(items), Some(WholeFamily::Counts { alpha, .. }))
                if private_only && few(items, alpha.len()) && alpha.iter().all(|a| *a >= 1e-6) =>
            {
                Ok((alpha, items))
            }
            (items, _) => refuse(refusals::not_computable(self, question, items, private_only)),
        }
    }

    /// The L1 and L2 sensitivities of the counts that noise is added to, one of them alone where two have a public sum.
    ///
    /// Replaced: a unit's items leave one count and enter another, (1, -1) times as many; a single count moves by them once.
    /// Added or removed: they may all enter one count. In a group of a private key the larger of both.
    pub fn sensitivities(&self) -> (f64, f64) {
        let moved = self.moved();
        let alone = self.summed || self.places() == 2 && self.rows_are_public();
        if alone || self.relation() == Relation::AddRemove {
            return (moved, moved);
        }
        // The square root of 2, rounded up.
        (mul_up(2.0, moved), mul_up(std::f64::consts::SQRT_2.next_up(), moved))
    }

    /// The posterior before private rows, with public rows; `None` while a number is not known.
    pub fn family(&self) -> Option<WholeFamily> {
        if !self.facts.public.known {
            return None;
        }
        let prior: Option<Vec<f64>> = self.prior.iter().map(|r| facts::point(*r)).collect();
        let mut prior = prior?;
        let public = &self.facts.public;
        match (self.summed, self.single, prior.as_mut_slice()) {
            (_, _, [a, b]) if self.failures.is_some() => {
                let successes = self.failures?;
                Some(WholeFamily::Failures { a: *a + successes * public.rows as f64, b: *b + public.sum(), successes })
            }
            (true, _, [shape, rate]) => Some(WholeFamily::Gamma { shape: *shape + public.sum(), rate: *rate + public.rows as f64 }),
            (_, true, [a, b]) => {
                let trials = public.rows.saturating_mul(self.items) as f64;
                let (a, b) = (*a + public.sum(), *b + (trials - public.sum()).max(0.0));
                Some(WholeFamily::Counts { alpha: vec![a, b], items: self.row_items()?, single: true })
            }
            _ => {
                for (a, s) in prior.iter_mut().zip(&public.sums) {
                    *a += s;
                }
                Some(WholeFamily::Counts { alpha: prior, items: self.row_items()?, single: false })
            }
        }
    }

    fn row_items(&self) -> Option<u32> {
        u32::try_from(self.items).ok()
    }

    /// Numbers of the prior for predictions: each at its lower end.
    pub fn centre(&self) -> Vec<f64> {
        match self.family() {
            Some(WholeFamily::Counts { alpha, .. }) => alpha,
            Some(WholeFamily::Gamma { shape, rate }) => vec![shape, rate],
            Some(WholeFamily::Failures { a, b, .. }) => vec![a, b],
            _ => self.prior.iter().map(|r| r.lo).collect(),
        }
    }

    /// The premises that every mechanism here shares.
    pub fn premises(&self) -> Vec<Premise> {
        let mut list = self.facts.premises.clone();
        let span = match &self.statistic.kind {
            StatisticKind::Sum(e) | StatisticKind::Levels { value: e, .. } => Some(e.span),
            _ => None,
        };
        let places = self.places();
        let text = match (self.summed, self.items) {
            (true, k) => format!("the outcome is a whole number in 0..{k}"),
            (_, 1) => format!("every row is one item at one of {places} levels"),
            (_, n) => format!("every row is {n} items at {places} levels"),
        };
        list.push(Premise::holds(text, span));
        list
    }

    /// The rows of this posterior's public number, where the header says it.
    pub fn rows_name<'a>(&self, question: &'a Question) -> &'a str {
        question.context.table(self.facts.records.table).and_then(|t| t.count_name.as_deref()).unwrap_or("n")
    }
}
