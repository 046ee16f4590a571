//! Thrift's compact protocol as far as headers of pages need it: numbers of structs by field; everything else is skipped.

/// The value of a field.
pub enum Value {
    Number(i64),
    Struct(Fields),
    Skipped,
}

/// Fields of a struct by number.
pub struct Fields(Vec<(i64, Value)>);

impl Fields {
    pub fn number(&self, id: i64) -> Option<i64> {
        self.0.iter().find_map(|(i, value)| match value {
            Value::Number(x) if *i == id => Some(*x),
            _ => None,
        })
    }

    pub fn size(&self, id: i64) -> Option<usize> {
        self.number(id).and_then(|x| usize::try_from(x).ok())
    }

    pub fn count(&self, id: i64) -> Option<u32> {
        self.number(id).and_then(|x| u32::try_from(x).ok())
    }

    pub fn inner(&self, id: i64) -> Option<&Fields> {
        self.0.iter().find_map(|(i, value)| match value {
            Value::Struct(fields) if *i == id => Some(fields),
            _ => None,
        })
    }
}

/// Structs within structs, far more than headers have.
const DEEPEST: usize = 8;

/// What is left of some bytes.
pub struct Compact<'a>(pub &'a [u8]);

impl Compact<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn skip(&mut self, n: u64) -> Option<()> {
        self.0 = self.0.get(usize::try_from(n).ok()?..)?;
        Some(())
    }

    /// An unsigned number, seven bits a byte.
    pub fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let x = self.varint()?;
        Some((x >> 1).cast_signed() ^ -(x & 1).cast_signed())
    }

    /// A struct to its end; every step takes a byte, so bytes bound the work.
    pub fn fields(&mut self, depth: usize) -> Option<Fields> {
        if depth > DEEPEST {
            return None;
        }
        let (mut fields, mut id) = (vec![], 0i64);
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(Fields(fields));
            }
            id = if head >> 4 == 0 { self.signed()? } else { id.checked_add(i64::from(head >> 4))? };
            fields.push((id, self.value(head & 15, depth)?));
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Option<Value> {
        match kind {
            1 | 2 => return Some(Value::Number(i64::from(kind == 1))),
            3 => return Some(Value::Number(self.byte()?.cast_signed().into())),
            4..=6 => return Some(Value::Number(self.signed()?)),
            7 => self.skip(8)?,
            8 => {
                let length = self.varint()?;
                self.skip(length)?;
            }
            9 | 10 => {
                let head = self.byte()?;
                let length = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                for _ in 0..length {
                    self.element(head & 15, depth)?;
                }
            }
            11 => {
                let length = self.varint()?;
                let kinds = if length == 0 { 0 } else { self.byte()? };
                for _ in 0..length {
                    self.element(kinds >> 4, depth)?;
                    self.element(kinds & 15, depth)?;
                }
            }
            12 => return Some(Value::Struct(self.fields(depth + 1)?)),
            _ => return None,
        }
        Some(Value::Skipped)
    }

    /// In lists and maps a bool takes a byte; what is nested deeper than headers are is refused.
    fn element(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            1 | 2 => self.byte().map(|_| ()),
            9..=11 => None,
            _ => self.value(kind, depth).map(|_| ()),
        }
    }
}
