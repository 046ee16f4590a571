//! Which values of a program come from chains, and what models of released tables need to know of them.

use super::shape::nested;
use crate::mechanism::plan::Noise;
use crate::model::bins;
use crate::model::record::public;
use crate::model::sums::Summed;
use crate::model::{Axes, Axis, ExprKind, Program, ReleaseId, Step, Type};
use std::collections::BTreeSet;

/// The noise of a table of counts, and what is public of its rows.
pub struct Law {
    pub noise: Noise,
    pub axes: Axes,
    /// The number of rows, where it is public, and of those in each cell of the public axes.
    pub n: Option<u64>,
    pub margins: Option<Vec<f64>>,
}

impl Law {
    pub fn json(&self) -> serde_json::Value {
        let (kind, scale) = match self.noise {
            Noise::Geometric { scale } => ("two_sided_geometric", scale),
            Noise::Rounded { sigma } => ("rounded_normal", sigma),
            Noise::Laplace { scale } => ("laplace", scale),
            Noise::Gaussian { sigma } => ("normal", sigma),
        };
        let axis = |a: &Axis| {
            let mut of = serde_json::json!({"name": a.name, "type": word(&a.ty), "levels": *a.levels, "public": a.public});
            if let (false, Some(of)) = (a.sums.is_empty(), of.as_object_mut()) {
                let sum = |s: &Summed| serde_json::json!({"name": s.name, "unit": s.unit, "whole": s.whole});
                of.insert("type".into(), "sums".into());
                of.insert("sums".into(), a.sums.iter().map(sum).collect());
            }
            if let (false, Some(of)) = (a.edges.is_empty(), of.as_object_mut()) {
                of.insert("ends".into(), bins::ends(&a.ty, &a.edges).into());
            }
            of
        };
        let mut law =
            serde_json::json!({"kind": kind, "scale": scale, "axes": self.axes.iter().map(axis).collect::<Vec<_>>(), "n": self.n});
        if let (Some(margins), Some(law)) = (&self.margins, law.as_object_mut()) {
            let counts = &mut margins.iter().map(|x| (*x as u64).into());
            law.insert("public_margins".into(), nested(&public(&self.axes), counts));
        }
        law
    }
}

/// The kind of an axis; its levels say the rest.
fn word(ty: &Type) -> &'static str {
    match ty {
        Type::Bool => "bool",
        Type::Int(_) => "int",
        Type::Real(_) => "real",
        _ => "category",
    }
}

/// Values that a chain computes, and draws from them.
pub(super) fn late(program: &Program) -> BTreeSet<ReleaseId> {
    let mut found = BTreeSet::new();
    for step in &program.steps {
        if let Step::Output { id: Some(id), .. } = step
            && is_late(step, &found)
        {
            found.insert(*id);
        }
    }
    found
}

/// Does this output come from a chain? The checker lets no other statement do.
pub(super) fn is_late(step: &Step, late: &BTreeSet<ReleaseId>) -> bool {
    let Step::Output { value, .. } = step else { return false };
    let mut found = false;
    value.walk(&mut |e| {
        found |= match e.kind {
            ExprKind::Fit(_) => true,
            ExprKind::Released(id) => late.contains(&id),
            _ => false,
        }
    });
    found
}
