//! All that is known when one release is judged: the program, the place, the allotment, the public rows.

use std::borrow::Cow;

use super::public::PublicData;
use super::site::Site;
use crate::model::{BudgetKind, Model, Program, Query, Records, Relation, RowCount};
use crate::rules::arguments::{Arguments, Mechanism};
use crate::rules::{Ask, Context, Judged, PublicTotals, Question};
use crate::source::{SourceMap, Span};

pub struct Scene<'a> {
    pub program: &'a Program,
    pub sources: &'a SourceMap,
    pub public: &'a dyn PublicData,
    pub site: &'a Site<'a>,
    /// What a free number is solved for.
    pub allotment: Option<&'a BudgetKind>,
    /// What it may cost where all its numbers are written.
    pub most: Option<&'a BudgetKind>,
    /// The model as it is in its group, for a draw.
    pub model: Option<Cow<'a, Model>>,
}

impl<'a> Scene<'a> {
    pub fn new(
        program: &'a Program,
        sources: &'a SourceMap,
        public: &'a dyn PublicData,
        site: &'a Site<'a>,
        allotment: Option<&'a BudgetKind>,
        most: Option<&'a BudgetKind>,
    ) -> Scene<'a> {
        let model = match &site.release.query {
            Query::Posterior(model) => Some(grouped(model, site.grouped())),
            Query::Aggregate(_) => None,
        };
        Scene { program, sources, public, site, allotment, most, model }
    }

    /// Every rule's verdict on the release, with these arguments written for a mechanism, or none.
    pub fn judge(&self, written: Option<(&'static Mechanism, &Arguments)>) -> Judged {
        self.judge_of(
            match (self.model.as_deref(), &self.site.release.query) {
                (Some(model), _) | (None, Query::Posterior(model)) => Ask::Model(model),
                (None, Query::Aggregate(query)) => Ask::Query(query),
            },
            written,
        )
    }

    /// The same for another question in the place of the release's own.
    pub fn judge_of(&self, ask: Ask, written: Option<(&'static Mechanism, &Arguments)>) -> Judged {
        let (totals, none) = (self.totals(), PublicTotals::unbound());
        let question = Question {
            ask,
            context: Context { program: self.program, public: totals.as_ref().unwrap_or(&none) },
            written,
            assuming_convergence: self.site.release.mechanism.assuming_convergence,
            place: self.place(),
            statement: self.site.release.span,
            budgeted: self.allotment.is_some(),
            secret_groups: self.site.secret_groups(),
        };
        question.judge()
    }

    /// What is known of the public rows of its model, and of a public design.
    pub fn totals(&self) -> Option<PublicTotals> {
        self.model.as_ref().map(|m| super::public::totals(m, self.site.grouped(), self.program, self.public))
    }

    /// What is offered where nothing is written after the mechanism.
    pub fn plain(&self) -> Judged {
        self.judge(None)
    }

    /// The rows it is about, in a group without their number.
    pub fn records(&self) -> Records {
        match (self.model.as_deref(), &self.site.release.query) {
            (Some(model), _) | (None, Query::Posterior(model)) => model.records,
            (None, Query::Aggregate(query)) => query.records,
        }
    }

    /// The mechanism as written, else the query: the place to edit.
    pub fn place(&self) -> Span {
        let release = self.site.release;
        release.mechanism.span.unwrap_or(release.query_span)
    }

    /// Where the limit is written: the release's own `spend`, else the budget, with words for a label.
    pub fn limit_place(&self) -> Option<(Span, &'static str)> {
        match (&self.site.release.spend, &self.program.budget) {
            (Some(spend), _) => Some((spend.span, "its share of the budget")),
            (None, Some(budget)) => Some((budget.span, "budget")),
            (None, None) => None,
        }
    }

    /// The argument `order = ..` of the budget, or the whole budget.
    pub fn order_place(&self) -> Option<Span> {
        let span = self.program.budget.as_ref()?.span;
        let text = self.sources.slice(span);
        let found = argument(text, "order").map(|(start, end)| {
            let base = usize::try_from(span.start).unwrap_or(0);
            Span::new(span.file, base.saturating_add(start), base.saturating_add(end))
        });
        Some(found.unwrap_or(span))
    }

    /// The names of what is drawn: `` `w`, `b` ``.
    pub fn drawn(&self) -> String {
        let Some(model) = &self.model else {
            return format!("`{}`", self.site.release.name);
        };
        let wanted = match &model.request {
            crate::model::Request::Draw { parameters, .. } => parameters.clone(),
            crate::model::Request::Posterior { parameter } => vec![*parameter],
        };
        let names = model.parameters.iter().filter(|p| wanted.contains(&p.id));
        let texts: Vec<String> = names.map(|p| format!("`{}`", p.name)).collect();
        texts.join(", ")
    }
}

/// The model as it stands, maybe in a group: group sizes are not in the header, but a replaced row is in its group.
pub fn grouped(model: &Model, in_group: bool) -> Cow<'_, Model> {
    if !in_group {
        return Cow::Borrowed(model);
    }
    let mut model = model.clone();
    let at_least = u64::from(model.records.relation == Relation::ReplaceOne);
    model.records.rows = RowCount { at_least, exactly: None };
    Cow::Owned(model)
}

/// Byte range of `name = value` in a call's text, up to the comma or parenthesis that ends it.
fn argument(text: &str, name: &str) -> Option<(usize, usize)> {
    let start = text.match_indices(name).map(|(i, _)| i).find(|i| {
        let after = text.get(i.saturating_add(name.len())..).unwrap_or("");
        after.trim_start().starts_with('=')
    })?;
    let rest = text.get(start..)?;
    let mut depth = 0_u32;
    for (i, c) in rest.char_indices() {
        match c {
            '[' | '(' => depth = depth.saturating_add(1),
            ']' | ')' if depth > 0 => depth -= 1,
            ',' | ')' if depth == 0 => {
                let written = rest.get(..i)?.trim_end();
                return Some((start, start.saturating_add(written.len())));
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::argument;

    #[test]
    fn an_argument_ends_at_its_comma() {
        let text = "rdp(order = [2, 8] , eps = [0.1, 0.5])";
        let (a, b) = argument(text, "order").unwrap();
        assert_eq!(&text[a..b], "order = [2, 8]");
        let (a, b) = argument(text, "eps").unwrap();
        assert_eq!(&text[a..b], "eps = [0.1, 0.5]");
        assert_eq!(argument("zcdp(0.1)", "order"), None);
    }
}
