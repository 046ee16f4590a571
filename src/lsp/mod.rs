//! `dpm lsp`: the language server; what an editor asks, answered from the same pipeline as every command. No data is read.

pub mod document;
pub mod lines;
mod names;
pub mod repair;
mod show;
mod transport;

use crate::analyze::mechanism_names;
use crate::check::signatures;
use crate::syntax::tokens::{KEYWORDS, Token, tokens};
use document::Document;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types as lsp;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

type Failed = Box<dyn std::error::Error + Send + Sync>;

/// Serves one editor over standard input and output until it leaves.
///
/// # Errors
/// A broken connection, or a frame that cannot be read.
pub fn stdio() -> Result<(), Failed> {
    transport::over(std::io::BufReader::new(std::io::stdin()), std::io::stdout(), serve)
}

/// Serves one editor.
///
/// # Errors
/// A broken connection.
pub fn serve(connection: &Connection) -> Result<(), Failed> {
    let (id, _) = connection.initialize_start()?;
    let answer = json!({
        "capabilities": capabilities(),
        "serverInfo": {"name": "dpm", "version": env!("CARGO_PKG_VERSION")},
    });
    connection.initialize_finish(id, answer)?;
    let mut server = Server { connection, documents: BTreeMap::new(), unread: BTreeMap::new() };
    loop {
        // Texts are read when no more keys are waiting, and before anything is asked about them.
        let message = match connection.receiver.try_recv() {
            Ok(message) => message,
            Err(_) => {
                server.settle()?;
                match connection.receiver.recv() {
                    Ok(message) => message,
                    Err(_) => return Ok(()),
                }
            }
        };
        match message {
            Message::Request(request) => {
                if connection.handle_shutdown(&request)? {
                    return Ok(());
                }
                server.settle()?;
                let response = server.answer(request);
                connection.sender.send(Message::Response(response))?;
            }
            Message::Notification(note) => server.note(note)?,
            Message::Response(_) => {}
        }
    }
}

fn capabilities() -> lsp::ServerCapabilities {
    let legend = lsp::SemanticTokensLegend { token_types: show::TOKEN_TYPES.to_vec(), token_modifiers: vec![] };
    lsp::ServerCapabilities {
        text_document_sync: Some(lsp::TextDocumentSyncCapability::Kind(lsp::TextDocumentSyncKind::INCREMENTAL)),
        hover_provider: Some(lsp::HoverProviderCapability::Simple(true)),
        definition_provider: Some(lsp::OneOf::Left(true)),
        references_provider: Some(lsp::OneOf::Left(true)),
        rename_provider: Some(lsp::OneOf::Left(true)),
        document_formatting_provider: Some(lsp::OneOf::Left(true)),
        code_action_provider: Some(lsp::CodeActionProviderCapability::Simple(true)),
        inlay_hint_provider: Some(lsp::OneOf::Left(true)),
        completion_provider: Some(lsp::CompletionOptions { trigger_characters: Some(vec!["~".into()]), ..Default::default() }),
        semantic_tokens_provider: Some(
            lsp::SemanticTokensOptions { legend, full: Some(lsp::SemanticTokensFullOptions::Bool(true)), ..Default::default() }.into(),
        ),
        ..Default::default()
    }
}

struct Server<'a> {
    connection: &'a Connection,
    documents: BTreeMap<String, Document>,
    /// Texts that came since the documents were read.
    unread: BTreeMap<String, (lsp::Uri, String)>,
}

/// The folder of a `file:` address, where its modules are.
fn folder(uri: &lsp::Uri) -> Option<PathBuf> {
    let path = uri.as_str().strip_prefix("file://")?;
    let mut bytes = vec![];
    let mut rest = path.bytes();
    while let Some(b) = rest.next() {
        let digit = |b: Option<u8>| b.and_then(|b| (b as char).to_digit(16));
        bytes.push(if b == b'%' { (digit(rest.next())? * 16 + digit(rest.next())?) as u8 } else { b });
    }
    Path::new(&String::from_utf8(bytes).ok()?).parent().map(Path::to_path_buf)
}

