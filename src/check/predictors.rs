//! The law of columns that a model of moments conditions on and says nothing of: each normal about a sum of multiples of those before it.

use super::expressions::{node, number};
use super::{Checked, Checker, ParamInfo, Stop, vectors};
use crate::model::fit::CellTable;
use crate::model::moments::Scaled;
use crate::model::{Builtin, ColumnId, DistCall, Expr, ExprKind, Label, Observation, ParamId, Parameter, Range, Type};
use crate::source::Span;

const POSITIVE: Range = Range { lo: 0.0, hi: f64::INFINITY };

/// What the compiler adds to a model: parameters, and what they say of columns.
pub(super) type Added = (Vec<Parameter>, Vec<Observation>);

impl Checker<'_> {
    /// Means, variances and covariances are free, so that what is learned of the others rests on no form of the law. The first bool is
    /// one; others count as numbers, since bools are independent in a model of moments.
    pub(super) fn of_predictors(
        &mut self,
        table: &CellTable,
        scaled: &[Scaled],
        observations: &[Observation],
        call: Span,
    ) -> Checked<Added> {
        let (_, mut given) = table.used(observations);
        let is_bool = |c: &usize| table.axes.get(*c).is_some_and(|a| a.ty == Type::Bool);
        let first = given.iter().position(is_bool).map(|i| given.remove(i));
        let mut added: Added = (vec![], vec![]);
        let (normals, before) = (given.len() as u64, u64::from(first.is_some()));
        let mut columns = vec![];
        if let Some(c) = first {
            let p = self.of_columns("share", ("beta", &[1.0, 1.0]), Type::Real(Range::UNIT), (table, &[c], call), &mut added)?;
            let x = self.column_expr(table.table, ColumnId(c), call)?;
            added.1.push(observed(x.clone(), "bernoulli", vec![p])?);
            columns.push((x, scaled.get(c).copied().ok_or(Stop)?));
        }
        if normals == 0 {
            return Ok(added);
        }
        let vector = |dim, range| Type::Vector(vectors::boxed(dim, range, None));
        let slopes = normals * (normals - 1) / 2 + normals * before;
        let of = (table, given.as_slice(), call);
        let z = self.of_columns("means", ("normal", &[0.0, 1.0]), vector(normals + slopes, Range::ALL), of, &mut added)?;
        let sd = self.of_columns("sds", ("exponential", &[1.0]), vector(normals, POSITIVE), of, &mut added)?;
        let label = Label::Mix(table.table);
        let apply = |f, a, b| node(ExprKind::Call(f, vec![a, b]), Type::Real(Range::ALL), label, call);
        let times = |by: f64, x| apply(Builtin::Mul, number(by, call), x);
        let at = |of: &Expr, k: usize| {
            let place = Box::new(number(k as f64 + 1.0, call));
            node(ExprKind::Index(Box::new(of.clone()), place), Type::Real(Range::ALL), Label::Latent, call)
        };
        let mut next = 0;
        let mut unknown = || {
            next += 1;
            at(&z, next - 1)
        };
        for (i, c) in given.iter().enumerate() {
            let own = scaled.get(*c).copied().ok_or(Stop)?;
            let mut mean = apply(Builtin::Add, number(own.middle, call), times(own.half, unknown()));
            for (x, other) in &columns {
                let apart = apply(Builtin::Sub, Expr::clone(x), number(other.middle, call));
                mean = apply(Builtin::Add, mean, apply(Builtin::Mul, times(own.half / other.half, unknown()), apart));
            }
            let x = self.column_expr(table.table, ColumnId(*c), call)?;
            added.1.push(observed(x.clone(), "normal", vec![mean, times(own.half, at(&sd, i))])?);
            columns.push((x, own));
        }
        Ok(added)
    }

    /// A parameter that no statement declares.
    fn of_columns(
        &mut self,
        what: &str,
        (prior, args): (&str, &[f64]),
        ty: Type,
        (table, columns, span): (&CellTable, &[usize], Span),
        added: &mut Added,
    ) -> Checked<Expr> {
        let names: Vec<&str> = columns.iter().filter_map(|c| Some(table.axes.get(*c)?.name.as_str())).collect();
        let name = self.fresh_name(&format!("{what}_of_{}", names.join("_")));
        let args = args.iter().map(|x| number(*x, span)).collect();
        let prior = DistCall { family: crate::dist::find(prior).ok_or(Stop)?, args, mixed: vec![], span };
        let parameter = self.undeclared(name, ty.clone(), prior, span);
        let id = parameter.id;
        added.0.push(parameter);
        Ok(node(ExprKind::Param(id), ty, Label::Latent, span))
    }

    /// Adds a parameter to the program that no statement declares.
    pub(super) fn undeclared(&mut self, name: String, ty: Type, prior: DistCall, span: Span) -> Parameter {
        let id = ParamId(self.params.len());
        let parameter = Parameter { id, name, ty, truncated: None, prior, span };
        self.linked.push(id.0);
        self.params.push(ParamInfo { parameter: parameter.clone(), group: None, branches: vec![], released: None });
        parameter
    }
}

fn observed(outcome: Expr, family: &str, args: Vec<Expr>) -> Checked<Observation> {
    let Label::Row(table) = outcome.label else { return Err(Stop) };
    let span = outcome.span;
    let likelihood = DistCall { family: crate::dist::find(family).ok_or(Stop)?, args, mixed: vec![], span };
    Ok(Observation { table, outcome, likelihood, span })
}
