//! Public designs: the features of all rows of a private table, where neighbours keep them, and what their `X'X` proves.

use super::conjugate::Covariance;
use super::glm::public_terms;
use super::{Context, PublicTotals};
use crate::mechanism::plan::Feature;
use crate::model::{Model, Parameter, Program, Relation, TableId, Type};
use crate::numeric::round::{add_up, mul_down, mul_up, sqrt_down, sqrt_up, sub_down};
use crate::numeric::stored::PART;

/// Larger matrices would take long to certify, and to verify.
const MOST_FEATURES: usize = 64;
/// 2^-51: twice what a product and a sum of doubles may lose for each row.
const ROUNDING: f64 = 4.440_892_098_500_626e-16;
/// 1 - 2^-40
const BELOW: f64 = 0.999_999_999_999_090_5;

/// The features of a model by their public columns, each with the sd that its weight is measured in.
#[derive(Clone, PartialEq, Debug)]
pub struct Features {
    pub table: TableId,
    pub columns: Vec<(Feature, f64)>,
    pub dim: usize,
}

/// What is known of the rows of a design that is bound.
#[derive(Clone, PartialEq, Debug)]
pub struct Design {
    pub rows: u64,
    /// `X'X` of features times sds, as sums of doubles: its upper triangle, row by row.
    pub products: Vec<f64>,
    /// At most the least eigenvalue of the matrix of these doubles; 0 where none is proved.
    pub least: f64,
}

impl Design {
    /// `None` where the products are not those of a matrix of finite numbers.
    pub fn new(rows: u64, products: Vec<f64>) -> Option<Design> {
        let dim = (1..=MOST_FEATURES).find(|d| d * (d + 1) / 2 == products.len())?;
        if !products.iter().all(|x| x.is_finite()) {
            return None;
        }
        let mut entries = vec![0.0; dim * dim];
        let places = (0..dim).flat_map(|i| (i..dim).map(move |j| (i, j)));
        for ((i, j), x) in places.zip(&products) {
            for at in [i * dim + j, j * dim + i] {
                entries.get_mut(at).into_iter().for_each(|e| *e = *x);
            }
        }
        // Where it is exact, a little less leaves a matrix that is positive definite, as the verifier proves.
        let least = mul_down(Covariance { dim, entries }.least(), BELOW);
        Some(Design { rows, products, least })
    }

    /// At most the least eigenvalue of `X'X` of the rows as they are stored, none of which is longer than `norm` (rule book §4.5).
    pub fn stored_least(&self, norm: f64) -> f64 {
        let rows = (self.rows as f64).next_up();
        let sums = mul_up(mul_up(add_up(rows, 1.0), ROUNDING), mul_up(rows, mul_up(norm, norm)));
        let root = sqrt_down(sub_down(self.least, sums).max(0.0));
        let kept = sub_down(root, mul_up(PART, mul_up(norm, sqrt_up(rows)))).max(0.0);
        mul_down(kept, kept)
    }
}

/// The features of a model's rows, where all their columns are public and neighbours agree on them row by row.
pub fn features(model: &Model, program: &Program) -> Option<Features> {
    let context = Context { program, public: &PublicTotals::unbound() };
    let table = context.table(model.records.table)?;
    if model.records.relation != Relation::ReplaceOne || table.unit.is_some() {
        return None;
    }
    let mut columns = vec![];
    for (id, feature) in public_terms(model, &context)? {
        let parameter = model.parameters.iter().find(|p| p.id == id)?;
        columns.push((model.parameters.iter().position(|p| p.id == id)?, (feature, unit(parameter)?)));
    }
    // In the order of declaration.
    columns.sort_by_key(|(place, _)| *place);
    let columns: Vec<(Feature, f64)> = columns.into_iter().map(|(_, column)| column).collect();
    let dim = columns.iter().map(|(f, _)| width(f)).fold(0, usize::saturating_add);
    let all = columns.len() == model.parameters.len() && (1..=MOST_FEATURES).contains(&dim);
    all.then_some(Features { table: model.records.table, columns, dim })
}

/// What weights are measured in: the sd of a normal prior; 1 of a multivariate one.
fn unit(parameter: &Parameter) -> Option<f64> {
    match (parameter.prior.name(), parameter.prior.args.as_slice()) {
        ("normal", [_, sd]) => sd.constant().filter(|sd| *sd > 0.0 && sd.is_finite()),
        ("multi_normal", _) => Some(1.0),
        _ => None,
    }
}

fn width(feature: &Feature) -> usize {
    match feature {
        Feature::One => 1,
        Feature::Value(e, _) => match &e.ty {
            Type::Vector(v) => usize::try_from(v.dim).unwrap_or(usize::MAX),
            _ => 1,
        },
        Feature::Level(e, _) => e.ty.levels().map_or(0, |l| l.len()),
    }
}
