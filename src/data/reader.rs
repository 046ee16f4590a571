//! Comma-separated records with RFC 4180 quotes, never failing: a quote that is not closed properly is a plain character.
//!
//! A quoted cell is one whose closing quote stands before a comma or a line end; it may hold line breaks. Quotes alone
//! decide where a record ends, never its size or its number of cells: in a well-formed file no cell can make or swallow
//! a row, whatever it holds. A quote that nothing closes properly is read line by line, so that one stray quote does not
//! swallow the rows after it; two stray quotes in different rows may, which is why certificates assume a well-formed file.
//!
//! A blank line is not a record, except below a header of one column: there it is a row whose only cell is empty, so that
//! no cell decides how many rows there are. The line end of the last line begins no further line.

use super::block::{Block, without_end};
use super::format::Format;
use std::collections::VecDeque;
use std::io::{self, BufRead, Read};

/// One record: its cells, unquoted.
#[derive(Default)]
pub struct Record {
    text: Vec<u8>,
    ends: Vec<usize>,
    /// Has it a quote that is not closed properly, or that something stands behind?
    stray: bool,
}

impl Record {
    pub fn cell(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends.get(index)?;
        let start = match index.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        self.text.get(start..end)
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.stray = false;
    }

    fn end_cell(&mut self) {
        self.ends.push(self.text.len());
    }
}

/// The records of a file, blank lines left out unless they are rows of a single empty cell.
pub struct Records {
    input: Box<dyn BufRead>,
    /// Lines read ahead and given back.
    ahead: VecDeque<Vec<u8>>,
    line: Vec<u8>,
    /// Number of cells of the header, once read.
    width: Option<usize>,
    /// Physical lines consumed.
    lines: u64,
    stray: u64,
    delimiter: u8,
    named: bool,
}

/// Bytes of a record, and of a line, that are read, so that neither can fill the memory; no cell of a table is so long.
const LONGEST_RECORD: usize = 1 << 28;
const LONGEST_LINE: u64 = 1 << 28;
/// How often a record that is not well-formed is split anew before it is read line by line.
const MOST_TRIES: usize = 64;

impl Records {
    pub fn new(input: Box<dyn BufRead>, delimiter: u8, named: bool) -> Records {
        Records { input, ahead: VecDeque::new(), line: Vec::new(), width: None, lines: 0, stray: 0, delimiter, named }
    }

    /// What the line of the header says of the format, where it may be told.
    pub fn format(&self) -> Option<Format> {
        Format::of(&self.line, self.delimiter).filter(|_| self.named)
    }

    /// Number of the line that the last record ended on.
    pub fn line_number(&self) -> u64 {
        self.lines
    }

    /// Records so far with a quote that is not closed properly.
    pub fn stray(&self) -> u64 {
        self.stray
    }

    /// Reads the next record; `false` at the end of the file.
    pub fn read(&mut self, record: &mut Record) -> io::Result<bool> {
        loop {
            if !self.next_line()? {
                return Ok(false);
            }
            if self.lines == 1 && self.line.starts_with(b"\xef\xbb\xbf") {
                self.line.drain(..3);
            }
            let text = without_end(&self.line);
            // With several columns a row has a comma even if all its cells are empty.
            if text.is_empty() && self.width != Some(1) {
                continue;
            }
            let open = split(text, record, self.delimiter, false) == Split::Open;
            if open && !self.read_across_lines(record)? {
                split(without_end(&self.line), record, self.delimiter, true);
            }
            self.stray += u64::from(record.stray);
            self.width.get_or_insert(record.len());
            return Ok(true);
        }
    }

    /// Reads some records into a block: all lines before the next quote that are at hand, or else one record. `false` at the end
    /// of the file. Behind the header only, and lines are no longer counted.
    pub fn take(&mut self, block: &mut Block, record: &mut Record) -> io::Result<bool> {
        if self.ahead.is_empty() {
            let text = self.input.fill_buf()?;
            let plain = memchr::memchr(b'"', text).and_then(|at| text.get(..at)).unwrap_or(text);
            if let Some(lines) = memchr::memrchr(b'\n', plain).and_then(|at| plain.get(..=at)) {
                block.push_lines(lines);
                let length = lines.len();
                self.input.consume(length);
                return Ok(true);
            }
        }
        let some = self.read(record)?;
        if some {
            block.push_record(&record.text, &record.ends);
        }
        Ok(some)
    }

