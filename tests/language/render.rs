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
        if let Ok(number) = gutter.trim().parse::<usize>() {
            source.resize(number - 1, String::new());
            source.push(rest.to_owned());
        } else if rest.contains('┬') {
            let from = rest.chars().take_while(|c| *c == ' ').count();
            marks.push((source.len(), from, rest.trim().chars().count(), String::new()));
        } else if let Some((_, text)) = rest.split_once("╰─ ") {
            marks.last_mut().unwrap().3 = text.to_owned();
        } else if let Some((title, text)) = rest.split_once(": ").filter(|(t, _)| ["Cause", "Note", "Help"].contains(t)) {
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
        diagnostic = match title.as_str() {
            "Cause" => diagnostic.cause(text),
            "Note" => diagnostic.note(text),
            _ => diagnostic.help(text),
        };
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
    let diagnostic = Diagnostic::new("E0206", "unknown name `ω`").label(span("ω"), "here").label(span("μ漢"), "two\nlines");
    let expected = "\
[E0206] Error: unknown name `ω`
   ╭─[ wide.dpm:2:11 ]
   │
 2 │     let μ漢 = ω + 1
   │         ─┬─
   │          ╰─ two
   │             lines
   │               ┬
   │               ╰─ here
───╯
";
    assert_eq!(render::text(&map, &[diagnostic], false), expected);
}

#[test]
fn labels_in_several_files_lines_and_past_the_end_are_drawn() {
    let mut map = SourceMap::default();
    let main = map.add("main.dpm", "let a = 1\nlet b = 2");
    let module = map.add("std/x.dpm", "fn f(x) = x\n");
    let diagnostic = Diagnostic::new("W0404", "odd")
        .label(Span::new(main, 10, 9_999), "to the end")
        .label(Span::new(module, 0, 2), "from here")
        .label(Span::new(main, 0, 19), "over two lines")
        .note("a note");
    let expected = "\
[W0404] Warning: odd
   ╭─[ main.dpm:2:1 ]
   │
 1 │ let a = 1
   │ ────┬────
   │     ╰─ over two lines
 2 │ let b = 2
   │ ────┬────
   │     ╰─ to the end
   ├─[ std/x.dpm:1:1 ]
   │
 1 │ fn f(x) = x
   │ ┬─
   │ ╰─ from here
   │
   │ Note: a note
───╯
";
    assert_eq!(render::text(&map, &[diagnostic], false), expected);
}

#[test]
fn foreign_text_cannot_steer_the_terminal() {
    let mut map = SourceMap::default();
    let hostile = "\u{1b}]0;owned\u{7}\u{202e}";
    let file = map.add(hostile, format!("let a = \"{hostile}\""));
    let diagnostic = Diagnostic::new("E0001", hostile).label(Span::new(file, 8, 12), hostile).cause(hostile).help(hostile);
    let plain = render::text(&map, std::slice::from_ref(&diagnostic), false);
    assert!(plain.chars().all(|c| c == '\n' || !c.is_control()), "{plain}");
    assert!(!plain.contains('\u{202e}'));
    let coloured = render::text(&map, &[diagnostic], true);
    assert!(coloured.contains("\u{1b}[31m") && !coloured.contains("\u{1b}]"));
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
