//! Words, numbers and quoted texts of what certificates print, one after another.

/// What is left of a text.
pub struct Reader<'a> {
    pub rest: &'a str,
    pub depth: usize,
    /// What was read as types, with the colons before them.
    pub types: Vec<&'a str>,
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
    pub fn take(&mut self, length: usize) -> &'a str {
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
}
