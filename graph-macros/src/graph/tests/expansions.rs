//! Expansions: a whole one, and parts of others that show one thing each.
//!
//! `UPDATE_EXPANSIONS=1 cargo test -p graph-macros expansions` writes them anew.

use super::SAMPLE;
use crate::graph::expand;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use std::fmt::Write;
use syn::{ImplItem, Item};

/// The line between a graph and the parts of its expansion.
const DASHES: &str = "----\n";
/// Before the name of a graph's case, and before the name of an item.
const HEADING: &str = "## ";
const ITEM: &str = "=== ";

#[test]
fn a_whole_expansion_reads_as_checked_in() {
    let sample = format!("pub graph Sample<const N: usize> {{ {SAMPLE} }}");
    let file: syn::File = syn::parse2(expand(sample.parse().unwrap())).expect("the expansion is Rust");
    let mut file = unfolded(file);
    assert_reads_as_checked_in("sample.rs", &prettyplease::unparse(&file));
    let lines = lines_for_rustc(&mut file);
    assert!(lines <= 300, "{lines} lines");
}

/// The number of lines of an expansion without the items that only editors see, and without the attributes that tell
/// these from the others.
fn lines_for_rustc(file: &mut syn::File) -> usize {
    for item in &mut file.items {
        if let Item::Const(item) = item
            && let syn::Expr::Block(block) = &mut *item.expr
        {
            block.block.stmts.retain(|stmt| {
                !stmt
                    .to_token_stream()
                    .to_string()
                    .starts_with("# [cfg (rust_analyzer)]")
            });
        }
    }
    let text = prettyplease::unparse(file);
    let is_for_rustc = |line: &&str| line.trim() != "#[cfg(not(rust_analyzer))]";
    text.lines().filter(is_for_rustc).count()
}

/// Items of the expansions of the graphs in `parts.txt`: each by its name, as the file lists them. The items of an
/// expression are in its module, and `main` is the code beside that.
#[test]
fn parts_of_expansions_read_as_checked_in() {
    let text = std::fs::read_to_string(path("parts.txt")).unwrap_or_default();
    let mut found = String::new();
    for case in text.split(HEADING).skip(1) {
        let (head, parts) = case.split_once(DASHES).expect("a line of dashes");
        let (_, graph) = head.split_once('\n').expect("a graph");
        let expansion = expand(graph.parse().unwrap());
        let items = match syn::parse2::<syn::ExprBlock>(expansion.clone()) {
            Ok(_) => items_of_expression(expansion),
            Err(_) => items(&unfolded(syn::parse2(expansion).expect("the expansion is Rust"))),
        };
        let _ = write!(
            found,
            "{}{HEADING}{head}{DASHES}",
            if found.is_empty() { "" } else { "\n" }
        );
        for part in parts.split(ITEM).skip(1) {
            let (name, _) = part.split_once('\n').expect("a name");
            let item = items.iter().find(|(known, _)| known == name);
            let (_, item) = item.unwrap_or_else(|| panic!("{head}has no item `{name}`"));
            let _ = write!(found, "{ITEM}{name}\n{item}");
        }
    }
    assert!(!found.is_empty());
    assert_reads_as_checked_in("parts.txt", &found);
}

/// The functions, constants and types that rustc compiles of an expansion, by their names.
fn items(file: &syn::File) -> Vec<(String, String)> {
    let mut items = Vec::new();
    for item in &file.items {
        match item {
            Item::Const(item) if item.ident == "_" => {
                let syn::Expr::Block(block) = &*item.expr else { continue };
                let inside = block.block.stmts.iter().filter_map(|stmt| match stmt {
                    syn::Stmt::Item(item) => Some(item),
                    _ => None,
                });
                inside.for_each(|item| add(item, &mut items));
            }
            item => add(item, &mut items),
        }
    }
    items
}

