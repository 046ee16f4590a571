//! The complaints of the rules for whole posteriors: secret numbers of rows, sizes, priors.

use super::counts::Counts;
use crate::mechanism::plan::{MOST_CANDIDATES, MOST_ITEMS};
use crate::model::Table;
use crate::numeric::hellinger::histograms;
use crate::rules::Question;
use crate::rules::conjugate::Facts;
use crate::rules::text::four_near;
use crate::source::Diagnostic;

/// E0307: the mechanism holds n fixed; so many `counts` may be noised instead.
pub(in crate::rules) fn secret_rows(facts: &Facts, question: &Question, (why, cause): (&str, &str), counts: Option<usize>) -> Diagnostic {
    let name = facts.rule.name;
    let table = question.context.table(facts.records.table);
    let n = table.map_or("n", |t| t.public_name());
    let mut d = Diagnostic::new("E0307", format!("`{name}` needs a public number of rows")).label(question.place, why.replace("{n}", n));
    if let Some(t) = table {
        d = d.label(t.rows_span, format!("{n} is secret: neighbours add or remove {}", t.unit_in_words()));
    }
    let d = d.cause(cause.replace("{n}", n));
    let noisy = counts.map(|k| ("if not:", "using noise_aware", format!("noises all {k} counts; {n} may be secret")));
    d.help(Table::redeclared(table, format!("if {n} is public:"), n, "")).helps(noisy)
}

/// E0313: more candidates than can be listed.
pub(super) fn too_many(counts: &Counts, question: &Question, items: u64) -> Option<Diagnostic> {
    let (name, k) = (counts.facts.rule.name, counts.places());
    let all = histograms(items, k);
    let few = if k == 2 { items <= MOST_ITEMS } else { all <= MOST_CANDIDATES };
    if few {
        return None;
    }
    let most = if k == 2 { MOST_ITEMS + 1 } else { MOST_CANDIDATES };
    let shown = if all == u64::MAX { "more than 1e19".to_owned() } else { four_near(all as f64) };
    let span = question.context.table(counts.facts.records.table).map_or(question.place, |t| t.rows_span);
    Some(
        Diagnostic::new("E0313", format!("`{name}` would have {shown} candidates, of which {most} are the most"))
            .label(question.place, "its candidates are all posteriors reachable with these rows")
            .label(span, format!("{items} items at {k} levels"))
            .cause("every candidate is weighed by its distance from the posterior")
            .help(("noise on the counts has no candidates:", "using noise_aware")),
    )
}

/// E0313: the worst loss of a law that is not known, or over too many candidates.
pub(super) fn not_computable(counts: &Counts, question: &Question, items: Option<u64>, private_only: bool) -> Diagnostic {
    let (name, k) = (counts.facts.rule.name, counts.places());
    let table = question.context.table(counts.facts.records.table);
    let span = table.map_or(question.place, |t| t.rows_span);
    let d = Diagnostic::new("E0313", format!("`{name}` cannot be calibrated exactly here"))
        .label(question.place, "the worst loss over all neighbouring data sets is computed from its law");
    let without = ("without:", format!("using {name}"));
    match items {
        None => {
            let known = Table::redeclared(table, "with 40 rows:", "40", "");
            d.label(span, "the law depends on the exact number of rows").help(known).help(without)
        }
        Some(items) if private_only && !super::calibrated::few(items, k) => d
            .label(span, format!("{items} items at {k} levels: {} posteriors", four_near(histograms(items, k) as f64)))
            .cause("their number squared times the pairs of levels may be 1048576 at most")
            .help(without),
        Some(_) => {
            d.label(counts.facts.prior_span, "the law depends on the prior counts: numbers from 1e-6 on, and no public rows").help(without)
        }
    }
}

/// E0203: a prior count for which doubles do not compute distances well enough.
pub(super) fn large_prior(counts: &Counts, question: &Question, largest: f64) -> Diagnostic {
    let name = counts.facts.rule.name;
    Diagnostic::new("E0203", format!("`{name}` takes prior counts up to {MOST_ITEMS}"))
        .label(counts.facts.prior_span, format!("{} is above it", four_near(largest)))
        .label(question.place, "distances are certified up to there")
        .help(("noise on the counts takes any prior:", "using noise_aware"))
}
