//! The actions of nodes as Rust: every place, path, expression and closure is where it would be in a function.

use super::Memory;
use super::tokens::{commas, is_punct, is_word, split_at_puncts, stream, without_words};
use proc_macro2::{Delimiter, Group, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::quote;

/// `path<<<grid, block>>>(arguments)` as a call of the kernel's type.
pub(super) fn launch(tokens: &[TokenTree]) -> TokenStream {
    let (callee, rest) = split_at_puncts(without_words(tokens, &["unsafe"]), "<<<");
    let (dimensions, arguments) = match rest.split_last() {
        Some((arguments @ TokenTree::Group(_), inside)) => (split_at_puncts(inside, ">>>").0, arguments.clone().into()),
        _ => (split_at_puncts(rest, ">>>").0, quote!(())),
    };
    let dimensions = stream(dimensions);
    let value = matches!(callee.first(), Some(TokenTree::Group(_)));
    let callee = stream(callee);
    match value {
        true => quote!(let _ = (#dimensions); let _ = #callee; let _ = #arguments;),
        false => quote!(let _ = (#dimensions); unsafe { #callee::call #arguments };),
    }
}

/// Two sides of an arrow.
pub(super) fn pair(tokens: &[TokenTree], arrow: &str) -> TokenStream {
    let (first, second) = split_at_puncts(tokens, arrow);
    let (first, second) = (stream(first), stream(second));
    quote!(let _ = &(#first); let _ = &(#second);)
}

/// `path(name: argument, ..)`
pub(super) fn child(tokens: &[TokenTree]) -> TokenStream {
    let (path, arguments) = match tokens.split_last() {
        Some((TokenTree::Group(arguments), path)) => (path, arguments.stream().into_iter().collect()),
        _ => (tokens, Vec::new()),
    };
    let path = stream(path);
    let arguments = commas(&arguments).map(|tokens| stream(split_at_puncts(tokens, ":").1));
    quote!(let _: #path; let _ = (#(#arguments),*);)
}

/// `|&x, &mut y| body`, where the names are references to Rust's own arrays.
pub(super) fn call(tokens: &[TokenTree], memory: &[Memory]) -> TokenStream {
    let (_, rest) = split_at_puncts(tokens, "|");
    let (places, body) = split_at_puncts(rest, "|");
    let body = Group::new(Delimiter::Brace, stream(body));
    let lent = commas(places).filter_map(|place| {
        let (name, reference) = place.split_last()?;
        let (text, reference) = (name.to_string(), stream(reference));
        Some(match memory.iter().find(|memory| memory.name == text) {
            Some(Memory { shape, .. }) => quote!(let #name: #reference #shape;),
            None => quote!(let #name: #reference _ = __lent(#name);),
        })
    });
    let places = stream(places);
    quote!(let _ = (#places); { #(#lent)* #body })
}

/// `(&x, &mut y) |stream| body` or `unsafe (&x, &mut y) |graph, after| body`. The signature of the builder's `method`
/// tells the types of the closure's parameters.
pub(super) fn closure(method: &TokenTree, tokens: &[TokenTree]) -> TokenStream {
    let otherwise = tokens.iter().position(|token| is_word(token, "else"));
    let (tokens, otherwise) = tokens.split_at(otherwise.unwrap_or(tokens.len()));
    let (places, rest) = split_at_puncts(without_words(tokens, &["unsafe"]), "|");
    let (names, body) = split_at_puncts(rest, "|");
    let (names, body) = (stream(names), Group::new(Delimiter::Brace, stream(body)));
    let places = match places.first() {
        Some(TokenTree::Group(places)) => places.stream(),
        _ => stream(places),
    };
    if !otherwise.is_empty() {
        let (given, other) = split_at_puncts(split_at_puncts(otherwise, "|").1, "|");
        let (given, other) = (stream(given), Group::new(Delimiter::Brace, stream(other)));
        return quote! {
            ::graph_runtime::GraphBuilder::capture_or_else(loop {}, "", (#places,), |#names| #body, |(#given,)| #other);
        };
    }
    let method = Ident::new(&method.to_string(), Span::mixed_site());
    quote!(unsafe { ::graph_runtime::GraphBuilder::#method(loop {}, "", (#places,), |#names| #body) };)
}

/// The values in a list, without `word`, which is a keyword there.
pub(super) fn list(tokens: &[TokenTree], word: &str) -> TokenStream {
    let list: TokenStream = tokens.iter().filter(|token| !is_word(token, word)).cloned().collect();
    quote!(let _ = (#list);)
}

/// The places, the ranks and the communicator of a collective: `max(x) over world`, `send a to 1, recv b from 2 over
/// world`.
pub(super) fn collective(tokens: &[TokenTree]) -> TokenStream {
    let tokens = match tokens {
        [TokenTree::Ident(_), TokenTree::Group(group), rest @ ..] if group.delimiter() == Delimiter::Parenthesis => {
            let inside = group.stream().into_iter();
            inside.chain(rest.iter().cloned()).collect()
        }
        _ => tokens.to_vec(),
    };
    let is_joint = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '-' && punct.spacing() == Spacing::Joint);
    let is_divider = |token: &TokenTree| {
        let words = ["over", "from", "to", "send", "recv"];
        let mut words = words.into_iter();
        is_punct(token, ',') || is_joint(token) || is_punct(token, '>') || words.any(|word| is_word(token, word))
    };
    let values = tokens.split(is_divider).filter(|value| !value.is_empty()).map(stream);
    let values: TokenStream = values.map(|value| quote!(let _ = &(#value);)).collect();
    values
}
