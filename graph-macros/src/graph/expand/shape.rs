//! Shapes as types. A shape whose outermost length is known only when the graph is built is a slice. If other lengths
//! are, too, it is a table.

use super::checked::checked;
use crate::graph::ast::Resource;
use crate::graph::resolve::Graph;
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Expr, Lifetime};

/// The shape of a resource.
pub(super) enum Shape<'a> {
    /// A type.
    Fixed(TokenStream),
    /// Rows, whose number is the value of an expression when the graph is built.
    Dynamic { row: TokenStream, length: &'a Expr },
    /// Elements in two to four dimensions, whose lengths are values of expressions when the graph is built.
    Table { element: TokenStream, lengths: &'a [Expr] },
    /// The shape of a moved local.
    Inferred,
}

impl<'a> Shape<'a> {
    pub(super) fn of(graph: &Graph<'_>, resource: &'a Resource) -> Self {
        if resource.is_moved() {
            return Shape::Inferred;
        }
        let (shape, dimensions) = (&resource.shape, graph.variable_lengths(resource));
        // The first dimension of a field counts the groups.
        let first = usize::from(resource.is_field());
        match (shape.inner(dimensions), shape.lengths.get(first..dimensions)) {
            (Some(row), Some([length])) => Shape::Dynamic { row, length },
            (Some(element), Some(lengths @ [_, _, ..])) => Shape::Table { element, lengths },
            _ => Shape::Fixed(shape.inner(first).unwrap_or_else(|| shape.to_token_stream())),
        }
    }

    /// The type argument in the declaration of memory of this shape: the row, if the number of rows is an expression;
    /// the element of a table.
    pub(super) fn element(&self) -> TokenStream {
        match self {
            Shape::Fixed(shape) => shape.clone(),
            Shape::Dynamic { row, .. } => row.clone(),
            Shape::Table { element, .. } => element.clone(),
            Shape::Inferred => quote!(_),
        }
    }

    /// The lengths that the type does not tell, as an argument: one, or the array of all that a table has.
    pub(super) fn lengths(&self, graph: &Graph<'_>) -> Option<TokenStream> {
        match self {
            Shape::Dynamic { length, .. } => Some(checked(graph, length)),
            Shape::Table { lengths, .. } => {
                let lengths = lengths.iter().map(|length| checked(graph, length));
                Some(quote!([#(#lengths),*]))
            }
            Shape::Fixed(_) | Shape::Inferred => None,
        }
    }

    /// The function of the library for memory of this shape.
    pub(super) fn function(&self, fixed: &str, span: Span) -> Ident {
        let suffix = match self {
            Shape::Fixed(_) | Shape::Inferred => "",
            Shape::Dynamic { .. } => "_slice",
            Shape::Table { .. } => "_table",
        };
        Ident::new(&format!("{fixed}{suffix}"), span)
    }

    /// The shape as a type, where the runtime has this name.
    pub(super) fn at(&self, runtime: &TokenStream) -> TokenStream {
        match self {
            Shape::Fixed(shape) => shape.clone(),
            Shape::Dynamic { row, .. } => quote!([#row]),
            Shape::Table { element, lengths } => {
                let dimensions = Literal::usize_unsuffixed(lengths.len());
                quote!(#runtime::Table<#element, #dimensions>)
            }
            Shape::Inferred => quote!(_),
        }
    }

    /// The type that accessors of host memory and closures of `call` nodes get: a reference, or the view of a table.
    pub(super) fn lent(&self, mutable: bool) -> TokenStream {
        self.lent_at(&quote!(__g), None, mutable)
    }

    /// The same type for a lifetime, where the runtime has this name.
    pub(super) fn lent_at(&self, runtime: &TokenStream, lifetime: Option<&Lifetime>, mutable: bool) -> TokenStream {
        let Shape::Table { element, lengths } = self else {
            let (shape, mutability) = (self.at(runtime), mutable.then(|| quote!(mut)));
            return quote!(&#lifetime #mutability #shape);
        };
        let dimensions = Literal::usize_unsuffixed(lengths.len());
        let view = Ident::new(if mutable { "TableMut" } else { "TableRef" }, Span::call_site());
        let lifetime = lifetime.map_or_else(|| quote!('_), ToTokens::to_token_stream);
        quote!(#runtime::#view<#lifetime, #element, #dimensions>)
    }

    /// The size in bytes, of type `usize`, if it is a constant.
    pub(super) fn bytes(&self) -> Option<TokenStream> {
        match self {
            Shape::Fixed(shape) => Some(quote!(::core::mem::size_of::<#shape>())),
            Shape::Dynamic { .. } | Shape::Table { .. } | Shape::Inferred => None,
        }
    }
}

/// Writes the shape as the type argument of places, views and references.
impl ToTokens for Shape<'_> {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.at(&quote!(__g)));
    }
}
