//! Draws of released posteriors in the JSON that ArviZ reads as inference data, and R as a list of arrays.

use super::Posterior;
use crate::mechanism::BitSource;
use crate::model::Type;
use crate::run::bits::Bits;
use crate::run::evaluate::NoValue;
use crate::run::shape::padding_of;
use crate::run::value::Value;
use serde_json::{Map, Value as Json, json};

/// ArviZ compares chains; ours are independent draws, cut in so many.
const CHAINS: usize = 4;
/// Draws of each chain.
const DRAWS: usize = 1000;

/// `{"posterior": {name: [chain][draw]..}, "coords": .., "dims": .., "attrs": ..}` with 4,000 independent draws of every
/// released posterior, and the spaces that bring the text to a length which does not depend on them.
///
/// Draws of a chain are as they are, a number each, those of a prior in a group of their own. A number a draw for a scalar, else its numbers with a dimension of their own, named by levels where they have names.
pub fn inference_data(values: &[&(String, Value, Type)], source: &mut dyn BitSource) -> Result<(Json, usize), NoValue> {
    let (mut posterior, mut prior, mut coords, mut dims) = (Map::new(), Map::new(), Map::new(), Map::new());
    let mut spaces = 0;
    let mut rng = Bits::new(source);
    for (name, value, ty) in values {
        let Value::Posterior(p) = value else { continue };
        if let Posterior::Draws(draws) = p {
            let each = (draws.count() / draws.chains.max(1)).max(1);
            let group = if draws.source.as_ref().is_some_and(|s| s.of.prior) { &mut prior } else { &mut posterior };
            for (number, all) in draws.names.iter().zip(draws.numbers.iter()) {
                let of = if number.is_empty() { name } else { number };
                group.insert(of.clone(), all.chunks(each).map(|chain| json!(chain)).collect());
            }
            continue;
        }
        let inner = if let Type::Posterior(inner) = ty { inner } else { ty };
        let mut chains = vec![];
        for _ in 0..CHAINS {
            chains.push((0..DRAWS).map(|_| draw(&p.draw(&mut rng), p, inner)).collect());
        }
        let chains = Json::Array(chains);
        spaces += padding_of(CHAINS * DRAWS * p.dim(), &chains);
        posterior.insert(name.clone(), chains);
        if let Some(levels) = inner.levels().filter(|_| !p.is_scalar()) {
            let level = format!("{name}_level");
            coords.insert(level.clone(), json!(levels.as_slice()));
            dims.insert(name.clone(), json!([level]));
        }
    }
    if rng.failed() {
        return Err(NoValue::NoRandomness);
    }
    let attrs = json!({
        "inference_library": "dpm",
        "inference_library_version": env!("CARGO_PKG_VERSION"),
        "draws": "independent draws from released posteriors, whose chains and order mean nothing, or chains on released counts",
    });
    let mut data = json!({"posterior": posterior, "coords": coords, "dims": dims, "attrs": attrs});
    if let Some(data) = data.as_object_mut().filter(|_| !prior.is_empty()) {
        data.insert("prior".into(), Json::Object(prior));
    }
    Ok((data, spaces))
}

/// One draw: a number, a vector, or one vector a group.
fn draw(x: &[f64], p: &Posterior, ty: &Type) -> Json {
    match (ty, x) {
        (_, [one]) if p.is_scalar() => json!(one),
        (Type::Matrix { columns, .. }, x) => x.chunks((*columns as usize).max(1)).map(|row| json!(row)).collect(),
        (_, x) => json!(x),
    }
}
