//! Missing and unreadable cells: `else` and `is_na` by exact values, and what one row can do to them.

use crate::noninterference::Dice;
use dpm::check::NoFiles;
use dpm::data::{DataError, Source, load_public};
use dpm::mechanism::MechanismError;
use dpm::mechanism::bits::OsBits;
use dpm::model::TableId;
use dpm::run::{Bound, Files, execute};
use dpm::{analyze, pipeline};

struct Memory<'a>(&'a str);

impl Files for Memory<'_> {
    fn open(&self, _: TableId) -> Result<Source, DataError> {
        Ok(Source::new(std::io::Cursor::new(self.0.as_bytes().to_vec())))
    }

    fn bits(&self) -> Result<OsBits, MechanismError> {
        OsBits::new()
    }
}

const TABLE: &str = "private t[n >= 3] {
  age: int in 18..99 else 40
  pay: real in [10, 200]
  region: category {north, south, other} else south
  smoker: bool else true
  x: vector[2] in [-1, 1] else [0.5, -0.25]
  open: public int in 0..9 else 3
}
";

/// Every query with what one replaced row can change of each of its numbers.
const QUERIES: [(&str, f64); 12] = [
    ("sum(age)", 81.0),
    ("sum(is_na(age))", 1.0),
    ("sum(pay)", 190.0),
    ("count(is_na(pay))", 1.0),
    ("sum(if is_na(pay) then 0 else pay)", 200.0),
    ("histogram(region)", 1.0),
    ("histogram(is_na(region), smoker)", 1.0),
    ("sum(smoker)", 1.0),
    ("count(is_na(smoker) or not smoker)", 1.0),
    ("sum(x)", 2.0),
    ("count(is_na(x))", 1.0),
    ("sum([is_na(age), is_na(region), is_na(smoker)])", 1.0),
];

/// Cells of one column and what they are read as.
type Pool = &'static [(&'static str, Option<f64>)];

const AGES: Pool =
    &[("30", Some(30.0)), (" 41.5 ", Some(42.0)), ("NA", None), ("", None), ("\"1,5\"", None), ("$50", Some(50.0)), ("1e9", Some(99.0))];
const PAYS: Pool =
    &[("\"1,234.50\"", Some(200.0)), ("$55.5", Some(55.5)), ("nan", None), ("-inf", Some(10.0)), ("(20)", None), ("12%", Some(10.0))];
const REGIONS: Pool = &[("north", Some(0.0)), (" other", Some(2.0)), ("North", None), ("", None), ("south", Some(1.0))];
const SMOKERS: Pool = &[("T", Some(1.0)), ("no", Some(0.0)), ("2", None), ("1.0", Some(1.0)), ("?", None), ("F", Some(0.0))];
const PARTS: Pool = &[(".25", Some(0.25)), ("-7", Some(-1.0)), ("NA", None), ("50%", Some(0.5))];
const OPEN: Pool = &[("4", Some(4.0)), ("12", Some(9.0)), ("none", None)];
const POOLS: [Pool; 7] = [AGES, PAYS, REGIONS, SMOKERS, PARTS, PARTS, OPEN];

/// The places of its cells in their pools.
type Row = [usize; 7];

fn row(dice: &mut Dice) -> Row {
    POOLS.map(|pool| dice.below(pool.len()))
}

fn file(rows: &[Row]) -> String {
    let line = |r: &Row| POOLS.iter().zip(r).map(|(pool, i)| pool[*i].0).collect::<Vec<_>>().join(",");
    let lines: Vec<String> = rows.iter().map(line).collect();
    format!("age,pay,region,smoker,x_1,x_2,open\n{}\n", lines.join("\n"))
}

