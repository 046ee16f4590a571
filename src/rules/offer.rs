//! A way to answer a release: one value that carries its claim, its plan, its premises and its words.

use super::arguments::Mechanism;
use super::tempered::{Matched, Tempering};
use super::{Premise, Question, Rule, Verdict};
use crate::mechanism::plan::MechanismPlan;
use crate::model::print::number;
use crate::model::{Relation, RowCount};
use crate::privacy::Claim;
use crate::privacy::certificate::{OF_EACH, Side};
use crate::source::Help;
use std::rc::Rc;

/// How the rows of one group differ between neighbours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum View {
    /// At most k rows replaced by as many others; the number of rows stays.
    Replace,
    /// At most k rows added or removed.
    AddRemove,
    /// At most k rows taken out and at most k others put in: the number of rows may change.
    Exchange,
    /// Two groups together, where one row leaves the one and enters the other.
    Crossing,
}

impl From<Relation> for View {
    fn from(relation: Relation) -> View {
        match relation {
            Relation::ReplaceOne => View::Replace,
            Relation::AddRemove => View::AddRemove,
        }
    }
}

/// What stands behind a guarantee, strongest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Status {
    /// An exact draw.
    Exact,
    /// An approximate sampler whose own guarantee is proved.
    Certified,
    /// The guarantee of the ideal posterior, valid only if the chain has converged.
    Conditional,
}

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Status::Exact => "exact",
            Status::Certified => "certified",
            Status::Conditional => "conditional",
        }
    }
}

/// The chain behind a release that is not an exact draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Chain {
    /// Certified at any length.
    Langevin,
    /// Must have converged; as programs write it.
    Converged(&'static str),
    /// Pays for every answer it takes.
    Paying,
}

/// One number of a mechanism: `r = 0.668`.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub value: f64,
    /// Solved from the budget or set by default, not written by the user.
    pub solved: bool,
    /// The side to which it is rounded where it is shown, so that what is shown is no less private than what runs.
    pub side: Side,
}

impl Parameter {
    /// A count or a public number, shown as it is.
    pub fn exact(name: &'static str, value: f64) -> Parameter {
        Parameter { side: Side::Exact, ..Parameter::down(name, value) }
    }

    /// A number whose smaller values are the more private ones.
    pub fn down(name: &'static str, value: f64) -> Parameter {
        Parameter { name, value, solved: false, side: Side::Down }
    }

    /// Noise, and anything else whose larger values are the more private ones.
    pub fn up(name: &'static str, value: f64) -> Parameter {
        Parameter { side: Side::Up, ..Parameter::down(name, value) }
    }

    pub fn solved(self, solved: bool) -> Parameter {
        Parameter { solved, ..self }
    }
}

/// What a row of a real table tells of a direction of the weights, as shares of what it would tell if the features filled their bounds:
/// the 10, 30, 50, 70 and 90 % quantiles over 22 public tables (`benches/features.py`). Features are centred and correlated.
pub(super) const SHARES: [f64; 5] = [0.01, 0.06, 0.15, 0.4, 2.0];

/// Why a prediction may be off by more than two times, whatever public facts say.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Doubt {
    /// Bounds alone are known of the features: where they vary more, or less, the error is from `least` to `most`.
    Features { least: f64, most: f64 },
    /// It is not known what a row tells.
    Rows,
    /// A first look centres what later steps cut: how good it is depends on how features vary, and a distance is 1 at most.
    Look,
    /// The way of the chain is not predicted.
    Start,
    /// Many rows may share a value; so many rows off at most, whatever the values are.
    Ties { most: f64 },
    /// The mechanism narrows the prior: how much that pulls the draw away is up to the truth, and at the prior's middle it errs by `least`.
    Prior { least: f64 },
}

/// A prediction from public values only: an estimate, not a guarantee.
#[derive(Clone, PartialEq, Debug)]
pub struct PredictedError {
    /// What is predicted, in words.
    pub measure: &'static str,
    pub value: f64,
    /// Other predictions, by name: `kl`, `interval_width`, `of_a_draw_from_the_prior`.
    pub further: Vec<(&'static str, f64)>,
    /// How far off one is with the release and without it, where `value` is in another unit: W0510 compares them.
    pub beside: Option<[f64; 2]>,
    /// W0513 says it before anything is spent.
    pub doubt: Option<Doubt>,
}

impl PredictedError {
    /// One of which nothing is in doubt but chance.
    pub fn sure(measure: &'static str, value: f64) -> PredictedError {
        PredictedError { measure, value, further: vec![], beside: None, doubt: None }
    }

    /// Of a draw, for vectors the root of the sum of squares.
    pub fn of_draw(value: f64) -> PredictedError {
        Self::sure("root mean square distance of the draw from the posterior mean", value)
    }

