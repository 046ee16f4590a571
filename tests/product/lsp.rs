//! The language server, asked as an editor asks it: over the protocol, through the connection of `lsp-server`.

use lsp_server::{Connection, Message, Notification, Request, RequestId};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::thread::JoinHandle;

const URI: &str = "file:///nowhere/program.dpm";

/// An editor with one open file.
struct Editor {
    connection: Connection,
    server: Option<JoinHandle<()>>,
    next: i32,
}

impl Editor {
    fn new() -> Editor {
        let (ours, theirs) = Connection::memory();
        let server = std::thread::Builder::new().stack_size(64 << 20).spawn(move || dpm::lsp::serve(&theirs).unwrap()).unwrap();
        let mut editor = Editor { connection: ours, server: Some(server), next: 0 };
        let answer = editor.ask("initialize", json!({"capabilities": {}, "processId": null, "rootUri": null}));
        assert_eq!(answer["serverInfo"]["name"], "dpm");
        editor.tell("initialized", json!({}));
        editor
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.connection.sender.send(Message::Notification(Notification::new(method.into(), params))).unwrap();
    }

    /// The answer, or the error as `{"error": ..}`.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = RequestId::from(self.next);
        self.connection.sender.send(Message::Request(Request::new(id.clone(), method.into(), params))).unwrap();
        loop {
            match self.connection.receiver.recv().unwrap() {
                Message::Response(r) if r.id == id => {
                    return r.response_result.unwrap_or_else(|e| json!({"error": e.message}));
                }
                _ => {}
            }
        }
    }

    /// Opens a text: what is wrong with it.
    fn open(&mut self, text: &str) -> Vec<Value> {
        self.tell("textDocument/didOpen", json!({"textDocument": {"uri": URI, "languageId": "dpm", "version": 1, "text": text}}));
        self.diagnostics()
    }

    fn diagnostics(&mut self) -> Vec<Value> {
        loop {
            if let Message::Notification(n) = self.connection.receiver.recv().unwrap()
                && n.method == "textDocument/publishDiagnostics"
            {
                return n.params["diagnostics"].as_array().unwrap().clone();
            }
        }
    }

    fn at(&mut self, method: &str, line: u32, character: u32) -> Value {
        self.ask(method, json!({"textDocument": {"uri": URI}, "position": {"line": line, "character": character}}))
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.ask("shutdown", Value::Null);
            self.tell("exit", Value::Null);
            self.server.take().unwrap().join().unwrap();
        }
    }
}

const TEXT: &str = "# é 𝒳\nbudget rdp(order = 8, eps = 0.5)\nprivate staff[n >= 100] { smoker: bool }\nparam p ~ beta(6, 18)\nobserve smoker ~ bernoulli(p)\nrelease p_hat = draw(p) using diffuse\noutput share = p_hat * 100\n";

#[test]
fn a_right_program_is_described() {
    let mut e = Editor::new();
    assert!(e.open(TEXT).is_empty());
    let hover = |e: &mut Editor, line, character| {
        e.at("textDocument/hover", line, character)["contents"]["value"].as_str().unwrap_or("").to_owned()
    };
    let release = hover(&mut e, 5, 10);
    assert!(
        release.contains("`diffuse`, r = 0.668") && release.contains("beta_bernoulli") && release.contains("orders below 9.97"),
        "{release}"
    );
    assert!(hover(&mut e, 4, 9).contains("label `row`"), "{}", hover(&mut e, 4, 9));
    assert!(hover(&mut e, 4, 18).contains("bernoulli"));
    assert!(hover(&mut e, 1, 2).contains("budget"));
    let definition = e.at("textDocument/definition", 5, 21);
    assert_eq!(definition["range"]["start"], json!({"line": 3, "character": 6}));
    let hints = e.ask(
        "textDocument/inlayHint",
        json!({"textDocument": {"uri": URI}, "range": {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}}),
    );
    assert!(hints[0]["label"].as_str().unwrap().contains("dp(1.715, 1e-6)"), "{hints}");
    assert_eq!(hints[0]["position"]["line"], 5);
    let words = e.at("textDocument/completion", 5, 33);
    assert!(words.as_array().unwrap().iter().any(|w| w["label"] == "diffuse") && !words.to_string().contains("bernoulli"));
    let laws = e.at("textDocument/completion", 4, 17);
    assert!(laws.as_array().unwrap().iter().any(|w| w["label"] == "bernoulli"));
    let tokens = e.ask("textDocument/semanticTokens/full", json!({"textDocument": {"uri": URI}}));
    assert_eq!(tokens["data"].as_array().unwrap()[..10], [0, 0, 6, 3, 0, 1, 0, 6, 0, 0].map(|x: u32| json!(x)));
    assert!(e.ask("textDocument/nonsense", json!({}))["error"].as_str().unwrap().contains("not served"));
    assert!(e.ask("textDocument/hover", json!({"position": 3}))["error"].is_string());
}