/// The numbers of all queries, by hand.
fn by_hand(rows: &[Row]) -> Vec<Vec<f64>> {
    let mut all = QUERIES.map(|_| vec![0.0]);
    (all[5], all[6], all[9], all[11]) = (vec![0.0; 3], vec![0.0; 4], vec![0.0; 2], vec![0.0; 3]);
    for r in rows {
        let [age, pay, region, smoker, x1, x2, _] = std::array::from_fn(|i| POOLS[i][r[i]].1);
        let na = |x: Option<f64>| f64::from(u8::from(x.is_none()));
        let smokes = smoker.unwrap_or(1.0);
        all[0][0] += age.unwrap_or(40.0);
        all[1][0] += na(age);
        all[2][0] += pay.unwrap_or(10.0);
        all[3][0] += na(pay);
        all[4][0] += pay.unwrap_or(0.0);
        all[5][region.unwrap_or(1.0) as usize] += 1.0;
        all[6][2 * usize::from(region.is_none()) + smokes as usize] += 1.0;
        all[7][0] += smokes;
        all[8][0] += f64::from(u8::from(smoker.is_none() || smokes == 0.0));
        all[9][0] += x1.unwrap_or(0.5);
        all[9][1] += x2.unwrap_or(-0.25);
        all[10][0] += f64::from(u8::from(x1.is_none() || x2.is_none()));
        for (sum, x) in all[11].iter_mut().zip([age, region, smoker]) {
            *sum += na(x);
        }
    }
    all.to_vec()
}

pub struct Prepared(pipeline::Checked, analyze::Analysis);

pub fn prepare(text: &str) -> Prepared {
    let checked = pipeline::check("t.dpm", text, &NoFiles);
    let (analysis, diagnostics) = pipeline::analyze(&checked, &Bound::default(), false);
    let errors: Vec<_> = diagnostics.iter().filter(|d| d.is_error()).map(|d| format!("{}: {:?}", d.message, d.labels)).collect();
    assert!(errors.is_empty(), "{text}{errors:?}");
    Prepared(checked, analysis.unwrap())
}

impl Prepared {
    /// Releases and outputs as they are shown.
    pub fn json(&self, file: &str) -> Vec<String> {
        let results = execute(&self.0.program, &self.1, &Bound::default(), &Memory(file), &mut |_| true).unwrap();
        results.releases.iter().chain(&results.outputs).map(|(_, value, ty)| dpm::run::json(value, ty).to_string()).collect()
    }

    pub fn run(&self, file: &str) -> Vec<Vec<f64>> {
        let results = execute(&self.0.program, &self.1, &Bound::default(), &Memory(file), &mut |_| true).unwrap();
        results.releases.iter().chain(&results.outputs).map(|(_, value, _)| value.numbers()).collect()
    }
}

fn queries() -> Prepared {
    let releases = QUERIES.iter().enumerate().map(|(i, (q, _))| format!("release r{i} = {q} using laplace(scale = 1e-9)\n"));
    prepare(&format!("{TABLE}{}", releases.collect::<String>()))
}

#[test]
fn values_are_those_of_the_cells_and_one_row_moves_them_as_far_as_is_certified() {
    let (prepared, mut dice) = (queries(), Dice::new(11));
    let mut largest = QUERIES.map(|_| 0.0_f64);
    for _ in 0..150 {
        let mut rows: Vec<Row> = (0..3 + dice.below(6)).map(|_| row(&mut dice)).collect();
        let before = by_hand(&rows);
        let at = dice.below(rows.len());
        for (found, wanted) in prepared.run(&file(&rows)).iter().zip(&before) {
            assert!(found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-6) && found.len() == wanted.len(), "{found:?} {wanted:?}");
        }
        rows[at] = row(&mut dice);
        let after = prepared.run(&file(&rows));
        for (((a, b), (query, most)), largest) in before.iter().zip(&after).zip(&QUERIES).zip(&mut largest) {
            let moved = a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
            assert!(moved <= most + 1e-6, "{query}: {moved}");
            *largest = largest.max(moved);
        }
    }
    // The bounds are met, or nearly so by the cells of the pools.
    assert!(largest.iter().zip(&QUERIES).all(|(l, (_, most))| *l >= 0.7 * most), "{largest:?}");
}

/// What a row can do is what its types say, `else` or not: the certified sensitivity is the same.
#[test]
fn neither_else_nor_is_na_moves_a_sensitivity() {
    let expect = |q: &str, s: f64| format!("expect sensitivity({q}, norm = inf) == {s}\n");
    let all: String = QUERIES.iter().map(|(q, most)| expect(q, *most)).collect();
    prepare(&format!("{TABLE}{all}output o = n\n"));
    let without: String = TABLE.lines().map(|l| l.split(" else").next().unwrap().to_owned() + "\n").collect();
    prepare(&format!("{without}{all}output o = n\n"));
}

