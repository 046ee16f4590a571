//! Files that are not what the reader takes: known by their first bytes or their header, which are public, and said with what to do.

/// What a file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    Parquet,
    Zip,
    Gzip,
    Utf16,
    Tabs,
    #[default]
    Semicolons,
}

impl Format {
    /// What the first line of a file says, where it does not have the columns that were asked for.
    pub fn of(line: &[u8], delimiter: u8) -> Option<Format> {
        let has = |b: u8| line.contains(&b) && b != delimiter;
        Some(match line {
            _ if line.starts_with(b"PAR1") => Format::Parquet,
            _ if line.starts_with(b"PK\x03\x04") => Format::Zip,
            _ if line.starts_with(b"\x1f\x8b") => Format::Gzip,
            _ if line.starts_with(b"\xff\xfe") || line.starts_with(b"\xfe\xff") || line.contains(&0) => Format::Utf16,
            _ if line.contains(&delimiter) => return None,
            _ if has(b'\t') => Format::Tabs,
            _ if has(b';') => Format::Semicolons,
            _ => return None,
        })
    }

    pub fn is(self) -> &'static str {
        match self {
            Format::Parquet => "is Parquet, not CSV",
            Format::Zip => "is a zip archive or a spreadsheet, not CSV",
            Format::Gzip => "is compressed, and its name does not end in .gz",
            Format::Utf16 => "is UTF-16, not UTF-8",
            Format::Tabs => "has tabs between its columns, not commas",
            Format::Semicolons => "has semicolons between its columns, not commas",
        }
    }

    pub fn help(self) -> &'static str {
        match self {
            Format::Parquet => "write it as CSV:    duckdb -c \"COPY 'rows.parquet' TO 'rows.csv' (HEADER)\"",
            Format::Zip => "unpack it, or save the sheet as CSV",
            Format::Gzip => "name it rows.csv.gz",
            Format::Utf16 => "convert it:    iconv -f UTF-16 -t UTF-8 rows.csv > rows8.csv",
            Format::Tabs => "say so:    --delimiter tab",
            Format::Semicolons => "say so:    --delimiter ';'",
        }
    }
}
