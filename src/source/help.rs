//! Help lines as data: what to do, the code that does it, what it gives and where it goes; drawn in columns.

use super::span::Span;
use std::fmt;
use unicode_width::UnicodeWidthStr;

/// One line of Help. A lead alone is a sentence, or code that needs no words.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Help {
    pub lead: String,
    /// What can be pasted.
    pub code: String,
    /// What the code gives.
    pub effect: String,
    /// The texts that an editor puts in place of others; without them the code goes where its kind of code goes.
    pub edits: Vec<(Span, String)>,
}

impl Help {
    /// Statements that only work together, a line each: the first line carries the edits of all.
    pub fn several(lead: impl Into<String>, code: impl IntoIterator<Item = String>, edits: Vec<(Span, String)>) -> Vec<Help> {
        let mut lines: Vec<Help> = code.into_iter().map(|code| ("", code).into()).collect();
        if let Some(first) = lines.first_mut() {
            (first.lead, first.edits) = (lead.into(), edits);
        }
        lines
    }

    /// What can be pasted; a lead alone may be code.
    pub fn pasted(&self) -> &str {
        if self.code.is_empty() { &self.lead } else { &self.code }
    }

    /// The code belongs in place of this.
    pub fn over(self, span: Span) -> Help {
        let code = self.pasted().to_owned();
        self.edit(span, code)
    }

    /// This text belongs in place of that of `span`; an empty span inserts it, an empty text deletes that.
    pub fn edit(mut self, span: Span, text: impl Into<String>) -> Help {
        self.edits.push((span, text.into()));
        self
    }
}

impl From<&str> for Help {
    fn from(lead: &str) -> Help {
        lead.to_owned().into()
    }
}

impl From<String> for Help {
    fn from(lead: String) -> Help {
        Help { lead, ..Help::default() }
    }
}

impl<L: Into<String>, C: Into<String>> From<(L, C)> for Help {
    fn from((lead, code): (L, C)) -> Help {
        (lead, code, "").into()
    }
}

impl<L: Into<String>, C: Into<String>, E: Into<String>> From<(L, C, E)> for Help {
    fn from((lead, code, effect): (L, C, E)) -> Help {
        Help { lead: lead.into(), code: code.into(), effect: effect.into(), edits: vec![] }
    }
}

impl fmt::Display for Help {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", lines(std::slice::from_ref(self)).concat())
    }
}

/// Code longer than this moves no effect of other lines to the right.
const WIDE: usize = 60;

/// The lines, three blanks between columns; code without a lead stands below the code or the sentence above it.
pub fn lines(all: &[Help]) -> Vec<String> {
    let widest = |text: fn(&Help) -> &str, of: fn(&&Help) -> bool| all.iter().filter(of).map(|h| text(h).width()).max();
    let indent = match widest(|h| &h.lead, |h| !h.code.is_empty()) {
        Some(0) if all.first().is_some_and(|h| h.code.is_empty()) => 4,
        Some(0) | None => 0,
        Some(lead) => lead + 3,
    };
    let remark = indent + widest(|h| &h.code, |h| !h.effect.is_empty() && h.code.width() <= WIDE).unwrap_or(0) + 3;
    let padded = |mut text: String, to: usize| {
        text.extend(std::iter::repeat_n(' ', to.saturating_sub(text.width())));
        text
    };
    let line = |h: &Help| match (h.code.as_str(), h.effect.as_str()) {
        ("", _) => h.lead.clone(),
        (code, "") => padded(h.lead.clone(), indent) + code,
        (code, effect) => padded(padded(h.lead.clone(), indent) + code + "   ", remark) + effect,
    };
    all.iter().map(line).collect()
}
