//! The attributes of nodes as tokens: as part of a launch, or as calls about the node that was just added.

use super::names::hidden;
use crate::graph::ast::{Extent, Node};
use proc_macro2::TokenStream;
use quote::quote_spanned;

/// A launch in the clusters, and in the way, that the node's attributes ask for.
pub(super) fn launched(node: &Node, mut launch: TokenStream) -> TokenStream {
    let attributes = &node.attributes.node;
    if let Some((span, Extent { whole, .. })) = &attributes.cluster {
        launch = quote_spanned!(*span=> __g::Launch::cluster(#launch, #whole));
    }
    match attributes.cooperative {
        Some(span) => quote_spanned!(span=> __g::Launch::cooperative(#launch)),
        None => launch,
    }
}

/// What `build` says of a node that it has just added. `builder` is a `&mut GraphBuilder`.
pub(super) fn statements(node: &Node, builder: &TokenStream) -> TokenStream {
    let (attributes, newest) = (&node.attributes.node, hidden("newest"));
    let mut found = TokenStream::new();
    if let Some((span, priority)) = &attributes.priority {
        found.extend(quote_spanned! {*span=>
            let #newest = __p::Declare::newest(#builder);
            __g::GraphBuilder::priority(#builder, #newest, #priority);
        });
    }
    if let Some(span) = attributes.disabled {
        found.extend(quote_spanned! {span=>
            let #newest = __p::Declare::newest(#builder);
            __g::GraphBuilder::disable(#builder, #newest);
        });
    }
    found
}
