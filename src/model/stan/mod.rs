//! The Stan program of a program's posteriors, for readers who know Stan: same names, same parametrisations.

mod declare;
mod expression;
mod parameter;
mod words;

use super::{DistCall, Each, Expr, ExprKind, Model, Observation, ParamId, Program, Query, ReleaseStep, Step, Type};
use crate::dist::{Distribution, Law, Support};
use crate::source::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use words::At;

/// What has no counterpart in Stan, and where the program says it.
#[derive(Clone, PartialEq, Debug)]
pub struct Refusal {
    pub span: Span,
    pub why: String,
}

type Text = Result<String, Refusal>;

fn refuse<T>(span: Span, why: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal { span, why: why.into() })
}

/// What stands above a program, behind the name of the release.
const HEAD: &str = "\
as declared: what the mechanism makes of it (a weight, a concentration, another loss, noise) is left out.
// Give the data as dpm reads them: cells moved into their declared domains, missing ones replaced, levels counted
// from 1 (`false` and `true` are 0 and 1), of each unit of privacy only the rows that count.
";

/// One Stan program for each posterior that is released. Row-wise sums become loops; the privacy is dpm's alone.
pub fn stan(program: &Program) -> Text {
    let mut found = vec![];
    posteriors(&program.steps, None, &mut found);
    let mut out = String::new();
    for (release, model, each) in &found {
        if found.len() > 1 {
            let _ = writeln!(out, "// ---- file: {}.stan", release.name);
        }
        let _ = write!(out, "// The posterior of release `{}` {HEAD}", release.name);
        out.push_str(&Stan::new(program, model, *each).text()?);
    }
    if out.is_empty() {
        let fitted = program.steps.iter().find_map(|s| match s {
            Step::Output { value, span, .. } if matches!(value.kind, ExprKind::Fit(_)) => Some(*span),
            _ => None,
        });
        if let Some(span) = fitted {
            return refuse(span, "a posterior given released counts sums over all tables that may stand behind their noise");
        }
        out.push_str("// this program releases no posterior: nothing to show in Stan\n");
    }
    Ok(out)
}

/// Every released posterior with the `each` around it, in program order.
fn posteriors<'a>(steps: &'a [Step], each: Option<&'a Each>, found: &mut Vec<(&'a ReleaseStep, &'a Model, Option<&'a Each>)>) {
    for step in steps {
        match step {
            Step::Release(r) => {
                if let Query::Posterior(model) = &r.query {
                    found.push((r, model, each));
                }
            }
            Step::When { then, otherwise, .. } => {
                posteriors(then, each, found);
                posteriors(otherwise, each, found);
            }
            Step::Each(inner) => posteriors(&inner.body, Some(inner), found),
            Step::Output { .. } | Step::Expect(_) => {}
        }
    }
}

struct Stan<'a> {
    program: &'a Program,
    model: &'a Model,
    /// Every parameter has one copy for each level of its key.
    each: Option<&'a Each>,
    /// The names of parameters in Stan: no word of its own, none of data.
    names: BTreeMap<ParamId, String>,
}

impl<'a> Stan<'a> {
    fn new(program: &'a Program, model: &'a Model, each: Option<&'a Each>) -> Self {
        let mut taken: BTreeSet<String> = ["i", "g", "k"].map(String::from).into();
        for t in &program.tables {
            taken.insert(words::size_name(t));
            taken.extend(t.columns.iter().map(|c| words::column_name(t, c)));
        }
        taken.extend(program.scalars.iter().map(|s| words::plain(&s.name)));
        taken.extend(program.released.iter().map(|r| words::plain(r)));
        let mut names = BTreeMap::new();
        for p in &model.parameters {
            let mut name = words::plain(&p.name);
            while taken.contains(&name) || taken.contains(&format!("{name}_raw")) {
                name.push_str("_p");
            }
            taken.extend([name.clone(), format!("{name}_raw")]);
            names.insert(p.id, name);
        }
        Stan { program, model, each, names }
    }