#[test]
fn a_public_column_tells_where_it_is_missing() {
    let prepared = prepare(&format!("{TABLE}output total = sum(open)\noutput gone = count(is_na(open))\n"));
    let mut dice = Dice::new(12);
    for _ in 0..20 {
        let rows: Vec<Row> = (0..4).map(|_| row(&mut dice)).collect();
        let cells: Vec<Option<f64>> = rows.iter().map(|r| OPEN[r[6]].1).collect();
        let total: f64 = cells.iter().map(|c| c.unwrap_or(3.0)).sum();
        assert_eq!(prepared.run(&file(&rows)), [vec![total], vec![cells.iter().filter(|c| c.is_none()).count() as f64]]);
    }
    // Of a private column nothing is.
    for e in ["count(is_na(age))", "sum(if is_na(pay) then 1 else open)"] {
        let checked = pipeline::check("t.dpm", &format!("{TABLE}output o = {e}\n"), &NoFiles);
        let codes: Vec<&str> = checked.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code).collect();
        assert_eq!(codes, ["E0101"], "{e}");
    }
}

/// A public table fails at a cell that cannot be read, unless its column says what that means.
#[test]
fn a_public_table_takes_else() {
    let read = |columns: &str, file: &str| {
        let checked = pipeline::check("t.dpm", &format!("public t[n] {{ {columns} }}\noutput o = n\n"), &NoFiles);
        let table = checked.program.tables[0].clone();
        load_public(&table, Source::new(std::io::Cursor::new(file.as_bytes().to_vec())))
            .map(|t| (0..t.rows).flat_map(|i| t.row(i)).collect())
    };
    let bad = |line| Err(DataError::Cell { table: "t".into(), column: "a".into(), line });
    assert_eq!(read("a: int in 0..9", "a\n1\nNA\n"), bad(3));
    assert_eq!(read("a: int in 0..9 else 7", "a\n1\nNA\n"), Ok(vec![1.0, 7.0]));
    assert_eq!(read("a: int in 0..9 else 7", "a\n12\nNA\n"), bad(2));
    assert_eq!(read("a: vector[2] in [0, 1] else [1, 0.5]", "a_1,a_2\n0.25,\nx,0\n"), Ok(vec![0.25, 0.5, 1.0, 0.0]));
    assert_eq!(read("a: bool else true", "a\nF\n?\n"), Ok(vec![0.0, 1.0]));
}

/// The program written out asks the same, and the certificate says what missing cells count as.
#[test]
fn certificates_and_expanded_programs_say_so() {
    let text = format!("{TABLE}budget eps(1)\nfn gone(a) = is_na(a)\nrelease r = count(gone(pay) or is_na(t.age)) using geometric\n");
    let Prepared(checked, analysis) = prepare(&text);
    let certificate = pipeline::certify(&checked, &analysis, &[], &[]).unwrap().to_json();
    let column = |name: &str| {
        let columns = certificate["tables"][0]["columns"].as_array().unwrap();
        columns.iter().find(|c| c["name"] == name).cloned().unwrap_or_default()
    };
    assert_eq!(column("age")["else"], "40");
    assert_eq!(column("region")["else"], "south");
    assert_eq!(column("smoker")["else"], "true");
    assert_eq!(column("x")["else"], "[0.5, -0.25]");
    assert!(column("pay")["else"].is_null() && column("pay.is_na")["type"] == "bool");
    assert_eq!(certificate["program"]["normal_form"], "release r:\nsum(t.pay.is_na or t.age.is_na : bool)");
    let expanded = dpm::model::expand::expand(&checked.program, &checked.sources);
    let again = prepare(&expanded);
    let again = pipeline::certify(&again.0, &again.1, &[], &[]).unwrap().to_json();
    assert!(expanded.contains("is_na(t.pay) or is_na(t.age)") && expanded.contains("else [0.5, -0.25]"), "{expanded}");
    assert_eq!(again["program"]["normal_form"], certificate["program"]["normal_form"]);
    assert_eq!(again["tables"], certificate["tables"]);
}
