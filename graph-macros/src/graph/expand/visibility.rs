//! The visibility of the methods that are made for a statement.

use crate::graph::ast::Attributes;
use crate::graph::resolve::Graph;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::{PathSegment, Visibility};

/// The visibility of a statement as that of methods and fields. Without one they are `pub`, so that the visibility of
/// the type limits them.
pub(super) fn visibility(graph: &Graph<'_>, attributes: &Attributes) -> TokenStream {
    let Some(visibility) = &attributes.visibility else {
        return quote!(pub);
    };
    match visibility {
        Visibility::Restricted(restricted) if graph.is_expression() => {
            let (token, mut path) = (restricted.pub_token, restricted.path.clone());
            // The type is in a module of its own, so `self` is one module further out.
            let span = path.segments[0].ident.span();
            let outer = PathSegment::from(proc_macro2::Ident::new("super", span));
            match path.segments[0].ident.to_string().as_str() {
                "self" => path.segments[0] = outer,
                "super" => path.segments.insert(0, outer),
                _ => {} // `crate`
            }
            quote_spanned!(span=> #token(in #path))
        }
        // As private, which clippy prefers.
        Visibility::Restricted(restricted) if restricted.path.is_ident("self") => TokenStream::new(),
        Visibility::Restricted(_) | Visibility::Public(_) | Visibility::Inherited => visibility.to_token_stream(),
    }
}
