//! `dpm inspect`: what the owner of a file sees of its cells before they are declared; never what an analyst sees.

use super::{Exit, inputs, usage};
use crate::data::Opened;
use crate::data::inspect::{Cells, Inspected, inspect};
use crate::model::Table;
use crate::source::suggest::did_you_mean;
use clap::Args;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct Inspect {
    /// A program that declares private tables
    file: PathBuf,
    /// The file of a private table: `staff=staff.csv`, `-` for standard input
    #[arg(long, value_name = "NAME=PATH")]
    data: Vec<String>,
    /// What stands between the cells of a line: `,`, `;` or `tab`
    #[arg(long, value_name = "CHARACTER")]
    delimiter: Option<inputs::Delimiter>,
    /// Write to this new file, which only its owner may read, instead of the terminal
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
}

const PRIVATE: &str = "PRIVATE: this counts and quotes single cells. It is for the owner of the data and is not a release.";
const BOUNDS: &str = "Bounds and levels belong to what a column means. Bounds that are read off the data are private values: a program that has them tells them.";

pub fn run(args: &Inspect) -> Exit {
    match inspected(args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn inspected(args: &Inspect) -> Result<Exit, Exit> {
    if args.data.iter().any(|text| text.starts_with('@') || inputs::pair(text).is_some_and(|(_, path)| path.starts_with('@'))) {
        return Err(usage("`inspect` is for the owner of a file: it opens paths, never data that are registered (@ID)"));
    }
    if args.output.is_none() && !std::io::stdout().is_terminal() {
        return Err(usage("`inspect` shows private cells: on a terminal, or in a new file that only its owner reads (-o FILE)"));
    }
    let checked = inputs::program(&args.file, &[])?;
    let tables = &checked.program.tables;
    if !tables.iter().any(|t| t.private) {
        super::complain(&checked.sources, &checked.diagnostics);
        say_line!("error: the program declares no private table: `inspect` compares a file with one");
        return Err(Exit::Rejected);
    }
    let files = inputs::private(&checked.program, &args.data)?;
    // Made before the data are opened, for its owner alone; an old file is never written over.
    let mut place = args.output.as_deref().map(private_file).transpose()?;
    let mut text = format!("{PRIVATE}\n");
    for (id, path) in files {
        let Some(table) = tables.get(id.0) else { return Err(Exit::Bug) };
        let opened = Opened::open(&path).map(|o| o.delimited(args.delimiter.unwrap_or_default().0));
        let found = opened.and_then(|o| inspect(table, o.source()?));
        let found = found.map_err(|why| inputs::input_error(&why, &path.display().to_string()))?;
        text += &written(table, &found);
    }
    text += &format!("\n{BOUNDS}\n");
    match &mut place {
        None => show!("{text}"),
        Some(file) => {
            if file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).is_err() {
                say_line!("error: the file cannot be written");
                return Err(Exit::Input);
            }
        }
    }
    Ok(Exit::Done)
}

/// A file that is new and that only its owner may read.
fn private_file(path: &Path) -> Result<File, Exit> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::AlreadyExists => usage(&format!("{} is there already: `inspect` writes a new file", path.display())),
        _ => {
            say_line!("error: {} cannot be written", path.display());
            Exit::Input
        }
    })
}

fn written(table: &Table, found: &Inspected) -> String {
    let mut out = format!("\n{}: {} rows, {} columns\n", table.name, found.rows, found.headers.len());
    for (count, what) in [(found.short, "fewer"), (found.long, "more")].into_iter().filter(|(n, _)| *n > 0) {
        let _ = writeln!(out, "  {count} rows have {what} cells than the header");
    }
    if let (Some([units, beyond, largest]), Some((key, most))) = (found.units, table.unit) {
        let key = table.columns.get(key.0).map_or("", |c| c.name.as_str());
        let _ = writeln!(out, "  key `{key}`: {units} units, the largest has {largest} rows; {beyond} have more than {most} and lose rows");
    }
    for column in &found.columns {
        out += &of_column(column, found);
    }
    if !found.others.is_empty() {
        out += "  not declared; replace words in capitals by what the column can mean:\n";
        for (name, ty) in &found.others {
            let plain =
                !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.starts_with(|c: char| c.is_numeric());
            let mut short: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
            if !short.starts_with(char::is_alphabetic) {
                short.insert_str(0, "x_");
            }
            let _ = if plain { writeln!(out, "    {name}: {ty}") } else { writeln!(out, "    {short} from {name:?}: {ty}") };
        }
    }
    out
}

fn of_column(c: &Cells, found: &Inspected) -> String {
    let mut out = format!("  {}: {}\n", c.name, c.ty);
    for header in &c.absent {
        let near = did_you_mean(header, found.headers.iter().map(String::as_str));
        let same = found.headers.iter().find(|h| h.eq_ignore_ascii_case(header)).cloned().or(near);
        let help = same.map_or(String::new(), |h| format!("; did you mean `{} from {h:?}`?", c.name));
        let _ = writeln!(out, "    the file has no column {header:?}{help}");
    }
    let kinds = [
        (c.read, "read"),
        (c.moved, "of these moved to an end of the domain"),
        (c.rounded, "of these rounded to a whole number"),
        (c.blank, "blank"),
        (c.na, "NA or another word for missing"),
        (c.unreadable, "unreadable"),
    ];
    for (count, what) in kinds.into_iter().filter(|(n, _)| *n > 0) {
        let _ = writeln!(out, "    {count} {what}");
    }
    let mut spellings: Vec<_> = c.spellings.iter().collect();
    spellings.sort_by_key(|(text, n)| (std::cmp::Reverse(**n), (*text).clone()));
    if !spellings.is_empty() {
        let _ = writeln!(out, "    {}:", if c.ty.starts_with("category") { "spellings found" } else { "unreadable spellings" });
    }
    for (text, n) in spellings {
        let _ = writeln!(out, "      {text:?}: {n}");
    }
    if c.more {
        out += "      .. and others\n";
    }
    out
}
