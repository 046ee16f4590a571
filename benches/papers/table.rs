//! Results as a CSV file that grows line by line: what this build folder has computed is not computed again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Where the results of a figure are committed.
pub fn path(name: &str) -> PathBuf {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/results/papers"));
    fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

/// Points by key; the key is the first columns of a line, the values are the others. The file grows in the build folder, where a
/// run that was stopped goes on; it goes to the results when the table is done with, so that a fresh clone computes all of it.
pub struct Table {
    name: String,
    path: PathBuf,
    keys: usize,
    pub points: BTreeMap<Vec<String>, Vec<f64>>,
}

impl Table {
    /// Opens or begins the file; `header` names the columns, of which the first `keys` are the key.
    pub fn open(name: &str, keys: usize, header: &str) -> Table {
        let path = begun().join(name);
        // A report without points of its own is of those that are committed; it would empty their table otherwise.
        let go_on = || (asked("--go-on") || asked("--report")).then(|| fs::read_to_string(self::path(name)).ok()).flatten();
        let before = fs::read_to_string(&path).ok().or_else(go_on).filter(|t| t.starts_with(header));
        // A line that a kill left unfinished is not a point.
        let text = before.map_or_else(|| format!("{header}\n"), |t| t[..=t.rfind('\n').unwrap()].to_owned());
        fs::write(&path, &text).unwrap();
        let mut points = BTreeMap::new();
        for line in text.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let key = cells[..keys].iter().map(|c| c.to_string()).collect();
            points.insert(key, cells[keys..].iter().map(|c| c.parse().unwrap()).collect());
        }
        if !points.is_empty() {
            eprintln!("{name}: {} points are there already; --again computes them anew", points.len());
        }
        Table { name: name.to_owned(), path, keys, points }
    }

    /// The values at a key, computed and written down if they are not known.
    pub fn at(&mut self, key: &[String], compute: impl FnOnce() -> Vec<f64>) -> &[f64] {
        if !self.points.contains_key(key) {
            self.keep(key, compute());
        }
        &self.points[key]
    }

    /// The values at many keys, by all cores: each is computed from what stands beside its key, and written down when it is known.
    pub fn all<K: AsRef<[String]> + Sync, T: Sync>(&mut self, places: &[(K, T)], compute: impl Fn(&T) -> Vec<f64> + Sync) {
        if asked("--report") {
            return;
        }
        let missing: Vec<&(K, T)> = places.iter().filter(|(key, _)| !self.points.contains_key(key.as_ref())).collect();
        let (next, table) = (AtomicUsize::new(0), Mutex::new(self));
        let work = || {
            while let Some((key, place)) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                // A pool for each point: of one thread that all points share, only one would work at a time.
                let pool = rayon::ThreadPoolBuilder::new().build().unwrap();
                let values = pool.install(|| compute(place));
                table.lock().unwrap().keep(key.as_ref(), values);
            }
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|s| (0..cores).for_each(|_| drop(s.spawn(work))));
    }

    /// The places (the key but for its last part, the method) at which all these methods are known.
    pub fn places(&self, methods: &[&str]) -> BTreeSet<Vec<String>> {
        let places = self.points.keys().map(|k| k[..self.keys - 1].to_vec());
        places.filter(|p| methods.iter().all(|m| self.points.contains_key(&[&p[..], &[m.to_string()]].concat()))).collect()
    }

    fn keep(&mut self, key: &[String], values: Vec<f64>) {
        assert_eq!(key.len(), self.keys);
        // What is kept is what a later run reads, so that both write the same reports.
        let texts: Vec<String> = values.iter().map(|x| format!("{x:.6}")).collect();
        let values = texts.iter().map(|t| t.parse().unwrap()).collect();
        let cells: Vec<String> = key.iter().cloned().chain(texts).collect();
        let mut file = fs::OpenOptions::new().append(true).open(&self.path).unwrap();
        writeln!(file, "{}", cells.join(",")).unwrap();
        eprintln!("{}", cells.join(" "));
        self.points.insert(key.to_vec(), values);
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            fs::copy(&self.path, path(&self.name)).unwrap();
        }
    }
}

/// Is this word among the arguments?
pub fn asked(word: &str) -> bool {
    std::env::args().any(|w| w == word)
}

/// Where tables grow.
fn begun() -> PathBuf {
    let folder = PathBuf::from(concat!(env!("CARGO_TARGET_TMPDIR"), "/papers"));
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Forgets the points of a figure.
pub fn forget(figure: &str) {
    for file in fs::read_dir(begun()).unwrap().map(|f| f.unwrap()) {
        if file.file_name().to_string_lossy().starts_with(figure) {
            fs::remove_file(file.path()).unwrap();
        }
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
