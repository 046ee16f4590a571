//! How cells of data files are read: one public table, which the reader is held to and the manual shows.

use std::fmt::Write;

/// One way of writing a value.
pub struct Reading {
    /// The type that is read.
    pub ty: &'static str,
    /// What is read, in words.
    pub what: &'static str,
    /// Cells, and what they are read as; `None` for what is unreadable.
    pub cells: &'static [(&'static str, Option<f64>)],
}

/// All of them; what is in none of these rows is missing or unreadable.
pub const READINGS: &[Reading] = &[
    Reading {
        ty: "bool",
        what: "`true`, `t`, `yes`, `y` and `false`, `f`, `no`, `n` in any case; a plain number equal to 1 or to 0",
        cells: &[
            ("T", Some(1.0)),
            (" Yes ", Some(1.0)),
            ("1", Some(1.0)),
            ("1.0", Some(1.0)),
            ("FALSE", Some(0.0)),
            ("n", Some(0.0)),
            ("0.00", Some(0.0)),
            ("2", None),
            ("on", None),
            ("$1", None),
            ("100%", None),
            ("NA", None),
            ("", None),
        ],
    },
    Reading {
        ty: "a number",
        what: "a decimal number with a sign or none, digits on either side of the point, an exponent; `inf` and `infinity`",
        cells: &[
            ("-3", Some(-3.0)),
            ("+.5", Some(0.5)),
            ("5.", Some(5.0)),
            ("1.5e3", Some(1500.0)),
            ("-inf", Some(f64::NEG_INFINITY)),
            (".", None),
            ("0x1f", None),
            ("1_000", None),
            ("1 000", None),
            ("NaN", None),
            ("NA", None),
            ("", None),
        ],
    },
    Reading {
        ty: "a number",
        what: "with commas between groups of three digits, the first of which does not begin with 0; a decimal comma is never read",
        cells: &[
            ("1,234", Some(1234.0)),
            ("1,234.50", Some(1234.5)),
            ("12,345,678", Some(12_345_678.0)),
            ("1,5", None),
            ("12,34", None),
            ("1234,567", None),
            ("0,123", None),
            ("1.234,50", None),
            ("1,234e3", None),
        ],
    },
    Reading {
        ty: "a number",
        what: "with `$` or `£` before it, the sign on either side",
        cells: &[
            ("$500", Some(500.0)),
            ("-$2.50", Some(-2.5)),
            ("$-2.50", Some(-2.5)),
            ("£1,234", Some(1234.0)),
            ("-$-1", None),
            ("500 $", None),
            ("(500)", None),
            ("€1.234", None),
            ("USD 5", None),
        ],
    },
    Reading {
        ty: "a number",
        what: "with `%` behind it: hundredths, as in a program",
        cells: &[("12%", Some(0.12)), ("-0.5 %", Some(-0.005)), ("1,234%", Some(12.34)), ("$5%", None), ("1e2%", None), ("%", None)],
    },
    Reading {
        ty: "date",
        what: "a day of the calendar: year, month and day in four, two and two digits",
        cells: &[
            ("2020-02-29", Some(18_321.0)),
            ("1969-12-31", Some(-1.0)),
            ("2021-02-29", None),
            ("2020-2-9", None),
            ("29.02.2020", None),
            ("02/29/2020", None),
            ("20200229", None),
            ("2020-02-29 08:30", None),
            ("", None),
        ],
    },
    Reading {
        ty: "category {north, \" west\", other}",
        what: "exactly the label of a level, or that label with blanks around it",
        cells: &[
            ("north", Some(0.0)),
            (" north", Some(0.0)),
            (" west", Some(1.0)),
            ("other", Some(2.0)),
            ("west", None),
            ("North", None),
            ("nort", None),
            ("", None),
        ],
    },
];

/// The table as Markdown.
pub fn table() -> String {
    let mut out = String::from("| type | what is read | for example | what is not |\n|---|---|---|---|\n");
    for r in READINGS {
        let levels = ["north", "\" west\"", "other"];
        let value = |x: f64| match (r.ty, levels.get(x as usize)) {
            ("bool", _) => (x != 0.0).to_string(),
            ("date", _) => format!("day {}", super::print::number(x)),
            (ty, Some(level)) if ty.starts_with("category") => (*level).to_owned(),
            _ => super::print::number(x),
        };
        // A blank that begins or ends code is not shown, so the quotes of the file are.
        let cell = |text: &str| if text.trim() == text && !text.is_empty() { format!("`{text}`") } else { format!("`\"{text}\"`") };
        let read: Vec<String> = r.cells.iter().filter_map(|(c, x)| Some(format!("{} is {}", cell(c), value((*x)?)))).collect();
        let unread: Vec<String> = r.cells.iter().filter(|(_, x)| x.is_none()).map(|(c, _)| cell(c)).collect();
        let ty = if r.ty.starts_with("a ") { r.ty.to_owned() } else { format!("`{}`", r.ty) };
        let _ = writeln!(out, "| {ty} | {} | {} | {} |", r.what, read.join("; "), unread.join(" "));
    }
    out
}
