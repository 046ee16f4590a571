//! `use std.rates`, `use a.b`: finding modules, refusing cycles, opening them.

use super::Checker;
use super::scope::{Binding, Entry, FnDef, Home, ModelDef, Names};
use crate::source::{Diagnostic, Diagnostics, FileId, SourceMap, Span};
use crate::syntax::ast::{self, Ast};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Finds the text of a module of the user: `["a", "b"]` is `a/b.dpm` below the main program's folder.
///
/// The implementation must refuse paths that lead out of that folder, links included.
pub trait Loader {
    fn load(&self, path: &[String]) -> Option<String>;

    /// The text of the record that the public table `name` is read from; `path` starts in the main program's folder, which it may not
    /// lead out of either.
    fn record(&self, name: &str, path: &str) -> Option<String>;
}

/// No user modules and no records: library code and tests without files.
pub struct NoFiles;

impl Loader for NoFiles {
    fn load(&self, _: &[String]) -> Option<String> {
        None
    }

    fn record(&self, _: &str, _: &str) -> Option<String> {
        None
    }
}

/// The library that is built in.
pub const STD: &[(&str, &str)] = &[
    ("rates", include_str!("../../stdlib/rates.dpm")),
    ("regression", include_str!("../../stdlib/regression.dpm")),
    ("nn", include_str!("../../stdlib/nn.dpm")),
    ("predict", include_str!("../../stdlib/predict.dpm")),
    ("scale", include_str!("../../stdlib/scale.dpm")),
    ("survey", include_str!("../../stdlib/survey.dpm")),
];

const MAX_MODULES: usize = 64;
/// The most bytes of all modules together.
const MAX_MODULE_BYTES: usize = 1 << 20;

pub(super) struct Loaded {
    pub modules: Vec<Ast>,
    /// Modules opened by the program (index 0) and by each module (index 1 + i).
    pub opened: Vec<Vec<usize>>,
    pub diagnostics: Diagnostics,
}

/// Loads every module that is used, directly or not.
pub(super) fn load(map: &mut SourceMap, _main: FileId, ast: &Ast, loader: &dyn Loader) -> Loaded {
    let mut state = Loading {
        map,
        loader,
        found: BTreeMap::new(),
        out: Loaded { modules: vec![], opened: vec![vec![]], diagnostics: vec![] },
        bytes: 0,
    };
    state.uses(ast, 0, &mut vec![]);
    state.out
}

struct Loading<'a> {
    map: &'a mut SourceMap,
    loader: &'a dyn Loader,
    found: BTreeMap<Vec<String>, usize>,
    out: Loaded,
    bytes: usize,
}

impl Loading<'_> {
    fn uses(&mut self, ast: &Ast, home: usize, open: &mut Vec<Vec<String>>) {
        for item in &ast.items {
            let ast::ItemKind::Use { path } = &item.kind else { continue };
            let names: Vec<String> = path.iter().map(|n| n.value.clone()).collect();
            if let Some(index) = self.module(&names, item.span, open)
                && let Some(list) = self.out.opened.get_mut(home)
            {
                list.push(index);
            }
        }
    }

    fn module(&mut self, names: &[String], span: Span, open: &mut Vec<Vec<String>>) -> Option<usize> {
        if open.iter().any(|p| p == names) {
            let d = Diagnostic::new("E0210", format!("the module `{}` uses itself", names.join(".")))
                .label(span, "this makes the imports circular")
                .cause("modules are expanded where they are used, so a circular import never ends");
            self.out.diagnostics.push(d.help("move what both need into a third module"));
            return None;
        }
        if let Some(index) = self.found.get(names) {
            return Some(*index);
        }
        let Some(text) = self.text(names) else {
            self.out.diagnostics.push(not_found(names, span));
            return None;
        };
        self.bytes += text.len();
        if self.bytes > MAX_MODULE_BYTES {
            let d = Diagnostic::new("E0025", format!("the modules of a program have at most {MAX_MODULE_BYTES} bytes in all"));
            self.out.diagnostics.push(d.label(span, "not read").help("open fewer modules, or shorter ones"));
            return None;
        }
        let file = self.map.add(format!("{}.dpm", names.join("/")), text.clone());
        let (ast, problems) = crate::syntax::parse(file, &text);
        self.out.diagnostics.extend(problems);
        self.only_definitions(&ast);
        let index = self.out.modules.len();
        self.found.insert(names.to_vec(), index);
        self.out.modules.push(Ast::default());
        self.out.opened.push(vec![]);
        open.push(names.to_vec());
        self.uses(&ast, index + 1, open);
        open.pop();
        if let Some(slot) = self.out.modules.get_mut(index) {
            *slot = ast;
        }
        Some(index)
    }

    fn text(&self, names: &[String]) -> Option<String> {
        match names {
            [std, name] if std == "std" => STD.iter().find(|(n, _)| n == name).map(|(_, t)| t.to_string()),
            _ if self.out.modules.len() >= MAX_MODULES => None,
            _ => self.loader.load(names),
        }
    }

    fn only_definitions(&mut self, ast: &Ast) {
        for item in &ast.items {
            let fine = matches!(item.kind, ast::ItemKind::Use { .. } | ast::ItemKind::Fn { .. } | ast::ItemKind::Model { .. });
            if !fine {
                self.out.diagnostics.push(
                    Diagnostic::new("E0210", "a module holds only `fn` and `model`")
                        .label(item.span, "this belongs into a program")
                        .help("move this statement into the main program"),
                );
                return;
            }
        }
    }
}

fn not_found(names: &[String], span: Span) -> Diagnostic {
    let d = Diagnostic::new("E0210", format!("there is no module `{}`", names.join("."))).label(span, "not found");
    match names {
        [std, name] if std == "std" => {
            let near = crate::source::suggest::did_you_mean(name, STD.iter().map(|(n, _)| *n));
            match near {
                Some(n) => d.help(format!("use std.{n}")),
                None => {
                    let all: Vec<String> = STD.iter().map(|(n, _)| format!("std.{n}")).collect();
                    d.help(format!("the library has {}", all.join(", ")))
                }
            }
        }
        _ => d.help(format!(
            "`use {}` is the regular file {}.dpm of UTF-8 text below the program's folder",
            names.join("."),
            names.join("/")
        )),
    }
}

impl Checker<'_> {
    pub(super) fn open_modules(&mut self, modules: Vec<Ast>, opened: Vec<Vec<usize>>) {
        self.scopes.opened = opened;
        for (i, ast) in modules.into_iter().enumerate() {
            let mut names = Names::new();
            for item in ast.items {
                let home = Home::Module(i);
                let (name, binding) = match item.kind {
                    ast::ItemKind::Fn { name, formals, body, .. } => (name, Binding::Fn(Rc::new(FnDef { formals, body, home }))),
                    ast::ItemKind::Model { name, formals, body, result } => {
                        (name, Binding::Model(Rc::new(ModelDef { formals, body, result, home })))
                    }
                    _ => continue,
                };
                if super::calls::is_reserved(&name.value) {
                    self.diagnostics.push(
                        Diagnostic::new("E0207", format!("`{}` is built in and cannot be redefined", name.value))
                            .label(name.span, "the rules rely on its meaning"),
                    );
                    continue;
                }
                names.insert(name.value.clone(), Entry { binding, span: name.span });
            }
            self.scopes.modules.push(names);
        }
    }
}
