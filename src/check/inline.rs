//! Functions and models: calls are written out with the caller's values.

use super::scope::{Binding, FnDef, Home, ModelDef};
use super::{Checked, Checker, MAX_INLINE, Stop, measure};
use crate::model::{Expr, Range, Step, Type};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast;
use std::collections::BTreeMap;
use std::rc::Rc;

impl Checker<'_> {
    /// Binds every `fn` and `model` of the program, so that order does not matter.
    pub(super) fn define_functions(&mut self, items: &[ast::Item]) {
        for item in items {
            let (name, binding) = match &item.kind {
                ast::ItemKind::Fn { name, formals, body, .. } => {
                    (name, Binding::Fn(Rc::new(FnDef { formals: formals.clone(), body: body.clone(), home: Home::Program })))
                }
                ast::ItemKind::Model { name, formals, body, result } => {
                    let def = ModelDef { formals: formals.clone(), body: body.clone(), result: result.clone(), home: Home::Program };
                    (name, Binding::Model(Rc::new(def)))
                }
                _ => continue,
            };
            self.define_callable(name, binding);
        }
    }

    fn define_callable(&mut self, name: &ast::Name, binding: Binding) {
        if super::calls::is_reserved(&name.value) {
            self.diagnostics.push(
                Diagnostic::new("E0207", format!("`{}` is built in and cannot be redefined", name.value))
                    .label(name.span, "the rules rely on its meaning")
                    .help(format!("choose another name, for example my_{}", name.value)),
            );
            return;
        }
        if self.define(name, binding).is_err() {
            // Reported; the first definition stays.
        }
    }

    /// Binds a name in the innermost scope; a second definition is an error.
    pub(super) fn define(&mut self, name: &ast::Name, binding: Binding) -> Checked<()> {
        if let Some(first) = self.scopes.here(&name.value).map(|e| e.span) {
            return self.fail(
                Diagnostic::new("E0207", format!("`{}` is defined twice", name.value))
                    .label(name.span, "again here")
                    .label(first, "first here")
                    .help(format!("choose another name, for example {}_2", name.value)),
            );
        }
        self.scopes.bind(&name.value, binding, name.span);
        Ok(())
    }

    /// `f(a, b)`: the body with the arguments in place of the formals.
    pub(super) fn inline_fn(&mut self, name: &str, def: &FnDef, args: &[ast::Arg], span: Span) -> Checked<Expr> {
        let values = self.arguments(name, &def.formals, args, span)?;
        self.enter(name, def.home, span)?;
        self.bind_formals(&def.formals, values);
        let result = self.expr(&def.body);
        self.leave();
        let mut e = result?;
        let (nodes, depth) = measure(&e);
        self.spend_nodes(nodes, span)?;
        if depth > super::MAX_DEPTH {
            return self.too_deep(span);
        }
        e.span = span;
        Ok(e)
    }

    /// `let p = rate(staff.smoker, 6, 18)`: declares the model's parameters under fresh names.
    pub(super) fn inline_model(&mut self, name: &str, def: &ModelDef, args: &[ast::Arg], span: Span) -> Checked<(Expr, Vec<Step>)> {
        // `cells.vote` is a column where rows are modelled.
        let counted = args.iter().find_map(|a| self.counted_column(&a.value));
        let outer = std::mem::replace(&mut self.observed, counted.transpose()?);
        let values = self.arguments(name, &def.formals, args, span);
        self.observed = outer;
        let values = values?;
        self.enter(name, def.home, span)?;
        self.bind_formals(&def.formals, values);
        let before = self.diagnostics.len();
        let steps = self.statements(&def.body);
        let result = if self.diagnostics.len() == before { self.expr(&def.result) } else { Err(Stop) };
        self.leave();
        let mut e = result?;
        e.span = span;
        Ok((e, steps))
    }

    fn enter(&mut self, name: &str, home: Home, span: Span) -> Checked<()> {
        let recursive = self.inlining.iter().any(|n| n == name);
        if recursive || self.inlining.len() >= MAX_INLINE {
            let why = if recursive { "recursion has no end" } else { "calls are nested too deeply" };
            return self.fail(
                Diagnostic::new("E0210", format!("`{name}` calls itself"))
                    .label(span, why)
                    .cause("functions are written out where they are called, so a call of itself never ends")
                    .help("write the repeated part as a vector expression"),
            );
        }
        self.inlining.push(name.to_string());
        self.scopes.push(Some(home));
        Ok(())
    }

    fn leave(&mut self) {
        self.inlining.pop();
        self.scopes.pop();
    }

    fn bind_formals(&mut self, formals: &[ast::Formal], values: Vec<Expr>) {
        for (formal, value) in formals.iter().zip(values) {
            let value = self.computed_once(value, &format!("drawn_{}", self.releases.len()));
            self.bind_dims(formal, &value);
            self.scopes.bind(&formal.name.value, Binding::Value(Rc::new(value)), formal.name.span);
        }
    }

    /// `x: vector[d]` binds d to the number of components.
    fn bind_dims(&mut self, formal: &ast::Formal, value: &Expr) {
        let Some(ast::Type { base: ast::TypeBase::Named { dims, .. }, .. }) = &formal.ty else { return };
        let actual = match &value.ty {
            Type::Vector(v) => vec![v.dim],
            Type::Simplex { dim, .. } | Type::Counts { dim, .. } => vec![*dim],
            Type::Matrix { rows, columns, .. } => vec![*rows, *columns],
            _ => vec![],
        };
        for (dim, n) in dims.iter().zip(actual) {
            if let ast::ExprKind::Name(d) = &dim.kind
                && self.scopes.here(d).is_none()
            {
                let number = super::expressions::number(n as f64, dim.span);
                self.scopes.bind(d, Binding::Value(Rc::new(number)), dim.span);
            }
        }
    }

    /// Checked arguments in the order of the formals; names may be given.
    fn arguments(&mut self, name: &str, formals: &[ast::Formal], args: &[ast::Arg], span: Span) -> Checked<Vec<Expr>> {
        let signature = super::expressions::some(formals.iter().map(|f| f.name.value.as_str()));
        let signature = format!("its arguments, in their order: `{name}({signature})`");
        let places: BTreeMap<&str, usize> = formals.iter().enumerate().rev().map(|(i, f)| (f.name.value.as_str(), i)).collect();
        let mut slots: Vec<Option<Expr>> = formals.iter().map(|_| None).collect();
        let mut failed = false;
        for (i, arg) in args.iter().enumerate() {
            let at = match &arg.name {
                Some(n) => places.get(n.value.as_str()).copied(),
                None => Some(i),
            };
            let slot = at.and_then(|i| slots.get_mut(i));
            let free = slot.as_ref().is_some_and(|s| s.is_none());
            if !free {
                return self.fail(
                    Diagnostic::new("E0208", format!("wrong arguments for `{name}`"))
                        .label(arg.span, "no such argument, or given twice")
                        .help(signature),
                );
            }
            let value = self.expr(&arg.value);
            match (value, at.and_then(|i| slots.get_mut(i))) {
                (Ok(v), Some(slot)) => *slot = Some(v),
                _ => failed = true,
            }
        }
        if failed {
            return Err(Stop);
        }
        let given: Vec<Expr> = slots.into_iter().flatten().collect();
        if given.len() != formals.len() {
            return self.fail(
                Diagnostic::new("E0208", format!("`{name}` needs {} arguments, {} given", formals.len(), given.len()))
                    .label(span, "here")
                    .help(signature),
            );
        }
        for (formal, value) in formals.iter().zip(&given) {
            self.fits(formal, value)?;
        }
        Ok(given)
    }

    /// Does the argument have the declared kind? Ranges are those of the call site.
    fn fits(&mut self, formal: &ast::Formal, value: &Expr) -> Checked<()> {
        let Some(ty) = &formal.ty else { return Ok(()) };
        let wanted = match &ty.base {
            ast::TypeBase::Category(_) => "category",
            ast::TypeBase::Named { name, .. } => name.value.as_str(),
        };
        let ok = match wanted {
            "bool" => matches!(value.ty, Type::Bool) || value.ty.range() == Some(Range::UNIT) && matches!(value.ty, Type::Int(_)),
            "int" => matches!(value.ty, Type::Int(_) | Type::Bool) || value.constant().is_some_and(|x| x.fract() == 0.0),
            "real" => value.ty.is_scalar_number(),
            "vector" | "simplex" => super::vectors::as_vector(&value.ty).is_some(),
            "ordered" => matches!(&value.ty, Type::Vector(v) if v.ordered),
            "matrix" => matches!(value.ty, Type::Matrix { .. }),
            "counts" => matches!(value.ty, Type::Counts { .. }),
            "category" => matches!(value.ty, Type::Category(_)),
            _ => true,
        };
        if ok {
            return Ok(());
        }
        let what = super::messages::type_text(&value.ty);
        self.fail(
            Diagnostic::new("E0209", format!("`{}` must be {wanted}", formal.name.value))
                .label(value.span, what)
                .label(ty.span, format!("declared {wanted} here")),
        )
    }
}
