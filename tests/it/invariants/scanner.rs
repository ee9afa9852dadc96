//! Reads Rust sources as syntax trees, and lists what each file names: paths, with the imports of
//! the file applied, the types that it builds, and the methods that it calls. Test code is left
//! out. The scanner does not follow re-exports and glob imports.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::visit::{self, Visit};

use crate::sources::{Source, rust_files};

/// What a file does with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It names a path, in an import or elsewhere.
    Path,
    /// It builds a value with fields: `Name { field: … }`.
    Build,
    /// It calls a method of this name.
    Method,
}

/// One name in one file.
#[derive(Clone, Debug)]
pub struct Mention {
    /// Below `src`, as in `session/run.rs`.
    pub file: String,
    pub line: usize,
    pub kind: Kind,
    /// The absolute path, as in `std::fs::read` or `crate::session::Session`.
    pub path: String,
}

impl Mention {
    /// Whether the path is this one, or below it.
    pub fn is_below(&self, prefix: &str) -> bool {
        self.path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    }
}

/// What the files of `src` mention and declare, test code aside.
pub struct Scan {
    pub mentions: Vec<Mention>,
    /// The functions, methods and constants that are `pub`, each as its file and its name. Types
    /// are left out: another file may have a value of a type that it never names.
    pub public_items: Vec<(String, String)>,
}

/// Reads the files of `src`, once for all tests: parsing them takes seconds.
pub fn src() -> &'static Scan {
    static SCAN: LazyLock<Scan> = LazyLock::new(|| {
        let (mut mentions, mut public_items) = (Vec::new(), Vec::new());
        for (file, tree) in without_tests(rust_files("src")) {
            mentions.extend(self::mentions(&file, &tree));
            let mut items = PublicItems(Vec::new());
            items.visit_file(&tree);
            public_items.extend(items.0.into_iter().map(|name| (file.clone(), name)));
        }
        Scan { mentions, public_items }
    });
    &SCAN
}

pub fn parse(file: &Source) -> syn::File {
    syn::parse_file(&file.text).unwrap_or_else(|error| panic!("{}: {error}", file.path))
}

/// The files as syntax trees, without files of test code.
fn without_tests(files: Vec<Source>) -> Vec<(String, syn::File)> {
    let mut trees: Vec<(String, syn::File)> = files
        .into_iter()
        .filter(|file| !file.is_test())
        .map(|file| (file.path.clone(), parse(&file)))
        .collect();
    let test_modules: Vec<String> =
        trees.iter().flat_map(|(file, tree)| test_modules(file, tree)).collect();
    trees.retain(|(file, _)| {
        let module = module_of(file);
        !test_modules.iter().any(|test| {
            let rest = module.strip_prefix(test.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        })
    });
    trees
}

/// What one file mentions.
pub fn mentions(file: &str, tree: &syn::File) -> Vec<Mention> {
    let mut imports = Imports { module: module_of(file), names: BTreeMap::new() };
    imports.visit_file(tree);
    let mut reader = Reader { file, imports, found: Vec::new() };
    reader.visit_file(tree);
    reader.found
}

/// The module that a file is, as in `crate::session::run`.
pub fn module_of(file: &str) -> String {
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    match stem {
        "lib" | "main" => "crate".to_owned(),
        module => format!("crate::{}", module.replace('/', "::")),
    }
}

/// The modules that a file declares with `#[cfg(test)] mod name;`.
fn test_modules(file: &str, tree: &syn::File) -> Vec<String> {
    let module = module_of(file);
    let declared = tree.items.iter().filter_map(|item| match item {
        syn::Item::Mod(declared) if is_test_only(&declared.attrs) => Some(&declared.ident),
        _ => None,
    });
    declared.map(|name| format!("{module}::{name}")).collect()
}

/// Whether `#[cfg(test)]`, alone or in `all(…)`, is among the attributes.
fn is_test_only(attributes: &[syn::Attribute]) -> bool {
    fn wants_test(meta: &syn::Meta) -> bool {
        match meta {
            syn::Meta::Path(path) => path.is_ident("test"),
            syn::Meta::List(list) if list.path.is_ident("all") => {
                inner(list).any(|meta| wants_test(&meta))
            }
            syn::Meta::List(_) | syn::Meta::NameValue(_) => false,
        }
    }
    fn inner(list: &syn::MetaList) -> impl Iterator<Item = syn::Meta> {
        let parser = syn::punctuated::Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated;
        list.parse_args_with(parser).unwrap_or_default().into_iter()
    }
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) if list.path.is_ident("cfg") => {
            inner(list).any(|meta| wants_test(&meta))
        }
        _ => false,
    })
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn impl_attributes(item: &syn::ImplItem) -> &[syn::Attribute] {
    match item {
        syn::ImplItem::Const(item) => &item.attrs,
        syn::ImplItem::Fn(item) => &item.attrs,
        syn::ImplItem::Type(item) => &item.attrs,
        _ => &[],
    }
}

