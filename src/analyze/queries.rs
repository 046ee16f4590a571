//! Noise and draws that answer a query over rows.

use super::arguments::Arguments;
use super::scene::Scene;
use super::ways::Offer;
use crate::model::AggregateQuery;

pub fn offer(_query: &AggregateQuery, _scene: &Scene, _args: &Arguments) -> Offer {
    Offer::default()
}
