//! The committed figures of the papers: all are on their page with a caption, and nothing in them lies over anything else.
//!
//! The script that draws them measures with the real font; this reads the files with no code of its own, and with boxes that are a
//! little smaller than any font's.

use std::collections::BTreeSet;
use std::fs;

use roxmltree::{Document, Node, ParsingOptions};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/papers.md");
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/papers");

struct Text {
    words: String,
    /// Left, top, right, bottom.
    at: [f64; 4],
}

fn number(node: &Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{name} of {node:?}"))
}

/// A value of the `style` attribute.
fn style<'a>(node: &Node<'a, '_>, name: &str) -> Option<&'a str> {
    node.attribute("style")?.split(';').find_map(|part| part.trim().strip_prefix(name)?.strip_prefix(": "))
}

fn text(node: &Node<'_, '_>) -> Text {
    let words: String = node.descendants().filter_map(|n| n.is_text().then(|| n.text()).flatten()).collect::<String>().trim().into();
    let size: f64 = style(node, "font-size").and_then(|s| s.strip_suffix("px")?.parse().ok()).expect("a size");
    let (x, y) = (number(node, "x"), number(node, "y"));
    let (width, height) = (0.45 * size * words.chars().count() as f64, 0.7 * size);
    let before = match style(node, "text-anchor") {
        Some("middle") => width / 2.0,
        Some("end") => width,
        _ => 0.0,
    };
    let upright = node.attribute("transform").is_some_and(|t| t.contains("rotate(-90"));
    let at = if upright { [x - height, y - (width - before), x, y + before] } else { [x - before, y - height, x - before + width, y] };
    Text { words, at }
}

/// The points of a path.
fn points(path: &str) -> Vec<(f64, f64)> {
    let numbers: Vec<f64> = path.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    numbers.chunks_exact(2).map(|p| (p[0], p[1])).collect()
}

/// A line that is drawn, with a point at least every unit.
struct Line {
    at: Vec<(f64, f64)>,
    width: f64,
    solid: bool,
}

fn line(node: &Node<'_, '_>) -> Option<Line> {
    let path = node.descendants().find(|p| p.has_tag_name("path"))?;
    let ends = points(path.attribute("d")?);
    let mut at: Vec<(f64, f64)> = ends.last().copied().into_iter().collect();
    for pair in ends.windows(2) {
        let (dx, dy) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
        let steps = dx.hypot(dy).ceil().max(1.0);
        at.extend((0..steps as usize).map(|i| (pair[0].0 + dx * i as f64 / steps, pair[0].1 + dy * i as f64 / steps)));
    }
    let width = style(&path, "stroke-width").and_then(|w| w.parse().ok()).unwrap_or(1.0);
    Some(Line { at, width, solid: style(&path, "stroke-dasharray").is_none() })
}

/// Is nearly all that is seen of a line within a unit of a later one? A broad line shows on both sides of a narrow one.
fn hidden(one: &Line, later: &[Line], panel: [f64; 4]) -> bool {
    let covers: Vec<&Line> = later.iter().filter(|o| o.solid && one.width - o.width < 0.36).collect();
    let near = |p: &(f64, f64)| covers.iter().any(|o| o.at.iter().any(|q| (p.0 - q.0).hypot(p.1 - q.1) < 1.0));
    let seen: Vec<_> = one.at.iter().filter(|p| inside(p, panel)).collect();
    seen.iter().filter(|p| near(p)).count() * 20 > seen.len() * 19
}

fn overlap(a: [f64; 4], b: [f64; 4]) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

fn inside(p: &(f64, f64), b: [f64; 4]) -> bool {
    b[0] < p.0 && p.0 < b[2] && b[1] < p.1 && p.1 < b[3]
}

