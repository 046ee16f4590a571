//! Tables of FlatBuffers, read in place: every place is looked up within the bytes, and what points out of them is nothing.
//!
//! A table begins with the distance back to its list of fields; the list has, by number, how far into the table each field lies, or 0
//! where it has its default. Tables, texts and vectors lie further on, at a distance that their field holds.

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// Where the distance that stands at a place leads.
fn follow(bytes: &[u8], at: usize) -> Option<usize> {
    at.checked_add(usize::try_from(u32::from_le_bytes(array(bytes, at)?)).ok()?)
}

/// A table, and the list of its fields.
#[derive(Clone, Copy)]
pub struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
    fields: &'a [u8],
}

impl<'a> Table<'a> {
    /// The table that some bytes are about.
    pub fn root(bytes: &'a [u8]) -> Option<Table<'a>> {
        Table::at(bytes, follow(bytes, 0)?)
    }

    fn at(bytes: &'a [u8], at: usize) -> Option<Table<'a>> {
        let back = i32::from_le_bytes(array(bytes, at)?);
        let start = usize::try_from(i64::try_from(at).ok()? - i64::from(back)).ok()?;
        let size = usize::from(u16::from_le_bytes(array(bytes, start)?));
        let fields = bytes.get(start..start.checked_add(size)?)?.get(4..)?;
        Some(Table { bytes, at, fields })
    }

    /// Where a field lies; the inner `None` if it has its default.
    fn field(&self, number: usize) -> Option<usize> {
        let offset = u16::from_le_bytes(array(self.fields, 2 * number)?);
        (offset != 0).then(|| self.at + usize::from(offset))
    }

    fn scalar<const N: usize, T>(&self, number: usize, default: T, of: fn([u8; N]) -> T) -> Option<T> {
        match self.field(number) {
            Some(at) => array(self.bytes, at).map(of),
            None => Some(default),
        }
    }

    pub fn byte(&self, number: usize) -> Option<u8> {
        self.scalar(number, 0, |[byte]| byte)
    }

    pub fn short(&self, number: usize, default: i16) -> Option<i16> {
        self.scalar(number, default, i16::from_le_bytes)
    }

    pub fn int(&self, number: usize, default: i32) -> Option<i32> {
        self.scalar(number, default, i32::from_le_bytes)
    }

    pub fn long(&self, number: usize) -> Option<i64> {
        self.scalar(number, 0, i64::from_le_bytes)
    }

    /// How many bytes there are, this table's and all others.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Is a table or a vector there?
    pub fn has(&self, number: usize) -> bool {
        self.field(number).is_some()
    }

    /// A table that must be there.
    pub fn table(&self, number: usize) -> Option<Table<'a>> {
        Table::at(self.bytes, follow(self.bytes, self.field(number)?)?)
    }

    /// Where the elements of a vector begin, of so many bytes each, and how many there are.
    fn vector(&self, number: usize, size: usize) -> Option<(usize, &'a [u8])> {
        let Some(field) = self.field(number) else { return Some((0, &[])) };
        let at = follow(self.bytes, field)?;
        let count = usize::try_from(u32::from_le_bytes(array(self.bytes, at)?)).ok()?;
        let start = at.checked_add(4)?;
        Some((start, self.bytes.get(start..)?.get(..count.checked_mul(size)?)?))
    }

    /// A text; an empty one where there is none.
    pub fn text(&self, number: usize) -> Option<&'a str> {
        std::str::from_utf8(self.vector(number, 1)?.1).ok()
    }

    /// Elements of a fixed size: numbers or structs.
    pub fn structs<const N: usize>(&self, number: usize) -> Option<&'a [[u8; N]]> {
        Some(self.vector(number, N)?.1.as_chunks().0)
    }

    /// The tables of a vector.
    pub fn tables(&self, number: usize) -> Option<Vec<Table<'a>>> {
        let (start, all) = self.vector(number, 4)?;
        (0..all.len() / 4).map(|i| Table::at(self.bytes, follow(self.bytes, start + 4 * i)?)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list of two fields, the table with a number and the distance to a text, and the text.
    fn bytes() -> Vec<u8> {
        let list: [&[u8]; 4] = [&8u16.to_le_bytes(), &12u16.to_le_bytes(), &4u16.to_le_bytes(), &8u16.to_le_bytes()];
        let table = [8i32.to_le_bytes(), (-7i32).to_le_bytes(), 4u32.to_le_bytes()];
        [&12u32.to_le_bytes()[..], &list.concat(), &table.concat(), &2u32.to_le_bytes(), b"ab"].concat()
    }

    #[test]
    fn fields_are_found_and_have_their_defaults() {
        let bytes = bytes();
        let table = Table::root(&bytes).unwrap();
        assert_eq!((table.int(0, 3), table.text(1), table.int(2, 3)), (Some(-7), Some("ab"), Some(3)));
        assert_eq!((table.text(9), table.structs::<8>(9), table.has(9)), (Some(""), Some(&[][..]), false));
        assert!(table.table(9).is_none() && table.tables(9).unwrap().is_empty());
    }

    /// Whatever a byte says, and wherever the bytes end.
    #[test]
    fn what_leads_out_of_the_bytes_is_nothing() {
        let whole = bytes();
        let look = |bytes: &[u8]| {
            let Some(table) = Table::root(bytes) else { return };
            let _ = (table.byte(0), table.short(1, 0), table.long(1), table.text(1), table.structs::<16>(1));
            let _ = (table.table(1).map(|inner| inner.text(0)), table.tables(1).map(|all| all.len()));
        };
        for at in 0..whole.len() {
            look(&whole[..at]);
            (0..=255).for_each(|byte| look(&[&whole[..at], &[byte], &whole[at + 1..]].concat()));
        }
        assert!(Table::root(&whole[..whole.len() - 1]).unwrap().text(1).is_none());
    }
}
