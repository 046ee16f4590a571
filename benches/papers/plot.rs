//! Panels of lines with error bars, as SVG.

use plotters::prelude::*;
use std::path::Path;

/// x, y and half of the error bar.
pub type Point = (f64, f64, f64);

#[derive(Clone)]
pub struct Series {
    pub name: String,
    pub points: Vec<Point>,
}

pub struct Panel {
    pub title: String,
    pub x: String,
    pub y: String,
    pub series: Vec<Series>,
}

const COLOURS: [RGBColor; 10] = [
    RGBColor(230, 97, 0),
    RGBColor(93, 58, 155),
    RGBColor(120, 120, 120),
    RGBColor(0, 114, 178),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(0, 0, 0),
    RGBColor(170, 120, 0),
    RGBColor(86, 180, 233),
    RGBColor(160, 30, 60),
];

/// Panels in rows of so many.
pub fn grid(path: &Path, columns: usize, panels: &[Panel]) {
    let rows = panels.len().div_ceil(columns);
    let size = (360 * columns as u32, 280 * rows as u32);
    let root = SVGBackend::new(path, size).into_drawing_area();
    root.fill(&WHITE).unwrap();
    for (area, panel) in root.split_evenly((rows, columns)).iter().zip(panels) {
        draw(area, panel);
    }
    root.present().unwrap();
}

fn draw(area: &DrawingArea<SVGBackend, plotters::coord::Shift>, panel: &Panel) {
    let points = || panel.series.iter().flat_map(|s| &s.points);
    let span =
        |f: fn(&Point) -> (f64, f64)| points().map(f).fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), (a, b)| (lo.min(a), hi.max(b)));
    let ((x0, x1), (y0, y1)) = (span(|p| (p.0, p.0)), span(|p| (p.1 - p.2, p.1 + p.2)));
    if x0 >= x1 || points().next().is_none() {
        return;
    }
    let margin = 0.05 * (y1 - y0).max(1e-9);
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, ("sans-serif", 15))
        .margin(8)
        .x_label_area_size(34)
        .y_label_area_size(48)
        .build_cartesian_2d(x0..x1, y0 - margin..y1 + margin)
        .unwrap();
    chart.configure_mesh().light_line_style(WHITE.mix(0.0)).x_desc(&panel.x).y_desc(&panel.y).x_labels(7).y_labels(6).draw().unwrap();
    for (series, colour) in panel.series.iter().zip(COLOURS).filter(|(s, _)| !s.points.is_empty()) {
        let style = colour.stroke_width(2);
        let line = LineSeries::new(series.points.iter().map(|p| (p.0, p.1)), style);
        chart.draw_series(line).unwrap().label(&series.name).legend(move |(x, y)| PathElement::new([(x, y), (x + 14, y)], style));
        let bars = series.points.iter().map(|p| PathElement::new([(p.0, p.1 - p.2), (p.0, p.1 + p.2)], colour.stroke_width(1)));
        chart.draw_series(bars).unwrap();
    }
    chart.configure_series_labels().background_style(WHITE.mix(0.7)).label_font(("sans-serif", 11)).draw().unwrap();
}

/// Least, lower quartile, median, upper quartile, most.
pub struct Whiskers {
    pub name: String,
    pub at: [f64; 5],
}

/// Boxes beside one another, a panel a row.
pub fn boxes(path: &Path, panels: &[(String, Vec<Whiskers>)], y: &str) {
    let root = SVGBackend::new(path, (760, 260 * panels.len() as u32)).into_drawing_area();
    root.fill(&WHITE).unwrap();
    for (area, (title, list)) in root.split_evenly((panels.len(), 1)).iter().zip(panels) {
        let top = list.iter().map(|w| w.at[4]).fold(0.0, f64::max);
        let mut chart = ChartBuilder::on(area)
            .caption(title, ("sans-serif", 15))
            .margin(8)
            .x_label_area_size(30)
            .y_label_area_size(48)
            .build_cartesian_2d(0.0..list.len() as f64, 0.0..1.05 * top)
            .unwrap();
        chart.configure_mesh().disable_x_mesh().disable_x_axis().light_line_style(WHITE.mix(0.0)).y_desc(y).y_labels(6).draw().unwrap();
        for (i, (w, colour)) in list.iter().zip(COLOURS.iter().cycle()).enumerate() {
            let x = i as f64 + 0.5;
            let [low, q1, median, q3, high] = w.at;
            let line = |from, to| PathElement::new([from, to], colour.stroke_width(2));
            let name = Text::new(w.name.clone(), (x - 0.3, 0.0), ("sans-serif", 12));
            chart.draw_series([line((x, low), (x, q1)), line((x, q3), (x, high)), line((x - 0.25, median), (x + 0.25, median))]).unwrap();
            chart.draw_series([Rectangle::new([(x - 0.25, q1), (x + 0.25, q3)], colour.stroke_width(2))]).unwrap();
            chart.draw_series([name]).unwrap();
        }
    }
    root.present().unwrap();
}
