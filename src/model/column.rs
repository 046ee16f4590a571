//! Columns of tables, and what a missing cell of one counts as.

use super::{ColumnId, Type, print};
use crate::numeric::calendar;
use crate::source::Span;

#[derive(Clone, PartialEq, Debug)]
pub struct Column {
    pub name: String,
    /// Header names in the file: one, or one per component of a vector.
    pub headers: Vec<String>,
    /// Declared `public` inside a private table.
    pub public: bool,
    pub ty: Type,
    /// What a missing or unreadable cell counts as: one value, or one for each component; what the type says where this is empty.
    pub missing: Vec<f64>,
    /// What this column says of another one, whose cells it reads: no file has it.
    pub view: Option<(ColumnId, View)>,
    pub span: Span,
}

/// What a program may ask of a cell beside its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum View {
    /// Is it missing or unreadable?
    Missing,
    /// Of a date.
    Year,
    Month,
    Weekday,
}

impl View {
    pub const ALL: [View; 4] = [View::Missing, View::Year, View::Month, View::Weekday];

    /// The function that asks for it.
    pub fn word(self) -> &'static str {
        match self {
            View::Missing => "is_na",
            View::Year => "year",
            View::Month => "month",
            View::Weekday => "weekday",
        }
    }
}

impl Column {
    /// The value after `else`: `40`, `other`, `[0, 1]`.
    pub fn missing_text(&self) -> Option<String> {
        let one = |x: &f64| match &self.ty {
            Type::Bool => (*x != 0.0).to_string(),
            Type::Category(levels) => levels.get(*x as usize).map_or_else(|| "?".into(), |l| print::level_text(l)),
            Type::Date(_) => format!("\"{}\"", calendar::text(*x)),
            _ => print::number(*x),
        };
        let all = self.missing.iter().map(one).collect::<Vec<_>>().join(", ");
        match (self.missing.len(), &self.ty) {
            (0, _) => None,
            (2.., _) => Some(format!("[{all}]")),
            _ => Some(all),
        }
    }
}