#[test]
fn names_are_changed_everywhere() {
    let mut e = Editor::new();
    e.open(TEXT);
    let rename = |e: &mut Editor, line: u32, character: u32, name: &str| {
        e.ask(
            "textDocument/rename",
            json!({"textDocument": {"uri": URI}, "position": {"line": line, "character": character}, "newName": name}),
        )
    };
    let edits = rename(&mut e, 3, 6, "rate");
    assert_eq!(edits["changes"][URI].as_array().unwrap().len(), 3, "{edits}");
    // A column keeps the header that the file has.
    let column = rename(&mut e, 4, 9, "smokes");
    assert_eq!(column["changes"][URI][0]["newText"], "smokes from \"smoker\"");
    assert_eq!(column["changes"][URI][1]["newText"], "smokes");
    assert!(rename(&mut e, 3, 6, "p_hat")["error"].as_str().unwrap().contains("taken"));
    assert!(rename(&mut e, 3, 6, "1x")["error"].as_str().unwrap().contains("not a name"));
    let places = e.ask(
        "textDocument/references",
        json!({"textDocument": {"uri": URI}, "position": {"line": 5, "character": 9}, "context": {"includeDeclaration": true}}),
    );
    assert_eq!(places.as_array().unwrap().len(), 2);
}

#[test]
fn complaints_follow_the_text() {
    let mut e = Editor::new();
    assert!(e.open(TEXT).is_empty());
    let edit = |e: &mut Editor, start: (u32, u32), end: (u32, u32), text: &str| {
        let place = |p: (u32, u32)| json!({"line": p.0, "character": p.1});
        e.tell(
            "textDocument/didChange",
            json!({"textDocument": {"uri": URI, "version": 2}, "contentChanges": [{"range": {"start": place(start), "end": place(end)}, "text": text}]}),
        );
        e.diagnostics()
    };
    let wrong = edit(&mut e, (5, 30), (5, 37), "direct");
    assert_eq!(wrong[0]["code"], "E0301");
    assert_eq!(wrong[0]["range"]["start"], json!({"line": 5, "character": 24}));
    assert!(wrong[0]["message"].as_str().unwrap().contains("Help: weaken the data"));
    assert!(!wrong[0]["relatedInformation"].as_array().unwrap().is_empty());
    assert!(edit(&mut e, (5, 30), (5, 36), "diffuse").is_empty());
    let spaced = edit(&mut e, (3, 5), (3, 5), "     ");
    assert!(spaced.is_empty());
    let formatted =
        e.ask("textDocument/formatting", json!({"textDocument": {"uri": URI}, "options": {"tabSize": 2, "insertSpaces": true}}));
    assert!(formatted[0]["newText"].as_str().unwrap().contains("param p ~ beta"));
    e.tell("textDocument/didClose", json!({"textDocument": {"uri": URI}}));
    assert!(e.diagnostics().is_empty());
}

/// Every wrong program is mended by a code action, which the server has tried before it offers it.
#[test]
fn wrong_programs_are_mended() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wrong");
    let mut left = vec![];
    for i in 1..=15 {
        let text = fs::read_to_string(folder.join(format!("{i:02}.dpm"))).unwrap();
        let mut e = Editor::new();
        let found = e.open(&text);
        assert!(!found.is_empty(), "{i:02} has no complaint");
        let everything = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
        let actions =
            e.ask("textDocument/codeAction", json!({"textDocument": {"uri": URI}, "range": everything, "context": {"diagnostics": []}}));
        let texts: Vec<String> =
            actions.as_array().unwrap().iter().map(|a| a["edit"]["changes"][URI][0]["newText"].as_str().unwrap().to_owned()).collect();
        let mended = texts.iter().any(|t| Editor::new().open(t).iter().all(|d| d["severity"] != 1));
        if !mended {
            left.push((
                i,
                found[0]["code"].clone(),
                actions.as_array().unwrap().iter().map(|a| a["title"].to_string()).collect::<Vec<_>>(),
            ));
        }
    }
    assert!(left.is_empty(), "{left:#?}");
}

