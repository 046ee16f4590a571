//! A file held to its declaration before it is registered: what is malformed is refused then, not read differently later.

use super::{Exit, inputs};
use crate::data::cell::LONGEST_CELL;
use crate::data::inspect::inspect;
use crate::data::{Source, count_rows};
use crate::model::Table;
use std::io::IsTerminal;
use std::path::Path;

/// Refuses a file that is not well-formed, lacks a column, has not the rows that are declared, or has a cell beyond the
/// limit. Nothing is said of single cells, and how large it is on a terminal alone: that is for its owner.
pub fn fits(table: &Table, path: &Path) -> Result<(), Exit> {
    // Folders and what is not there are refused with the names of data sets.
    if !path.is_file() {
        return Ok(());
    }
    let unread = |why| inputs::input_error(&why, &path.display().to_string());
    let found = Source::open(path).and_then(|source| inspect(table, source)).map_err(unread)?;
    Source::open(path).and_then(|source| count_rows(table, source)).map_err(unread)?;
    let absent = found.columns.iter().flat_map(|c| &c.absent).next();
    let wrong = [
        (found.short > 0, "rows with fewer cells than the header".to_owned()),
        (found.long > 0, "rows with more cells than the header".to_owned()),
        (found.stray > 0, "a quote that is not closed, or not where its cell ends".to_owned()),
        (found.longest > LONGEST_CELL, format!("a cell of more than {LONGEST_CELL} bytes")),
        (absent.is_some(), format!("no column {:?}", absent.map_or("", String::as_str))),
    ];
    if let Some((_, what)) = wrong.into_iter().find(|(is, _)| *is) {
        say_line!("error: {} is not registered: it has {what}; `dpm inspect` tells its owner more", path.display());
        return Err(Exit::Input);
    }
    if std::io::stderr().is_terminal() {
        say_line!("{}: {} rows, longest cell {} bytes (PRIVATE: for its owner)", path.display(), found.rows, found.longest);
    }
    Ok(())
}
