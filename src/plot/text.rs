//! A chart as text for terminals: one mark a line, on a grid of characters.

use super::chart::{Axis, Chart, short};

/// One a line, in their order; the first line lies on top.
const MARKS: [char; 6] = ['*', '+', 'o', 'x', '#', '%'];

impl Axis {
    /// How far along the axis a value lies, 0 to 1 within it; `None` where it has no place.
    fn part(&self, v: f64) -> Option<f64> {
        let scale = |v: f64| if self.logarithmic { v.ln() } else { v };
        let part = (scale(v) - scale(self.lo)) / (scale(self.hi) - scale(self.lo));
        part.is_finite().then_some(part)
    }
}

impl Chart {
    /// The chart with so many characters inside its axes; what lies outside the axes is left out.
    pub fn text(&self, columns: usize, rows: usize) -> String {
        let (columns, rows) = (columns.clamp(10, 400), rows.clamp(4, 200));
        let mut grid = vec![vec![' '; columns]; rows];
        for (i, line) in self.lines.iter().enumerate().rev() {
            let mark = MARKS.get(i % MARKS.len()).copied().unwrap_or('*');
            let places = line.points.iter().map(|(x, y)| Some((self.x.part(*x)?, self.y.part(*y)?)));
            let mut before = None;
            for place in places {
                if let Some((x, y)) = place {
                    let (from_x, from_y) = before.unwrap_or((x, y));
                    // Twice as many steps as characters, so that no row or column between is left out.
                    let steps =
                        (2.0 * ((x - from_x).abs() * columns as f64).max((y - from_y).abs() * rows as f64)).clamp(1.0, 4000.0) as u32;
                    for s in 0..=steps {
                        let t = f64::from(s) / f64::from(steps);
                        put(&mut grid, from_x + t * (x - from_x), from_y + t * (y - from_y), mark);
                    }
                }
                before = place;
            }
        }
        self.framed(&grid, columns)
    }

    fn framed(&self, grid: &[Vec<char>], columns: usize) -> String {
        let mut out = format!("{}: {} by {}\n", self.title, named(&self.y), named(&self.x));
        let (top, bottom) = (short(self.y.hi), short(self.y.lo));
        let width = top.chars().count().max(bottom.chars().count());
        for (i, row) in grid.iter().enumerate() {
            let number = match i {
                0 => top.as_str(),
                _ if i + 1 == grid.len() => bottom.as_str(),
                _ => "",
            };
            let row: String = row.iter().collect();
            out.push_str(&format!("{number:>width$} |{}\n", row.trim_end()));
        }
        out.push_str(&format!("{:>width$} +{}\n", "", "-".repeat(columns)));
        let (left, right) = (short(self.x.lo), short(self.x.hi));
        let gap = columns.saturating_sub(left.chars().count());
        out.push_str(&format!("{:>width$}  {left}{right:>gap$}\n", ""));
        for (i, line) in self.lines.iter().enumerate() {
            let mark = MARKS.get(i % MARKS.len()).copied().unwrap_or('*');
            out.push_str(&format!("{:>width$}  {mark} {}\n", "", line.name));
        }
        out
    }
}

/// The name of an axis, with its scale where that is not plain.
fn named(axis: &Axis) -> String {
    if axis.logarithmic { format!("{} (log scale)", axis.name) } else { axis.name.clone() }
}

fn put(grid: &mut [Vec<char>], x: f64, y: f64, mark: char) {
    // A hair over the end is rounding, not outside.
    let inside = -1e-9..=1.0 + 1e-9;
    if !inside.contains(&x) || !inside.contains(&y) {
        return;
    }
    let place = |part: f64, size: usize| (part.clamp(0.0, 1.0) * size.saturating_sub(1) as f64).round() as usize;
    let (rows, columns) = (grid.len(), grid.first().map_or(0, Vec::len));
    let row = rows.saturating_sub(1).saturating_sub(place(y, rows));
    if let Some(cell) = grid.get_mut(row).and_then(|r| r.get_mut(place(x, columns))) {
        *cell = mark;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use crate::plot::Line;

    #[test]
    fn lines_lie_where_their_points_are() {
        let axis = |name: &str, lo, hi, logarithmic| Axis { name: name.into(), lo, hi, logarithmic };
        let line = |name: &str, points: &[(f64, f64)]| Line { name: name.into(), points: points.to_vec(), dashed: false };
        let lines =
            vec![line("rising", &[(1.0, 0.0), (100.0, 1.0), (f64::NAN, 1.0), (1000.0, 0.5)]), line("limit", &[(10.0, 0.0), (10.0, 1.0)])];
        let chart = Chart { title: "t".into(), x: axis("order", 1.0, 100.0, true), y: axis("epsilon", 0.0, 1.0, false), lines };
        let text = chart.text(21, 11);
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!(rows[0], "t: epsilon by order (log scale)");
        assert!(rows[1].starts_with("1 |          +") && rows[1].ends_with('*') && rows[1].chars().count() == 24, "{}", rows[1]);
        assert_eq!(rows[11].chars().nth(3), Some('*'));
        // Order 10 is the middle of a logarithmic axis from 1 to 100; where lines cross, the first is seen.
        assert!(rows[1..12].iter().all(|r| matches!(r.chars().nth(13), Some('*' | '+'))));
        assert_eq!(rows[12], "  +---------------------");
        assert_eq!(rows[13], "   1                 100");
        assert_eq!(rows[14..], ["   * rising", "   + limit"]);
    }
}
