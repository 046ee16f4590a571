//! Types as written to types with facts.

use super::{Checked, Checker, vectors};
use crate::model::{Axis, Range, Type, VectorType};
use crate::source::{Diagnostic, Span};
use crate::syntax::ast;
use std::sync::Arc;

/// The largest dimension of a vector, a category or a table of counts.
pub const MAX_DIM: u64 = 10_000_000;
/// The most levels that the text of a program writes out.
const MAX_LEVELS: u64 = 500_000;

impl Checker<'_> {
    /// The type a declaration means. Bounds must be public constants.
    pub(super) fn declared_type(&mut self, ty: &ast::Type) -> Checked<Type> {
        let (name, dims) = match &ty.base {
            ast::TypeBase::Category(levels) => return self.category(levels, ty.span),
            ast::TypeBase::Named { name, dims } => (name, dims),
        };
        let domain = ty.domain.as_ref();
        let shape = |want: usize| dims.len() == want;
        match name.value.as_str() {
            "bool" if shape(0) => self.no_domain(domain, Type::Bool),
            "text" if shape(0) => self.no_domain(domain, Type::Text),
            "date" if shape(0) => Ok(Type::Date(self.date_domain(domain, ty.span)?)),
            "int" if shape(0) => Ok(Type::Int(self.scalar_domain(domain, true)?)),
            "real" if shape(0) => Ok(Type::Real(self.scalar_domain(domain, false)?)),
            "vector" if shape(1) => self.vector_type(&dims[..], domain),
            "vector" if dims.len() > 1 => self.crossed(dims, domain, ty.span),
            "ordered" if shape(1) => match self.vector_type(dims, domain)? {
                Type::Vector(v) if domain.is_none_or(|d| matches!(d.kind, ast::DomainKind::Interval(..))) => {
                    Ok(Type::Vector(VectorType { ordered: true, ..v }))
                }
                _ => self.fail(Diagnostic::new("E0203", "ordered numbers lie in an interval").label(ty.span, "ordered[3] in [0, 1]")),
            },
            "matrix" if shape(2) => {
                let rows = self.dimension(dims.first())?;
                let columns = self.dimension(dims.get(1))?;
                Ok(Type::Matrix { rows, columns, range: self.scalar_domain(domain, false)? })
            }
            "simplex" if shape(1) => {
                let (dim, levels) = self.dimension_or_levels(dims.first())?;
                self.no_domain(domain, Type::Simplex { dim, levels })
            }
            "counts" if shape(1) => {
                let dim = self.dimension(dims.first())?;
                match domain.map(|d| &d.kind) {
                    Some(ast::DomainKind::Total(total)) => {
                        // `at_most(N)` is not a function: it is a word of this place.
                        let (total, fewer) = match &total.kind {
                            ast::ExprKind::Call(name, args) => match (&name.kind, args.as_slice()) {
                                (ast::ExprKind::Name(word), [most]) if word == "at_most" && most.name.is_none() => (&most.value, true),
                                _ => (total, false),
                            },
                            _ => (total, false),
                        };
                        let total = self.whole_constant(total, "the number of items in each row")?;
                        Ok(Type::Counts { dim, total, fewer })
                    }
                    _ => self.fail(
                        Diagnostic::new("E0202", "`counts` needs its total")
                            .label(ty.span, "how many items does each row hold?")
                            .help(("", format!("counts[{dim}] of 10"), "every row holds 10 items"))
                            .help(("", format!("counts[{dim}] of at_most(10)"), "a row holds 10 items or fewer")),
                    ),
                }
            }
            known @ ("bool" | "text" | "date" | "int" | "real" | "vector" | "ordered" | "matrix" | "simplex" | "counts") => self.fail(
                Diagnostic::new("E0201", format!("`{known}` is written with other dimensions"))
                    .label(ty.span, format!("{} given", dims.len()))
                    .help(
                        "bool, int, real, text, vector[d], ordered[d], matrix[r, c], simplex[k], counts[k] of N, counts[k] of at_most(N)",
                    ),
            ),
            unknown => {
                let names = ["bool", "int", "real", "date", "text", "vector", "ordered", "matrix", "simplex", "counts", "category"];
                let near = crate::source::suggest::did_you_mean(unknown, names.iter().copied());
                let mut d = Diagnostic::new("E0206", format!("there is no type `{unknown}`")).label(name.span, "not a type");
                d = match elsewhere(unknown).map(String::from).or(near) {
                    Some(n) => d.near(name.span, &n),
                    None => d.help("types: bool, int, real, text, category {a, b}, vector[d], ordered[d], matrix[r, c], simplex[k]"),
                };
                self.fail(d)
            }
        }
    }

    fn category(&mut self, levels: &[ast::Name], span: Span) -> Checked<Type> {
        let mut seen = std::collections::BTreeMap::new();
        for level in levels {
            if let Some(first) = seen.insert(level.value.as_str(), level.span) {
                return self.fail(
                    Diagnostic::new("E0207", format!("the level `{}` is listed twice", level.value))
                        .label(level.span, "again here")
                        .label(first, "first here")
                        .help("list every level once; the last one receives unknown values"),
                );
            }
        }
        self.written_levels = self.written_levels.saturating_add(levels.len() as u64);
        if self.written_levels > MAX_LEVELS {
            return self.fail(
                Diagnostic::new("E0025", format!("the categories of a program have at most {MAX_LEVELS} levels in all"))
                    .label(span, format!("{} levels", levels.len()))
                    .help("group the levels, or number them: int in 1..1000000"),
            );
        }
        Ok(Type::Category(self.listed(levels.iter().map(|l| l.value.clone()).collect())))
    }

    fn too_large<T>(&mut self, span: Span, size: f64) -> Checked<T> {
        self.fail(
            Diagnostic::new("E0201", "this dimension is too large")
                .label(span, format!("{size} components; at most {MAX_DIM} are possible"))
                .help("split the table, or group the levels"),
        )
    }

    fn no_domain(&mut self, domain: Option<&ast::Domain>, ty: Type) -> Checked<Type> {
        match domain {
            None => Ok(ty),
            Some(d) => self.fail(
                Diagnostic::new("E0203", "this type has its values fixed and takes no domain")
                    .label(d.span, "remove this")
                    .help("only int, real, vector and matrix take `in ..`"),
            ),
        }
    }

    /// The range of `in [a, b]`, `in a..b`.
    fn scalar_domain(&mut self, domain: Option<&ast::Domain>, whole: bool) -> Checked<Range> {
        let Some(domain) = domain else { return Ok(Range::ALL) };
        let (lo, hi) = match &domain.kind {
            ast::DomainKind::Interval(a, b) => (self.bound(a)?, self.bound(b)?),
            ast::DomainKind::Range(a, b) => {
                let lo = self.bound(a)?;
                let hi = b.as_ref().map_or(Ok(f64::INFINITY), |b| self.bound(b))?;
                (lo, hi)
            }
            ast::DomainKind::Ball(_) | ast::DomainKind::Total(_) => {
                return self.fail(
                    Diagnostic::new("E0203", "a single number takes an interval")
                        .label(domain.span, "this is the domain of a vector")
                        .help("real in [0, 1], int in 0..10"),
                );
            }
        };
        let (lo, hi) = if whole { (lo.ceil(), hi.floor()) } else { (lo, hi) };
        if lo > hi || lo == f64::INFINITY || hi == f64::NEG_INFINITY {
            return self.fail(
                Diagnostic::new("E0203", "this domain is empty").label(domain.span, format!("nothing lies between {lo} and {hi}")).help(
                    match (lo > hi, &domain.kind) {
                        (true, ast::DomainKind::Range(..)) => format!("write the smaller bound first: {hi}..{lo}"),
                        (true, _) => format!("write the smaller bound first: [{hi}, {lo}]"),
                        _ => "write finite bounds: [0, 10]".to_string(),
                    },
                ),
            );
        }
        Ok(Range::new(lo, hi))
    }

    fn bound(&mut self, e: &ast::Expr) -> Checked<f64> {
        if let ast::ExprKind::Name(n) = &e.kind
            && n == "inf"
        {
            return Ok(f64::INFINITY);
        }
        if let ast::ExprKind::Unary(ast::UnaryOp::Neg, inner) = &e.kind {
            return self.bound(inner).map(|x| -x);
        }
        self.public_constant(e, "a bound")
    }

    fn vector_type(&mut self, dims: &[ast::Expr], domain: Option<&ast::Domain>) -> Checked<Type> {
        let (dim, levels) = self.dimension_or_levels(dims.first())?;
        let mut ty = match domain {
            Some(ast::Domain { kind: ast::DomainKind::Ball(call), span }) => {
                let name = call.path.last().map_or("", |n| n.value.as_str());
                let p = match (call.path.len(), name) {
                    (1, "l1") => 1,
                    (1, "l2") => 2,
                    (1, "linf") => 0,
                    _ => {
                        return self.fail(
                            Diagnostic::new("E0206", format!("there is no ball `{name}`"))
                                .label(*span, "not a norm ball")
                                .help("vector[3] in l1(1), l2(1) or linf(1)"),
                        );
                    }
                };
                let radius = match call.args.as_slice() {
                    [arg] => self.public_constant(&arg.value, "a radius")?,
                    _ => return self.fail(self.arity("a ball", "one radius: l2(1)", call.span)),
                };
                if !(radius > 0.0 && radius.is_finite()) {
                    return self.fail(
                        Diagnostic::new("E0203", "a ball needs a positive finite radius")
                            .label(call.span, format!("radius {radius}"))
                            .help("vector[3] in l2(1)"),
                    );
                }
                vectors::ball(dim, p, radius)
            }
            other => vectors::boxed(dim, self.scalar_domain(other, false)?, None),
        };
        ty.levels = levels;
        Ok(Type::Vector(ty))
    }

    /// `vector[region, age]`: one component for each combination of levels, the last fastest.
    fn crossed(&mut self, dims: &[ast::Expr], domain: Option<&ast::Domain>, span: Span) -> Checked<Type> {
        let mut axes: Vec<Axis> = vec![];
        for dim in dims {
            let Some((name, ty)) = self.type_of_column(dim).filter(|(name, _)| axes.iter().all(|a| a.name != *name)) else {
                let d = Diagnostic::new("E0209", "each dimension of such a vector must be a different column")
                    .label(dim.span, "not such a column");
                return self.fail(d.help("name columns with levels, as in `param u: vector[region, age] ~ normal(0, 1)`"));
            };
            let of = super::expressions::node(crate::model::ExprKind::Number(0.0), ty.clone(), crate::model::Label::Public, dim.span);
            axes.push(Axis { name, levels: self.bins_of(&of)?, ty, public: false, edges: vec![], sums: vec![] });
        }
        let levels = self.cells(&axes, span)?;
        let ty = vectors::boxed(levels.len() as u64, self.scalar_domain(domain, false)?, Some(levels));
        Ok(Type::Vector(VectorType { axes: Some(Arc::new(axes)), ..ty }))
    }

    fn dimension(&mut self, e: Option<&ast::Expr>) -> Checked<u64> {
        self.dimension_or_levels(e).map(|(d, _)| d)
    }

    /// A whole number, or the name of a category column whose levels index the vector.
    fn dimension_or_levels(&mut self, e: Option<&ast::Expr>) -> Checked<(u64, Option<crate::model::Levels>)> {
        let Some(e) = e else { return Err(super::Stop) };
        if let Some((_, Type::Category(levels))) = self.type_of_column(e) {
            return Ok((levels.len() as u64, Some(levels)));
        }
        if let Some(v) = self.features_of(e)? {
            return Ok((v.dim, v.levels));
        }
        if let Some((name, Type::Bool)) = self.type_of_column(e) {
            let d = Diagnostic::new("E0209", format!("`{name}` is true or false, and has no levels to name entries by"));
            return self.fail(d.label(e.span, "a bool").help("declare the column as a category of two levels"));
        }
        let d = self.whole_constant(e, "a dimension")?;
        if d > MAX_DIM {
            return self.too_large(e.span, d as f64);
        }
        Ok((d, None))
    }

    /// A public constant that is a whole number of at least 1.
    pub(super) fn whole_constant(&mut self, e: &ast::Expr, what: &str) -> Checked<u64> {
        let x = self.public_constant(e, what)?;
        if x.fract() != 0.0 || !(1.0..=9e15).contains(&x) {
            return self.fail(
                Diagnostic::new("E0209", format!("{what} must be a whole number of at least 1"))
                    .label(e.span, format!("this is {x}"))
                    .help("write a literal such as 3"),
            );
        }
        Ok(x as u64)
    }
}

/// What a type of another language is called here.
fn elsewhere(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "boolean" | "logical" | "binary" => "bool",
        "integer" | "count" | "natural" => "int",
        "float" | "double" | "number" | "numeric" => "real",
        "string" | "str" | "character" | "char" => "text",
        "datetime" | "timestamp" | "day" => "date in [\"2020-01-01\", \"2024-12-31\"]",
        "factor" | "enum" | "categorical" => "category {a, b}",
        _ => return None,
    })
}