    /// Of a draw of the weights of features, of which bounds alone are known: `error` says what is predicted where a row tells this
    /// share of what it would if the features filled their bounds.
    pub fn of_weights(error: impl Fn(f64) -> f64) -> PredictedError {
        let measure = "root mean square distance of the draw from the posterior mean, if features and weights are as in most tables";
        let squares: f64 = SHARES.iter().map(|share| error(*share).powi(2)).sum();
        let value = (squares / SHARES.len() as f64).sqrt();
        let [least, .., most] = SHARES.map(&error);
        let (least, most) = (least.min(most), least.max(most));
        let doubt = (most > 2.0 * least).then_some(Doubt::Features { least, most });
        PredictedError { doubt, further: vec![(Self::AT_BEST, error(1.0))], ..Self::sure(measure, value) }
    }

    /// Of a draw from a posterior of bounded loss, where it is not known what a row tells of some parameter.
    pub fn of_loss(value: f64) -> PredictedError {
        let measure = "root mean square distance of the draw from the posterior mean, if a row tells what a normal one of sd 1 would";
        PredictedError { doubt: Some(Doubt::Rows), ..Self::sure(measure, value) }
    }

    /// Of the last state of a chain whose way is not predicted.
    pub fn of_start(value: f64) -> PredictedError {
        let measure = "root mean square distance of the draw from the posterior mean, if the chain stays where the prior puts it";
        PredictedError { doubt: Some(Doubt::Start), ..Self::sure(measure, value) }
    }

    /// Beside that of a draw which takes nothing from the private rows: from the prior as the mechanism has it.
    pub fn beside_prior(self, value: f64) -> PredictedError {
        // A flat prior has none.
        let further = self.further.into_iter().chain(Some((Self::OF_PRIOR, value)).filter(|_| value < 1e100)).collect();
        PredictedError { further, ..self }
    }

    /// How far off one is with the release and without it; `None` where that is not predicted.
    pub fn both(&self) -> Option<[f64; 2]> {
        // Of features no more is known than that they may fill their bounds.
        let draw = || Some([self.find(Self::AT_BEST).unwrap_or(self.value), self.find(Self::OF_PRIOR)?]);
        self.beside.or_else(draw).filter(|both| both.iter().all(|x| x.is_finite()))
    }

    fn find(&self, wanted: &str) -> Option<f64> {
        self.further.iter().find(|(name, _)| *name == wanted).map(|(_, x)| *x)
    }

    const AT_BEST: &str = "if_features_fill_their_bounds";
    const OF_PRIOR: &str = "of_a_draw_from_the_prior";

    /// Of an answer to a query whose middle is so far off at most.
    pub fn of_answer(value: f64, middle: Option<f64>) -> PredictedError {
        PredictedError { beside: middle.map(|m| [value, m]), ..Self::sure("95% bound of |answer - truth|", value) }
    }

    /// Of an answer of several numbers, each of which is so far off at most, and all together by `value`.
    pub fn of_answers(value: f64, each: f64, middle: Option<f64>) -> PredictedError {
        let measure = "95% bound of the distance of all numbers together from the truth";
        PredictedError { beside: middle.map(|m| [value, m]), further: vec![(OF_EACH, each)], ..Self::sure(measure, value) }
    }

