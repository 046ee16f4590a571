//! The normal form as a tree: a reader for exactly what certificates print.

use super::reader::Reader;
use super::ty::Ty;

/// An expression; operators, lists (`[]`) and laws are calls by the name they are written with.
#[derive(Clone, PartialEq, Debug)]
pub enum Expr {
    Number(f64),
    Name(String),
    Call(String, Vec<Expr>),
    /// A value of a row, moved into a type before it counts.
    Row(Box<Expr>, String),
}

/// `observe outcome ~ law`
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    pub outcome: Expr,
    pub law: Expr,
    pub public: bool,
}

/// The normal form of one release: its request, after priors and rows if it is a draw.
#[derive(Clone, Debug)]
pub struct Form {
    pub name: String,
    pub query: String,
    pub request: Expr,
    /// Name, prior, and the type that cuts it, if one does.
    pub params: Vec<(String, Expr, Option<String>)>,
    pub rows: Vec<Row>,
}

impl Expr {
    /// Does any part pass the test?
    pub fn any(&self, test: &dyn Fn(&Expr) -> bool) -> bool {
        self.any_but(&|_| false, test)
    }
    /// The same, without the parts to skip.
    pub fn any_but(&self, skip: &dyn Fn(&Expr) -> bool, test: &dyn Fn(&Expr) -> bool) -> bool {
        let inside = || match self {
            Expr::Call(_, parts) => parts.iter().any(|p| p.any_but(skip, test)),
            Expr::Row(value, _) => value.any_but(skip, test),
            _ => false,
        };
        !skip(self) && (test(self) || inside())
    }
    /// The value of a row, or a list of them?
    pub fn of_rows(&self) -> bool {
        matches!(self, Expr::Row(..)) || ((self.calls("[]") || self.calls("append")) && self.args().iter().any(Expr::of_rows))
    }
    /// One value for all rows?
    pub fn over_rows(&self) -> bool {
        let Expr::Call(f, args) = self else { return false };
        let known = matches!((f.as_str(), args.len()), ("sum" | "mean" | "min" | "max" | "count" | "histogram", 1) | ("quantile", 2));
        known && args.first().is_some_and(Expr::of_rows)
    }
    pub fn is_name(&self, name: &str) -> bool {
        matches!(self, Expr::Name(n) if n == name)
    }
    pub fn calls(&self, name: &str) -> bool {
        matches!(self, Expr::Call(f, _) if f == name)
    }
    /// The arguments of a call.
    pub fn args(&self) -> &[Expr] {
        if let Expr::Call(_, args) = self { args } else { &[] }
    }
}

