//! The schema of an Arrow file: what its columns hold, how they lie in a batch, and how much of it each of them takes.

use super::flat::Table;
use crate::data::columnar::values::Kind;
use crate::data::format::Misfit;

/// The first version of metadata that is read, in which unions and runs say in a buffer which of their cells are there.
pub const V4: i16 = 3;
/// Fields within fields, far more than tables have.
const DEEPEST: usize = 64;

/// How the cells of a column lie in its buffers.
#[derive(Clone, Copy)]
pub enum Storage {
    /// In none.
    Nothing,
    Bits,
    /// So many bytes each.
    Whole(usize),
    Half,
    Single,
    Double,
    Milliseconds,
    /// Ends of so many bytes each, and the texts.
    Texts(usize),
    /// Short texts, or where long ones lie in further buffers.
    Views,
}

impl Storage {
    /// How much a column takes that holds nothing else.
    pub fn extent(self) -> Extent {
        let (buffers, views) = match self {
            Storage::Nothing => (0, 0),
            Storage::Texts(_) => (3, 0),
            Storage::Views => (2, 1),
            _ => (2, 0),
        };
        Extent { nodes: 1, buffers, views, old: 0 }
    }

    /// Bytes of a cell of those that take as many each.
    pub fn bytes(self) -> u64 {
        match self {
            Storage::Whole(bytes) => bytes as u64,
            Storage::Half => 2,
            Storage::Single => 4,
            _ => 8,
        }
    }
}

/// How much of a batch columns take: nodes, buffers, and columns that have further buffers.
#[derive(Clone, Copy, Default)]
pub struct Extent {
    pub nodes: usize,
    pub buffers: usize,
    pub views: usize,
    /// Buffers that only version 4 has.
    pub old: usize,
}

impl std::ops::Add for Extent {
    type Output = Extent;

    fn add(self, other: Extent) -> Extent {
        Extent {
            nodes: self.nodes + other.nodes,
            buffers: self.buffers + other.buffers,
            views: self.views + other.views,
            old: self.old + other.old,
        }
    }
}

/// Numbers of cells in a dictionary, in place of cells.
#[derive(Clone, Copy)]
pub struct Index {
    pub dictionary: i64,
    pub bytes: usize,
    pub signed: bool,
}

/// A column.
pub struct Field {
    pub name: String,
    pub holds: Result<(Kind, Storage), Misfit>,
    pub index: Option<Index>,
    /// What lies before it in a batch.
    pub before: Extent,
}

/// The columns of a schema and what a batch of them takes; `None` if the schema is broken, or its numbers have their first byte first.
pub fn fields(schema: &Table) -> Option<(Vec<Field>, Extent)> {
    (schema.short(0, 0)? == 0).then_some(())?;
    // Every field takes a byte at least, unless fields share their children.
    let mut steps = Steps { left: schema.size() };
    let (mut all, mut before) = (vec![], Extent::default());
    for field in schema.tables(1)? {
        all.push(Field { name: field.text(0)?.into(), holds: holds(&field)?, index: index(&field)?, before });
        before = before + steps.extent(&field, 0)?;
    }
    Some((all, before))
}

/// An integer type: bytes, and whether there are negative ones.
fn int(ty: &Table) -> Option<(usize, bool)> {
    let bits = ty.int(0, 0)?;
    matches!(bits, 8 | 16 | 32 | 64).then_some((bits.unsigned_abs() as usize / 8, ty.byte(1)? != 0))
}

fn index(field: &Table) -> Option<Option<Index>> {
    if !field.has(4) {
        return Some(None);
    }
    let encoding = field.table(4)?;
    let (bytes, signed) = if encoding.has(1) { int(&encoding.table(1)?)? } else { (4, true) };
    Some(Some(Index { dictionary: encoding.long(0)?, bytes, signed }))
}

/// What the cells are, of a dictionary those that it has.
fn holds(field: &Table) -> Option<Result<(Kind, Storage), Misfit>> {
    let ty = field.table(3)?;
    Some(Ok(match field.byte(2)? {
        1 => (Kind::Null, Storage::Nothing),
        2 => int(&ty).map(|(bytes, signed)| (Kind::whole(signed), Storage::Whole(bytes)))?,
        3 => match ty.short(0, 0)? {
            0 => (Kind::Double, Storage::Half),
            1 => (Kind::Float, Storage::Single),
            2 => (Kind::Double, Storage::Double),
            _ => return None,
        },
        4 | 5 => (Kind::Text, Storage::Texts(4)),
        19 | 20 => (Kind::Text, Storage::Texts(8)),
        23 | 24 => (Kind::Text, Storage::Views),
        6 => (Kind::Bool, Storage::Bits),
        7 => {
            let bits = ty.int(2, 128)?;
            let fits = if matches!(bits, 32 | 64 | 128) { Ok(()) } else { Err(Misfit::Binary) };
            let kind = Kind::decimal(ty.int(0, 0)?, ty.int(1, 0)?);
            return Some(fits.and(kind).map(|kind| (kind, Storage::Whole(bits.unsigned_abs() as usize / 8))));
        }
        8 if ty.short(0, 1)? == 0 => (Kind::Day, Storage::Whole(4)),
        8 => (Kind::Day, Storage::Milliseconds),
        9..=11 | 18 => return Some(Err(Misfit::Times)),
        12..=14 | 16 | 17 | 21 | 22 | 25 | 26 => return Some(Err(Misfit::Nested)),
        _ => return Some(Err(Misfit::Binary)),
    }))
}

/// How many more fields are looked at.
struct Steps {
    left: usize,
}

impl Steps {
    /// How much a column takes; `None` for a type that is not known, behind which nothing could be found.
    fn extent(&mut self, field: &Table, depth: usize) -> Option<Extent> {
        self.left = self.left.checked_sub(1).filter(|_| depth < DEEPEST)?;
        let one = |buffers, views| Extent { nodes: 1, buffers, views, old: 0 };
        if field.has(4) {
            return Some(one(2, 0));
        }
        let own = match field.byte(2)? {
            1 => one(0, 0),
            22 => Extent { old: 1, ..one(0, 0) },
            13 | 16 => one(1, 0),
            14 => Extent { old: 1, ..one(1 + usize::from(field.table(3)?.short(0, 0)? == 1), 0) },
            2 | 3 | 6..=12 | 15 | 17 | 18 | 21 => one(2, 0),
            23 | 24 => one(2, 1),
            4 | 5 | 19 | 20 | 25 | 26 => one(3, 0),
            _ => return None,
        };
        field.tables(5)?.iter().try_fold(own, |sum, child| Some(sum + self.extent(child, depth + 1)?))
    }
}