/// As [`items`], of a graph as an expression.
fn items_of_expression(expansion: TokenStream) -> Vec<(String, String)> {
    let compiled = innermost(expansion); // after the view of editors
    let mut main: syn::ItemFn = syn::parse_quote!(fn main() #compiled);
    let mut items = Vec::new();
    main.block.stmts.retain(|stmt| {
        let syn::Stmt::Item(Item::Mod(module)) = stmt else {
            return true;
        };
        let (_, inside) = module.content.as_ref().expect("the module is here");
        inside.iter().for_each(|item| add(item, &mut items));
        false
    });
    add(&Item::Fn(main), &mut items);
    items
}

/// Adds an item, or the items of an `impl`.
fn add(item: &Item, items: &mut Vec<(String, String)>) {
    let text = |tokens: TokenStream| {
        let item: Item = syn::parse2(tokens).expect("an item");
        prettyplease::unparse(&syn::parse_quote!(#item))
    };
    match item {
        Item::Impl(item) if !item.attrs.iter().any(is_for_editors) => {
            for inside in &item.items {
                let name = match inside {
                    ImplItem::Fn(item) => item.sig.ident.to_string(),
                    ImplItem::Const(item) => item.ident.to_string(),
                    _ => continue,
                };
                items.push((name, text(inside.to_token_stream())));
            }
        }
        Item::Struct(item) => items.push((item.ident.to_string(), text(item.to_token_stream()))),
        Item::Const(item) => items.push((item.ident.to_string(), text(item.to_token_stream()))),
        Item::Fn(item) => items.push((item.sig.ident.to_string(), text(item.to_token_stream()))),
        _ => {}
    }
}

fn is_for_editors(attribute: &syn::Attribute) -> bool {
    *attribute == syn::parse_quote!(#[cfg(rust_analyzer)])
}

/// The argument for rustc of the last macro in an expansion: the last group in its last group.
fn innermost(tokens: TokenStream) -> TokenStream {
    let groups = |tokens: TokenStream| {
        tokens.into_iter().filter_map(|token| match token {
            TokenTree::Group(group) => Some(group.stream()),
            _ => None,
        })
    };
    let block = groups(tokens).last().expect("a block");
    let value = groups(block).last().expect("a value");
    let call = groups(value).last().expect("a macro");
    groups(call).last().expect("two groups")
}

fn path(name: &str) -> String {
    format!("{}/tests/expansions/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn assert_reads_as_checked_in(name: &str, expansion: &str) {
    let path = path(name);
    if std::env::var_os("UPDATE_EXPANSIONS").is_some() {
        std::fs::write(&path, expansion).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expansion == expected,
        "the expansion differs from {path}; it is now\n{expansion}"
    );
}

/// The view of editors and the items for rustc, each with its `cfg` rather than as an argument of one macro.
pub(super) fn unfolded(mut file: syn::File) -> syn::File {
    for item in &mut file.items {
        let syn::Item::Const(item) = item else { continue };
        let syn::Expr::Block(block) = &mut *item.expr else {
            continue;
        };
        let call = |stmt: &syn::Stmt| matches!(stmt, syn::Stmt::Macro(call) if call.mac.path.is_ident("__either"));
        let Some(position) = block.block.stmts.iter().position(call) else {
            continue;
        };
        let syn::Stmt::Macro(call) = block.block.stmts.remove(position) else {
            continue;
        };
        let halves = call.mac.tokens.clone().into_iter();
        let conditions: [syn::Attribute; 2] = [
            syn::parse_quote!(#[cfg(rust_analyzer)]),
            syn::parse_quote!(#[cfg(not(rust_analyzer))]),
        ];
        let items = halves.zip(conditions).flat_map(|(half, condition)| {
            let TokenTree::Group(half) = half else {
                panic!("two groups");
            };
            let half: syn::File = syn::parse2(half.stream()).expect("items");
            let items = half.items.into_iter();
            items.map(move |item| syn::parse_quote!(#condition #item))
        });
        let items: Vec<syn::Stmt> = items.collect();
        block
            .block
            .stmts
            .retain(|stmt| !matches!(stmt, syn::Stmt::Item(syn::Item::Macro(_)))); // `__either` itself
        block.block.stmts.splice(1..1, items);
    }
    file
}
