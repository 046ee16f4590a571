//! The phases as one function: text -> tree -> program -> analysis -> certificate.

use crate::analyze::{self, Analysis, PublicData};
use crate::check::{self, Loader};
use crate::model::Program;
use crate::privacy::certificate::Certificate;
use crate::source::{Diagnostics, FileId, SourceMap};
use crate::syntax;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A program that has been parsed and checked; its releases are not priced yet.
pub struct Checked {
    pub sources: SourceMap,
    pub main: FileId,
    pub ast: syntax::ast::Ast,
    pub program: Program,
    pub diagnostics: Diagnostics,
}

impl Checked {
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.is_error())
    }
}

/// Text -> tree -> program.
pub fn check(name: &str, text: &str, loader: &dyn Loader) -> Checked {
    let mut sources = SourceMap::default();
    let main = sources.add(name, text);
    let (ast, mut diagnostics) = syntax::parse(main, text);
    let complete = !diagnostics.iter().any(|d| d.is_error());
    let (program, found) = check::check(&mut sources, main, &ast, complete, loader);
    diagnostics.extend(found);
    Checked { sources, main, ast, program, diagnostics }
}

/// Program -> analysis. Errors of the program itself come first and end the work: a wrong program is not priced.
///
/// `all` solves every mechanism for every release, for comparisons.
pub fn analyze(checked: &Checked, public: &dyn PublicData, all: bool) -> (Option<Analysis>, Diagnostics) {
    let mut diagnostics = checked.diagnostics.clone();
    if checked.has_errors() {
        return (None, diagnostics);
    }
    let run = if all { analyze::analyze_all } else { analyze::analyze };
    let (analysis, found) = run(&checked.program, public, &checked.sources);
    diagnostics.extend(found);
    (Some(analysis), diagnostics)
}

/// Analysis -> certificate. `None` where a release has no mechanism; the diagnostics say why.
pub fn certify(checked: &Checked, analysis: &Analysis, orders: &[f64], deltas: &[f64]) -> Option<Certificate> {
    analyze::certificate(&checked.program, analysis, &checked.sources, checked.main, orders, deltas)
}

/// Why a program text could not be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unreadable {
    Missing,
    TooLarge,
    NotText,
}

/// Reads a program. The name it is shown under is the file's own, without folders, so that certificates do not depend
/// on the place.
pub fn read(path: &Path) -> Result<(String, String), Unreadable> {
    let file = std::fs::File::open(path).map_err(|_| Unreadable::Missing)?;
    let limit = syntax::MAX_SOURCE_BYTES as u64 + 1;
    let mut bytes = vec![];
    file.take(limit).read_to_end(&mut bytes).map_err(|_| Unreadable::Missing)?;
    if bytes.len() as u64 >= limit {
        return Err(Unreadable::TooLarge);
    }
    let text = String::from_utf8(bytes).map_err(|_| Unreadable::NotText)?;
    let name = path.file_name().map_or_else(|| "program.dpm".into(), |n| n.to_string_lossy().into_owned());
    Ok((name, text))
}

/// Modules of the user: files below the folder of the main program.
pub struct Folder {
    root: Option<PathBuf>,
}

impl Folder {
    pub fn of(program: &Path) -> Folder {
        let folder = match program.parent() {
            Some(p) if !p.as_os_str().is_empty() => p,
            _ => Path::new("."),
        };
        Folder { root: folder.canonicalize().ok() }
    }
}

impl Loader for Folder {
    /// Names are identifiers, so no `..` can stand in a path; a link that leads out of the folder is not followed.
    fn load(&self, path: &[String]) -> Option<String> {
        let root = self.root.as_ref()?;
        let mut file = root.clone();
        file.extend(path);
        file.set_extension("dpm");
        let file = file.canonicalize().ok()?;
        if !file.starts_with(root) {
            return None;
        }
        read(&file).ok().map(|(_, text)| text)
    }
}
