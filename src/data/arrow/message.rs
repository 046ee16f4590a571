//! Messages of an Arrow file or stream, one behind the other: what they say is read, their bodies are passed over.

use std::io::SeekFrom;

use super::flat::Table;
use super::schema::V4;
use crate::data::Seekable;
use crate::data::columnar::bytes;

/// Most bytes of a message without its body, and of a footer.
const LONGEST: u64 = 1 << 28;
const MAGIC: &[u8] = b"ARROW1";

/// Where a message lies.
#[derive(Clone, Copy)]
pub struct Place {
    at: u64,
    length: usize,
    pub body: u64,
    pub size: u64,
}

impl Place {
    /// What the message says of its body.
    pub fn read(&self, file: &mut dyn Seekable) -> Option<Vec<u8>> {
        bytes(file, self.at, self.length)
    }
}

/// Goes from message to message.
pub struct Messages<'a> {
    file: &'a mut dyn Seekable,
    next: Next,
    end: u64,
    /// Bytes that no message has taken: a footer may name one again and again.
    left: u64,
}

enum Next {
    At(u64),
    Listed(std::vec::IntoIter<[u8; 24]>),
}

impl<'a> Messages<'a> {
    /// The messages of a stream, or those that the footer of a file lists, dictionaries first; and the footer.
    pub fn of(file: &'a mut dyn Seekable) -> Option<(Messages<'a>, Option<Vec<u8>>)> {
        let length = file.seek(SeekFrom::End(0)).ok()?;
        if bytes(file, 0, MAGIC.len())? != MAGIC {
            return Some((Messages { file, next: Next::At(0), end: length, left: length }, None));
        }
        let behind = length.checked_sub(4 + MAGIC.len() as u64)?;
        let tail = bytes(file, behind, 4 + MAGIC.len())?;
        let (size, magic) = tail.split_first_chunk::<4>()?;
        let size = u64::from(u32::from_le_bytes(*size));
        if magic != MAGIC || size > LONGEST {
            return None;
        }
        let end = behind.checked_sub(size)?;
        let text = bytes(file, end, usize::try_from(size).ok()?)?;
        let footer = Table::root(&text)?;
        let all = [footer.structs(2)?, footer.structs(3)?].concat();
        Some((Messages { file, next: Next::Listed(all.into_iter()), end, left: end }, Some(text)))
    }

    /// The next message; the inner `None` at the end, the outer for anything that is wrong.
    pub fn next(&mut self) -> Option<Option<(Place, Vec<u8>)>> {
        let start = match &mut self.next {
            Next::At(at) if *at == self.end => return Some(None),
            Next::At(at) => *at,
            Next::Listed(all) => match all.next() {
                Some(block) => u64::from_le_bytes(*block.first_chunk()?),
                None => return Some(None),
            },
        };
        let at = start.checked_add(8).filter(|at| *at <= self.end)?;
        let head = bytes(self.file, start, 8)?;
        let length = u64::from(u32::from_le_bytes(*head.strip_prefix(&[0xff; 4])?.first_chunk()?));
        if length == 0 {
            // The end of a stream, behind which there is nothing.
            return (matches!(self.next, Next::At(_)) && at == self.end).then_some(None);
        }
        let body = at.checked_add(length).filter(|body| *body <= self.end && length <= LONGEST)?;
        let mut place = Place { at, length: usize::try_from(length).ok()?, body, size: 0 };
        let text = place.read(self.file)?;
        let message = Table::root(&text)?;
        let version = message.short(0, 0)?;
        // Before version 5 the names of codecs stood among remarks.
        (version > V4 || version == V4 && !message.has(4)).then_some(())?;
        place.size = u64::try_from(message.long(3)?).ok()?;
        let end = body.checked_add(place.size).filter(|end| *end <= self.end)?;
        self.left = self.left.checked_sub(end - start)?;
        if let Next::At(at) = &mut self.next {
            *at = end;
        }
        Some(Some((place, text)))
    }
}
