//! Shapes as types. A shape whose outermost length is known only when the graph is built is a slice.

use crate::graph::ast::Resource;
use crate::graph::resolve::Graph;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Expr;

/// The shape of a resource.
pub(super) enum Shape<'a> {
    /// A type.
    Fixed(TokenStream),
    /// Rows, whose number is the value of an expression when the graph is built.
    Dynamic { row: TokenStream, length: &'a Expr },
    /// The shape of a moved local.
    Inferred,
}

impl<'a> Shape<'a> {
    pub(super) fn of(graph: &Graph<'_>, resource: &'a Resource) -> Self {
        if resource.is_moved() {
            return Shape::Inferred;
        }
        if resource
            .shape
            .lengths
            .iter()
            .skip(1)
            .any(|length| graph.is_variable(length))
        {
            let element = &resource.shape.element; // a mistake, which is reported once
            return Shape::Fixed(quote!([#element; 0]));
        }
        match (resource.shape.row(), resource.shape.lengths.first()) {
            (Some(row), Some(length)) if graph.is_dynamic(resource) => Shape::Dynamic { row, length },
            _ => Shape::Fixed(resource.shape.to_token_stream()),
        }
    }

    /// The type argument in the declaration of memory of this shape: the row, if the number of rows is an expression.
    pub(super) fn element(&self) -> TokenStream {
        match self {
            Shape::Fixed(shape) => shape.clone(),
            Shape::Dynamic { row, .. } => row.clone(),
            Shape::Inferred => quote!(_),
        }
    }

    /// The size in bytes, of type `usize`, if it is a constant.
    pub(super) fn bytes(&self) -> Option<TokenStream> {
        match self {
            Shape::Fixed(shape) => Some(quote!(::core::mem::size_of::<#shape>())),
            Shape::Dynamic { .. } | Shape::Inferred => None,
        }
    }
}

/// Writes the shape as the type argument of places, views and references.
impl ToTokens for Shape<'_> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(match self {
            Shape::Fixed(shape) => shape.clone(),
            Shape::Dynamic { row, .. } => quote!([#row]),
            Shape::Inferred => quote!(_),
        });
    }
}
