//! Blocks of rows, to be taken apart away from the reader: whole lines of CSV without a quote and records beside quotes, or a group
//! of rows of Parquet or Arrow that is still to be decoded.

use super::DataError;
use super::batch::Batch;
use super::cell::{Cell, Cells};
use super::layout::Layout;

/// A block is full with so many bytes.
const FULL: usize = 1 << 18;

/// Some rows, in the order of the file.
#[derive(Default)]
pub struct Block {
    /// Whole lines, their ends included, in none of which there is a quote.
    lines: Vec<u8>,
    /// The cells of records, unquoted, one behind the other.
    cells: Vec<u8>,
    /// Where each cell ends.
    ends: Vec<usize>,
    /// Where the cells of each record end in `ends`, and the lines that stand before it.
    records: Vec<(usize, usize)>,
    /// A group of rows that is still to be decoded.
    #[cfg(feature = "parquet")]
    group: Option<super::columnar::Group>,
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

    /// Holds a group of rows, and nothing else.
    #[cfg(feature = "parquet")]
    pub fn put_group(&mut self, group: super::columnar::Group) {
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
        self.records.push((self.ends.len(), self.lines.len()));
    }

    /// Adds a record, cell by cell.
    pub fn push_cells<'a>(&mut self, cells: impl Iterator<Item = &'a [u8]>) {
        for cell in cells {
            self.cells.extend_from_slice(cell);
            self.ends.push(self.cells.len());
        }
        self.records.push((self.ends.len(), self.lines.len()));
    }

    /// Calls `see` with all rows, batch by batch; `batch` is empty before and afterwards.
    pub fn each(&self, how: Lines, layout: &Layout, batch: &mut Batch, mut see: impl FnMut(&Batch)) -> Result<(), DataError> {
        #[cfg(feature = "parquet")]
        if let Some(group) = &self.group {
            let mut decoding = group.start()?;
            while decoding.advance(batch.most())? {
                layout.fill_batch(&decoding, batch);
                see(batch);
                batch.clear();
            }
            return Ok(());
        }
        let mut row = vec![0.0; layout.slots()];
        self.rows(how, layout.width(), |cells| {
            layout.fill(cells, &mut row);
            batch.push(&row);
            if let Some(at) = layout.text {
                batch.push_text(cells.cell(at).text());
            }
            if batch.is_full() {
                see(batch);
                batch.clear();
            }
        });
        if batch.rows() > 0 {
            see(batch);
            batch.clear();
        }
        Ok(())
    }

    /// Calls `visit` with every row of text, of which the first `width` cells are found.
    fn rows(&self, how: Lines, width: usize, mut visit: impl FnMut(&Row)) {
        let (mut found, mut passed, mut first, mut start): (Vec<usize>, _, _, _) = (vec![], 0, 0, 0);
        let mut lines = |range: std::ops::Range<usize>, visit: &mut dyn FnMut(&Row)| {
            let all = self.lines.get(range).unwrap_or(&[]);
            let mut start = 0;
            let end = Some(all.len()).filter(|_| !all.is_empty() && !all.ends_with(b"\n"));
            for at in memchr::memchr2_iter(how.delimiter, b'\n', all).chain(end) {
                if all.get(at) == Some(&how.delimiter) {
                    if found.len() < width {
                        found.push(at - start);
                    }
                    continue;
                }
                let text = without_end(all.get(start..at).unwrap_or(&[]));
                start = at + 1;
                if found.len() < width {
                    found.push(text.len());
                }
                if !text.is_empty() || how.blank {
                    visit(&Row { text, start: 0, ends: &found, gap: 1 });
                }
                found.clear();
            }
        };
        for (last, before) in &self.records {
            lines(passed..*before, &mut visit);
            passed = *before;
            let ends = self.ends.get(first..*last).unwrap_or(&[]);
            visit(&Row { text: &self.cells, start, ends, gap: 0 });
            start = ends.last().copied().unwrap_or(start);
            first = *last;
        }
        lines(passed..self.lines.len(), &mut visit);
    }
}

/// A line without its end.
pub fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// One row of a block.
struct Row<'a> {
    text: &'a [u8],
    /// Where the first cell begins.
    start: usize,
    ends: &'a [usize],
    /// Bytes between two cells.
    gap: usize,
}

impl Cells for Row<'_> {
    fn cell(&self, at: usize) -> Cell<'_> {
        let start = at.checked_sub(1).map_or(Some(self.start), |before| self.ends.get(before).map(|end| end + self.gap));
        let cell = start.zip(self.ends.get(at)).and_then(|(start, end)| self.text.get(start..*end));
        cell.map_or(Cell::EMPTY, Cell::Text).within_limit()
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

    /// All rows, as they are found record by record.
    fn oracle(text: &[u8], delimiter: u8) -> Vec<Vec<Vec<u8>>> {
        let mut records = Records::new(Box::new(Cursor::new(text.to_vec())), delimiter, false);
        let mut record = Record::default();
        let mut rows = vec![];
        while records.read(&mut record).unwrap() {
            rows.push((0..WIDTH).map(|at| record.cell(at).unwrap_or(&[]).to_vec()).collect());
        }
        rows.drain(..1.min(rows.len()));
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
            block.rows(input.lines(), WIDTH, |cells| rows.push(row(cells)));
        }
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
