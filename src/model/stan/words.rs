//! Names, numbers and places of Stan that all parts of its program share.

use crate::model::print::number;
use crate::model::{Column, Range, Table};

/// Where an expression is printed.
#[derive(Clone, Copy, Default)]
pub(super) struct At<'a> {
    /// Index of the row: columns have one value each.
    pub row: Option<&'a str>,
    /// Index of the group: parameters of `each` have one value each.
    pub group: Option<&'a str>,
    /// Whole literals carry a decimal point: Stan divides integers without remainder.
    pub decimal: bool,
}

/// A number; a whole one that Stan cannot hold as an integer is a real.
pub(super) fn literal(x: f64) -> String {
    match x {
        f64::INFINITY => "positive_infinity()".into(),
        f64::NEG_INFINITY => "negative_infinity()".into(),
        x if x.fract() == 0.0 && x.abs() < 1e15 && !is_small(Range::new(x, x)) => format!("{x:.1}"),
        x => number(x),
    }
}

/// Stan takes no index right after the sign that stands a row upright.
pub(super) fn indexable(text: &str) -> String {
    if text.ends_with('\'') { format!("({text})") } else { text.to_owned() }
}

/// Words that Stan keeps for itself.
const WORDS: &str = " for in while repeat until if then else true false target int real complex vector simplex unit_vector \
    sum_to_zero_vector ordered positive_ordered row_vector matrix cholesky_factor_corr cholesky_factor_cov corr_matrix cov_matrix \
    functions model data parameters quantities transformed generated void return break continue lower upper offset multiplier array \
    tuple print reject fatal_error profile jacobian truncate lp__ T ";

/// A name as Stan accepts it: no word of its own, letters of the English alphabet, first a letter and not two underscores last.
pub(super) fn plain(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        match c {
            c if c.is_ascii_alphanumeric() || c == '_' => out.push(c),
            '.' => out.push('_'),
            c => out.push_str(&format!("u{:x}", u32::from(c))),
        }
    }
    if !out.starts_with(|c: char| c.is_ascii_alphabetic()) {
        out.insert(0, 'x');
    }
    if WORDS.contains(&format!(" {out} ")) || out.ends_with("__") {
        out.push_str("_x");
    }
    out
}

pub(super) fn column_name(table: &Table, column: &Column) -> String {
    plain(&format!("{}_{}", table.name, column.name))
}

/// The name of the number of rows.
pub(super) fn size_name(table: &Table) -> String {
    plain(&format!("N_{}", table.name))
}

/// Is a whole number one that Stan can hold?
pub(super) fn is_small(r: Range) -> bool {
    let most = f64::from(i32::MAX);
    let fits = |x: f64| x.is_infinite() || x.abs() <= most;
    fits(r.lo) && fits(r.hi)
}
