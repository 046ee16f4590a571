//! Diagnostics on the screen: the reference messages character for character, and hostile text.

use dpm::source::{Diagnostic, SourceMap, Span, render};

/// Rebuilds a diagnostic from its picture, so that drawing it again must give the picture back.
fn from_picture(picture: &str) -> (SourceMap, Diagnostic) {
    let mut lines = picture.lines();
    let (code, message) = lines.next().unwrap()[1..].split_once("] Error: ").unwrap();
    let place = lines.next().unwrap().trim_start_matches([' ', '╭', '─', '[']);
    let (file_name, rest) = place.trim_end_matches(" ]").split_once(':').unwrap();
    let (line, column) = rest.split_once(':').unwrap();
    let primary: (usize, usize) = (line.parse().unwrap(), column.parse().unwrap());
    let mut source: Vec<String> = vec![];
    let mut marks: Vec<(usize, usize, usize, String)> = vec![];
    let mut words: Vec<(String, String)> = vec![];
    for line in lines {
        let Some((gutter, rest)) = line.split_once('│') else {
            continue;
        };
        let rest = rest.strip_prefix(' ').unwrap_or(rest);
        if rest.is_empty() {
            continue;
        }
        if let Ok(number) = gutter.trim().parse::<usize>() {
            source.resize(number - 1, String::new());
            source.push(rest.to_owned());
        } else if rest.contains('┬') {
            let from = rest.chars().take_while(|c| *c == ' ').count();
            marks.push((source.len(), from, rest.trim().chars().count(), String::new()));
        } else if let Some((_, text)) = rest.split_once("╰─") {
            marks.last_mut().unwrap().3 = text.trim_start_matches('─').trim_start().to_owned();
        } else if let Some((title, text)) = rest.split_once(": ").filter(|(t, _)| ["Note", "Note 1", "Note 2", "Help"].contains(t)) {
            words.push((title.to_owned(), text.to_owned()));
        } else if let Some((title, last)) = words.last_mut() {
            last.push('\n');
            last.push_str(&rest[title.len() + 2..]);
        }
    }
    let mut map = SourceMap::default();
    let file = map.add(file_name, source.join("\n"));
    let start = |line: usize| source[..line - 1].iter().map(|l| l.len() + 1).sum::<usize>();
    marks.sort_by_key(|(line, from, ..)| (*line, from + 1) != primary);
    let code: &'static str = code.to_owned().leak();
    let mut diagnostic = Diagnostic::new(code, message);
    for (line, from, width, text) in marks {
        let at = start(line) + from;
        diagnostic = diagnostic.label(Span::new(file, at, at + width), text);
    }
    for (title, text) in words {
        diagnostic = if title == "Help" { diagnostic.help(text) } else { diagnostic.note(text) };
    }
    (map, diagnostic)
}

#[test]
fn the_reference_messages_are_drawn_character_for_character() {
    let pictures = include_str!("../messages.txt");
    let mut seen = 0;
    for picture in pictures.split("\n\n").filter(|p| p.contains("Error: ")) {
        let picture = picture.trim_matches('\n');
        let (map, diagnostic) = from_picture(picture);
        let drawn = render::text(&map, &[diagnostic], false);
        assert_eq!(drawn.trim_end_matches('\n'), picture);
        seen += 1;
    }
    assert_eq!(seen, 15);
}

#[test]
fn labels_are_placed_by_bytes_and_drawn_by_columns() {
    let mut map = SourceMap::default();
    let text = "# μ\n\tlet μ漢 = ω + 1";
    let file = map.add("wide.dpm", text);
    let at = |what: &str| text.find(what).unwrap();
    let span = |what: &str| Span::new(file, at(what), at(what) + what.len());
    let diagnostic = Diagnostic::new("E0206", "unknown name `ω`").label(span("ω"), "here").label(span("μ漢"), "there");
    let expected = "\
[E0206] Error: unknown name `ω`
   ╭─[ wide.dpm:2:11 ]
   │
 2 │     let μ漢 = ω + 1
   │         ─┬─   ┬
   │          ╰─────── there
   │               │
   │               ╰── here
───╯
";
    assert_eq!(render::text(&map, &[diagnostic], false), expected);
}

