//! Dates by exact values: what is asked of a calendar, held to one that only counts days.

use crate::missing::prepare;
use crate::noninterference::Dice;

/// All days from 2019-01-01 to 2026-12-31: their text, year, month and weekday, counted one by one.
fn days() -> Vec<(String, [f64; 3])> {
    let mut all = vec![];
    // 2019 began on a Tuesday.
    let mut weekday = 2;
    for year in 2019..=2026 {
        let leap = year % 4 == 0;
        for (month, length) in [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].into_iter().enumerate() {
            for day in 1..=length {
                all.push((format!("{year}-{:02}-{day:02}", month + 1), [year, month as i32 + 1, weekday].map(f64::from)));
                weekday = weekday % 7 + 1;
            }
        }
    }
    all
}

#[test]
fn what_a_calendar_says_of_rows() {
    let queries = "release a = histogram(year(d), month(d)) using laplace(scale = 1e-9)
release b = histogram(weekday(d)) using laplace(scale = 1e-9)
release c = sum(e - d) using laplace(scale = 1e-9)
release f = count(d >= \"2021-07-01\" and d != \"2021-07-02\") using laplace(scale = 1e-9)
release g = sum([is_na(d), is_na(e)]) using laplace(scale = 1e-9)
release h = sum(\"2021-12-31\" - d) using laplace(scale = 1e-9)
";
    let columns = "d: date in [\"2020-01-01\", \"2021-12-31\"], e: date in [\"2020-01-01\", \"2025-12-31\"] else \"2022-06-30\"";
    let prepared = prepare(&format!("private t[n] {{ {columns} }}\n{queries}"));
    let (days, mut dice) = (days(), Dice::new(3));
    let place = |text: &str| days.iter().position(|d| d.0 == text).unwrap();
    let ends = [["2020-01-01", "2021-12-31"], ["2020-01-01", "2025-12-31"]].map(|e| e.map(place));
    let missing = [place("2020-01-01"), place("2022-06-30")];
    for _ in 0..40 {
        let mut lines = vec![];
        let mut wanted = [vec![0.0; 24], vec![0.0; 7], vec![0.0], vec![0.0], vec![0.0; 2], vec![0.0]];
        for _ in 0..1 + dice.below(12) {
            let mut cells = vec![];
            let [d, e] = [0, 1].map(|c| {
                let at = dice.below(days.len() + 100);
                let odd = ["", "NA", "2020-02-30", "1/2/2020", "20200101"];
                cells.push(days.get(at).map_or(odd[at % 5].to_owned(), |d| format!(" {} ", d.0)));
                wanted[4][c] += f64::from(u8::from(at >= days.len()));
                if at < days.len() { at.clamp(ends[c][0], ends[c][1]) } else { missing[c] }
            });
            lines.push(cells.join(","));
            let [year, month, weekday] = days[d].1;
            wanted[0][((year - 2020.0) * 12.0 + month - 1.0) as usize] += 1.0;
            wanted[1][weekday as usize - 1] += 1.0;
            wanted[2][0] += e as f64 - d as f64;
            wanted[3][0] += f64::from(u8::from(d >= place("2021-07-01") && d != place("2021-07-02")));
            wanted[5][0] += (ends[0][1] - d) as f64;
        }
        let found = prepared.run(&format!("d,e\n{}\n", lines.join("\n")));
        for (found, wanted) in found.iter().zip(&wanted) {
            assert!(found.len() == wanted.len() && found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-5), "{found:?} {wanted:?}");
        }
    }
}

#[test]
fn values_that_are_dates_print_as_dates() {
    let text = "private t[n] { d: public date in [\"2020-01-01\", \"2021-12-31\"], e: date in [\"2020-01-01\", \"2021-12-31\"] }
release m = quantile(e, 0.5) using exponential(eps = 50)
output first = min(d)
output last = max(d)
output span = max(d) - min(d)
output late = m > \"2020-12-31\"
";
    let prepared = prepare(text);
    let file = "d,e\n2020-03-01,2021-05-01\n2021-01-31,2021-05-02\n2020-02-29,2021-05-03\n";
    let shown = prepared.json(file);
    assert_eq!(shown[1..], ["\"2020-02-29\"", "\"2021-01-31\"", "337.0", "true"]);
    assert!(shown[0].starts_with("\"2021-") && shown[0].len() == 12, "{shown:?}");
}
