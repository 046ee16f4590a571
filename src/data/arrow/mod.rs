//! Arrow files (Feather V2) and streams: messages that say which columns there are and where the buffers of their batches lie.
//!
//! On opening only what messages say is read; their bodies are passed over. Nothing that a file says of its sizes is believed.

mod batch;
mod column;
mod flat;
mod message;
mod schema;

use std::sync::{Arc, Mutex};

use self::batch::{Batch, Body};
use self::column::{Cells, Column, Dictionary};
use self::flat::Table;
use self::message::{Messages, Place};
use self::schema::{Extent, Field};
use super::Seekable;
use super::columnar::values::{Form, Kind, Values};
use super::columnar::{Reader, Refused, Shared, Stored, Wanted};
use super::format::Misfit;

/// Kinds of messages.
const SCHEMA: u8 = 1;
const DICTIONARY: u8 = 2;
const BATCH: u8 = 3;

/// Most rows of a group, a multiple of eight: a batch that is not packed can be read in parts.
const PART: u64 = 1 << 16;

/// A batch, or some rows of it.
struct Group {
    place: Place,
    from: u64,
    rows: u64,
    /// How many dictionaries stand before it.
    known: usize,
}

/// A dictionary: its number in the schema, and the messages that have its cells, one behind the other.
struct Pieces {
    id: i64,
    places: Vec<Place>,
}

/// A dictionary that was decoded: which, for which column, in which form.
type Decoded = (usize, usize, Form, Arc<Dictionary>);

/// A file, and where its batches lie.
pub struct Arrow {
    file: Shared,
    fields: Vec<Field>,
    /// What a batch takes.
    takes: Extent,
    groups: Vec<Group>,
    dictionaries: Vec<Pieces>,
    decoded: Mutex<Vec<Decoded>>,
}

impl Arrow {
    /// Reads what the messages say.
    pub fn open(mut file: Box<dyn Seekable>) -> Option<Arrow> {
        let (mut messages, footer) = Messages::of(file.as_mut())?;
        // Batches of a file come in any order: what they refer to is there once.
        let listed = footer.is_some();
        let (text, at) = footer.map_or_else(|| Some((messages.next()??.1, 2)), |footer| Some((footer, 1)))?;
        let first = Table::root(&text)?;
        (listed || first.byte(1)? == SCHEMA).then_some(())?;
        let (fields, takes) = schema::fields(&first.table(at)?)?;
        let (mut groups, mut dictionaries) = (vec![], Vec::<Pieces>::new());
        while let Some((place, text)) = messages.next()? {
            let message = Table::root(&text)?;
            let header = message.table(2)?;
            match message.byte(1)? {
                BATCH => {
                    let batch = Batch::of(&message, &header, takes)?;
                    // A batch of more rows than its body has bits has no cells.
                    let parts = batch.codec.is_none() && batch.rows / 8 <= place.size;
                    let rows = if parts { PART } else { batch.rows.max(1) };
                    let group = |from| Group { place, from, rows: rows.min(batch.rows - from), known: dictionaries.len() };
                    groups.extend((0..batch.rows.div_ceil(rows)).map(|part| group(part * rows)));
                }
                DICTIONARY => {
                    let id = header.long(0)?;
                    let before = dictionaries.iter_mut().rfind(|one| one.id == id);
                    match (header.byte(2)? != 0, before) {
                        (true, Some(before)) => before.places.push(place),
                        (true, None) => return None,
                        (false, Some(_)) if listed => return None,
                        (false, _) => dictionaries.push(Pieces { id, places: vec![place] }),
                    }
                }
                _ => return None,
            }
        }
        Some(Arrow { file: Arc::new(Mutex::new(file)), fields, takes, groups, dictionaries, decoded: Mutex::default() })
    }

    /// What the message at a place says.
    fn text(&self, place: &Place) -> Option<Vec<u8>> {
        place.read(self.file.lock().ok()?.as_mut())
    }

    fn body(&self, place: Place, batch: &Batch) -> Body {
        Body { file: self.file.clone(), place, codec: batch.codec }
    }

    fn reader(&self, group: &Group, batch: &Batch, wanted: &Wanted) -> Option<Column> {
        let field = self.fields.get(wanted.column)?;
        let (_, storage) = field.holds.ok()?;
        let (cells, takes) = match field.index {
            Some(index) => {
                let at = self.dictionaries.get(..group.known)?.iter().rposition(|one| one.id == index.dictionary);
                (Cells::Of(self.dictionary(at, wanted)?, index), Extent { nodes: 1, buffers: 2, ..Extent::default() })
            }
            None => (Cells::Stored(storage), storage.extent()),
        };
        let buffers = batch.column(field.before, takes)?;
        Column::new(&self.body(group.place, batch), buffers, cells, wanted, (group.from, group.rows))
    }

