//! Files that are not what the reader takes: known by their first bytes or their header, which are public, and said with what to do.

/// What a file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Format {
    Parquet,
    Arrow,
    Codec,
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
            _ if is_arrow(line) => Format::Arrow,
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
            Format::Arrow => "is Arrow, not CSV",
            Format::Codec => "is Parquet, compressed or encoded in a way that is not read",
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
            Format::Arrow => {
                "write it as CSV:    python3 -c \"import pandas; pandas.read_feather('rows.arrow').to_csv('rows.csv', index=False)\""
            }
            Format::Codec => "write it with zstd, snappy, gzip, raw LZ4 or no compression, and without encryption and DELTA_BYTE_ARRAY",
            Format::Zip => "unpack it, or save the sheet as CSV",
            Format::Gzip => "name it rows.csv.gz",
            Format::Utf16 => "convert it:    iconv -f UTF-16 -t UTF-8 rows.csv > rows8.csv",
            Format::Tabs => "say so:    --delimiter tab",
            Format::Semicolons => "say so:    --delimiter ';'",
        }
    }
}

/// Is this the start of a file that zstd has compressed?
#[cfg(feature = "parquet")]
pub fn is_zstd(first: &[u8]) -> bool {
    first.starts_with(b"\x28\xb5\x2f\xfd")
}

/// Is this the start of a Parquet file? Its bytes are the header of a CSV file, so they are public; a header may begin with `PAR1`,
/// but no page of a column begins with a character.
#[cfg(feature = "parquet")]
pub fn is_parquet(first: &[u8]) -> bool {
    matches!(first, [b'P', b'A', b'R', b'1', next, ..] if next.is_ascii_control() && !next.is_ascii_whitespace())
}

/// Is this the start of an Arrow file (Feather V2), or of a stream? No CSV file in UTF-8 begins so.
pub fn is_arrow(first: &[u8]) -> bool {
    first.starts_with(b"ARROW1\0\0") || first.starts_with(b"\xff\xff\xff\xff")
}

/// A column of a Parquet or Arrow file that has no map into its declared type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Misfit {
    Nested,
    Times,
    Binary,
    /// Booleans where numbers or dates are declared.
    Booleans,
    /// Days where numbers or bools are declared.
    Days,
    /// Numbers where dates are declared.
    Numbers,
}

impl Misfit {
    pub fn holds(self) -> &'static str {
        match self {
            Misfit::Nested => "lists or records, which are not read",
            Misfit::Times => "times, which are not read",
            Misfit::Binary => "a type that is not read",
            Misfit::Booleans => "true and false, which are not read as the declared type",
            Misfit::Days => "dates, which are not read as the declared type",
            Misfit::Numbers => "numbers, which are not read as dates",
        }
    }

    pub fn help(self) -> &'static str {
        match self {
            Misfit::Nested => "write one column for each value",
            Misfit::Times => "write the day as a date, or the hour as a number",
            Misfit::Binary => "write it as text, or as numbers",
            Misfit::Booleans => "declare it as bool, or as category {false, true}",
            Misfit::Days => "declare it as date",
            Misfit::Numbers => "write it as dates, or declare it as numbers",
        }
    }
}
