//! The normal form as a tree: a reader for exactly what certificates print.

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
        let inside = match self {
            Expr::Call(_, parts) => parts.iter().any(|p| p.any(test)),
            Expr::Row(value, _) => value.any(test),
            _ => false,
        };
        inside || test(self)
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

/// What is left of a text.
pub struct Reader<'a> {
    rest: &'a str,
    depth: usize,
    /// What was read as types, with the colons before them.
    types: Vec<&'a str>,
}

fn in_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

impl<'a> Reader<'a> {
    pub fn new(text: &'a str) -> Reader<'a> {
        Reader { rest: text.trim_start(), depth: 0, types: vec![] }
    }
    pub fn done(&self) -> bool {
        self.rest.is_empty()
    }
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.rest = rest.trim_start();
        taken
    }
    /// Takes this sign or word if it comes next.
    pub fn eat(&mut self, token: &str) -> bool {
        let cut = token.ends_with(in_word) && self.rest.get(token.len()..).is_some_and(|r| r.starts_with(in_word));
        let found = self.rest.starts_with(token) && !cut;
        if found {
            self.take(token.len());
        }
        found
    }
    /// As [`Reader::eat`], in a chain of `?`.
    pub fn expect(&mut self, token: &str) -> Option<()> {
        self.eat(token).then_some(())
    }
    pub fn word(&mut self) -> Option<&'a str> {
        let length = self.rest.find(|c| !in_word(c)).unwrap_or(self.rest.len());
        Some(self.take(length)).filter(|w| w.starts_with(|c: char| c.is_alphabetic() || c == '_'))
    }
    /// A quoted text with its quotes.
    pub fn quoted(&mut self) -> Option<&'a str> {
        let mut escaped = false;
        let inner = self.rest.strip_prefix('"')?;
        let closing = inner.char_indices().find(|(_, c)| {
            let closes = *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            closes
        });
        Some(self.take(closing?.0 + 2))
    }
    /// A number with an optional sign; `inf` counts.
    pub fn number(&mut self) -> Option<f64> {
        let sign = if self.eat("-") { -1.0 } else { 1.0 };
        if self.eat("inf") {
            return Some(sign * f64::INFINITY);
        }
        let text = self.rest.split("..").next().unwrap_or_default();
        let outside = |(i, c): &(usize, char)| match c {
            '-' | '+' => !text.get(..*i).is_some_and(|t| t.ends_with('e')),
            c => !(c.is_ascii_digit() || *c == '.' || *c == 'e'),
        };
        let end = text.char_indices().find(outside).map_or(text.len(), |(i, _)| i);
        self.take(end).parse::<f64>().ok().map(|x| sign * x)
    }

    /// Numbers with commas between them.
    pub fn numbers(&mut self, open: &str, close: &str) -> Option<Vec<f64>> {
        self.expect(open)?;
        let mut found = vec![self.number()?];
        while self.eat(",") {
            found.push(self.number()?);
        }
        self.expect(close).map(|()| found)
    }

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