/// A line of Help knows what it replaces: each title, and the program with its edit made.
#[test]
fn help_lines_know_their_place() {
    let table = "budget eps(1)\nprivate t[n] { x: real in [0, 5], g: public category {a, b}, y: bool }\n";
    for (wrong, title, right) in [
        ("let z = 1 + log(x) * 2\n", "clip(x, 0.001, 5)", "let z = 1 + log(clip(x, 0.001, 5)) * 2\n"),
        ("param p ~ bet(6, 18)\n", "did you mean `beta`?", "param p ~ beta(6, 18)\n"),
        ("param p = beta(6, 18)\n", "param p ~ beta(6, 18)", "param p ~ beta(6, 18)\n"),
        (
            "when mean(x) > 3 {\n  release c = sum(y) using geometric(scale = 2)\n}\n",
            "release m = mean(x) using laplace spend 20%",
            "release m = mean(x) using laplace spend 20%\nwhen m > 3 {\n  release c = sum(y) using geometric(scale = 2)\n}\n",
        ),
        ("each t of g {\n}\n", "each g of t { ... }", "each g of t {\n}\n"),
        (
            "param a ~ gamma(10, 1)\neach g of t {\n  param p ~ beta(a, a)\n  observe y ~ bernoulli(p)\n}\n",
            "let a = 10",
            "let a = 10\neach g of t {\n  param p ~ beta(a, a)\n  observe y ~ bernoulli(p)\n}\n",
        ),
    ] {
        let mut e = Editor::new();
        e.open(&format!("{table}{wrong}"));
        let everything = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
        let asked = json!({"textDocument": {"uri": URI}, "range": everything, "context": {"diagnostics": []}});
        let actions = e.ask("textDocument/codeAction", asked);
        let found = actions.as_array().unwrap().iter().find(|a| a["title"] == title);
        let text = found.map(|a| a["edit"]["changes"][URI][0]["newText"].as_str().unwrap());
        assert_eq!(text, Some(format!("{table}{right}").as_str()), "{wrong}: {actions:#}");
    }
}

/// What an editor sends may be anything: the server ends in words, holds no more than was sent, and never panics.
#[test]
fn bad_frames_end_the_server_in_words() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#;
    let frame = |body: &str| format!("Content-Length: {}\r\n\r\n{body}", body.len());
    for (sent, said) in [
        ("Content-Length: 18446744073709551615\r\n\r\n{}".to_owned(), "longer than"),
        ("Content-Length: 9223372036854775807\r\n\r\n{}".to_owned(), "longer than"),
        ("Content-Length: 99999999999999999999999999\r\n\r\n".to_owned(), "not a number"),
        ("Content-Length: 60000000\r\n\r\n{}".to_owned(), "within a message"),
        (frame(initialize) + "Content-Length: -1\r\n\r\n", "not a number"),
        (frame(initialize) + &frame("{no message") + "\u{0}\u{1}\n", "no colon"),
    ] {
        let mut server = Command::new(env!("CARGO_BIN_EXE_dpm"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        server.stdin.take().unwrap().write_all(sent.as_bytes()).unwrap();
        let done = server.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(3), "{sent:?}: {errors}");
        assert!(errors.contains(said) && !errors.contains("panicked"), "{sent:?}: {errors}");
    }
}

/// A burst of keys is read once it is over; what is asked is about the last text.
#[test]
fn answers_are_about_the_last_text() {
    let mut e = Editor::new();
    e.open(TEXT);
    for (i, c) in "rate_of_smokers".chars().enumerate() {
        let at = json!({"line": 5, "character": 8 + i});
        e.tell(
            "textDocument/didChange",
            json!({"textDocument": {"uri": URI, "version": 2 + i}, "contentChanges": [{"range": {"start": at, "end": at}, "text": c.to_string()}]}),
        );
    }
    let hover = e.at("textDocument/hover", 5, 10);
    assert!(hover["contents"]["value"].as_str().unwrap().contains("release rate_of_smokersp_hat"), "{hover}");
}