/// Every path of a use tree, each with the name that it gets and its line.
fn expand(tree: &syn::UseTree, prefix: &[String], found: &mut Vec<(Vec<String>, String, usize)>) {
    let with = |name: &syn::Ident| {
        let mut path = prefix.to_vec();
        if name != "self" || prefix.is_empty() {
            path.push(name.to_string());
        }
        path
    };
    let last = |path: &[String]| path.last().cloned().unwrap_or_default();
    match tree {
        syn::UseTree::Path(path) => expand(&path.tree, &with(&path.ident), found),
        syn::UseTree::Name(name) => {
            let path = with(&name.ident);
            found.push((path.clone(), last(&path), name.ident.span().start().line));
        }
        syn::UseTree::Rename(name) => {
            found.push((
                with(&name.ident),
                name.rename.to_string(),
                name.ident.span().start().line,
            ));
        }
        syn::UseTree::Glob(glob) => {
            found.push((prefix.to_vec(), String::new(), glob.star_token.spans[0].start().line));
        }
        syn::UseTree::Group(group) => {
            group.items.iter().for_each(|tree| expand(tree, prefix, found));
        }
    }
}

/// The names that a file imports, each with its absolute path.
struct Imports {
    module: String,
    names: BTreeMap<String, String>,
}

impl Imports {
    /// The absolute path; local names stay as they are.
    fn resolve(&self, path: &[String]) -> String {
        let Some((first, rest)) = path.split_first() else { return String::new() };
        let rest = rest.iter().map(String::as_str);
        let join = |start: &str, rest: &mut dyn Iterator<Item = &str>| {
            rest.fold(start.to_owned(), |path, part| format!("{path}::{part}"))
        };
        match first.as_str() {
            "self" => join(&self.module, &mut rest.into_iter()),
            "super" => {
                let levels = path.iter().take_while(|part| *part == "super").count();
                let mut module: Vec<&str> = self.module.split("::").collect();
                module.truncate(module.len().saturating_sub(levels).max(1));
                join(&module.join("::"), &mut path.iter().skip(levels).map(String::as_str))
            }
            name => match self.names.get(name) {
                Some(known) => join(known, &mut rest.into_iter()),
                None => path.join("::"),
            },
        }
    }
}

impl<'a> Visit<'a> for Imports {
    fn visit_item(&mut self, item: &'a syn::Item) {
        if is_test_only(attributes(item)) {
            return;
        }
        visit::visit_item(self, item);
    }

    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        let mut found = Vec::new();
        expand(&item.tree, &[], &mut found);
        for (path, name, _) in found {
            let path = self.resolve(&path);
            self.names.insert(name, path);
        }
    }

    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        let path = format!("{}::{}", self.module, item.ident);
        self.names.insert(item.ident.to_string(), path);
        visit::visit_item_mod(self, item);
    }
}

/// Collects the mentions of one file.
struct Reader<'a> {
    file: &'a str,
    imports: Imports,
    found: Vec<Mention>,
}