const OPERATORS: [&str; 13] = ["<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "^", "and", "or"];
/// Deeper nesting than any certificate has: the source is limited to 256 levels.
const DEEPEST: usize = 1000;

impl<'a> Reader<'a> {
    pub fn expr(&mut self) -> Option<Expr> {
        self.depth += 1;
        let found = if self.depth < DEEPEST { self.operation() } else { None };
        self.depth -= 1;
        found
    }

    fn operation(&mut self) -> Option<Expr> {
        if self.eat("if") {
            let condition = self.expr()?;
            self.expect("then")?;
            let then = self.expr()?;
            self.expect("else")?;
            return Some(Expr::Call("if".into(), vec![condition, then, self.expr()?]));
        }
        // Operators have no precedence: the printer puts all their compound parts in parentheses.
        for (sign, name) in [("-", "neg"), ("not", "not")] {
            if self.eat(sign) {
                return Some(match self.expr()? {
                    Expr::Number(x) if sign == "-" => Expr::Number(-x),
                    e => Expr::Call(name.into(), vec![e]),
                });
            }
        }
        let left = self.operand()?;
        match OPERATORS.iter().find(|o| self.eat(o)) {
            Some(operator) => Some(Expr::Call((*operator).into(), vec![left, self.operand()?])),
            None => Some(left),
        }
    }

    fn operand(&mut self) -> Option<Expr> {
        let mut e = match self.rest.chars().next()? {
            '(' => {
                self.take(1);
                let e = self.part()?;
                self.expect(")")?;
                e
            }
            '[' => Expr::Call("[]".into(), self.list("[", "]")?),
            '"' => Expr::Name(self.quoted()?.to_owned()),
            c if c.is_ascii_digit() => Expr::Number(self.number()?),
            _ => match self.word()? {
                "inf" => Expr::Number(f64::INFINITY),
                f if self.rest.starts_with('(') => Expr::Call(f.to_owned(), self.list("(", ")")?),
                name => Expr::Name(name.to_owned()),
            },
        };
        loop {
            if self.rest.starts_with('[') {
                let mut parts = vec![e];
                parts.extend(self.list("[", "]")?);
                e = Expr::Call("index".into(), parts);
            } else if self.eat(".") {
                let field = self.word()?;
                e = match e {
                    Expr::Name(table) => Expr::Name(format!("{table}.{field}")),
                    e => Expr::Call("field".into(), vec![e, Expr::Name(field.to_owned())]),
                };
            } else {
                return Some(e);
            }
        }
    }

    /// An expression and, where it is the value of a row, its type.
    fn part(&mut self) -> Option<Expr> {
        let e = self.expr()?;
        let before = self.rest;
        if !self.eat(":") {
            return Some(e);
        }
        Ty::read(self)?;
        let ty = before.strip_suffix(self.rest)?;
        self.types.push(ty.trim_end());
        Some(Expr::Row(Box::new(e), ty.trim_matches([':', ' ']).to_owned()))
    }

    fn list(&mut self, open: &str, close: &str) -> Option<Vec<Expr>> {
        self.expect(open)?;
        let mut items = vec![];
        while !self.eat(close) {
            if !items.is_empty() {
                self.expect(",")?;
            }
            items.push(self.part()?);
        }
        Some(items)
    }

    /// An expression that is all there is, and the text without its types.
    fn all(text: &str) -> Option<(Expr, String)> {
        let mut reader = Reader::new(text);
        let e = reader.part().filter(|_| reader.done())?;
        let untyped = reader.types.iter().fold(text.to_owned(), |t, ty| t.replacen(&format!(" {ty}"), "", 1));
        Some((e, untyped))
    }
}

impl Form {
    /// Every expression of rows, and the request.
    pub fn parts(&self) -> impl Iterator<Item = &Expr> {
        self.rows.iter().flat_map(|o| [&o.outcome, &o.law]).chain([&self.request])
    }

    fn read(name: &str, lines: &[&str]) -> Option<Form> {
        let (query, factors) = lines.split_last()?;
        let (request, query) = Reader::all(query)?;
        let mut form = Form { name: name.into(), query, request, params: vec![], rows: vec![] };
        for line in factors {
            let (left, law) = line.rsplit_once(" ~ ")?;
            if let Some(param) = left.strip_prefix("param ") {
                let (name, cut) = param.split_once(": ").map_or((param, None), |(name, ty)| (name, Some(ty.to_owned())));
                form.params.push((name.to_owned(), Reader::all(law)?.0, cut));
            } else {
                let (law, kind) = law.rsplit_once(" # each ")?;
                let public = ["private row", "public row"].iter().position(|k| *k == kind)? == 1;
                form.rows.push(Row { outcome: Reader::all(left.strip_prefix("observe ")?)?.0, law: Reader::all(law)?.0, public });
            }
        }
        Some(form)
    }

    /// The forms of all releases, each under `release NAME:`, with an empty line between them.
    pub fn all(text: &str) -> Option<Vec<Form>> {
        let blocks = text.split("\n\n").filter(|b| !b.is_empty());
        let read = |block: &str| {
            let lines: Vec<&str> = block.lines().collect();
            let (head, rest) = lines.split_first()?;
            Form::read(head.strip_prefix("release ")?.strip_suffix(':')?, rest)
        };
        blocks.map(read).collect()
    }
}