#[test]
fn labels_in_several_files_lines_and_past_the_end_are_drawn() {
    let mut map = SourceMap::default();
    let main = map.add("main.dpm", "let a = 1\nlet b = 2");
    let module = map.add("std/x.dpm", "# ω\nfn f(x) = \"ωωω\" + x\n");
    let diagnostic = Diagnostic::new("W0501", "odd")
        .label(Span::new(main, 10, 9_999), "to the end")
        .label(Span::new(module, 26, 27), "after letters of two bytes")
        .label(Span::new(module, 28, 28), "at the end of the text")
        .label(Span::new(main, 0, 19), "over two lines")
        .cause("a cause")
        .note("a note")
        .help("one\ntwo");
    let expected = "\
[W0501] Warning: odd
   ╭─[ main.dpm:2:1 ]
   │
 1 │ let a = 1
   │ ────┬────
   │     ╰────── over two lines
 2 │ let b = 2
   │ ────┬────
   │     ╰────── to the end
   │
   ├─[ std/x.dpm:2:19 ]
   │
 2 │ fn f(x) = \"ωωω\" + x
   │                   ┬
   │                   ╰── after letters of two bytes
 3 │
   │ ┬
   │ ╰── at the end of the text
   │
   │ Help: one
   │       two
   │
   │ Note 1: a cause
   │
   │ Note 2: a note
───╯
";
    assert_eq!(render::text(&map, &[diagnostic], false), expected);
}

/// Of a line of a megabyte the message shows what is near its labels, and says where that is.
#[test]
fn long_lines_are_cut() {
    let mut map = SourceMap::default();
    let text = format!("let x = {}[1{}) + y", "é".repeat(500_000), " + 1".repeat(200));
    let file = map.add("long.dpm", text.as_str());
    let at = |what: &str| text.find(what).unwrap();
    let label = |what: &str| Span::new(file, at(what), at(what) + 1);
    let diagnostic = Diagnostic::new("E0018", "odd").label(label(")"), "closed").label(label("["), "open");
    let shown = render::text(&map, &[diagnostic], false);
    let lines: Vec<Vec<char>> = shown.lines().map(|l| l.chars().collect()).collect();
    assert_eq!(lines[1].iter().collect::<String>(), "   ╭─[ long.dpm:1:500811 ]");
    assert!(lines.len() == 9 && lines.iter().all(|l| l.len() < 200), "{shown}");
    // The source, the marks below its characters, and the words.
    let marked: String = lines[3].iter().zip(&lines[4]).filter(|(_, mark)| **mark == '┬').map(|(c, _)| c).collect();
    assert_eq!(marked, "[)");
    assert_eq!(lines[3].iter().filter(|c| **c == '…').count(), 2, "{shown}");
    assert!(shown.contains(" open\n") && shown.contains(" closed\n"));
}

#[test]
fn foreign_text_cannot_steer_the_terminal() {
    let mut map = SourceMap::default();
    let hostile = "\u{1b}]0;owned\u{7}\u{202e}\0\u{9b}2J\r\u{85}\u{2028}\u{e0041}";
    let file = map.add(hostile, format!("let a = \"{hostile}\""));
    let diagnostic = Diagnostic::new("E0001", hostile).label(Span::new(file, 8, 12), hostile).cause(hostile).help(hostile);
    let plain = render::text(&map, std::slice::from_ref(&diagnostic), false);
    assert!(plain.chars().all(|c| c == '\n' || !c.is_control()), "{plain}");
    assert!(!plain.contains(['\u{202e}', '\u{2028}']));
    assert_eq!(plain.matches("\\u{1b}]0;owned\\u{7}\\u{202e}\\0\\u{9b}2J\\r\\u{85}\\u{2028}\\u{e0041}").count(), 6, "{plain}");
    let coloured = render::text(&map, &[diagnostic], true);
    assert!(coloured.contains("\u{1b}[31m") && !coloured.contains("\u{1b}]"));
}