/// What is wrong with a figure.
fn faults(svg: &str) -> Vec<String> {
    let document = Document::parse_with_options(svg, ParsingOptions { allow_dtd: true, ..ParsingOptions::default() }).expect("SVG");
    let root = document.root_element();
    let whole: Vec<f64> = root.attribute("viewBox").expect("a box").split(' ').map(|x| x.parse().expect("a number")).collect();
    let texts: Vec<Text> = root.descendants().filter(|n| n.has_tag_name("text")).map(|n| text(&n)).collect();
    let mut found = vec![];
    for (i, one) in texts.iter().enumerate() {
        if one.at[0] < whole[0] || one.at[1] < whole[1] || one.at[2] > whole[2] || one.at[3] > whole[3] {
            found.push(format!("`{}` leaves the picture", one.words));
        }
        found.extend(texts[..i].iter().filter(|o| overlap(o.at, one.at)).map(|o| format!("`{}` lies over `{}`", one.words, o.words)));
    }
    let panels: Vec<Node<'_, '_>> = root.descendants().filter(|n| n.attribute("id").is_some_and(|id| id.starts_with("axes_"))).collect();
    let legends = root.descendants().filter(|n| n.attribute("id").is_some_and(|id| id.starts_with("legend_")));
    let named: Vec<Text> = legends.flat_map(|l| l.descendants().filter(|n| n.has_tag_name("text"))).map(|n| text(&n)).collect();
    for panel in &panels {
        let paths = |class: Option<&'static str>| {
            let own = panel.children().filter(move |n| n.attribute("class") == class);
            own.filter_map(|n| n.descendants().find(|p| p.has_tag_name("path"))?.attribute("d")).collect::<Vec<_>>()
        };
        // The first path of a panel is its background.
        let ground = points(paths(None).first().expect("a background"));
        let span = |of: fn(&(f64, f64)) -> f64| {
            ground.iter().map(of).fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), x| (lo.min(x), hi.max(x)))
        };
        let ((left, right), (top, bottom)) = (span(|p| p.0), span(|p| p.1));
        found.extend(
            named.iter().filter(|t| overlap(t.at, [left, top, right, bottom])).map(|t| format!("legend `{}` lies over data", t.words)),
        );
        let lines = paths(Some("line"));
        if lines.iter().collect::<BTreeSet<_>>().len() < lines.len() {
            found.push("two lines are the same".into());
        }
        if lines.len() > 6 {
            found.push(format!("{} lines in one panel", lines.len()));
        }
        for line in &lines {
            if points(line).iter().all(|p| p.0.fract() == 0.0 && p.1.fract() == 0.0) {
                found.push("a line of whole pixels".into());
            }
        }
        let drawn: Vec<Line> = panel.children().filter(|n| n.attribute("class") == Some("line")).filter_map(|n| line(&n)).collect();
        let area = [left, top, right, bottom];
        for (i, one) in drawn.iter().enumerate() {
            if hidden(one, &drawn[i + 1..], area) {
                found.push(format!("line {} is hidden for its whole length", i + 1));
            }
            // A curve may come into the panel and leave it where it is too steep; one that begins inside has its end there.
            let away = |p: Option<&(f64, f64)>| p.is_some_and(|p| p.1 < top - 1.5 || p.1 > bottom + 1.5);
            // The last point is the first of the list.
            if away(one.at.first()) && !away(one.at.get(1)) {
                found.push(format!("line {} leaves its panel", i + 1));
            }
            let crossed = |t: &&Text| one.at.iter().any(|p| inside(p, area) && inside(p, t.at));
            found.extend(texts.iter().filter(crossed).map(|t| format!("`{}` lies over a line", t.words)));
        }
    }
    if panels.is_empty() {
        found.push("no panel".into());
    }
    found
}

#[test]
fn figures_have_captions_and_nothing_lies_over_anything() {
    let page = fs::read_to_string(PAGE).unwrap();
    let shown: BTreeSet<&str> = page.split("](papers/").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    let files: BTreeSet<String> = fs::read_dir(FOLDER).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(shown, files.iter().map(String::as_str).collect());
    for part in page.split("\n### ").skip(1) {
        let caption = part.split("\n\n").nth(2).unwrap();
        assert!(caption.starts_with("**C") && caption.len() > 120, "{part}");
    }
    for name in files {
        assert_eq!(faults(&fs::read_to_string(format!("{FOLDER}/{name}")).unwrap()), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn planted_faults_are_found() {
    let good = fs::read_to_string(format!("{FOLDER}/minami-2.svg")).unwrap();
    let planted = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        faults(&good.replacen(from, to, 1)).join("; ")
    };
    let line = |i: usize| good.split("class=\"line\"").nth(i).unwrap().split(" d=\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(planted(line(1), line(2)).contains("two lines are the same"));
    assert!(planted(line(1), "M 60 60 L 90 90").contains("a line of whole pixels"));
    // Nearly the same, with other points: half a line and a quarter of a unit beside it.
    let ends: Vec<(f64, f64)> = points(line(2));
    let beside: Vec<String> = ends[..ends.len() / 2].iter().map(|p| format!("{} {}", p.0 + 0.01, p.1 + 0.25)).collect();
    assert!(planted(line(1), &format!("M {}", beside.join(" L "))).contains("line 1 is hidden for its whole length"));
    let label = |words: &str| {
        let end = good.find(&format!("\">{words}</text>")).unwrap();
        good[good[..end].rfind("<text").unwrap()..end].to_owned()
    };
    let moved = label("δ = 1e-5").replace("y=\"", "y=\"100\" was=\"");
    assert!(planted(&label("δ = 1e-5"), &moved).contains("lies over data"));
    let middle = points(line(2))[7];
    let moved = label("δ = 1e-5").replace("x=\"", &format!("x=\"{}\" was=\"", middle.0 - 4.0));
    let moved = moved.replace(" y=\"", &format!(" y=\"{}\" had=\"", middle.1 + 3.0));
    assert!(planted(&label("δ = 1e-5"), &moved).contains("`δ = 1e-5` lies over a line"));
    let above: Vec<String> = ends.iter().enumerate().map(|(i, p)| format!("{} {}", p.0, p.1 - if i == 0 { 0.0 } else { 300.0 })).collect();
    assert!(planted(line(1), &format!("M {}", above.join(" L "))).contains("line 1 leaves its panel"));
    let (first, second) = (label("δ = 1e-5"), label("δ = 1e-6"));
    assert!(planted(&first, &second).contains("`δ = 1e-6` lies over `δ = 1e-5`"));
    let out = first.replace("x=\"", "x=\"900\" was=\"");
    assert!(planted(&first, &out).contains("leaves the picture"));
}
