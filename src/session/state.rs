//! What a session knows: statements that were kept, what the program means, and what came of one input.

use crate::analyze::Analysis;
use crate::compiled::Given;
use crate::model::Table;
use crate::pipeline::Checked;
use crate::privacy::Claim;
use crate::rules::tempered::Tempering;
use crate::run::{Bound, Results, Value};
use crate::source::{Diagnostics, SourceMap};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A statement that was kept.
#[derive(Clone, Default)]
pub struct Entry {
    pub text: String,
    pub names: Vec<String>,
    /// How many steps of the program it is.
    pub steps: usize,
    pub ran: bool,
    /// The text with the choices it ran with, and those choices; nothing before that, and for what costs nothing.
    pub frozen: Option<String>,
    pub fixed: Vec<Fixed>,
    /// By place among the values of its steps.
    pub values: Vec<Option<Value>>,
}

/// The program and what it means.
pub struct Judged {
    pub checked: Checked,
    pub bound: Bound,
    pub analysis: Analysis,
    pub diagnostics: Diagnostics,
}

#[derive(Clone)]
pub struct State {
    pub entries: Vec<Entry>,
    /// Public data as the program declares them.
    pub given: Given,
    /// `NAME=PATH` or `NAME=VALUE` as it was asked for.
    pub public: BTreeMap<String, String>,
    /// The cost of everything that ran, in order.
    pub charges: Vec<Claim>,
    /// Private tables that something was charged for, as they were declared then.
    pub read: Vec<Table>,
    /// Releases that ran and whose name now means something else.
    pub retired: Vec<String>,
    pub judged: Rc<Judged>,
}

/// What was decided for a release when it ran.
#[derive(Clone, PartialEq)]
pub struct Fixed {
    pub name: String,
    pub normal_form: String,
    pub mechanism: &'static str,
    pub rule: &'static str,
    pub parameters: Vec<(&'static str, f64)>,
    pub tempering: Option<Tempering>,
    pub premises: Vec<String>,
    pub claim: Claim,
}

/// Messages with the texts they point into.
pub struct Said {
    pub sources: SourceMap,
    pub diagnostics: Diagnostics,
}

/// What came of one input.
pub enum Outcome {
    /// Kept. What was said that was not said before: warnings, and expectations that do not hold yet.
    Kept(Option<Said>),
    /// An expression, computed.
    Value(Results),
    /// Not kept, and why.
    Rejected(Said),
    Refused(String),
}

pub type Admitted<T> = Result<T, Outcome>;
