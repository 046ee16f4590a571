//! Several files as one table: those of a folder, or those whose names fit a pattern, in the byte order of their names.

use std::path::{Path, PathBuf};

/// Most files of a table: all of them are open at once.
pub const MOST_FILES: usize = 500;

/// Why a folder is not a table: public facts, names of files alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gathered {
    Nothing,
    Folders,
    Many,
}

impl Gathered {
    pub fn text(self) -> &'static str {
        match self {
            Gathered::Nothing => "no file with rows is there (names that begin with . or _ are left out)",
            Gathered::Folders => "there are folders inside, whose names may say something of the rows: put all files into one",
            Gathered::Many => "more than 500 files are there: write fewer, larger ones",
        }
    }
}

/// The files of a folder, or of a pattern with `*` or `?` in its last part where no file has that name; `None` for anything else.
pub fn gather(path: &Path) -> Option<Result<Vec<PathBuf>, Gathered>> {
    let folder = path.is_dir();
    let pattern = path.file_name().filter(|_| !folder && path.symlink_metadata().is_err());
    let pattern = pattern.map(|p| p.as_encoded_bytes()).filter(|p| p.contains(&b'*') || p.contains(&b'?'));
    let place = match pattern {
        Some(_) => path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(".")),
        None if folder => path,
        None => return None,
    };
    Some(files(place, pattern))
}

fn files(place: &Path, pattern: Option<&[u8]>) -> Result<Vec<PathBuf>, Gathered> {
    let mut found = vec![];
    for entry in place.read_dir().map_err(|_| Gathered::Nothing)? {
        let entry = entry.map_err(|_| Gathered::Nothing)?;
        let name = entry.file_name();
        let bytes = name.as_encoded_bytes();
        // Marks of what wrote the folder, and files in the making.
        let hidden = bytes.starts_with(b".") || bytes.starts_with(b"_");
        if hidden || !pattern.is_none_or(|p| fits(bytes, p)) {
            continue;
        }
        let path = place.join(&name);
        if path.is_dir() {
            return Err(Gathered::Folders);
        }
        found.push((bytes.to_vec(), path));
        if found.len() > MOST_FILES {
            return Err(Gathered::Many);
        }
    }
    found.sort();
    if found.is_empty() { Err(Gathered::Nothing) } else { Ok(found.into_iter().map(|(_, path)| path).collect()) }
}

/// `*` is any bytes, `?` is one.
fn fits(name: &[u8], pattern: &[u8]) -> bool {
    // Where the last star stands, and where what it has not taken begins.
    let (mut n, mut p, mut star) = (0, 0, None);
    while n < name.len() {
        match (pattern.get(p), name.get(n)) {
            (Some(b'*'), _) => {
                star = Some((p, n));
                p += 1;
            }
            (Some(a), Some(b)) if *a == b'?' || a == b => (n, p) = (n + 1, p + 1),
            _ => {
                let Some((at, taken)) = star else { return false };
                star = Some((at, taken + 1));
                (n, p) = (taken + 1, at + 1);
            }
        }
    }
    pattern.get(p..).is_some_and(|rest| rest.iter().all(|b| *b == b'*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_matched_whole() {
        for (name, pattern, wanted) in [
            ("part-1.csv", "part-*.csv", true),
            ("part-1.csv.gz", "part-*.csv", false),
            ("part-10.csv", "part-?.csv", false),
            ("part-1.csv", "part-?.csv", true),
            ("aab", "*ab", true),
            ("abab", "*a?*b*", true),
            ("ab", "*a?*b*", false),
            ("abcab", "*a?*b*", true),
            ("", "*", true),
            ("x", "**?", true),
            ("x", "", false),
        ] {
            assert_eq!(fits(name.as_bytes(), pattern.as_bytes()), wanted, "{name} {pattern}");
        }
    }
}
