//! The pest parser of `grammar/dpm.pest` with its limits set.

use std::num::NonZeroUsize;
use std::sync::Once;

use pest::Parser;
use pest::error::Error;
use pest::iterators::Pairs;

#[derive(pest_derive::Parser)]
#[grammar = "../grammar/dpm.pest"]
struct Grammar;

/// Calls pest may make for one text. The grammar is left-factored, so a text of the largest size stays far below;
/// the limit is there in case a later rule is not.
const CALL_LIMIT: usize = 400_000_000;

/// Reads `text` by `rule`. The error is boxed: pest's own is large.
pub(super) fn read(rule: Rule, text: &str) -> Result<Pairs<'_, Rule>, Box<Error<Rule>>> {
    static LIMITS: Once = Once::new();
    LIMITS.call_once(|| pest::set_call_limit(NonZeroUsize::new(CALL_LIMIT)));
    Grammar::parse(rule, text).map_err(Box::new)
}
