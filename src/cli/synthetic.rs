//! `dpm run --synthetic`: made-up rows as CSV, with the header of the table that they are like.

use super::files::Output;
use super::{Exit, inputs, usage};
use crate::model::{Axis, Builtin, Expr, ExprKind, Program, Query, Step, Type, VectorType, releases};
use crate::run::{Results, csv};
use std::path::{Path, PathBuf};

/// Made-up rows that shall be written.
pub struct Synthetic {
    name: String,
    headers: Vec<String>,
    place: Output,
}

impl Synthetic {
    /// Writes the rows, if the run came to them.
    pub fn write(self, results: &Results) -> Option<Exit> {
        let (_, value, ty) = results.outputs.iter().find(|(name, ..)| *name == self.name)?;
        Some(self.place.write(csv(&value.numbers(), axes(ty), &self.headers).as_bytes()))
    }
}

fn axes(ty: &Type) -> &[Axis] {
    if let Type::Vector(VectorType { axes: Some(axes), .. }) = ty { axes } else { &[] }
}

/// The outputs that `--synthetic` names, with the headers of the private columns that they are like.
pub fn opened(given: &[String], program: &Program, read: &[PathBuf], taken: &[&Output]) -> Result<Vec<Synthetic>, Exit> {
    let all: Vec<(&str, &Expr)> = program
        .steps
        .iter()
        .filter_map(|s| match s {
            Step::Output { name, value: e @ Expr { kind: ExprKind::Call(Builtin::MadeUp, _), .. }, shown: true, .. } => {
                Some((name.as_str(), e))
            }
            _ => None,
        })
        .collect();
    let find = |text: &String| {
        let named = inputs::pair(text).and_then(|(name, path)| Some((*all.iter().find(|(n, _)| *n == name)?, path)));
        let ((name, value), path) = match (named, all.as_slice()) {
            (Some(found), _) => found,
            (None, [one]) => (*one, text.as_str()),
            (None, []) => {
                return Err(usage(
                    "--synthetic writes made-up rows, and none are made:    output made_up = simulate(cells, post, rows = 1000)",
                ));
            }
            _ => return Err(usage(&format!("--synthetic wants NAME=CSV with the name of an output of made-up rows, not `{text}`"))),
        };
        let place = Output::open(Path::new(path), read)?;
        Ok(Synthetic { name: name.to_owned(), headers: headers(value, program), place })
    };
    let found: Vec<Synthetic> = given.iter().map(find).collect::<Result<_, _>>()?;
    let before = |i: usize| found.iter().take(i).map(|s| &s.place).chain(taken.iter().copied());
    if found.iter().enumerate().any(|(i, s)| before(i).any(|place| place.is(&s.place))) {
        return Err(usage("--synthetic will not overwrite what another option writes"));
    }
    Ok(found)
}

/// Of every axis the header of its column in the table that was counted, or its name.
fn headers(value: &Expr, program: &Program) -> Vec<String> {
    let mut counted = None;
    value.walk(&mut |e| {
        if let ExprKind::Released(id) = e.kind {
            let query = releases(&program.steps).into_iter().find(|r| r.id == id).map(|r| &r.query);
            counted = counted.or(if let Some(Query::Aggregate(q)) = query { program.table(q.table) } else { None });
        }
    });
    let header = |name: &String| counted?.declared().find(|c| c.name == *name)?.headers.first().cloned();
    axes(&value.ty).iter().map(|a| header(&a.name).unwrap_or_else(|| a.name.clone())).collect()
}