    fn text(&self) -> Text {
        let mut blocks: [Vec<String>; 3] = Default::default();
        for p in &self.model.parameters {
            for (block, lines) in blocks.iter_mut().zip(self.parameter(p)?) {
                block.extend(lines);
            }
        }
        let [parameters, transformed, mut model] = blocks;
        for o in self.rows() {
            model.push(self.observation(o)?);
        }
        let mut out = block("data", &self.data()?);
        out.push_str(&block("parameters", &parameters));
        if !transformed.is_empty() {
            out.push_str(&block("transformed parameters", &transformed));
        }
        out.push_str(&block("model", &model));
        Ok(out)
    }

    fn observation(&self, o: &Observation) -> Text {
        let Some(table) = self.program.tables.get(o.table.0) else { return refuse(o.span, "its rows are in no file") };
        // Rows of another table than that of the groups count in every group.
        let own = self.each.filter(|e| e.table == o.table).map(|e| self.key(e));
        let group = own.clone().or_else(|| self.each.map(|_| "g".into()));
        let lead = match self.each {
            Some(e) if own.is_none() => format!("for (g in 1:{}) ", e.levels.len()),
            _ => String::new(),
        };
        let at = At { row: Some("i"), group: group.as_deref(), decimal: false };
        let outcome = self.outcome(o, at)?;
        let row = match o.likelihood.weights() {
            Some(weights) => self.mixture(o, weights, &outcome, at)?,
            None => format!("{outcome} ~ {}", self.distribution(&o.likelihood, at)?),
        };
        Ok(format!("{lead}for (i in 1:{}) {row};", words::size_name(table)))
    }

    /// The group of row `i`: levels count from 1, and `false` is the first of two.
    fn key(&self, each: &Each) -> String {
        let table = self.program.tables.get(each.table.0);
        let Some((table, column)) = table.and_then(|t| Some((t, t.columns.get(each.key.0)?))) else { return "?".into() };
        let shift = if column.ty == Type::Bool { " + 1" } else { "" };
        format!("{}[i]{shift}", words::column_name(table, column))
    }

    /// What is observed; Stan counts levels from 1.
    fn outcome(&self, o: &Observation, at: At) -> Text {
        let text = self.expr(&o.outcome, at)?;
        Ok(match &o.outcome.ty {
            _ if o.likelihood.family.support != Support::Categories => text,
            Type::Bool => format!("{text} + 1"),
            Type::Int(r) if r.lo != 1.0 => format!("{text} - {} + 1", words::literal(r.lo)),
            _ => text,
        })
    }

    fn rows(&self) -> impl Iterator<Item = &Observation> {
        self.model.public.iter().chain(&self.model.private)
    }

    fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let rows = self.rows().flat_map(|o| o.likelihood.args.iter().chain([&o.outcome]));
        self.model.parameters.iter().flat_map(|p| &p.prior.args).chain(rows)
    }

    /// In Stan the densities of components are added up by hand.
    fn mixture(&self, o: &Observation, weights: &Expr, outcome: &str, at: At) -> Text {
        let name = if o.likelihood.mixed.iter().any(|d| matches!(d.law, Law::Density(..))) { "lpdf" } else { "lpmf" };
        let all = self.expr(weights, at)?;
        let part = |((family, args), k): ((&'static Distribution, &[Expr]), usize)| {
            let call = DistCall { family, args: args.to_vec(), mixed: vec![], span: o.span };
            let log = self.distribution(&call, at)?.replacen('(', &format!("_{name}({outcome} | "), 1);
            // Half of a law that Stan has on the whole line.
            let half = if family.stan.contains("(0, ") { " + log2()" } else { "" };
            Ok(format!("log({}[{k}]) + {log}{half}", words::indexable(&all)))
        };
        let parts: Vec<String> = o.likelihood.components().into_iter().zip(1..).map(part).collect::<Result<_, _>>()?;
        let sum = if matches!(weights.ty, Type::Simplex { .. }) { String::new() } else { format!(" - log(sum({all}))") };
        Ok(format!("target += log_sum_exp([{}]){sum}", parts.join(", ")))
    }

    fn distribution(&self, call: &DistCall, at: At) -> Text {
        let args = call.args.iter().map(|e| self.expr(e, at)).collect::<Result<Vec<_>, _>>()?;
        Ok(call.family.in_stan(&args))
    }
}

fn block(name: &str, lines: &[String]) -> String {
    let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    format!("{name} {{\n{lines}}}\n")
}