/// Nothing of a text can break the drawing: every odd text, with labels anywhere in it and past its end.
#[test]
fn odd_texts_are_drawn_line_by_line() {
    let long = "a".repeat(5_000);
    let odd = [
        "",
        "\n",
        "\r\n",
        "\t\tx\r\ny\r\n",
        "e\u{301}\u{301}",
        "no end",
        "\u{feff}x\u{200d}y",
        "漢\u{2028}\u{b}\u{c}字",
        "\u{5d0}\u{5d1}",
        &long,
        "a\0\u{1b}[2J",
    ];
    for text in odd {
        let mut map = SourceMap::default();
        let [main, module] = ["main.dpm", "\u{1b}[31m漢.dpm\n"].map(|name| map.add(name, text));
        for (start, end) in (0..=text.len().min(9)).flat_map(|start| [0, 1, 3, 9_999].map(|width| (start, start + width))) {
            let span = |file| Span::new(file, start, end);
            let d = Diagnostic::new("E0001", "first\nsecond").label(span(main), "one\ntwo").label(span(module), "there");
            let d = d.label(span(main), "again").cause("a\r\nb").help("x\ty\n").help("");
            let shown = render::text(&map, &[d], false);
            let framed = |l: &&str| !l.starts_with("[E0001] Error: ") && !l.chars().nth(3).is_some_and(|c| "│╭├╯".contains(c));
            assert_eq!(shown.lines().find(framed), None, "{text:?} {start}..{end}\n{shown}");
            assert!(shown.chars().all(|c| c == '\n' || !c.is_control()) && shown.len() < 4_000, "{text:?}\n{shown}");
            let facts = [
                "first\\nsecond",
                " one\\ntwo\n",
                " there\n",
                " again\n",
                "Note: a\\r\n   │       b\n",
                "Help: x    y\n",
                " main.dpm:",
                "\\u{1b}[31m漢.dpm\\n:",
            ];
            for fact in facts {
                assert!(shown.contains(fact), "{fact:?} of {text:?} {start}..{end}\n{shown}");
            }
        }
    }
}

/// Leads, code and effects stand in columns; code without a lead stands below the code above it, or indented below a sentence.
#[test]
fn help_stands_in_columns() {
    let help = |d: Diagnostic| dpm::source::help::lines(&d.help);
    let d = Diagnostic::new("E0001", "odd")
        .help(("one:", "漢", "so"))
        .help(("", "more"))
        .help("A sentence.")
        .help(("another:", "three", "or so"));
    assert_eq!(help(d), ["one:       漢      so", "           more", "A sentence.", "another:   three   or so"]);
    let d = Diagnostic::new("E0001", "odd").help("do it so:").help(("", "let a = 1", "a remark")).help(("", "let bc = 2"));
    assert_eq!(help(d), ["do it so:", "    let a = 1   a remark", "    let bc = 2"]);
    assert_eq!(help(Diagnostic::new("E0001", "odd").help(("", "a", "x")).help(("", "bc", "y"))), ["a    x", "bc   y"]);
}

/// A complaint about nothing in a text still says all it has to say.
#[test]
fn words_without_a_place_are_drawn() {
    let d = Diagnostic::new("E0001", "odd").cause("a cause").help("one\ntwo");
    assert_eq!(render::text(&SourceMap::default(), &[d], false), "[E0001] Error: odd\nHelp: one\ntwo\nNote: a cause\n");
}

#[test]
fn json_has_bytes_lines_and_columns() {
    let mut map = SourceMap::default();
    let file = map.add("a.dpm", "# μ\nμ = 1");
    let diagnostic = Diagnostic::new("E0001", "m").label(Span::new(file, 5, 7), "l").help("h");
    let json = render::json(&map, &[diagnostic]);
    let label = &json["diagnostics"][0]["labels"][0];
    assert_eq!((&label["start"], &label["end"], &label["line"], &label["column"]), (&5.into(), &7.into(), &2.into(), &1.into()));
    assert_eq!(label["primary"], true);
    assert_eq!(json["diagnostics"][0]["severity"], "error");
    assert_eq!(json["diagnostics"][0]["help"][0], "h");
}
