//! One batch of rows: which buffers its columns have, and their bytes, unpacked where the batch is packed.

use std::ops::Range;

use super::flat::Table;
use super::message::Place;
use super::schema::{Extent, V4};
use crate::data::columnar::{Shared, bytes, limited};

/// Most bytes of a buffer that was packed.
const LARGEST: usize = 1 << 31;

#[derive(Clone, Copy)]
pub enum Codec {
    Lz4,
    Zstd,
}

/// What a message says of its batch.
pub struct Batch<'a> {
    pub rows: u64,
    pub codec: Option<Codec>,
    nodes: &'a [[u8; 16]],
    buffers: &'a [[u8; 16]],
    /// How many further buffers each column of texts by views has.
    views: &'a [[u8; 8]],
    /// Is it of version 4?
    old: bool,
}

fn long(bytes: &[u8]) -> Option<u64> {
    u64::try_from(i64::from_le_bytes(*bytes.first_chunk()?)).ok()
}

impl<'a> Batch<'a> {
    /// What a message says in one of its tables of a batch of columns that take so much together.
    pub fn of(message: &Table<'a>, table: &Table<'a>, takes: Extent) -> Option<Batch<'a>> {
        let codec = if table.has(3) {
            let packed = table.table(3)?;
            match (packed.byte(0)?, packed.byte(1)?) {
                (0, 0) => Some(Codec::Lz4),
                (1, 0) => Some(Codec::Zstd),
                _ => return None,
            }
        } else {
            None
        };
        let rows = u64::try_from(table.long(0)?).ok()?;
        let (nodes, buffers, views) = (table.structs(1)?, table.structs(2)?, table.structs(4)?);
        let batch = Batch { rows, codec, nodes, buffers, views, old: message.short(0, 0)? == V4 };
        // A column that was counted wrongly would be read as another.
        let all = batch.buffers(takes)?;
        (batch.nodes.len() == takes.nodes && batch.views.len() == takes.views && batch.buffers.len() == all).then_some(batch)
    }

    /// How many buffers the first columns have that take so much.
    fn buffers(&self, takes: Extent) -> Option<usize> {
        let own = takes.buffers + if self.old { takes.old } else { 0 };
        self.views.get(..takes.views)?.iter().try_fold(own, |sum, count| sum.checked_add(usize::try_from(long(count)?).ok()?))
    }

    /// How many cells of the column behind others are missing, and its buffers: those of the schema, then all others.
    pub fn column(&self, before: Extent, takes: Extent) -> Option<(u64, &'a [[u8; 16]])> {
        let (start, behind) = (self.buffers(before)?, self.buffers(before + takes)?);
        let (rows, missing) = self.nodes.get(before.nodes)?.split_at_checked(8)?;
        (long(rows)? == self.rows).then_some(())?;
        Some((long(missing)?, self.buffers.get(start..behind)?))
    }
}

/// The body of a batch.
pub struct Body {
    pub file: Shared,
    pub place: Place,
    pub codec: Option<Codec>,
}

impl Body {
    /// Some bytes of a buffer.
    pub fn bytes(&self, buffer: &[u8; 16], range: Range<u64>) -> Option<Vec<u8>> {
        let (start, length) = buffer.split_at_checked(8)?;
        let (start, length) = (long(start)?, long(length)?);
        start.checked_add(length).filter(|end| *end <= self.place.size)?;
        let start = self.place.body.checked_add(start)?;
        let wanted = usize::try_from(range.end.checked_sub(range.start)?).ok()?;
        if wanted == 0 {
            return Some(vec![]);
        }
        let read = |start, length| bytes(self.file.lock().ok()?.as_mut(), start, length);
        let Some(codec) = self.codec else {
            return (range.end <= length).then(|| read(start + range.start, wanted)).flatten();
        };
        let mut all = unpacked(&read(start, usize::try_from(length).ok()?)?, codec)?;
        all.truncate(usize::try_from(range.end).ok()?);
        all.drain(..all.len().checked_sub(wanted).filter(|start| *start as u64 == range.start)?);
        Some(all)
    }
}

/// The bytes of a buffer whose length comes before it; -1 if it is as it was.
fn unpacked(packed: &[u8], codec: Codec) -> Option<Vec<u8>> {
    let (size, packed) = packed.split_first_chunk::<8>()?;
    let size = i64::from_le_bytes(*size);
    if size == -1 {
        return Some(packed.to_vec());
    }
    let size = usize::try_from(size).ok().filter(|size| *size <= LARGEST)?;
    match codec {
        Codec::Lz4 => limited(lz4_flex::frame::FrameDecoder::new(packed), size),
        Codec::Zstd => limited(zstd::stream::read::Decoder::with_buffer(packed).ok()?, size),
    }
}
