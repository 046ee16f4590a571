//! One chart: lines over two axes, drawn by plotters without fonts of its own.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// One axis: what it shows, its ends, and whether it is logarithmic.
#[derive(Clone, PartialEq, Debug)]
pub struct Axis {
    pub name: String,
    pub lo: f64,
    pub hi: f64,
    pub logarithmic: bool,
}

/// A named line; gaps where a value is not finite.
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    pub name: String,
    pub points: Vec<(f64, f64)>,
    pub dashed: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Chart {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub lines: Vec<Line>,
}

/// Told apart by people who see colours differently (Okabe and Ito).
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(120, 120, 120),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 50, 130),
];

/// The height of a row of names, in pixels.
const LEGEND: i32 = 21;

type Failed = Box<dyn std::error::Error>;

impl Axis {
    /// An axis that holds these values with a little room; `None` if none is finite (and above 0, where logarithmic).
    pub fn around(name: &str, values: impl Iterator<Item = f64>, logarithmic: bool) -> Option<Axis> {
        let usable = values.filter(|v| v.is_finite() && (!logarithmic || *v > 0.0));
        let (lo, hi) = usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(v), hi.max(v)));
        if lo > hi {
            return None;
        }
        let (lo, hi) = match (lo == hi, logarithmic) {
            (true, true) => (lo / 2.0, hi * 2.0),
            (true, false) => (lo - 0.5, hi + 0.5),
            (false, true) => (lo, hi),
            (false, false) => (lo, hi + 0.04 * (hi - lo)),
        };
        Some(Axis { name: name.into(), lo, hi, logarithmic })
    }
}

impl Chart {
    /// As SVG text of this size in pixels; `None` if an axis is empty.
    pub fn svg(&self, width: u32, height: u32) -> Option<String> {
        let mut text = String::new();
        {
            let area = SVGBackend::with_string(&mut text, (width, height)).into_drawing_area();
            self.draw(&area).ok()?;
            area.present().ok()?;
        }
        Some(text)
    }

    fn draw(&self, area: &DrawingArea<SVGBackend, Shift>) -> Result<(), Failed> {
        area.fill(&WHITE)?;
        // Names stand below the axes, two a row: nowhere can they cover a line.
        let height = area.dim_in_pixel().1 as i32;
        let rows = self.lines.len().div_ceil(2) as i32;
        let (upper, lower) = area.split_vertically((height - rows * LEGEND - 8).max(height / 2));
        self.names(&lower)?;
        let (x, y) = (self.x.lo..self.x.hi, self.y.lo..self.y.hi);
        match (self.x.logarithmic, self.y.logarithmic) {
            (false, false) => self.on(&upper, x, y),
            (true, false) => self.on(&upper, x.log_scale(), y),
            (false, true) => self.on(&upper, x, y.log_scale()),
            (true, true) => self.on(&upper, x.log_scale(), y.log_scale()),
        }
    }

    fn names(&self, area: &DrawingArea<SVGBackend, Shift>) -> Result<(), Failed> {
        let width = area.dim_in_pixel().0 as i32;
        for (i, (line, colour)) in (0..).zip(self.lines.iter().zip(COLOURS.iter().cycle())) {
            let (x, y) = (12 + (i % 2) * (width / 2), LEGEND / 2 + (i / 2) * LEGEND);
            let dashes: &[(i32, i32)] = if line.dashed { &[(0, 8), (14, 22)] } else { &[(0, 22)] };
            for (from, to) in dashes {
                area.draw(&PathElement::new([(x + from, y), (x + to, y)], colour.stroke_width(2)))?;
            }
            let style = TextStyle::from(("sans-serif", 14)).pos(Pos::new(HPos::Left, VPos::Center));
            area.draw(&Text::new(line.name.as_str(), (x + 28, y), style))?;
        }
        Ok(())
    }

    fn on<X, Y>(&self, area: &DrawingArea<SVGBackend, Shift>, x: X, y: Y) -> Result<(), Failed>
    where
        X: plotters::coord::ranged1d::AsRangedCoord<Value = f64>,
        Y: plotters::coord::ranged1d::AsRangedCoord<Value = f64>,
        X::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
        Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, ("sans-serif", 17))
            .margin(12)
            .margin_right(24)
            .x_label_area_size(46)
            .y_label_area_size(66)
            .build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .light_line_style(WHITE.mix(0.0))
            .bold_line_style(BLACK.mix(0.08))
            .x_desc(&self.x.name)
            .y_desc(&self.y.name)
            .x_label_formatter(&|v| short(*v))
            .y_label_formatter(&|v| short(*v))
            .label_style(("sans-serif", 14))
            .axis_desc_style(("sans-serif", 15))
            .x_labels(6)
            .y_labels(6)
            .draw()?;
        for (line, colour) in self.lines.iter().zip(COLOURS.iter().cycle()) {
            let style = colour.stroke_width(2);
            for piece in line.points.split(|(x, y)| !(x.is_finite() && y.is_finite())).filter(|p| !p.is_empty()) {
                if line.dashed {
                    chart.draw_series(DashedLineSeries::new(piece.iter().copied(), 6, 4, style))?;
                } else {
                    chart.draw_series(LineSeries::new(piece.iter().copied(), style))?;
                }
            }
        }
        Ok(())
    }
}

/// A number on an axis.
pub(super) fn short(v: f64) -> String {
    let size = v.abs();
    if v == 0.0 {
        "0".into()
    } else if !(1e-3..1e5).contains(&size) {
        format!("{v:.0e}")
    } else {
        let text = format!("{v:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_is_svg_with_its_names_and_gaps() {
        let x = Axis { name: "order".into(), lo: 1.0, hi: 100.0, logarithmic: true };
        let y = Axis::around("epsilon", [0.0, 1.0, f64::INFINITY].into_iter(), false).unwrap();
        let points = vec![(1.0, 0.1), (2.0, 0.2), (3.0, f64::INFINITY), (10.0, 0.5), (90.0, 1.0)];
        let chart = Chart { title: "p_hat".into(), x, y, lines: vec![Line { name: "certified".into(), points, dashed: false }] };
        let svg = chart.svg(640, 420).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        for word in ["p_hat", "order", "epsilon", "certified"] {
            assert!(svg.contains(word), "{word}");
        }
        assert!(svg.matches("<polyline").count() >= 2);
        assert_eq!(Axis::around("nothing", [f64::NAN].into_iter(), false), None);
    }

    #[test]
    fn numbers_on_axes_are_short() {
        assert_eq!([0.0, 0.25, 1e-6, 1500.0, 2e7].map(short), ["0", "0.25", "1e-6", "1500", "2e7"]);
    }
}
