//! Row expressions as columns of nested selects: total, and equal to what `data::eval` computes, bit for bit, or refused.

use super::dialect::Dialect;
use super::request::{Request, Streamed};
use crate::data::cell::LONGEST_CELL;
use crate::data::eval::compile;
use crate::data::project::nearest_zero;
use crate::model::{Binary, Builtin, Column, ColumnId, Expr, ExprKind, Label, Levels, Range, TableId, Type, Unary, View};

/// Whole numbers up to this size are doubles.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// A number of every row: never NULL, never NaN.
#[derive(Clone)]
pub struct Number {
    pub text: String,
    /// A double, or a whole number?
    pub real: bool,
    constant: Option<f64>,
}

/// Columns that are named, each computed from the ones before.
pub struct Rows<'a> {
    request: &'a Request<'a>,
    /// From the columns of the table itself.
    base: Vec<String>,
    layers: Vec<String>,
}

impl<'a> Rows<'a> {
    pub fn new(request: &'a Request<'a>) -> Rows<'a> {
        Rows { request, base: vec![], layers: vec![] }
    }

    fn dialect(&self) -> Dialect {
        self.request.dialect
    }

    /// The nested selects, as few as there can be: parsers bound how deep they are.
    pub fn select(&self) -> String {
        let nothing = ["1".to_owned()];
        let base = if self.base.is_empty() { &nothing[..] } else { &self.base };
        let columns: Vec<String> = base.iter().enumerate().map(|(i, text)| format!("    {text} AS dpm_{i}")).collect();
        let mut query = format!("  SELECT\n{}\n  FROM {}", columns.join(",\n"), self.request.from);
        // Every column stands right above those that it is computed from.
        let (mut depths, mut selects) = (vec![], Vec::<Vec<String>>::new());
        for (i, text) in self.layers.iter().enumerate() {
            let depth = named(text).filter_map(|at| depths.get(at)).max().map_or(0, |below| below + 1);
            depths.push(depth);
            selects.resize(selects.len().max(depth + 1), vec![]);
            if let Some(columns) = selects.get_mut(depth) {
                columns.push(format!("{text} AS dpm_l{i}"));
            }
        }
        for (i, columns) in selects.iter().enumerate() {
            query = format!("  SELECT t{i}.*, {} FROM (\n{query}\n  ) AS t{i}", columns.join(", "));
        }
        query
    }

    /// Gives an expression a name of its own, so that it is in the text once.
    pub fn name(&mut self, x: Number) -> Number {
        if x.constant.is_some() || !x.text.contains(' ') && !x.text.contains('(') {
            return x;
        }
        let at = self.layers.iter().position(|l| *l == x.text).unwrap_or_else(|| {
            self.layers.push(x.text.clone());
            self.layers.len() - 1
        });
        Number { text: format!("dpm_l{at}"), ..x }
    }

    /// The condition that keeps the least rows of every unit by one column, then by all: rows that are equal in all are the same row.
    pub fn kept(&mut self) -> Result<String, Streamed> {
        let (table, d) = (self.request.table, self.dialect());
        let (Some((key, most)), Some(order)) = (table.unit, table.order) else { return Ok(String::new()) };
        let declared = table.columns.get(key.0).ok_or(Streamed::Key)?;
        let unit = match (&declared.ty, declared.headers.as_slice()) {
            (Type::Text, [header]) => {
                // As the rows of files have it, too long a key is one of its own: `Cell::UNREADABLE`.
                let (text, long) = (d.to_text(&d.identifier(header.trim())), d.to_text(&d.character(26)));
                self.based(format!("CASE WHEN {} > {LONGEST_CELL} THEN {long} ELSE {text} END", d.bytes(&text)), false)
            }
            (Type::Bool | Type::Int(_) | Type::Category(_), _) => self.column(key)?,
            _ => return Err(Streamed::Key),
        };
        let rest = (0..table.columns.len()).map(ColumnId).filter(|c| table.columns.get(c.0).is_some_and(|c| c.ty != Type::Text));
        let mut columns = vec![];
        for column in std::iter::once(order).chain(rest) {
            let mut number = self.column(column).map_err(|_| Streamed::Ties)?;
            if number.real {
                // Engines differ in whether the two zeros are equal.
                number.text = format!("CASE WHEN abs({0}) = {1} THEN {1} ELSE {0} END", number.text, d.real(0.0));
            }
            let text = self.name(number).text;
            if !columns.contains(&text) {
                columns.push(text);
            }
        }
        let unit = self.name(unit).text;
        let rank = self.name(Self::whole(format!("row_number() OVER (PARTITION BY {unit} ORDER BY {})", columns.join(", "))));
        Ok(format!("\nWHERE {} <= {most}", rank.text))
    }

    fn based(&mut self, text: String, real: bool) -> Number {
        let at = self.base.iter().position(|b| *b == text).unwrap_or_else(|| {
            self.base.push(text);
            self.base.len() - 1
        });
        Number { text: format!("dpm_{at}"), real, constant: None }
    }

    fn constant(&self, x: f64, real: bool) -> Number {
        let text = if real { self.dialect().real(x) } else { self.dialect().whole(x as i128) };
        Number { text, real, constant: Some(x) }
    }

    fn whole(text: String) -> Number {
        Number { text, real: false, constant: None }
    }

    pub fn real(&self, x: Number) -> Number {
        match x.constant {
            _ if x.real => x,
            Some(c) => self.constant(c, true),
            None => Number { text: self.dialect().to_real(&x.text), real: true, constant: None },
        }
    }

    fn alike(&self, a: Number, b: Number) -> (Number, Number) {
        if a.real || b.real { (self.real(a), self.real(b)) } else { (a, b) }
    }

    /// A double in steps of a power of two.
    pub fn scaled(&mut self, x: Number, exponent: i32) -> Number {
        let d = self.dialect();
        let power = |e: i32| d.real(libm::ldexp(1.0, e));
        let mut x = x.text;
        // Too small a product is an error there.
        if d == Dialect::Postgres && exponent > 0 {
            x = format!("CASE WHEN abs({x}) < {} THEN {} ELSE {x} END", power(exponent - 2), d.real(0.0));
            x = self.name(Number { text: x, real: true, constant: None }).text;
        }
        let text = match -exponent {
            more @ 1001.. => format!("({x} * {} * {})", power(1000), power(more - 1000)),
            e => format!("({x} * {})", power(e)),
        };
        self.name(Number { text, real: true, constant: None })
    }

    /// The nearest point of a grid, between its ends.
    pub fn placed(&mut self, x: Number, lo: i64, hi: i64) -> Number {
        let near = self.name(Self::whole(self.dialect().nearest(&x.text)));
        self.name(Self::whole(self.dialect().within(&near.text, lo, hi)))
    }

    /// The column of a table as its declaration reads it.
    pub fn column(&mut self, id: ColumnId) -> Result<Number, Streamed> {
        let column = self.request.table.columns.get(id.0).ok_or(Streamed::Function)?;
        let of = column.view.and_then(|(of, _)| self.request.table.columns.get(of.0)).unwrap_or(column);
        let [header] = of.headers.as_slice() else { return Err(Streamed::Vector) };
        let cell = self.dialect().identifier(header.trim());
        match column.view {
            Some((_, View::Missing)) => self.missing(of, &cell),
            Some(_) => Err(Streamed::Date),
            None => self.cell(of, &cell),
        }
    }

    fn cell(&mut self, column: &Column, cell: &str) -> Result<Number, Streamed> {
        let d = self.dialect();
        let instead = |default: f64| column.missing.first().copied().unwrap_or(default);
        match &column.ty {
            Type::Real(range) if range.is_finite() => {
                let x = d.to_real(cell);
                let none = d.no_real(if d == Dialect::Sqlite { cell } else { &x });
                let ends = [instead(nearest_zero(*range)), range.lo, range.hi].map(|x| d.real(x));
                Ok(self.based(moved(&x, &none, &ends, &x), true))
            }
            Type::Int(range) if range.magnitude() <= WHOLE => {
                let ends = [instead(nearest_zero(*range)), range.lo, range.hi].map(|x| d.whole(x as i128));
                let x = if d == Dialect::Sqlite { d.nearest(cell) } else { d.to_whole(cell) };
                Ok(self.based(moved(cell, &d.no_whole(cell), &ends, &x), false))
            }
            Type::Bool => {
                let missing = d.whole(instead(0.0) as i128);
                let text = match d {
                    Dialect::Sqlite => format!(
                        "CASE WHEN {} THEN {missing} WHEN {cell} = 1 THEN 1 WHEN {cell} = 0 THEN 0 ELSE {missing} END",
                        d.no_whole(cell)
                    ),
                    _ => format!("CASE WHEN {cell} IS NULL THEN {missing} WHEN {cell} THEN 1 ELSE 0 END"),
                };
                Ok(self.based(text, false))
            }
            Type::Category(levels) => {
                let level = self.level(levels, cell);
                let missing = d.whole(instead(levels.len().saturating_sub(1) as f64) as i128);
                Ok(self.name(Self::whole(format!("CASE WHEN {0} < 0 THEN {missing} ELSE {0} END", level.text))))
            }
            Type::Real(_) | Type::Int(_) => Err(Streamed::Infinite),
            Type::Date(_) => Err(Streamed::Date),
            _ => Err(Streamed::Vector),
        }
    }

    /// The place of a cell among levels; -1 if it is none of them.
    fn level(&mut self, levels: &Levels, cell: &str) -> Number {
        let d = self.dialect();
        let text = d.to_text(cell);
        let whens = |of: &str| levels.iter().enumerate().map(|(i, l)| format!(" WHEN {of} = {} THEN {i}", d.text(l))).collect::<String>();
        let (plain, trimmed) = (whens(&text), whens(&d.trimmed(&text)));
        let long = format!("{} > {LONGEST_CELL}", d.bytes(&text));
        self.based(format!("CASE{plain} WHEN {long} THEN -1{trimmed} ELSE -1 END"), false)
    }

    fn missing(&mut self, column: &Column, cell: &str) -> Result<Number, Streamed> {
        let d = self.dialect();
        let none = match &column.ty {
            Type::Real(_) => d.no_real(&if d == Dialect::Sqlite { cell.to_owned() } else { d.to_real(cell) }),
            Type::Int(_) => d.no_whole(cell),
            Type::Bool if d == Dialect::Sqlite => format!("{} OR {cell} NOT IN (0, 1)", d.no_whole(cell)),
            Type::Bool => format!("{cell} IS NULL"),
            Type::Category(levels) => {
                let level = self.level(levels, cell);
                return Ok(self.name(Self::whole(format!("CASE WHEN {} < 0 THEN 1 ELSE 0 END", level.text))));
            }
            Type::Date(_) => return Err(Streamed::Date),
            _ => return Err(Streamed::Vector),
        };
        Ok(self.based(format!("CASE WHEN {none} THEN 1 ELSE 0 END"), false))
    }

    /// A row expression of one number.
    pub fn number(&mut self, e: &Expr) -> Result<Number, Streamed> {
        let real = !matches!(e.ty, Type::Bool | Type::Int(_) | Type::Category(_));
        if let Some(x) = self.public(e) {
            return Ok(self.constant(x, x.fract() != 0.0 || x.abs() > WHOLE));
        }
        match &e.kind {
            ExprKind::Column(table, column) if *table == self.request.id => self.column(*column),
            ExprKind::If(c, a, b) => {
                let (c, a, b) = (self.number(c)?, self.number(a)?, self.number(b)?);
                let (a, b) = if real { (self.real(a), self.real(b)) } else { (a, b) };
                let text = format!("CASE WHEN {} <> 0 THEN {} ELSE {} END", c.text, a.text, b.text);
                Ok(self.name(Number { text, real: a.real, constant: None }))
            }
            ExprKind::Call(f, args) => {
                let found = self.call(*f, args, &e.ty)?;
                let found = self.name(found);
                if !found.real {
                    return Ok(found);
                }
                // As the evaluator does, and without effect where no rounding led outside.
                let range = e.ty.range().filter(|r| r.is_finite()).ok_or(Streamed::Infinite)?;
                let [lo, hi] = [range.lo, range.hi].map(|x| self.dialect().real(x));
                let text = format!("CASE WHEN {0} < {lo} THEN {lo} WHEN {0} > {hi} THEN {hi} ELSE {0} END", found.text);
                Ok(self.name(Number { text, ..found }))
            }
            ExprKind::Released(_) | ExprKind::Scalar(_) | ExprKind::RowCount(_) | ExprKind::Field(..) => Err(Streamed::Late),
            _ => Err(Streamed::Function),
        }
    }

    /// A number that everyone knows before the program runs.
    fn public(&self, e: &Expr) -> Option<f64> {
        let mut value = vec![];
        if e.label == Label::Public {
            compile(e, TableId(usize::MAX), self.request.table, self.request.env).ok()?.row(&[], &mut value);
        }
        if let ([x], true) = (value.as_slice(), value.iter().all(|x| x.is_finite())) { Some(*x) } else { None }
    }

    fn call(&mut self, f: Builtin, args: &[Expr], ty: &Type) -> Result<Number, Streamed> {
        if f == Builtin::Bin {
            return self.bin(args);
        }
        if args.iter().any(|a| !matches!(a.ty, Type::Bool | Type::Int(_) | Type::Real(_) | Type::Category(_))) {
            return Err(Streamed::Function);
        }
        let mut x = vec![];
        for arg in args {
            let number = self.number(arg)?;
            x.push(self.name(number));
        }
        if f == Builtin::Cell {
            return self.place(args, &x);
        }
        match (f, x.as_slice()) {
            (Builtin::Binary(f), [a, b]) => self.binary(f, [a.clone(), b.clone()], args, ty),
            (Builtin::Clip, [x, lo, hi]) => {
                let least = self.chosen("<=", x.clone(), hi.clone());
                let least = self.name(least);
                Ok(self.chosen(">=", least, lo.clone()))
            }
            (Builtin::Unary(Unary::Not), [x]) => Ok(Self::whole(format!("(1 - {})", x.text))),
            (Builtin::Unary(Unary::Neg), [x]) => self.arithmetic('-', self.constant(0.0, x.real), x.clone(), ty),
            (Builtin::Unary(Unary::Abs), [x]) => {
                let zero = self.constant(0.0, x.real);
                let text = format!("CASE WHEN {0} < {1} THEN {1} - {0} ELSE {0} END", x.text, zero.text);
                Ok(Number { text, real: x.real, constant: None })
            }
            _ => Err(Streamed::Function),
        }
    }

    fn binary(&self, f: Binary, [a, b]: [Number; 2], args: &[Expr], ty: &Type) -> Result<Number, Streamed> {
        let (a, b) = self.alike(a, b);
        let is_bool = |i: usize| args.get(i).is_some_and(|e| e.ty == Type::Bool);
        let compared = match f {
            Binary::Or => format!("{} <> 0 OR {} <> 0", a.text, b.text),
            Binary::And => format!("{} <> 0 AND {} <> 0", a.text, b.text),
            Binary::Le | Binary::Ge | Binary::Lt | Binary::Gt => format!("{} {} {}", a.text, f.sign().unwrap_or_default(), b.text),
            Binary::Eq => format!("{} = {}", a.text, b.text),
            Binary::Ne => format!("{} <> {}", a.text, b.text),
            Binary::Add => return self.arithmetic('+', a, b, ty),
            Binary::Sub => return self.arithmetic('-', a, b, ty),
            // A bool times a number multiplies nothing.
            Binary::Mul if a.real && (is_bool(0) || is_bool(1)) => {
                let (bool, x) = if is_bool(0) { (a, b) } else { (b, a) };
                let zero = self.constant(0.0, true);
                let text = format!("CASE WHEN {} = {} THEN {} ELSE {} END", bool.text, zero.text, zero.text, x.text);
                return Ok(Number { text, real: true, constant: None });
            }
            Binary::Mul if a.real && !self.dialect().multiplies() => return Err(Streamed::Product),
            Binary::Mul => return self.arithmetic('*', a, b, ty),
            Binary::Min => return Ok(self.chosen("<=", a, b)),
            Binary::Max => return Ok(self.chosen(">=", a, b)),
            Binary::Div | Binary::Pow => return Err(Streamed::Function),
        };
        Ok(Self::whole(format!("CASE WHEN {compared} THEN 1 ELSE 0 END")))
    }

    /// Doubles round as everywhere; whole numbers stay below 2^53.
    fn arithmetic(&self, sign: char, a: Number, b: Number, ty: &Type) -> Result<Number, Streamed> {
        let (a, b) = self.alike(a, b);
        let range = ty.range().unwrap_or(Range::ALL);
        if a.real {
            return Ok(Number { text: format!("({} {sign} {})", a.text, b.text), real: true, constant: None });
        }
        if range.magnitude() > WHOLE {
            return Err(Streamed::Infinite);
        }
        Ok(Self::whole(format!("({} {sign} {})", self.dialect().to_whole(&a.text), b.text)))
    }

    /// The first number if it compares so with the second, else the second.
    fn chosen(&self, compare: &str, a: Number, b: Number) -> Number {
        let (a, b) = self.alike(a, b);
        Number { text: format!("CASE WHEN {0} {compare} {1} THEN {0} ELSE {1} END", a.text, b.text), real: a.real, constant: None }
    }

    /// How many rising edges a number is not below.
    fn bin(&mut self, args: &[Expr]) -> Result<Number, Streamed> {
        let [x, Expr { kind: ExprKind::List(edges), .. }] = args else { return Err(Streamed::Function) };
        let x = self.number(x)?;
        let x = self.real(x);
        let x = self.name(x);
        let mut text = "CASE".to_owned();
        for (i, edge) in edges.iter().enumerate() {
            let edge = self.dialect().real(edge.constant().ok_or(Streamed::Late)?);
            text += &format!(" WHEN {} < {edge} THEN {i}", x.text);
        }
        Ok(Self::whole(if edges.is_empty() { "0".into() } else { format!("{text} ELSE {} END", edges.len()) }))
    }

    /// The cell of several finite values together, the last one fastest.
    fn place(&self, args: &[Expr], x: &[Number]) -> Result<Number, Streamed> {
        let mut text = self.dialect().to_whole("0");
        for (arg, x) in args.iter().zip(x) {
            let (first, size) = match &arg.ty {
                Type::Category(levels) => (0, levels.len() as i128),
                Type::Bool => (0, 2),
                Type::Int(range) if range.is_finite() => (range.lo as i128, (range.hi - range.lo) as i128 + 1),
                _ => return Err(Streamed::Function),
            };
            text = format!("({text} * {size} + ({} - {}))", x.text, self.dialect().whole(first));
        }
        Ok(Self::whole(text))
    }
}

/// The places of the layers that a text names.
fn named(text: &str) -> impl Iterator<Item = usize> {
    text.split("dpm_l").skip(1).filter_map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok())
}

/// A cell moved between two ends; the first of `ends` counts where none is there.
fn moved(compared: &str, none: &str, [missing, lo, hi]: &[String; 3], x: &str) -> String {
    format!("CASE WHEN {none} THEN {missing} WHEN {compared} < {lo} THEN {lo} WHEN {compared} > {hi} THEN {hi} ELSE {x} END")
}
