//! Advice that works when it is pasted: every Help line with code of every complaint is applied to the program that raises it.

use dpm::lsp::document::Document;
use dpm::lsp::repair::candidates;
use dpm::source::{Diagnostic, FileId, Help};
use dpm::syntax;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Programs that are refused, by name, with the folder of their modules.
fn refused() -> Vec<(String, String, PathBuf)> {
    let mut folders = vec![folder("tests/errors"), folder("tests/wrong")];
    folders.extend(fs::read_dir(folder("tests/rules")).unwrap().map(|e| e.unwrap().path()));
    let mut found = vec![];
    for folder in folders {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
            if path.extension().is_some_and(|e| e == "dpm") && !stem.starts_with("accept_") {
                let within = folder.file_name().unwrap().to_str().unwrap().to_owned();
                // A golden program ends with what it must meet when it is put right, which Help cannot know.
                let text = fs::read_to_string(&path).unwrap();
                let kept = |line: &&str| within != "wrong" || !line.starts_with("expect ");
                let text: String = text.lines().filter(kept).map(|line| format!("{line}\n")).collect();
                found.push((format!("{within}/{stem}"), text, folder.clone()));
            }
        }
    }
    for page in dpm::source::codes::all() {
        found.push((format!("page/{}", page.code), page.example_wrong.to_owned(), folder("tests/errors")));
    }
    found.sort();
    found
}

/// Is there something to paste? Code that goes with the line above is tried with it; commands are for a shell.
fn has_code(lines: &[Help], i: usize) -> bool {
    let line = &lines[i];
    let above = lines[..i].iter().rposition(|h| !h.edits.is_empty() || !h.lead.is_empty());
    let continued = line.lead.is_empty() && line.edits.is_empty() && above.is_some_and(|a| !lines[a].edits.is_empty());
    let command = ["--", "dpm ", ":"].iter().any(|c| line.pasted().starts_with(c));
    let code = |text: &str| {
        let (ast, errors) = syntax::parse(FileId(0), text);
        (errors.is_empty() && !ast.items.is_empty()) || syntax::parse_expr(FileId(0), text).is_ok()
    };
    !continued && !command && (!line.code.is_empty() || !line.edits.is_empty() || code(&line.lead))
}

fn errors(list: &[Diagnostic]) -> Vec<(&'static str, String)> {
    list.iter().filter(|d| d.is_error()).map(|d| (d.code, d.message.clone())).collect()
}

/// What is left to complain of where this line was followed: nothing that was not there before, at best.
fn left(document: &Document, d: &Diagnostic, line: usize) -> Option<Vec<(&'static str, String)>> {
    let before = errors(&document.diagnostics);
    let mut best: Option<Vec<(&'static str, String)>> = None;
    for candidate in candidates(document, d).into_iter().filter(|c| c.lines.contains(&line)) {
        // Where a program does not say how many rows it has, how useful a line is is judged for many.
        let of_many = candidate.text.replace("[n]", "[n >= 100000]");
        let after = Document::new(candidate.text, document.folder.clone());
        let said: Vec<(&str, String)> = after.diagnostics.iter().map(|x| (x.code, x.message.clone())).collect();
        let same = |list: &[(&str, String)]| list.iter().filter(|x| **x == (d.code, d.message.clone())).count();
        let mut new: Vec<_> = errors(&after.diagnostics).into_iter().filter(|e| !before.contains(e)).collect();
        // Nor may it be predicted to be useless.
        let useless = |list: &[Diagnostic]| list.iter().filter(|x| x.code == "W0510").count();
        let more = |list: &[Diagnostic]| useless(list) > useless(&document.diagnostics);
        if more(&after.diagnostics) && more(&Document::new(of_many, document.folder.clone()).diagnostics) {
            new.push(("W0510", "predicted to be useless".to_owned()));
        }
        // A fragment lacks what it lacks: a budget, or the declarations of names that it uses.
        let parsed = syntax::parse(FileId(0), &document.text).1.is_empty();
        let unknown = |m: &str| m.strip_prefix("unknown name `").is_some_and(|n| document.text.contains(n.trim_end_matches('`')));
        new.retain(|(code, m)| (*code != "E0405" || document.text.contains("budget ")) && (parsed || *code != "E0206" || !unknown(m)));
        if same(&said) >= document.diagnostics.iter().filter(|x| (x.code, &x.message) == (d.code, &d.message)).count() {
            new.push((d.code, "the same again".to_owned()));
        }
        if best.as_ref().is_none_or(|b| new.len() < b.len()) {
            best = Some(new);
        }
    }
    best
}

#[test]
fn every_line_of_help_works_when_it_is_pasted() {
    let mut wrong: BTreeMap<String, String> = BTreeMap::new();
    let mut tried = 0;
    for (name, text, folder) in refused() {
        let document = Document::new(text.clone(), Some(folder));
        for d in &document.diagnostics {
            let lines: Vec<usize> = (0..d.help.len()).filter(|i| has_code(&d.help, *i)).collect();
            let all: Vec<_> = lines.iter().map(|i| left(&document, d, *i)).collect();
            let works = |f: &Option<Vec<_>>| f.as_ref().is_some_and(Vec::is_empty);
            for (i, found) in lines.iter().zip(&all) {
                tried += 1;
                let line = &d.help[*i];
                // Of alternatives with conditions one is right.
                let other = line.effect.starts_with("if ") && all.iter().any(works);
                if !works(found) && !other {
                    let what = found.as_ref().map_or("has no place".to_owned(), |f| format!("{f:?}"));
                    wrong.insert(format!("{name} {} {}", d.code, line.pasted().replace('\n', " / ")), what);
                }
            }
        }
    }
    let wrong: String = wrong.iter().map(|(line, why)| format!("{line}\n        {why}\n")).collect();
    assert!(wrong.is_empty(), "of {tried} lines:\n{wrong}");
    assert!(tried > 400, "{tried}");
}
