//! Launch dimensions: as arguments of a launch, and as values in constants.
//!
//! A name may mean an integer or a tuple of integers; only rustc knows which. Constants pass such names to a function
//! of the runtime that takes both. The launch calls the same function in the same way, so that rustc reports a wrong
//! type only once.

use super::checked::checked;
use crate::graph::ast::Extent;
use crate::graph::constant::{bare, is_constant};
use crate::graph::resolve::Graph;
use crate::span::ends;
use proc_macro2::{Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::iter::repeat_n;
use syn::{Expr, ExprLit, Lit};

/// Whether only rustc knows if the constant extent, or a part of it, is an integer or a tuple.
pub(super) fn is_typed(graph: &Graph<'_>, extent: &Extent) -> bool {
    if extent.parts.iter().all(|part| is_number(graph, part)) {
        return false;
    }
    let variables = graph.variables();
    extent.parts.iter().all(|part| is_constant(part, &variables))
}

/// Whether the expression, if it is constant, is a number. (It may also be a mistake, which rustc reports by itself.)
fn is_number(graph: &Graph<'_>, expr: &Expr) -> bool {
    match bare(expr) {
        Expr::Lit(literal) => matches!(literal.lit, Lit::Int(_) | Lit::Float(_)),
        Expr::Path(path) => {
            let name = path.path.get_ident();
            let mut generics = graph.item.generics.const_params();
            generics.any(|generic| name == Some(&generic.ident))
        }
        _ => true, // an operator, a cast or a method of integers
    }
}

/// The extent as an argument of a launch whose kernel is at `span`.
pub(super) fn passed(graph: &Graph<'_>, extent: &Extent, span: Span) -> TokenStream {
    let whole = &extent.whole;
    match is_typed(graph, extent) {
        true => quote_spanned!(span=> __p::extent(#whole)),
        false => checked(graph, whole),
    }
}

/// The extent as an `Option` of three `i128`s.
pub(super) fn known(graph: &Graph<'_>, extent: &Extent, span: Span) -> TokenStream {
    if is_typed(graph, extent) {
        let passed = passed(graph, extent, span);
        return quote_spanned!(span=> #passed.known);
    }
    let values = values(extent);
    quote!(::core::option::Option::Some(#values))
}

/// An extent of numbers as three `i128`s.
pub(super) fn values(extent: &Extent) -> TokenStream {
    let one = Literal::i128_unsuffixed(1); // `quote!(1)` would parse it each time
    let parts = extent.parts.iter().map(wide);
    let ones = repeat_n(one, 3 - extent.parts.len().min(3)).map(ToTokens::into_token_stream);
    let parts = parts.take(3).chain(ones);
    quote!([#(#parts),*])
}

/// The bytes of shared memory as `i128`. A name may mean something else than a number: rustc reports that at the cast,
/// which has the span of the name.
pub(super) fn bytes(graph: &Graph<'_>, expr: &Expr) -> TokenStream {
    match is_number(graph, expr) {
        true => wide(expr),
        false => quote_spanned!(ends(expr).0=> (#expr) as ::core::primitive::i128),
    }
}

/// A number as `i128`. The cast has no span of the user's: clippy would call it unnecessary. A literal needs none, and
/// is less for rustc to check.
fn wide(expr: &Expr) -> TokenStream {
    if let Expr::Lit(ExprLit {
        lit: Lit::Int(literal), ..
    }) = expr
        && literal.suffix().is_empty()
        && let Ok(value) = literal.base10_parse()
    {
        return Literal::i128_unsuffixed(value).to_token_stream();
    }
    quote!((#expr) as ::core::primitive::i128)
}
