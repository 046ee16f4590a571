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

const COLOURS: [RGBColor; 6] = [
    RGBColor(230, 97, 0),
    RGBColor(93, 58, 155),
    RGBColor(120, 120, 120),
    RGBColor(0, 114, 178),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
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
    for (series, colour) in panel.series.iter().zip(COLOURS) {
        let style = colour.stroke_width(2);
        let line = LineSeries::new(series.points.iter().map(|p| (p.0, p.1)), style);
        chart.draw_series(line).unwrap().label(&series.name).legend(move |(x, y)| PathElement::new([(x, y), (x + 14, y)], style));
        let bars = series.points.iter().map(|p| PathElement::new([(p.0, p.1 - p.2), (p.0, p.1 + p.2)], colour.stroke_width(1)));
        chart.draw_series(bars).unwrap();
    }
    chart.configure_series_labels().background_style(WHITE.mix(0.7)).label_font(("sans-serif", 11)).draw().unwrap();
}