    /// A dictionary, decoded once; an empty one where none stands before a batch, which then has no cells of it.
    fn dictionary(&self, at: Option<usize>, wanted: &Wanted) -> Option<Arc<Dictionary>> {
        let Some(at) = at else { return Some(Arc::new(Dictionary { values: Arc::new(Values::Missing), length: 0 })) };
        let mut decoded = self.decoded.lock().ok()?;
        let known = decoded.iter().find(|(number, column, form, _)| (*number, *column, form) == (at, wanted.column, &wanted.form));
        if let Some((.., known)) = known {
            return Some(known.clone());
        }
        let (first, more) = self.dictionaries.get(at)?.places.split_first()?;
        let (mut values, mut length) = self.piece(first, wanted)?;
        for place in more {
            let (more, rows) = self.piece(place, wanted)?;
            values.append(more)?;
            length = length.checked_add(rows)?;
        }
        let dictionary = Arc::new(Dictionary { values: Arc::new(values), length });
        // Of a column whose dictionary is replaced again and again, few are kept.
        decoded.retain(|(number, column, ..)| *column != wanted.column || number + 4 > at);
        decoded.push((at, wanted.column, wanted.form.clone(), dictionary.clone()));
        Some(dictionary)
    }

    fn piece(&self, place: &Place, wanted: &Wanted) -> Option<(Values, usize)> {
        let (_, storage) = self.fields.get(wanted.column)?.holds.ok()?;
        let text = self.text(place)?;
        let message = Table::root(&text)?;
        let batch = Batch::of(&message, &message.table(2)?.table(1)?, storage.extent())?;
        let buffers = batch.column(Extent::default(), storage.extent())?;
        let rows = usize::try_from(batch.rows).ok()?;
        let mut column = Column::new(&self.body(*place, &batch), buffers, Cells::Stored(storage), wanted, (0, batch.rows))?;
        Some((column.read(rows)?, rows))
    }
}

impl Stored for Arrow {
    fn names(&self) -> Vec<&str> {
        self.fields.iter().map(|field| field.name.as_str()).collect()
    }

    fn kinds(&self) -> Vec<(usize, Result<Kind, Misfit>)> {
        (0..).zip(&self.fields).map(|(at, field)| (at, field.holds.map(|(kind, _)| kind))).collect()
    }

    fn kind(&self, column: usize) -> Result<Kind, Refused> {
        let field = self.fields.get(column).ok_or(Refused::Broken)?;
        field.holds.map(|(kind, _)| kind).map_err(Refused::Misfit)
    }

    fn counts(&self, _: usize) -> bool {
        true
    }

    fn groups(&self) -> usize {
        self.groups.len()
    }

    fn readers(&self, group: usize, wanted: &[Wanted]) -> Option<(u64, Vec<Box<dyn Reader>>)> {
        let group = self.groups.get(group)?;
        let text = self.text(&group.place)?;
        let message = Table::root(&text)?;
        let batch = Batch::of(&message, &message.table(2)?, self.takes)?;
        let reader = |wanted| Some(Box::new(self.reader(group, &batch, wanted)?) as Box<dyn Reader>);
        Some((group.rows, wanted.iter().map(reader).collect::<Option<_>>()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// All cells of all columns that are read: how many rows; `None` if the file is refused.
    fn read(file: &[u8]) -> Option<usize> {
        let file = Arrow::open(Box::new(Cursor::new(file.to_vec())))?;
        let kinds = file.kinds().into_iter().filter_map(|(column, kind)| Some((column, kind.ok()?)));
        let wanted: Vec<_> = kinds.map(|(column, kind)| Wanted { column, kind, form: Form::Text }).collect();
        let mut all = 0;
        for group in 0..file.groups() {
            let (mut rows, mut readers) = file.readers(group, &wanted)?;
            while rows > 0 && all < 1000 {
                let some = rows.min(7) as usize;
                for reader in &mut readers {
                    let values = reader.read(some)?;
                    for row in 0..some {
                        let _ = values.cell(row).text();
                    }
                }
                (rows, all) = (rows - some as u64, all + some);
            }
        }
        Some(all)
    }

    /// Not contained: nothing here may panic.
    #[test]
    fn broken_files_are_refused_or_read() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/arrow");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut found = [0, 0];
        for path in files.filter(|path| path.extension().is_some_and(|end| end == "arrow")) {
            let whole = std::fs::read(&path).unwrap();
            assert!(read(&whole).is_some_and(|rows| rows > 5), "{}", path.display());
            for at in (0..whole.len()).step_by(5) {
                let mut broken = whole.clone();
                broken[at] ^= [1, 0x80, 0xff][at % 3];
                found[usize::from(read(&broken).is_some())] += 1;
                if at % 7 == 0 {
                    found[usize::from(read(&whole[..at]).is_some())] += 1;
                }
            }
        }
        assert!(found[0] > 1000 && found[1] > 1000, "{found:?}");
    }
}