impl Reader<'_> {
    fn note(&mut self, kind: Kind, path: &[String], line: usize) {
        let path = self.imports.resolve(path);
        self.found.push(Mention { file: self.file.to_owned(), line, kind, path });
    }

    /// A macro's body has a syntax of its own, so paths in it are read from the tokens.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let (mut line, mut colons, mut after_dot) = (0, 0, false);
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.end_of_path(&mut path, line);
                        line = ident.span().start().line;
                    }
                    if after_dot {
                        self.note(Kind::Method, &[ident.to_string()], ident.span().start().line);
                    } else {
                        path.push(ident.to_string());
                    }
                    (colons, after_dot) = (0, false);
                }
                TokenTree::Punct(punct) => {
                    after_dot = punct.as_char() == '.';
                    colons = if punct.as_char() == ':' { colons + 1 } else { 0 };
                    if colons == 0 {
                        self.end_of_path(&mut path, line);
                    }
                }
                TokenTree::Group(group) => {
                    let has_fields = !group.stream().is_empty();
                    if group.delimiter() == Delimiter::Brace && path.len() > 1 && has_fields {
                        self.note(Kind::Build, &path, line);
                    }
                    self.end_of_path(&mut path, line);
                    (colons, after_dot) = (0, false);
                    self.tokens(group.stream());
                }
                TokenTree::Literal(_) => {
                    self.end_of_path(&mut path, line);
                    (colons, after_dot) = (0, false);
                }
            }
        }
        self.end_of_path(&mut path, line);
    }

    fn end_of_path(&mut self, path: &mut Vec<String>, line: usize) {
        self.name(path, line);
        path.clear();
    }

    /// One name alone is a local one, unless it was imported.
    fn name(&mut self, path: &[String], line: usize) {
        let local = match path {
            [] => true,
            [name] => !self.imports.names.contains_key(name),
            _ => false,
        };
        if !local {
            self.note(Kind::Path, path, line);
        }
    }
}

fn segments(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

fn line_of(path: &syn::Path) -> usize {
    path.segments.first().map_or(0, |segment| segment.ident.span().start().line)
}

impl<'a> Visit<'a> for Reader<'_> {
    fn visit_item(&mut self, item: &'a syn::Item) {
        if !is_test_only(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'a syn::ImplItem) {
        if !is_test_only(impl_attributes(item)) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        let mut found = Vec::new();
        expand(&item.tree, &[], &mut found);
        for (path, _, line) in found {
            self.note(Kind::Path, &path, line);
        }
    }

    fn visit_path(&mut self, path: &'a syn::Path) {
        self.name(&segments(path), line_of(path));
        visit::visit_path(self, path);
    }

    fn visit_expr_struct(&mut self, built: &'a syn::ExprStruct) {
        if !built.fields.is_empty() {
            self.note(Kind::Build, &segments(&built.path), line_of(&built.path));
        }
        visit::visit_expr_struct(self, built);
    }

    fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
        self.note(Kind::Method, &[call.method.to_string()], call.method.span().start().line);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, called: &'a syn::Macro) {
        self.name(&segments(&called.path), line_of(&called.path));
        self.tokens(called.tokens.clone());
    }
}

/// The names of public functions, methods and constants.
struct PublicItems(Vec<String>);

impl PublicItems {
    fn note(&mut self, visibility: &syn::Visibility, name: &syn::Ident) {
        if matches!(visibility, syn::Visibility::Public(_)) {
            self.0.push(name.to_string());
        }
    }
}

impl<'a> Visit<'a> for PublicItems {
    fn visit_item(&mut self, item: &'a syn::Item) {
        if is_test_only(attributes(item)) {
            return;
        }
        match item {
            syn::Item::Const(item) => self.note(&item.vis, &item.ident),
            syn::Item::Fn(item) => self.note(&item.vis, &item.sig.ident),
            syn::Item::Static(item) => self.note(&item.vis, &item.ident),
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item(&mut self, item: &'a syn::ImplItem) {
        if is_test_only(impl_attributes(item)) {
            return;
        }
        match item {
            syn::ImplItem::Const(item) => self.note(&item.vis, &item.ident),
            syn::ImplItem::Fn(item) => self.note(&item.vis, &item.sig.ident),
            _ => {}
        }
    }
}