/// Words in quotes that are names.
fn quoted(text: &str) -> Vec<&str> {
    text.split('"').skip(1).step_by(2).filter(|w| w.chars().all(|c| c.is_alphanumeric() || c == '_')).collect()
}

/// The grammars for editors reserve the words that the language reserves.
#[test]
fn editors_know_the_words_of_the_language() {
    let read = |path: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let sorted = |mut words: Vec<String>| {
        words.sort();
        words
    };
    let owned = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect::<Vec<String>>();
    let wanted = sorted(owned(dpm::syntax::tokens::KEYWORDS));
    let tree_sitter = read("editors/tree-sitter-dpm/grammar.js");
    let list = tree_sitter.split("const KEYWORDS = [").nth(1).unwrap().split("];").next().unwrap();
    assert_eq!(sorted(owned(&quoted(list))), wanted, "grammar.js");
    let text_mate: Value = serde_json::from_str(&read("editors/vscode/syntaxes/dpm.tmLanguage.json")).unwrap();
    let mut words = vec![];
    for pattern in text_mate["patterns"].as_array().unwrap() {
        let name = pattern["name"].as_str().unwrap();
        if name.starts_with("keyword.control") || name.starts_with("constant.language") {
            let list = pattern["match"].as_str().unwrap().trim_start_matches("\\b(").trim_end_matches(")\\b");
            words.extend(list.split('|').map(String::from));
        }
    }
    assert_eq!(sorted(words), wanted, "dpm.tmLanguage.json");
    // Colours: every reserved word that is not a value and no operator stands in the query.
    let highlights = read("editors/tree-sitter-dpm/queries/highlights.scm");
    let missing: Vec<&String> =
        wanted.iter().filter(|w| *w != "true" && *w != "false" && !highlights.contains(&format!("\"{w}\""))).collect();
    assert!(missing.is_empty(), "highlights.scm: {missing:?}");
}

/// A table that is read from a record beside the file: known as a released table is, and renamed without losing its record.
#[test]
fn a_recorded_table_is_described_and_renamed() {
    let folder = tempfile::tempdir().unwrap();
    let axes = [json!({"name": "vote", "type": "bool", "levels": ["false", "true"], "public": false})];
    let law = json!({"kind": "rounded_normal", "scale": 2, "axes": axes, "n": 9});
    let record = json!({"releases": {"cells": {"false": 4, "true": 5}}, "laws": {"cells": law}});
    fs::write(folder.path().join("r.json"), record.to_string()).unwrap();
    let uri = format!("file://{}/p.dpm", folder.path().display());
    let text = "public cells from \"r.json\"\npublic old from \"r.json\".cells\noutput x = cells[true] + sum(old)\n";
    let mut e = Editor::new();
    e.tell("textDocument/didOpen", json!({"textDocument": {"uri": uri, "languageId": "dpm", "version": 1, "text": text}}));
    assert_eq!(e.diagnostics(), Vec::<Value>::new());
    let place = json!({"textDocument": {"uri": uri}, "position": {"line": 2, "character": 12}});
    let hover = e.ask("textDocument/hover", place.clone())["contents"]["value"].as_str().unwrap().to_owned();
    assert!(hover.contains("from \"r.json\"") && hover.contains("a vector of 2 numbers") && hover.contains("label `public`"), "{hover}");
    let words = e.ask("textDocument/completion", json!({"textDocument": {"uri": uri}, "position": {"line": 2, "character": 11}}));
    assert!(words.as_array().unwrap().iter().any(|w| w["label"] == "cells"), "{words}");
    let mut rename = place;
    rename["newName"] = json!("votes");
    let edits = e.ask("textDocument/rename", rename);
    let mut edits: Vec<(u64, u64, String)> = edits["changes"][&uri]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| {
            let at = &c["range"]["start"];
            (at["line"].as_u64().unwrap(), at["character"].as_u64().unwrap(), c["newText"].as_str().unwrap().to_owned())
        })
        .collect();
    edits.sort();
    assert_eq!(edits, [(0, 7, "votes".into()), (0, 26, ".cells".into()), (2, 11, "votes".into())]);
}
