//! Blocks of rows, to be taken apart away from the reader: whole lines of CSV without a quote and records beside quotes, or a row
//! group of Parquet that is still to be decoded.

use super::DataError;
use super::cell::{Cell, Cells};

/// A block is full with so many bytes.
const FULL: usize = 1 << 18;

/// Some rows. Their order is not kept: what the sums of one block are does not depend on it.
#[derive(Default)]
pub struct Block {
    /// Whole lines, their ends included, in none of which there is a quote.
    lines: Vec<u8>,
    /// The cells of records, unquoted, one behind the other.
    cells: Vec<u8>,
    /// Where each cell ends.
    ends: Vec<usize>,
    /// Where the cells of each record end in `ends`.
    records: Vec<usize>,
    /// A row group that is still to be decoded.
    #[cfg(feature = "parquet")]
    group: Option<super::parquet::Group>,
}

/// How lines are taken apart.
#[derive(Clone, Copy)]
pub struct Lines {
    pub delimiter: u8,
    /// Is a blank line a row?
    pub blank: bool,
}

impl Block {
    pub fn clear(&mut self) {
        self.lines.clear();
        self.cells.clear();
        self.ends.clear();
        self.records.clear();
        #[cfg(feature = "parquet")]
        self.group.take();
    }

    pub fn is_full(&self) -> bool {
        #[cfg(feature = "parquet")]
        if self.group.is_some() {
            return true;
        }
        self.lines.len() + self.cells.len() + 8 * self.ends.len() >= FULL
    }

    pub fn is_empty(&self) -> bool {
        !self.is_full() && self.lines.is_empty() && self.records.is_empty()
    }

    /// Holds a row group, and nothing else.
    #[cfg(feature = "parquet")]
    pub fn put_group(&mut self, group: super::parquet::Group) {
        self.group = Some(group);
    }

    pub fn push_lines(&mut self, lines: &[u8]) {
        self.lines.extend_from_slice(lines);
    }

    /// Adds a record that was taken apart: its cells one behind the other, and where each ends.
    pub fn push_record(&mut self, text: &[u8], ends: &[usize]) {
        let start = self.cells.len();
        self.cells.extend_from_slice(text);
        self.ends.extend(ends.iter().map(|end| start + end));
        self.records.push(self.ends.len());
    }

    /// Adds a record, cell by cell.
    pub fn push_cells<'a>(&mut self, cells: impl Iterator<Item = &'a [u8]>) {
        for cell in cells {
            self.cells.extend_from_slice(cell);
            self.ends.push(self.cells.len());
        }
        self.records.push(self.ends.len());
    }

    /// Calls `visit` with every row, of which the first `width` cells are found.
    pub fn each(&self, how: Lines, width: usize, mut visit: impl FnMut(&Row)) -> Result<(), DataError> {
        #[cfg(feature = "parquet")]
        if let Some(group) = &self.group {
            return group.each(|row| visit(&Row::Decoded(row)));
        }
        let (mut rest, mut ends) = (self.lines.as_slice(), vec![]);
        while !rest.is_empty() {
            let line = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
            let (line, behind) = rest.split_at(line);
            rest = behind;
            let text = without_end(line);
            if !text.is_empty() || how.blank {
                find(text, how.delimiter, width, &mut ends);
                visit(&Row::Text { text, start: 0, ends: &ends, gap: 1 });
            }
        }
        let (mut first, mut start) = (0, 0);
        for last in &self.records {
            let ends = self.ends.get(first..*last).unwrap_or(&[]);
            visit(&Row::Text { text: &self.cells, start, ends, gap: 0 });
            start = ends.last().copied().unwrap_or(start);
            first = *last;
        }
        Ok(())
    }
}

/// A line without its end.
pub fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Where the first `width` cells of a line without quotes end.
fn find(text: &[u8], delimiter: u8, width: usize, ends: &mut Vec<usize>) {
    ends.clear();
    let mut start = 0;
    while ends.len() < width {
        let rest = text.get(start..).unwrap_or(&[]);
        let Some(at) = rest.iter().position(|b| *b == delimiter) else {
            ends.push(text.len());
            break;
        };
        ends.push(start + at);
        start += at + 1;
    }
}

