//! An opened file of a table: its header matched with the program's columns, then row by row or batch by batch.

use super::cell::Use;
use super::input::Input;
use super::layout::{Layout, Reading, is_text, offsets, width};
use super::{DataError, Source};
use crate::model::Table;

/// An opened file of a table: its header matched with the program's columns.
pub struct Rows {
    input: Input,
    layout: Layout,
}

impl Rows {
    /// Reads the header, to go through the file row by row.
    pub fn open(table: &Table, source: Source) -> Result<Rows, DataError> {
        Rows::opened(table, source, |_| Use::Rows)
    }

    /// Reads the header, to go through the file batch by batch: of columns whose slots are not wanted no cell is looked at, unless they
    /// say which unit a row is of.
    pub fn batches(table: &Table, source: Source, wanted: impl Fn(&std::ops::Range<usize>) -> bool) -> Result<Rows, DataError> {
        let slots = |at: usize, start: usize| start..start + table.columns.get(at).map_or(0, |c| width(&c.ty));
        let starts = offsets(table).0;
        let unit = table.unit.map(|(column, _)| column.0);
        // Some column must say how many rows there are.
        let first = unit.or_else(|| starts.iter().enumerate().position(|(at, start)| wanted(&slots(at, *start)))).unwrap_or(0);
        Rows::opened(table, source, |at| {
            let start = starts.get(at).copied().unwrap_or(0);
            if at == first || wanted(&slots(at, start)) { Use::Batches } else { Use::None }
        })
    }

    fn opened(table: &Table, source: Source, purpose: impl Fn(usize) -> Use) -> Result<Rows, DataError> {
        let mut input = Input::open(source, table)?;
        let (starts, slots) = offsets(table);
        let (mut columns, mut text) = (vec![], None);
        for ((column, slot), at) in table.columns.iter().zip(starts).zip(0..) {
            let view = column.view.and_then(|(of, view)| table.columns.get(of.0).map(|of| (view, of.ty.clone(), of.missing.clone())));
            let ty = view.as_ref().map_or(&column.ty, |(_, ty, _)| ty);
            let purpose = match (purpose(at), &view) {
                // A view asks whether a cell is there.
                (Use::Batches, Some(_)) => Use::Rows,
                (purpose, _) => purpose,
            };
            let cells: Vec<usize> =
                column.headers.iter().map(|header| input.column(header, ty, table, purpose)).collect::<Result<_, _>>()?;
            if table.unit.is_some_and(|(unit, _)| unit.0 == at) && is_text(column) {
                text = cells.first().copied();
            }
            if purpose != Use::None {
                columns.push(Reading { cells, slot, ty: column.ty.clone(), missing: column.missing.clone(), view });
            }
        }
        Ok(Rows { input, layout: Layout { columns, slots, text } })
    }

    /// The file and the places of its cells.
    pub fn parts(self) -> (Input, Layout) {
        (self.input, self.layout)
    }

    pub fn slots(&self) -> usize {
        self.layout.slots()
    }

    pub fn line_number(&self) -> u64 {
        self.input.line()
    }

    /// Moves to the next record; `false` at the end.
    pub fn advance(&mut self) -> Result<bool, DataError> {
        self.input.advance()
    }

    /// The raw bytes of a text column's cell; empty where a short row lacks it.
    pub fn bytes(&self, column: usize) -> &[u8] {
        self.layout.columns.get(column).and_then(|c| c.cells.first()).map_or(&[], |at| self.input.text(*at))
    }

    /// The raw bytes of every declared cell in column order; empty where a short row lacks it.
    pub fn cells(&self) -> impl Iterator<Item = &[u8]> {
        self.layout.columns.iter().flat_map(|c| &c.cells).map(|at| self.input.text(*at))
    }

    /// Fills the row totally: whatever the record holds, every slot gets a value of its column's type.
    pub fn fill(&self, row: &mut [f64]) {
        self.layout.fill(&self.input, row);
    }

    /// Fills the row of a public table; the index of the first column with a bad cell otherwise.
    pub fn fill_checked(&self, row: &mut [f64]) -> Result<(), usize> {
        self.layout.fill_checked(&self.input, row)
    }
}
