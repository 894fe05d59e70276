//! The view of editors: a graph's statements as plain Rust, for rust-analyzer alone.
//!
//! rust-analyzer explains and completes a token of a macro's input by its place in the expansion. Tokens that the
//! expansion leaves out (the names of nodes and places, all of a statement that is half typed) would mean nothing to
//! it. To complete, it compares the expansion of the text as it is with the expansion of the text that has a name put
//! in at the cursor, and expects both to be equal up to there. So the view comes first, is made from tokens alone,
//! whether or not the graph has mistakes, and passes on the user's tokens unchanged.
//!
//! rustc never sees the view. Both parts go to one macro, which gives the view to rust-analyzer (`cfg(rust_analyzer)`)
//! and the other part to rustc. The part that the macro does not give back is not even parsed. So one mistake stays one
//! error, and rustc's messages name no hidden mention. If the program that expands the macro is rustc or belongs to it,
//! the statements of the view are not made at all, which takes less time.

mod statement;
mod form;
mod tokens;
#[cfg(test)]
mod view_tests;

use super::boundary::{Declared, starts_declared};
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::quote;
use std::env;
use syn::{Generics, WhereClause};
use tokens::{angle_end, commas, is_group, single_punct, split_at_puncts, stream, without_words};

/// Memory by its name, with the tokens of its shape.
#[derive(Clone)]
struct Memory {
    name: String,
    shape: TokenStream,
}

/// The items of a graph that is an item: items that editors see, items that rustc compiles, and items for both.
pub(super) fn items(seen: TokenStream, compiled: TokenStream, both: TokenStream) -> TokenStream {
    let (either, import) = (either(seen, compiled), import());
    // An item that `cfg` removes takes its attributes along, so the level of the lint is around it.
    quote! {
        #[allow(unexpected_cfgs, dead_code, nonstandard_style, unreachable_pub)]
        #[allow(unused_imports, unused_variables, clippy::all, clippy::pedantic)]
        const _: () = { #import #either #both };
    }
}

/// The short names by which expansions mention the runtime.
pub(super) fn paths() -> TokenStream {
    let import = import();
    quote!(#[allow(unused_imports)] #import)
}

fn import() -> TokenStream {
    quote!(
        use ::graph_runtime::{self as __g, private as __p};
    )
}

/// The block of a graph that is an expression: editors get the statements of the view and a value of the right type,
/// rustc gets the value.
pub(super) fn block(statements: TokenStream, seen: TokenStream, compiled: TokenStream) -> TokenStream {
    let either = either(quote!(#statements #seen), compiled);
    let value = Ident::new("value", Span::mixed_site());
    quote! {{
        #[allow(unexpected_cfgs)]
        let #value = { #either };
        #value
    }}
}

fn either(seen: TokenStream, compiled: TokenStream) -> TokenStream {
    quote! {
        #[cfg(rust_analyzer)]
        macro_rules! __either { ({ $($seen:tt)* } { $($compiled:tt)* }) => { $($seen)* } }
        #[cfg(not(rust_analyzer))]
        macro_rules! __either { ({ $($seen:tt)* } { $($compiled:tt)* }) => { $($compiled)* } }
        __either! { { #seen } { #compiled } }
    }
}

/// Whether the program that expands the macro is known not to be an editor's.
fn is_rustc() -> bool {
    let program = env::current_exe().ok();
    let name = program.as_ref().and_then(|program| program.file_stem()?.to_str());
    name.is_some_and(|name| ["rustc", "rustdoc", "clippy-driver"].contains(&name))
}

/// The statements of graphs that are items.
pub(super) fn statements(input: TokenStream) -> TokenStream {
    if is_rustc() {
        return TokenStream::new();
    }
    let input: Vec<TokenTree> = input.into_iter().collect();
    let is_graph = |&start: &usize| starts_declared(input[start..].iter().cloned()) == Some(Declared::Graph);
    let starts = (0..input.len()).filter(is_graph);
    starts.filter_map(|start| item(&input[start + 1..])).collect()
}

/// `device => statements` as a statement among the user's own.
pub(super) fn expression(input: TokenStream) -> TokenStream {
    if is_rustc() {
        return TokenStream::new();
    }
    let input: Vec<TokenTree> = input.into_iter().collect();
    let (device, statements) = split_at_puncts(&input, "=>");
    let (device, body) = (stream(device), statement::body(stream(statements), &[]));
    quote! {
        #[allow(warnings)]
        {
            /// The reference that a host function gets to moved memory.
            fn __lent<H: ::graph_runtime::private::Movable>(
                _: H,
            ) -> &'static mut H::Shape {
                loop {}
            }
            let _ = (#device);
            #body
        }
    }
}

/// `Name<..>(..) where .. { .. }` as a function in an `impl` of the type.
fn item(input: &[TokenTree]) -> Option<TokenStream> {
    let next = (1..input.len()).find(|&index| starts_declared(input[index..].iter().cloned()).is_some());
    let input = &input[..next.unwrap_or(input.len())];
    let end = input.iter().rposition(|token| is_group(token, Delimiter::Brace))?;
    let (name, head) = input[..end].split_first()?;
    let (generics, head) = head.split_at(angle_end(head));
    let mut generics: Generics = syn::parse2(stream(generics)).unwrap_or_default();
    let ((arguments, memory), head) = match head.split_first() {
        Some((TokenTree::Group(arguments), rest)) => (build_arguments(arguments.stream()), rest),
        _ => (Default::default(), head),
    };
    generics.where_clause = syn::parse2::<Option<WhereClause>>(stream(head)).ok().flatten();
    let (parameters, names, condition) = generics.split_for_impl();
    let TokenTree::Group(body) = &input[end] else {
        return None;
    };
    let body = statement::body(body.stream(), &memory);
    Some(quote! {
        const _: () = {
            trait __Editor {
                fn __statements();
            }
            impl #parameters __Editor for #name #names #condition {
                #[allow(warnings)]
                fn __statements() { #arguments #body }
            }
        };
    })
}

/// `(n: usize, w: mut device [f32; 4])` as variables, and a list of those that are memory.
fn build_arguments(arguments: TokenStream) -> (TokenStream, Vec<Memory>) {
    let (mut variables, mut memory) = (TokenStream::new(), Vec::new());
    let arguments: Vec<TokenTree> = arguments.into_iter().collect();
    for (name, rest) in commas(&arguments).filter_map(<[TokenTree]>::split_first) {
        let ty = without_words(&rest[usize::from(single_punct(rest, ':'))..], &["mut"]);
        let place = ty
            .split_first()
            .and_then(|(space, shape)| statement::place(space, name, shape));
        let ty = place.as_ref().map_or_else(|| stream(ty), |(ty, _)| ty.clone());
        variables.extend(quote!(let mut #name: #ty;));
        memory.extend(place.map(|(_, memory)| memory));
    }
    (variables, memory)
}
