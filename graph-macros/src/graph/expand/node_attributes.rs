//! The attributes of nodes as tokens: as part of a launch, or as calls about the node that was just added.

use super::names::hidden;
use crate::graph::ast::{Extent, Node};
use crate::span::ends;
use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};

/// A launch with the node's attributes: its clusters, and whether it is cooperative. `passed` makes the argument of the
/// clusters.
pub(super) fn launched(node: &Node, mut launch: TokenStream, passed: impl Fn(&Extent) -> TokenStream) -> TokenStream {
    let attributes = &node.attributes.node;
    if let Some((span, cluster)) = &attributes.cluster {
        let cluster = passed(cluster);
        launch = quote_spanned!(*span=> __g::Launch::cluster(#launch, #cluster));
    }
    match attributes.cooperative {
        Some(span) => quote_spanned!(span=> __g::Launch::cooperative(#launch)),
        None => launch,
    }
}

/// Adds a node by `added`, with the calls about its attributes. Its expressions come first: if one of them is left
/// early, the whole node is left out, and `build` notices that. `builder` is a `&mut GraphBuilder`.
pub(super) fn around(node: &Node, added: &TokenStream, builder: &TokenStream) -> TokenStream {
    let (attributes, newest) = (&node.attributes.node, hidden("newest"));
    let mut found = TokenStream::new();
    let value = attributes.priority.as_ref().map(|(_, value)| {
        // All has the span of the value, so that rustc marks only the value if its type is wrong.
        let priority = Ident::new("__priority", ends(value).0);
        found.extend(quote!(let #priority = #value;));
        priority
    });
    found.extend(added.clone());
    if let (Some((span, _)), Some(priority)) = (&attributes.priority, value) {
        found.extend(quote_spanned! {*span=>
            let #newest = __p::Declare::newest(#builder);
            #builder.priority(#newest, #priority);
        });
    }
    if let Some(span) = attributes.disabled {
        found.extend(quote_spanned! {span=>
            let #newest = __p::Declare::newest(#builder);
            #builder.disable(#newest);
        });
    }
    found
}
