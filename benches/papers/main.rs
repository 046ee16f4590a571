//! The figures of the papers, remade: `cargo bench --bench papers -- FIGURE [--quick | --full] [--again | --go-on] [--report]`.
//!
//! Real data are read from the folder that `DPM_DATA` names (see README.md here). Points are written to the build folder as
//! soon as they are known, so that a run that was stopped goes on where it was; a whole figure goes to `benches/results/papers`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    dead_code
)]

mod baselines;
mod certified;
mod data;
mod geumlek;
mod geumlek_beta;
mod geumlek_certified;
mod hellinger;
mod hellinger_laws;
mod ideal;
mod jewson;
mod jewson_attack;
mod jewson_network;
mod logistic;
#[path = "../../tests/draws/mechanisms/mod.rs"]
mod mechanisms;
mod minami;
mod table;

/// The name of a figure, and what makes it: `--full` or not.
type Figure = (&'static str, fn(bool));

const FIGURES: &[Figure] = &[
    ("geumlek-1", geumlek_beta::figure_1),
    ("geumlek-2", geumlek_beta::figure_2),
    ("geumlek-3", geumlek::figure_3),
    ("geumlek-appendix-1", geumlek_beta::appendix_1),
    ("geumlek-appendix-2", geumlek_beta::appendix_2),
    ("geumlek-appendix-3", geumlek::appendix_3),
    ("geumlek-appendix-4", geumlek::appendix_4),
    ("geumlek-certified", geumlek_certified::figure),
    ("hellinger-1", hellinger::figure_1),
    ("hellinger-2", hellinger::figure_2),
    ("hellinger-3", hellinger::figure_3),
    ("hellinger-4", hellinger::figure_4),
    ("hellinger-5", hellinger::figure_5),
    ("hellinger-6", hellinger::figure_6),
    ("hellinger-table-1", hellinger::table_1),
    ("jewson-1", jewson_attack::figure_1),
    ("jewson-2", jewson::figure_2),
    ("jewson-3", jewson_network::figure_3),
    ("jewson-4", jewson_attack::figure_4),
    ("minami", minami::figure),
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|w| w != "--bench").collect();
    let full = words.iter().any(|w| w == "--full");
    let asked = |name: &str| words.iter().any(|w| w == name || w == "all" || name.starts_with(&format!("{w}-")));
    let known: Vec<&str> = FIGURES.iter().map(|(name, _)| *name).collect();
    if !known.iter().any(|name| asked(name)) {
        println!(
            "figures: all geumlek hellinger {}\n--quick (minutes, the default) or --full (hours); --again forgets the points of earlier runs,\n\
             --go-on begins with those that are committed, --report computes none and writes down what is known",
            known.join(" ")
        );
    }
    let made = FIGURES.iter().filter(|(name, _)| asked(name));
    if words.iter().any(|w| w == "--again") {
        made.clone().for_each(|(name, _)| table::forget(name));
    }
    for (_, make) in made {
        make(full);
    }
}
