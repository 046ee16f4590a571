//! Files of a command: which hold private rows and are never read as text, and where it may write.

use super::{Exit, Program, Repl, charge, inputs, usage};
use crate::check::Loader;
use crate::data::{files_of_database, gather};
use crate::ledger::{Ledger, Registration, is_of_a_ledger};
use crate::pipeline::{Checked, Folder, same_file};
use crate::source::SourceMap;
use serde_json::Value;
use std::cell::RefCell;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The files with private rows that a command line names, those of its ledger, and all that it has registered.
pub fn private(data: &[String], ledger: Option<&Path>) -> Result<Private, Exit> {
    let mut files: Vec<PathBuf> = data.iter().flat_map(|text| paths(text)).collect();
    let mut registered = vec![];
    if let Some(path) = ledger {
        let ledger = Ledger::at(path).map_err(|e| charge::refuse(&e))?;
        let contents = ledger.read().map_err(|e| charge::refuse(&e))?;
        files.extend(ledger.files());
        registered.extend(contents.accounts.accounts.into_values().map(|a| a.registration));
        files.extend(registered.iter().map(|r| PathBuf::from(&r.location)));
    }
    Ok(Private { files, registered })
}

/// Files with private rows, and what a ledger has registered, of which no copy is public either.
pub struct Private {
    pub files: Vec<PathBuf>,
    registered: Vec<Registration>,
}

impl Private {
    fn holds(&self, path: &Path) -> bool {
        is_among(path, &self.files) || self.registered.iter().any(|r| r.holds(path))
    }
}

/// What may be a path in `NAME=PATH`, or in `PATH` where no name is needed.
fn paths(text: &str) -> impl Iterator<Item = PathBuf> {
    let named = inputs::pair(text).map(|(_, path)| path);
    [Some(text), named].into_iter().flatten().flat_map(parts)
}

/// A path, and all files that it stands for.
fn parts(path: &str) -> Vec<PathBuf> {
    let path = PathBuf::from(path);
    let files = gather(&path).and_then(Result::ok).unwrap_or_default();
    let stored = files_of_database(&path);
    [vec![path], files, stored].concat()
}

pub fn is_among(path: &Path, files: &[PathBuf]) -> bool {
    files.iter().any(|f| same_file(f, path))
}

/// Refuses private rows as a program or as public data: messages show lines of a program, and public data cost nothing.
pub fn refuse_private(args: &Program, private: &Private) -> Result<(), Exit> {
    let public = args.public.public.iter().flat_map(|text| paths(text));
    let found = std::iter::once(args.file.clone()).chain(public).find(|path| private.holds(path));
    found.map_or(Ok(()), |path| Err(usage(&holds_rows(&path.display().to_string()))))
}

pub fn holds_rows(path: &str) -> String {
    format!("{path} holds private rows, or is the ledger's: it is neither a program nor public")
}

/// The program of a command with its modules, its records and its public tables.
pub fn read(args: &Program, checked: &Checked) -> Vec<PathBuf> {
    let public = args.public.public.iter().flat_map(|text| paths(text));
    let records = checked.program.records.iter().map(|r| args.file.with_file_name(&r.file));
    std::iter::once(args.file.clone()).chain(modules(&args.file, &checked.sources)).chain(records).chain(public).collect()
}

/// The files of texts: their names are paths from the folder of the program.
pub fn modules(program: &Path, sources: &SourceMap) -> impl Iterator<Item = PathBuf> {
    sources.files().iter().map(|file| program.with_file_name(&file.name))
}

/// The files of a session; copies share them.
#[derive(Clone)]
pub struct Known {
    private: Rc<RefCell<Private>>,
    /// Public data and programs.
    open: Rc<RefCell<Vec<PathBuf>>>,
    /// What `:public` named, which may be records.
    records: Rc<RefCell<Vec<(String, PathBuf)>>>,
}

/// Where the program of a session would be.
const SESSION: &str = "session.dpm";

impl Known {
    /// What the command line names: private rows are not the script, and nothing of it is the history.
    pub fn new(args: &Repl) -> Result<Known, Exit> {
        let private = private(&args.data, args.ledger.as_deref())?;
        if is_among(Path::new("/dev/stdin"), &private.files) {
            return Err(usage(&holds_rows("standard input")));
        }
        let public = args.public.public.iter().flat_map(|text| paths(text));
        args.history.as_ref().map(|path| target(path, &public.chain(private.files.clone()).collect::<Vec<_>>())).transpose()?;
        Ok(Known { private: Rc::new(RefCell::new(private)), open: Rc::default(), records: Rc::default() })
    }

    /// A file is about to be bound as private rows.
    pub fn private(&self, path: &str) -> Result<(), String> {
        if is_among(Path::new(path), &self.open.borrow()) {
            return Err(format!("{path} is bound as public or was loaded: it is not private in this session"));
        }
        self.private.borrow_mut().files.extend(parts(path));
        Ok(())
    }

