//! How engines write what a query needs, one table for all of them: only expressions whose values are exact, and that cannot fail on a cell.

use std::fmt::Write as _;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    DuckDb,
    Postgres,
    Spark,
    /// Also Ballista.
    DataFusion,
    Sqlite,
}

/// What is added to the floor of a number, so that ties go to even.
const EVEN: &str = "CASE WHEN {d} > {half} THEN 1 WHEN {d} = {half} THEN (({f} % 2) + 2) % 2 ELSE 0 END";

impl Dialect {
    pub const ALL: [Dialect; 5] = [Dialect::DuckDb, Dialect::Postgres, Dialect::Spark, Dialect::DataFusion, Dialect::Sqlite];

    pub fn name(self) -> &'static str {
        match self {
            Dialect::DuckDb => "duckdb",
            Dialect::Postgres => "postgres",
            Dialect::Spark => "spark",
            Dialect::DataFusion => "datafusion",
            Dialect::Sqlite => "sqlite",
        }
    }

    /// Versions whose integers were held to those of the same cells as CSV, by `tests/draws/sql.rs` and `benches/results/engines.txt`.
    pub fn tested(self) -> &'static [&'static str] {
        match self {
            Dialect::DuckDb => &["2.0.0", "2.0.1"],
            Dialect::DataFusion => &["55.0.0"],
            Dialect::Sqlite => &["3.40.1", "3.54.1"],
            Dialect::Postgres => &["15.18"],
            Dialect::Spark => &["4.3.0"],
        }
    }

    /// The name of a column or a table.
    pub fn identifier(self, name: &str) -> String {
        // A name in double quotes that SQLite does not find is a text to it.
        let quote = if matches!(self, Dialect::Spark | Dialect::Sqlite) { "`" } else { "\"" };
        format!("{quote}{}{quote}", name.replace(quote, &quote.repeat(2)))
    }

    /// A literal text, whatever a session says of escapes.
    pub fn text(self, text: &str) -> String {
        match self {
            // There a backslash is an escape or is none, two quotes are one or none, and `${..}` stands for a setting.
            Dialect::Spark if text.contains(['\\', '\'', '$']) => {
                let escaped = |c| if matches!(c, '\\' | '\'' | '$') { format!("', char({}), '", c as u32) } else { String::from(c) };
                format!("concat('{}')", text.chars().map(escaped).collect::<String>())
            }
            Dialect::Postgres if text.contains('\\') => format!("E'{}'", text.replace('\\', "\\\\").replace('\'', "''")),
            _ => format!("'{}'", text.replace('\'', "''")),
        }
    }

    /// A text of one character of ASCII.
    pub fn character(self, code: u8) -> String {
        let of = if matches!(self, Dialect::Spark | Dialect::Sqlite) { "char" } else { "chr" };
        format!("{of}({code})")
    }

    /// A literal whole number.
    pub fn whole(self, x: i128) -> String {
        if x < 0 { format!("({x})") } else { x.to_string() }
    }

    /// A literal double.
    pub fn real(self, x: f64) -> String {
        match self {
            Dialect::DuckDb => format!("'{x:?}'::DOUBLE"),
            Dialect::Postgres => format!("float8 '{x:?}'"),
            Dialect::Spark if x < 0.0 => format!("({x:?}D)"),
            Dialect::Spark => format!("{x:?}D"),
            Dialect::DataFusion => format!("CAST({x:?} AS DOUBLE)"),
            Dialect::Sqlite => exact(x),
        }
    }

    fn double(self) -> &'static str {
        match self {
            Dialect::Postgres => "FLOAT8",
            Dialect::Sqlite => "REAL",
            _ => "DOUBLE",
        }
    }

    pub fn to_real(self, x: &str) -> String {
        format!("CAST({x} AS {})", self.double())
    }

    pub fn to_whole(self, x: &str) -> String {
        let ty = match self {
            Dialect::Postgres => "INT8",
            Dialect::Sqlite => "INTEGER",
            _ => "BIGINT",
        };
        format!("CAST({x} AS {ty})")
    }

    /// A text that is compared byte by byte, empty where there is none.
    pub fn to_text(self, x: &str) -> String {
        match self {
            Dialect::DuckDb => format!("(coalesce(CAST({x} AS VARCHAR), '') COLLATE \"C\")"),
            Dialect::Postgres => format!("(coalesce(CAST({x} AS TEXT), '') COLLATE \"C\")"),
            Dialect::Spark => format!("coalesce(CAST({x} AS STRING), '')"),
            Dialect::DataFusion => format!("coalesce(CAST({x} AS VARCHAR), '')"),
            Dialect::Sqlite => format!("(coalesce(CAST({x} AS TEXT), '') COLLATE BINARY)"),
        }
    }

    /// The text without the blanks around it.
    pub fn trimmed(self, text: &str) -> String {
        match self {
            Dialect::Postgres => format!("btrim({text}, ' ' || chr(9) || chr(10) || chr(12) || chr(13))"),
            Dialect::Spark => format!("trim(BOTH concat(' ', char(9), char(10), char(12), char(13)) FROM {text})"),
            Dialect::DataFusion => format!("btrim({text}, concat(' ', chr(9), chr(10), chr(12), chr(13)))"),
            Dialect::DuckDb => format!("trim({text}, ' ' || chr(9) || chr(10) || chr(12) || chr(13))"),
            Dialect::Sqlite => format!("trim({text}, ' ' || char(9, 10, 12, 13))"),
        }
    }

    /// Number of bytes of a text.
    pub fn bytes(self, text: &str) -> String {
        match self {
            Dialect::DuckDb => format!("strlen({text})"),
            Dialect::Sqlite => format!("length(CAST({text} AS BLOB))"),
            _ => format!("octet_length({text})"),
        }
    }

    /// Is there no number in a column? A text of SQLite, whose columns hold anything, is none.
    pub fn no_real(self, x: &str) -> String {
        match self {
            Dialect::Sqlite => format!("typeof({x}) NOT IN ('integer', 'real')"),
            Dialect::Postgres => format!("{x} IS NULL OR {x} = float8 'NaN'"),
            _ => format!("{x} IS NULL OR isnan({x})"),
        }
    }

    pub fn no_whole(self, x: &str) -> String {
        match self {
            Dialect::Sqlite => self.no_real(x),
            _ => format!("{x} IS NULL"),
        }
    }

    /// The whole number nearest to a double of at most 2^62, ties to even.
    pub fn nearest(self, x: &str) -> String {
        let (floor, rest) = match self {
            Dialect::DuckDb => return format!("CAST(round_even({x}, 0) AS BIGINT)"),
            Dialect::Postgres => return format!("CAST(round({x}) AS INT8)"),
            Dialect::Spark => return format!("CAST(rint({x}) AS BIGINT)"),
            Dialect::DataFusion => (format!("CAST(floor({x}) AS BIGINT)"), format!("({x} - floor({x}))")),
            Dialect::Sqlite => {
                let floor = format!("(CAST({x} AS INTEGER) - ({x} < CAST({x} AS INTEGER)))");
                (floor.clone(), format!("({x} - {floor})"))
            }
        };
        format!("({floor} + {})", EVEN.replace("{d}", &rest).replace("{f}", &floor).replace("{half}", &self.real(0.5)))
    }

    /// A whole number moved between two.
    pub fn within(self, x: &str, lo: i64, hi: i64) -> String {
        let (least, greatest) = if self == Dialect::Sqlite { ("min", "max") } else { ("least", "greatest") };
        format!("{least}({greatest}({x}, {}), {})", self.whole(lo.into()), self.whole(hi.into()))
    }

    /// Without its last so many binary digits.
    pub fn shifted(self, x: &str, places: u32) -> String {
        if self == Dialect::Spark { format!("shiftright({x}, {places})") } else { format!("({x} >> {places})") }
    }

    /// May a product of doubles be asked for? In Postgres one that is too small is an error, whose place tells of a cell.
    pub fn multiplies(self) -> bool {
        self != Dialect::Postgres
    }
}

/// A double as a whole number times powers of two: SQLite does not promise to read decimals to the last digit.
fn exact(x: f64) -> String {
    if x.fract() == 0.0 && x.abs() < 9e15 {
        return format!("CAST({} AS REAL)", x as i64);
    }
    let bits = x.abs().to_bits();
    let (fraction, exponent) = (bits & ((1 << 52) - 1), (bits >> 52) as i64);
    let (mut digits, mut power) = if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
    // The fewest digits, so that no step before the last one leaves the normal range.
    let zeros = digits.trailing_zeros();
    (digits, power) = (digits >> zeros, power + i64::from(zeros));
    let sign = if x < 0.0 { "-" } else { "" };
    let mut text = format!("(CAST({sign}{digits} AS REAL)");
    while power != 0 {
        let step = power.abs().min(62);
        let _ = write!(text, " {} CAST({} AS REAL)", if power > 0 { '*' } else { '/' }, 1i64 << step);
        power -= step * power.signum();
    }
    text + ")"
}