    fn next_line(&mut self) -> io::Result<bool> {
        self.line.clear();
        match self.ahead.pop_front() {
            Some(line) => self.line = line,
            None => {
                if !read_line(&mut self.input, &mut self.line)? {
                    return Ok(false);
                }
            }
        }
        self.lines += 1;
        Ok(true)
    }

    /// The current line opens a quoted cell and does not close it: takes following lines while that helps.
    fn read_across_lines(&mut self, record: &mut Record) -> io::Result<bool> {
        let mut whole = self.line.clone();
        let mut used = 0;
        let count = |line: &[u8]| line.iter().filter(|b| **b == b'"').count();
        let mut quotes = count(&whole);
        let mut tries = 0;
        while whole.len() < LONGEST_RECORD && tries < MOST_TRIES {
            if used == self.ahead.len() {
                let mut line = Vec::new();
                if !read_line(&mut self.input, &mut line)? {
                    break;
                }
                self.ahead.push_back(line);
            }
            if let Some(line) = self.ahead.get(used) {
                quotes += count(line);
                whole.extend_from_slice(line);
            }
            used += 1;
            // In a well-formed record every quoted cell brings an even number of quotes, so this is where it ends.
            if quotes % 2 == 1 {
                continue;
            }
            tries += 1;
            match split(without_end(&whole), record, self.delimiter, false) {
                Split::Open => {}
                Split::Whole => {
                    self.ahead.drain(..used);
                    self.lines += used as u64;
                    return Ok(true);
                }
                Split::Broken => break,
            }
        }
        Ok(false)
    }
}

/// Reads one line, its end included; what is beyond the longest line is dropped. `false` at the end of the file.
fn read_line(input: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    let read = Read::take(&mut *input, LONGEST_LINE).read_until(b'\n', line)?;
    if read as u64 == LONGEST_LINE && !line.ends_with(b"\n") {
        loop {
            let more = input.fill_buf()?;
            let end = more.iter().position(|b| *b == b'\n');
            let (length, empty) = (more.len(), more.is_empty());
            input.consume(end.map_or(length, |at| at + 1));
            if end.is_some() || empty {
                break;
            }
        }
    }
    Ok(read > 0)
}

#[derive(PartialEq)]
enum Split {
    Whole,
    /// The last quoted cell is still open.
    Open,
    /// A line break outside quotes.
    Broken,
}

/// Splits a text into cells; never `Open` if open quotes are to be taken literally.
fn split(text: &[u8], record: &mut Record, delimiter: u8, literal: bool) -> Split {
    record.clear();
    let mut rest = text;
    loop {
        if rest.first() == Some(&b'"') {
            match quoted(rest, delimiter, &mut record.text) {
                Quoted::Closed(length) => {
                    record.end_cell();
                    match rest.get(length..) {
                        Some([d, after @ ..]) if *d == delimiter => {
                            rest = after;
                            continue;
                        }
                        _ => return Split::Whole,
                    }
                }
                Quoted::Open if !literal => return Split::Open,
                Quoted::Open | Quoted::Stray => record.stray = true,
            }
        }
        match rest.iter().position(|b| *b == delimiter || *b == b'\n') {
            Some(at) => {
                let (cell, after) = rest.split_at(at);
                if after.first() == Some(&b'\n') {
                    return Split::Broken;
                }
                record.text.extend_from_slice(cell);
                record.end_cell();
                rest = after.get(1..).unwrap_or(&[]);
            }
            None => {
                record.text.extend_from_slice(rest);
                record.end_cell();
                return Split::Whole;
            }
        }
    }
}

enum Quoted {
    /// A proper cell of so many bytes, quotes included; its content was appended.
    Closed(usize),
    /// No closing quote; nothing appended.
    Open,
    /// A quote in the middle of a cell; nothing appended.
    Stray,
}

fn quoted(text: &[u8], delimiter: u8, out: &mut Vec<u8>) -> Quoted {
    let start = out.len();
    let mut at = 1;
    loop {
        let rest = text.get(at..).unwrap_or(&[]);
        let Some(quote) = rest.iter().position(|b| *b == b'"') else {
            out.truncate(start);
            return Quoted::Open;
        };
        out.extend_from_slice(rest.get(..quote).unwrap_or(&[]));
        match rest.get(quote + 1) {
            None => return Quoted::Closed(at + quote + 1),
            Some(b) if *b == delimiter => return Quoted::Closed(at + quote + 1),
            Some(b'"') => {
                out.push(b'"');
                at += quote + 2;
            }
            Some(_) => {
                out.truncate(start);
                return Quoted::Stray;
            }
        }
    }
}
