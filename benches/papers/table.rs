//! Results as a CSV file that grows line by line: what is in it is not computed again.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

/// Where the results of a figure are committed.
pub fn path(name: &str) -> PathBuf {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/results/papers"));
    fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

/// Points by key; the key is the first columns of a line, the values are the others.
pub struct Table {
    path: PathBuf,
    keys: usize,
    pub points: BTreeMap<Vec<String>, Vec<f64>>,
}

impl Table {
    /// Opens or begins the file; `header` names the columns, of which the first `keys` are the key.
    pub fn open(name: &str, keys: usize, header: &str) -> Table {
        let path = path(name);
        let text = fs::read_to_string(&path).unwrap_or_else(|_| format!("{header}\n"));
        assert!(text.starts_with(header), "{}: other columns; remove it to begin anew", path.display());
        fs::write(&path, &text).unwrap();
        let mut points = BTreeMap::new();
        for line in text.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let key = cells[..keys].iter().map(|c| c.to_string()).collect();
            points.insert(key, cells[keys..].iter().map(|c| c.parse().unwrap()).collect());
        }
        Table { path, keys, points }
    }

    /// The values at a key, computed and written down if they are not known.
    pub fn at(&mut self, key: &[String], compute: impl FnOnce() -> Vec<f64>) -> &[f64] {
        assert_eq!(key.len(), self.keys);
        if !self.points.contains_key(key) {
            let values = compute();
            let cells: Vec<String> = key.iter().cloned().chain(values.iter().map(|x| format!("{x:.6}"))).collect();
            let mut file = fs::OpenOptions::new().append(true).open(&self.path).unwrap();
            writeln!(file, "{}", cells.join(",")).unwrap();
            eprintln!("{}", cells.join(" "));
            self.points.insert(key.to_vec(), values);
        }
        &self.points[key]
    }
}

/// Prints the report of a figure and writes it down.
pub fn say(name: &str, text: &str) {
    print!("{text}");
    fs::write(path(&format!("{name}.txt")), text).unwrap();
}

/// Mean and its standard error.
pub fn error_of_mean(x: &[f64]) -> [f64; 2] {
    let n = x.len() as f64;
    let mean = x.iter().sum::<f64>() / n;
    let variance = x.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    [mean, (variance / n).sqrt()]
}
