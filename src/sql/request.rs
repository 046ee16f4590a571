//! Which rows an engine is asked about, and why it is not asked.

use super::dialect::Dialect;
use crate::data::eval::Environment;
use crate::model::{Table, TableId};

/// Why rows are read one by one and not counted by a query.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Streamed {
    Rows,
    Units,
    Key,
    Ties,
    Moments,
    Vector,
    Date,
    Function,
    Product,
    Infinite,
    Late,
}

impl Streamed {
    pub fn text(self) -> &'static str {
        match self {
            Streamed::Rows => "its mechanism keeps every row",
            Streamed::Units => {
                "the rows of a unit are taken in the order of the file, and a query has none; `by u max k order c` takes the least by a column"
            }
            Streamed::Ties => {
                "which rows of a unit are kept follows from all columns, and a vector, a date or a column without a finite range is among them"
            }
            Streamed::Moments => "sums of products of several features are not asked of an engine",
            Streamed::Vector => "vectors are not asked of an engine",
            Streamed::Date => "dates are not asked of an engine",
            Streamed::Function => "an expression has a function that engines compute differently",
            Streamed::Product => "a product of real numbers may fail in this engine, which tells of a row",
            Streamed::Key => "units are told apart by a text, a whole number, a category or a bool alone",
            Streamed::Infinite => "a column or an expression has no finite range, or whole numbers beyond 2^53",
            Streamed::Late => "it needs a value that is known only when the program runs",
        }
    }
}

/// Where rows are, and what everyone knows.
pub struct Request<'a> {
    pub dialect: Dialect,
    pub id: TableId,
    pub table: &'a Table,
    /// What stands behind FROM.
    pub from: &'a str,
    pub env: &'a dyn Environment,
}
