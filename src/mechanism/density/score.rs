//! Losses of made-up rows at released parameters, for an attacker who knows both.

use std::collections::BTreeMap;

use super::{Form, Lowered, lower};
use crate::data::Environment;
use crate::data::layout::width;
use crate::kernel::density::{Columns, Density};
use crate::mechanism::plan::DensityLaw;
use crate::model::{Expr, Range, Type, grid};

/// The loss of every row at every draw. A row holds the values of the law's columns, a draw what is released.
///
/// `None` where a parameter is not released, or lies in a set other than a line, a half line or a box.
pub fn losses(law: &DensityLaw, columns: &[Expr], rows: &[Vec<f64>], env: &dyn Environment, draws: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let Lowered { program, .. } = lower(law, columns, env, Form::Centred).ok()?;
    let mut data = Columns::new(program.columns);
    rows.iter().for_each(|row| data.push(row));
    data.derive(&program.derived);
    let mut density = Density::new(&program, &data, 1.0);
    let mut one = |draw: &Vec<f64>| -> Option<Vec<f64>> {
        let (mut parts, mut at) = (BTreeMap::new(), 0);
        for i in &law.released {
            let next = at + width(&law.parameters.get(*i)?.ty);
            parts.insert(*i, draw.get(at..next)?);
            at = next;
        }
        let mut u = vec![];
        for (i, p) in law.parameters.iter().enumerate() {
            u.extend(unconstrained(&p.ty, parts.get(&i)?)?);
        }
        let mut out = vec![];
        density.losses(&u, &mut out);
        Some(out)
    };
    draws.iter().map(&mut one).collect()
}

/// The coordinates of a value, the inverse of `transform`; ends of the range move a little inside.
fn unconstrained(ty: &Type, x: &[f64]) -> Option<Vec<f64>> {
    let Range { lo, hi } = match ty {
        Type::Real(range) | Type::Matrix { range, .. } => *range,
        Type::Vector(v) if grid::is_box(v) => v.range,
        _ => return None,
    };
    let ln = |x: f64| libm::log(x.max(1e-300));
    let coordinate = |x: &f64| match (lo.is_finite(), hi.is_finite()) {
        (false, false) => *x,
        (true, false) => ln(x - lo),
        (false, true) => ln(hi - x),
        (true, true) => ln((x - lo) / (hi - lo)) - ln((hi - x) / (hi - lo)),
    };
    Some(x.iter().map(coordinate).collect())
}