    /// A file is about to be read as a program or as public data.
    pub fn open(&self, path: &str) -> Result<(), String> {
        if self.private.borrow().holds(Path::new(path)) {
            return Err(holds_rows(path));
        }
        self.open.borrow_mut().push(path.into());
        Ok(())
    }

    /// The same of a file that is bound to a name.
    pub fn open_as(&self, name: &str, path: &str) -> Result<(), String> {
        self.open(path)?;
        self.records.borrow_mut().insert(0, (name.into(), path.into()));
        Ok(())
    }

    fn folder(&self) -> Folder {
        Folder::of(Path::new(SESSION)).without(&self.private.borrow().files).records(self.records.borrow().clone())
    }

    /// All of them, and the modules.
    pub fn all(&self, sources: &SourceMap) -> Vec<PathBuf> {
        let lists = [self.private.borrow().files.clone(), self.open.borrow().clone(), modules(Path::new(SESSION), sources).collect()];
        lists.concat()
    }
}

impl Loader for Known {
    fn load(&self, path: &[String]) -> Option<String> {
        self.folder().load(path)
    }

    fn record(&self, name: &str, path: &str) -> Option<String> {
        let found = self.folder().record(name, path)?;
        let (mut open, path) = (self.open.borrow_mut(), PathBuf::from(path));
        if !open.contains(&path) {
            open.push(path);
        }
        Some(found)
    }
}

/// Where a path leads to, if it may be written: to a file or nothing yet, which is not among `read` and of no ledger.
pub fn target(path: &Path, read: &[PathBuf]) -> Result<PathBuf, Exit> {
    let shown = path.display();
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let fresh = || folder.canonicalize().ok().zip(path.file_name()).map(|(folder, name)| folder.join(name));
    let Some(target) = path.canonicalize().ok().or_else(fresh) else {
        say_line!("error: {shown} cannot be written");
        return Err(Exit::Input);
    };
    // Of a link to nothing there is no path without links.
    let why = match target.symlink_metadata() {
        Ok(found) if !found.is_file() => "it is not an ordinary file",
        _ if is_among(&target, read) => "this command reads it",
        _ if is_of_a_ledger(&target) => "it belongs to a ledger",
        _ => return Ok(target),
    };
    Err(usage(&format!("will not overwrite {shown}: {why}")))
}

/// A file to be, written beside its place and renamed: a crash leaves the old one or the new one.
pub struct Output {
    shown: PathBuf,
    target: PathBuf,
    beside: PathBuf,
    file: File,
}

impl Output {
    /// Makes ready to write, before anything is paid for.
    pub fn open(path: &Path, read: &[PathBuf]) -> Result<Output, Exit> {
        let target = target(path, read)?;
        let opened = beside(&target).map_err(|_| {
            say_line!("error: {} cannot be written", path.display());
            Exit::Input
        });
        opened.map(|(beside, file)| Output { shown: path.into(), target, beside, file })
    }

    /// Will the other be in the same place?
    pub fn is(&self, other: &Output) -> bool {
        self.target == other.target
    }

    /// Writes JSON and so many spaces.
    pub fn json(self, value: &Value, spaces: usize) -> Exit {
        self.write(format!("{}{}\n", serde_json::to_string_pretty(value).unwrap_or_default(), " ".repeat(spaces)).as_bytes())
    }

    /// Writes all of the file, or says that it cannot.
    pub fn write(mut self, bytes: &[u8]) -> Exit {
        let written = self.file.write_all(bytes).and_then(|()| self.file.sync_all());
        if written.and_then(|()| fs::rename(&self.beside, &self.target)).is_ok() {
            // The new name survives a crash of the machine too, where a folder can be synced.
            let _ = self.target.parent().map(|folder| File::open(folder).and_then(|folder| folder.sync_all()));
            return Exit::Done;
        }
        say_line!("error: {} cannot be written", self.shown.display());
        Exit::Input
    }
}

impl Drop for Output {
    /// Leaves nothing behind where nothing was written; what was renamed is no longer there.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.beside);
    }
}

/// The place to write to where a command line names one.
pub fn output(path: Option<&Path>, read: &[PathBuf]) -> Result<Option<Output>, Exit> {
    path.map(|path| Output::open(path, read)).transpose()
}

/// A new file in the folder of `target`, with the permissions of what it will replace.
fn beside(target: &Path) -> io::Result<(PathBuf, File)> {
    // A file that may not be written is not replaced either.
    let old = match OpenOptions::new().write(true).open(target) {
        Ok(old) => Some(old.metadata()?.permissions()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(e),
    };
    for i in 0..1000 {
        let path = target.with_file_name(format!(".dpm-{}-{i}", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => {
                old.map_or(Ok(()), |permissions| file.set_permissions(permissions))?;
                return Ok((path, file));
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
