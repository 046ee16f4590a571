//! What a release asks for, which rules and mechanisms answer.

use crate::model::{Model, Query, Request};

/// What a release asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answers {
    /// `draw(..)` of a posterior.
    Draws,
    /// `sum`, `mean`, `count`, `histogram`, `quantile` over rows.
    Queries,
    /// `posterior(..)`, a posterior released whole.
    Posteriors,
}

impl Answers {
    /// What this query asks for.
    pub fn of(query: &Query) -> Answers {
        match query {
            Query::Posterior(Model { request: Request::Posterior { .. }, .. }) => Answers::Posteriors,
            Query::Posterior(_) => Answers::Draws,
            Query::Aggregate(_) => Answers::Queries,
        }
    }
}
