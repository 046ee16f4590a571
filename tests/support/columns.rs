//! Tables as columns of cells, written as CSV by hand and as Parquet by the crate's writer.

use parquet::basic::{Compression, Encoding};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, FixedLenByteArray};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;
use std::sync::Arc;

/// Cells as Parquet has them; no group of tests uses all of them.
#[allow(dead_code)]
#[derive(Clone)]
pub enum Cells {
    Bool(Vec<Option<bool>>),
    Int32(Vec<Option<i32>>),
    Int64(Vec<Option<i64>>),
    Float(Vec<Option<f32>>),
    Double(Vec<Option<f64>>),
    Bytes(Vec<Option<Vec<u8>>>),
    Fixed(Vec<Option<Vec<u8>>>),
}

/// A column: the line of the schema behind `optional`, its cells, and the texts that CSV has for them.
#[derive(Clone)]
pub struct Column {
    pub name: String,
    pub schema: String,
    pub cells: Cells,
    pub texts: Vec<Vec<u8>>,
}

/// How a file is laid out, which no reader may see.
#[derive(Clone, Debug)]
pub struct Layout {
    pub group: usize,
    pub page: usize,
    pub version: WriterVersion,
    pub compression: Compression,
    pub dictionary: bool,
    /// Other encodings than the plain one where a column has them.
    pub delta: bool,
    pub statistics: bool,
}

impl Layout {
    pub const PLAIN: Layout = Layout {
        group: 1000,
        page: 1000,
        version: WriterVersion::PARQUET_1_0,
        compression: Compression::UNCOMPRESSED,
        dictionary: true,
        delta: false,
        statistics: false,
    };
}

fn quoted(text: &[u8]) -> Vec<u8> {
    let mut out = vec![b'"'];
    for b in text {
        out.extend(if *b == b'"' { &b"\"\""[..] } else { std::slice::from_ref(b) });
    }
    out.push(b'"');
    out
}

pub fn csv(columns: &[Column]) -> Vec<u8> {
    let line = |cells: Vec<Vec<u8>>| [cells.join(&b","[..]), b"\n".to_vec()].concat();
    let mut out = line(columns.iter().map(|c| quoted(c.name.as_bytes())).collect());
    for row in 0..columns[0].texts.len() {
        out.extend(line(columns.iter().map(|c| quoted(&c.texts[row])).collect()));
    }
    out
}

/// Definition levels and the cells that are there.
fn dense<T: Clone>(cells: &[Option<T>]) -> (Vec<i16>, Vec<T>) {
    (cells.iter().map(|c| i16::from(c.is_some())).collect(), cells.iter().flatten().cloned().collect())
}

fn properties(columns: &[Column], layout: &Layout) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_compression(layout.compression)
        .set_writer_version(layout.version)
        .set_dictionary_enabled(layout.dictionary)
        .set_data_page_row_count_limit(layout.page)
        .set_write_batch_size(layout.page.min(64))
        .set_write_page_header_statistics(layout.statistics)
        .set_statistics_enabled(if layout.statistics { EnabledStatistics::Page } else { EnabledStatistics::None });
    for column in columns {
        let encoding = match &column.cells {
            Cells::Int32(_) | Cells::Int64(_) => Encoding::DELTA_BINARY_PACKED,
            Cells::Float(_) | Cells::Double(_) | Cells::Fixed(_) => Encoding::BYTE_STREAM_SPLIT,
            Cells::Bytes(_) => Encoding::DELTA_LENGTH_BYTE_ARRAY,
            Cells::Bool(_) => Encoding::RLE,
        };
        let encoding = if layout.delta { encoding } else { Encoding::PLAIN };
        properties = properties.set_column_encoding(ColumnPath::from(column.name.as_str()), encoding);
    }
    properties.build()
}

pub fn parquet(columns: &[Column], layout: &Layout) -> Vec<u8> {
    let fields: String = columns.iter().map(|c| format!("optional {};", c.schema.replace("NAME", &c.name))).collect();
    let schema = Arc::new(parse_message_type(&format!("message rows {{ {fields} }}")).unwrap());
    let mut writer = SerializedFileWriter::new(vec![], schema, Arc::new(properties(columns, layout))).unwrap();
    let rows = columns[0].texts.len();
    for start in (0..rows).step_by(layout.group) {
        let part = start..rows.min(start + layout.group);
        let mut group = writer.next_row_group().unwrap();
        for column in columns {
            let mut open = group.next_column().unwrap().unwrap();
            macro_rules! write {
                ($writer:expr, $cells:expr, $of:expr) => {{
                    let (levels, cells) = dense(&$cells[part.clone()]);
                    let cells: Vec<_> = cells.into_iter().map($of).collect();
                    $writer.write_batch(&cells, Some(&levels), None).unwrap();
                }};
            }
            match (open.untyped(), &column.cells) {
                (ColumnWriter::BoolColumnWriter(w), Cells::Bool(c)) => write!(w, c, |x| x),
                (ColumnWriter::Int32ColumnWriter(w), Cells::Int32(c)) => write!(w, c, |x| x),
                (ColumnWriter::Int64ColumnWriter(w), Cells::Int64(c)) => write!(w, c, |x| x),
                (ColumnWriter::FloatColumnWriter(w), Cells::Float(c)) => write!(w, c, |x| x),
                (ColumnWriter::DoubleColumnWriter(w), Cells::Double(c)) => write!(w, c, |x| x),
                (ColumnWriter::ByteArrayColumnWriter(w), Cells::Bytes(c)) => write!(w, c, ByteArray::from),
                (ColumnWriter::FixedLenByteArrayColumnWriter(w), Cells::Fixed(c)) => {
                    write!(w, c, |x: Vec<u8>| FixedLenByteArray::from(ByteArray::from(x)))
                }
                _ => panic!("{} has other cells than its schema", column.name),
            }
            open.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.into_inner().unwrap()
}