/// One row of a block.
pub enum Row<'a> {
    Text {
        text: &'a [u8],
        /// Where the first cell begins.
        start: usize,
        ends: &'a [usize],
        /// Bytes between two cells.
        gap: usize,
    },
    #[cfg(feature = "parquet")]
    Decoded(super::parquet::Row<'a>),
}

impl Cells for Row<'_> {
    fn cell(&self, at: usize) -> Cell<'_> {
        match self {
            Row::Text { text, start, ends, gap } => {
                let start = at.checked_sub(1).map_or(Some(*start), |before| ends.get(before).map(|end| end + gap));
                let cell = start.zip(ends.get(at)).and_then(|(start, end)| text.get(start..*end));
                cell.map_or(Cell::EMPTY, Cell::Text).within_limit()
            }
            #[cfg(feature = "parquet")]
            Row::Decoded(row) => row.cell(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Source;
    use super::super::input::Input;
    use super::super::reader::{Record, Records};
    use super::super::testing::table;
    use super::*;
    use crate::model::Table;
    use proptest::prelude::*;
    use std::io::{BufReader, Cursor};

    const WIDTH: usize = 5;

    fn row(cells: &impl Cells) -> Vec<Vec<u8>> {
        (0..WIDTH).map(|at| cells.cell(at).text().to_vec()).collect()
    }

    /// All rows, sorted, as one thread finds them record by record.
    fn oracle(text: &[u8], delimiter: u8) -> Vec<Vec<Vec<u8>>> {
        let mut records = Records::new(Box::new(Cursor::new(text.to_vec())), delimiter, false);
        let mut record = Record::default();
        let mut rows = vec![];
        while records.read(&mut record).unwrap() {
            rows.push((0..WIDTH).map(|at| record.cell(at).unwrap_or(&[]).to_vec()).collect());
        }
        rows.drain(..1.min(rows.len()));
        rows.sort();
        rows
    }

    /// The same by blocks, from a reader that has so many bytes at hand.
    fn blocks(text: &[u8], delimiter: u8, at_hand: usize, table: &Table) -> Vec<Vec<Vec<u8>>> {
        let input = BufReader::with_capacity(at_hand, Cursor::new(text.to_vec()));
        let source = Source { delimiter, ..Source::buffered(input) };
        let Ok(mut input) = Input::open(source, table) else { return vec![] };
        let mut block = Block::default();
        let mut rows = vec![];
        while input.block(&mut block).unwrap() {
            block.each(input.lines(), WIDTH, |cells| rows.push(row(cells))).unwrap();
        }
        rows.sort();
        rows
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Quotes that close, stray ones, delimiters and line breaks within them, blank lines, short and long rows.
        #[test]
        fn blocks_hold_the_rows_that_records_do(
            pieces in prop::collection::vec(
                prop::sample::select(vec!["a", "1", ",", ",", ";", "\n", "\n", "\n", "\r\n", "\"", "\"\"", "\"x,\ny\"", " ", "\u{feff}", "\r"]), 0..80),
            at_hand in 1usize..60,
            delimiter in prop::sample::select(vec![b',', b';']),
        ) {
            let text = pieces.concat().into_bytes();
            let table = table();
            prop_assert_eq!(blocks(&text, delimiter, at_hand, &table), oracle(&text, delimiter));
        }
    }

    /// A block is full long before the file ends, and no row is lost between two.
    #[test]
    fn rows_between_blocks_are_not_lost() {
        let lines: String = (0..200_000).map(|i| if i % 5000 == 7 { format!("\"{i}\n,\",2\n") } else { format!("{i},b\r\n") }).collect();
        let text = format!("x,y\n{lines}");
        let table = table();
        let (found, wanted) = (blocks(text.as_bytes(), b',', 1 << 18, &table), oracle(text.as_bytes(), b','));
        assert_eq!(wanted.len(), 200_000);
        assert!(found == wanted);
    }
}