    /// Of the mean of some rows, from a noisy sum and a noisy count.
    pub fn of_mean(value: f64, middle: f64) -> PredictedError {
        let measure = "95% bound of |mean - truth|, if half of the rows are chosen";
        PredictedError { beside: Some([value, middle]), ..Self::sure(measure, value) }
    }
}

/// The free number of a mechanism and the side on which it is private.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Knob {
    /// Nothing to solve.
    None,
    /// In (0, 1]: smaller is more private.
    Weight(&'static str),
    /// Above 0: larger is more private.
    Noise(&'static str),
    /// Above 0: smaller is more private.
    Loss(&'static str),
    /// Above 1: larger is more private, as far as `start`.
    Beta(&'static str),
    /// A whole number from 1 on: smaller is more private.
    Count(&'static str),
}

impl Knob {
    pub fn name(self) -> Option<&'static str> {
        match self {
            Knob::None => None,
            Knob::Weight(name) | Knob::Noise(name) | Knob::Loss(name) | Knob::Beta(name) | Knob::Count(name) => Some(name),
        }
    }

    /// The knob at this value, as a parameter of the release.
    pub fn at(self, value: f64) -> Option<Parameter> {
        match self {
            Knob::Noise(name) | Knob::Beta(name) => Some(Parameter::up(name, value)),
            Knob::Count(name) => Some(Parameter::exact(name, value)),
            other => other.name().map(|name| Parameter::down(name, value)),
        }
    }
}

/// Why intervals may contain the truth less often than they say, what to do about it, and what simulations showed.
pub struct Approximate {
    pub label: &'static str,
    pub help: Help,
    pub seen: &'static str,
}

/// A mechanism with the rule that proves it, for one release in one group. Everything is a function of public facts.
///
/// Claim, premises and plan are taken at one value `x` of the knob: nobody can certify one thing and run another.
pub trait Offer {
    fn rule(&self) -> &'static Rule;
    fn mechanism(&self) -> &'static Mechanism {
        self.rule().own()
    }
    fn knob(&self) -> Knob;
    /// A value of the knob that costs about 1, to start a search from; 0 where every value is free.
    fn start(&self) -> f64 {
        1.0
    }
    /// A value of the knob at which a message may name the cost.
    fn example(&self) -> f64 {
        1.0
    }
    /// An upper bound on the cost of the release in one group, for every data set and every n that the header allows;
    /// `None` where this view has no guarantee.
    fn claim(&self, view: View, x: f64) -> Option<Claim>;
    /// The same of two groups together, where one row leaves the one and enters the other.
    fn crossing(&self, x: f64) -> Option<Claim> {
        let one = self.claim(View::AddRemove, x)?;
        Some(Claim::Product(vec![one.clone(), one]))
    }
    /// The claim under any view.
    fn seen(&self, view: View, x: f64) -> Option<Claim> {
        if view == View::Crossing { self.crossing(x) } else { self.claim(view, x) }
    }
    fn premises(&self, x: f64) -> Vec<Premise>;
    /// What will run; `None` while a public or released value that it needs is not known.
    fn plan(&self, x: f64) -> Option<MechanismPlan>;
    /// The same for the question with such values in place: nothing else in the plan may differ.
    fn plan_of(&self, question: &Question, x: f64) -> Option<MechanismPlan> {
        let Verdict::Offers(offers) = (self.rule().judge)(question) else { return None };
        offers.iter().find(|o| o.mechanism() == self.mechanism() && o.knob() == self.knob())?.plan(x)
    }
    fn predicted_error(&self, x: f64) -> PredictedError;
    /// Of offers that are predicted alike the one with the least of this is taken: noise, on a scale that they share.
    fn noise(&self, _: f64) -> f64 {
        0.0
    }
    /// What the value of the knob means, in a few words: `data weight 67%`.
    fn remark(&self, x: f64) -> String;
    fn status(&self) -> Status {
        match self.chain() {
            None => Status::Exact,
            Some(Chain::Converged(_)) => Status::Conditional,
            Some(Chain::Langevin | Chain::Paying) => Status::Certified,
        }
    }
    /// `None` for an exact draw.
    fn chain(&self) -> Option<Chain> {
        None
    }
    /// Numbers that the program or a default gives besides the knob.
    fn given(&self) -> Vec<Parameter> {
        vec![]
    }
    /// Numbers that follow from the knob: what is certified besides it.
    fn derived(&self, _x: f64) -> Vec<Parameter> {
        vec![]
    }
    /// Does `auto`, or a choice among offers of one mechanism, take it only where nothing else meets the budget?
    fn last_resort(&self) -> bool {
        false
    }
    /// Is what it releases as a posterior an approximation whose intervals nothing vouches for? A program is told why before it spends.
    fn approximate(&self) -> Option<Approximate> {
        None
    }
    /// Is the posterior one of another prior than the program's? That is the user's to ask for.
    fn changes_prior(&self) -> bool {
        false
    }
    /// What to write after `using`, where arguments are solved; `given` stands between the parentheses.
    fn written(&self, given: &str) -> String {
        let own: Vec<String> = self.given().iter().map(|p| format!("{} = {}", p.name, number(p.value))).collect();
        let list = if given.is_empty() { own.join(", ") } else { given.to_owned() };
        let arguments = if list.is_empty() { String::new() } else { format!("({list})") };
        format!("{}{arguments}", self.mechanism().name)
    }
    /// How the cost follows from the knob, for a label, and why, for its cause.
    fn reckoning(&self) -> Option<(String, String)> {
        None
    }
    /// The same at this value of the knob with its weight free.
    fn tempered(&self, _x: f64) -> Option<Box<dyn Offer>> {
        None
    }
    /// How the posterior is weakened; `None` for anything but a tempered draw.
    fn tempering(&self, _x: f64) -> Option<Tempering> {
        None
    }
    /// The tempered posterior behind it, for messages about priors and orders.
    fn matched(&self) -> Option<Rc<dyn Matched>> {
        None
    }
}

/// The number of rows that predictions assume: n, its lower bound, or 100 where nothing is known.
pub fn assumed_rows(rows: RowCount) -> f64 {
    match (rows.exactly, rows.at_least) {
        (Some(n), _) => n as f64,
        (None, n) if n > 1 => n as f64,
        _ => 100.0,
    }
}

/// One draw's claim for so many draws.
pub fn repeated(one: Claim, times: u64) -> Claim {
    if times == 1 { one } else { one.repeat(times) }
}