impl Server<'_> {
    fn note(&mut self, note: Notification) -> Result<(), Failed> {
        match note.method.as_str() {
            "textDocument/didOpen" => {
                let Ok(p) = serde_json::from_value::<lsp::DidOpenTextDocumentParams>(note.params) else { return Ok(()) };
                self.unread.insert(p.text_document.uri.as_str().to_owned(), (p.text_document.uri, p.text_document.text));
            }
            "textDocument/didChange" => {
                let Ok(p) = serde_json::from_value::<lsp::DidChangeTextDocumentParams>(note.params) else { return Ok(()) };
                let key = p.text_document.uri.as_str().to_owned();
                let waiting = self.unread.remove(&key).map(|(_, text)| text);
                let Some(mut text) = waiting.or_else(|| self.documents.get(&key).map(|d| d.text.clone())) else { return Ok(()) };
                for change in p.content_changes {
                    match change.range {
                        Some(r) => {
                            let (a, b) = (lines::offset(&text, r.start), lines::offset(&text, r.end));
                            text.replace_range(a.min(b)..b.max(a), &change.text);
                        }
                        None => text = change.text,
                    }
                }
                self.unread.insert(key, (p.text_document.uri, text));
            }
            "textDocument/didClose" => {
                let Ok(p) = serde_json::from_value::<lsp::DidCloseTextDocumentParams>(note.params) else { return Ok(()) };
                self.documents.remove(p.text_document.uri.as_str());
                self.unread.remove(p.text_document.uri.as_str());
                self.publish(p.text_document.uri, vec![])?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads the texts that came, and says what is wrong with them.
    fn settle(&mut self) -> Result<(), Failed> {
        for (key, (uri, text)) in std::mem::take(&mut self.unread) {
            let document = Document::new(text, folder(&uri));
            let found = document.published(&uri);
            self.documents.insert(key, document);
            self.publish(uri, found)?;
        }
        Ok(())
    }

    fn publish(&self, uri: lsp::Uri, diagnostics: Vec<lsp::Diagnostic>) -> Result<(), Failed> {
        let params = lsp::PublishDiagnosticsParams { uri, diagnostics, version: None };
        let note = Notification::new("textDocument/publishDiagnostics".into(), params);
        Ok(self.connection.sender.send(Message::Notification(note))?)
    }

    fn answer(&self, request: Request) -> Response {
        let (id, params) = (request.id.clone(), request.params);
        let found = match request.method.as_str() {
            "textDocument/hover" => on(&id, params, |p: lsp::HoverParams| {
                let (d, at) = self.place(&p.text_document_position_params)?;
                show::hover(d, at)
            }),
            "textDocument/definition" => on(&id, params, |p: lsp::GotoDefinitionParams| {
                let p = p.text_document_position_params;
                let (d, at) = self.place(&p)?;
                let all = names::declarations(&d.checked.ast);
                let name = names::at(&d.text, at)?;
                let found = names::declaration(&all, d.text.get(name)?, at)?;
                Some(lsp::Location { uri: p.text_document.uri, range: d.range(found.span)? })
            }),
            "textDocument/references" => on(&id, params, |p: lsp::ReferenceParams| {
                let p = p.text_document_position;
                let (d, places) = self.places(&p)?;
                let place = |r: std::ops::Range<usize>| lsp::Location {
                    uri: p.text_document.uri.clone(),
                    range: lines::range(&d.text, r.start, r.end),
                };
                Some(places.into_iter().map(place).collect::<Vec<_>>())
            }),
            "textDocument/rename" => return self.rename(id, params),
            "textDocument/formatting" => on(&id, params, |p: lsp::DocumentFormattingParams| {
                let d = self.documents.get(p.text_document.uri.as_str())?;
                crate::syntax::format::format(&d.text).ok().map(|text| vec![whole(d, text)])
            }),
            "textDocument/codeAction" => on(&id, params, |p: lsp::CodeActionParams| Some(self.actions(&p))),
            "textDocument/inlayHint" => {
                on(&id, params, |p: lsp::InlayHintParams| self.documents.get(p.text_document.uri.as_str()).map(show::inlays))
            }
            "textDocument/completion" => on(&id, params, |p: lsp::CompletionParams| {
                let (d, at) = self.place(&p.text_document_position)?;
                Some(completions(d, at))
            }),
            "textDocument/semanticTokens/full" => on(&id, params, |p: lsp::SemanticTokensParams| {
                let d = self.documents.get(p.text_document.uri.as_str())?;
                Some(lsp::SemanticTokens { result_id: None, data: show::semantic(d) })
            }),
            other => Err(Box::new(Response::new_err(id.clone(), ErrorCode::MethodNotFound as i32, format!("{other} is not served")))),
        };
        found.map_or_else(|error| *error, |value| Response::new_ok(id, value))
    }

    fn place(&self, p: &lsp::TextDocumentPositionParams) -> Option<(&Document, usize)> {
        let d = self.documents.get(p.text_document.uri.as_str())?;
        Some((d, lines::offset(&d.text, p.position)))
    }

    /// Every place of the name at a place.
    fn places(&self, p: &lsp::TextDocumentPositionParams) -> Option<(&Document, Vec<std::ops::Range<usize>>)> {
        let (d, at) = self.place(p)?;
        let all = names::declarations(&d.checked.ast);
        let name = names::at(&d.text, at)?;
        let found = names::declaration(&all, d.text.get(name)?, at)?;
        Some((d, names::places(&d.text, &all, found)))
    }

    fn rename(&self, id: RequestId, params: Value) -> Response {
        let Ok(p) = serde_json::from_value::<lsp::RenameParams>(params) else { return bad(id) };
        let refuse = |why: String| Response::new_err(id.clone(), ErrorCode::InvalidRequest as i32, why);
        if !crate::syntax::tokens::is_name(&p.new_name) {
            return refuse(format!("`{}` is not a name", p.new_name));
        }
        let Some((d, places)) = self.places(&p.text_document_position) else { return refuse("nothing here has a name".into()) };
        let all = names::declarations(&d.checked.ast);
        if all.iter().any(|x| x.name == p.new_name) {
            return refuse(format!("`{}` is taken", p.new_name));
        }
        // A table keeps its name in the record, and a column its header in the file.
        let record = d.checked.ast.items.iter().find_map(|item| match &item.kind {
            crate::syntax::ast::ItemKind::PublicRecord { name, file, release: None } => {
                let here = places.iter().any(|r| r.start == name.span.start as usize);
                here.then(|| (file.span.end as usize, format!(".{}", name.value)))
            }
            _ => None,
        });
        let record = record.map(|(at, new_text)| lsp::TextEdit { range: lines::range(&d.text, at, at), new_text });
        let column = names::at(&d.text, lines::offset(&d.text, p.text_document_position.position))
            .and_then(|r| names::declaration(&all, d.text.get(r.clone())?, r.start))
            .filter(|x| x.kind == names::Kind::Column);
        let edits = places.into_iter().map(|r| {
            let declared = column.filter(|c| c.span.start as usize == r.start && !names_header(&d.text, r.end));
            let new_text = match declared {
                Some(c) => format!("{} from \"{}\"", p.new_name, c.name),
                None => p.new_name.clone(),
            };
            lsp::TextEdit { range: lines::range(&d.text, r.start, r.end), new_text }
        });
        Response::new_ok(id, edited(&p.text_document_position.text_document.uri, edits.chain(record).collect()))
    }

    fn actions(&self, p: &lsp::CodeActionParams) -> Vec<lsp::CodeAction> {
        let Some(d) = self.documents.get(p.text_document.uri.as_str()) else { return vec![] };
        let touched = |r: lsp::Range| r.start <= p.range.end && p.range.start <= r.end;
        let here = d.diagnostics.iter().filter(|x| x.labels.iter().any(|l| d.range(l.span).is_some_and(touched)));
        here.flat_map(|x| {
            repair::repairs(d, x).into_iter().map(|r| lsp::CodeAction {
                title: r.title,
                kind: Some(lsp::CodeActionKind::QUICKFIX),
                diagnostics: Some(vec![d.publish(x, &p.text_document.uri)]),
                edit: Some(lsp::WorkspaceEdit {
                    changes: Some(changes(&p.text_document.uri, vec![whole(d, r.text)])),
                    ..Default::default()
                }),
                ..Default::default()
            })
        })
        .collect()
    }
}

/// Does `from "header"` follow?
fn names_header(text: &str, end: usize) -> bool {
    text.get(end..).is_some_and(|t| t.trim_start().starts_with("from "))
}

fn bad(id: RequestId) -> Response {
    Response::new_err(id, ErrorCode::InvalidParams as i32, "these are not the parameters of this request".into())
}

/// The answer of a request whose parameters can be read; nothing found is `null`.
fn on<P: DeserializeOwned, T: serde::Serialize>(
    id: &RequestId,
    params: Value,
    answer: impl FnOnce(P) -> Option<T>,
) -> Result<Value, Box<Response>> {
    match serde_json::from_value::<P>(params) {
        Ok(p) => Ok(answer(p).and_then(|t| serde_json::to_value(t).ok()).unwrap_or(Value::Null)),
        Err(_) => Err(Box::new(bad(id.clone()))),
    }
}

// The protocol's own map; addresses are compared as the text they are.
#[allow(clippy::mutable_key_type)]
fn changes(uri: &lsp::Uri, edits: Vec<lsp::TextEdit>) -> std::collections::HashMap<lsp::Uri, Vec<lsp::TextEdit>> {
    [(uri.clone(), edits)].into()
}

fn edited(uri: &lsp::Uri, edits: Vec<lsp::TextEdit>) -> lsp::WorkspaceEdit {
    lsp::WorkspaceEdit { changes: Some(changes(uri, edits)), ..Default::default() }
}

/// Another text in place of the whole one.
fn whole(d: &Document, text: String) -> lsp::TextEdit {
    lsp::TextEdit { range: lines::range(&d.text, 0, d.text.len()), new_text: text }
}

/// More names of a program are not offered: no list is read that far.
const MOST_OWN: usize = 5_000;

/// What may stand at a place.
fn completions(d: &Document, at: usize) -> Vec<lsp::CompletionItem> {
    let before = d.text.get(..at).unwrap_or("");
    let word = before
        .rfind(|c: char| !(c.is_alphanumeric() || c == '_'))
        .map_or(0, |i| i + before.get(i..).and_then(|s| s.chars().next()).map_or(1, char::len_utf8));
    let last = tokens(before.get(..word).unwrap_or("")).last().map(|(t, _)| *t);
    let item = |label: &str, kind, detail: &str| lsp::CompletionItem {
        label: label.into(),
        kind: Some(kind),
        detail: (!detail.is_empty()).then(|| detail.into()),
        ..Default::default()
    };
    use lsp::CompletionItemKind as K;
    match last {
        Some(Token::Using) => mechanism_names().map(|m| item(m, K::METHOD, "mechanism")).collect(),
        Some(Token::Tilde) => crate::dist::all().map(|x| item(x.name, K::FUNCTION, "distribution")).collect(),
        _ => {
            let own = names::declarations(&d.checked.ast);
            let own = own.iter().take(MOST_OWN).map(|x| item(&x.name, K::VARIABLE, &format!("{:?}", x.kind).to_lowercase()));
            let functions = signatures().map(|(name, _)| item(name, K::FUNCTION, "function"));
            let words = KEYWORDS.iter().map(|k| item(k, K::KEYWORD, ""));
            let mut all: Vec<_> = own.chain(functions).chain(words).collect();
            all.sort_by(|a, b| a.label.cmp(&b.label));
            all.dedup_by(|a, b| a.label == b.label);
            all
        }
    }
}
