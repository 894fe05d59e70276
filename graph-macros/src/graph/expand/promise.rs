//! The promise of `unsafe` nodes in generated documentation: where the author gives it, and at each method that could
//! change what it covers.

use crate::graph::ast::{Action, Node};
use crate::graph::constant::mentions;
use crate::graph::resolve::Graph;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

/// The section of a type's documentation that says what its author has promised. `None` without `unsafe` nodes.
pub(super) fn section(graph: &Graph<'_>) -> Option<TokenStream> {
    let nodes: Vec<String> = unsafe_nodes(graph).map(|node| format!("`{}`", node.name)).collect();
    if nodes.is_empty() {
        return None;
    }
    let nodes = format!(" {}.", nodes.join(", "));
    let lines = [
        "",
        " # Unsafe nodes",
        "",
        " The author of this graph has written `unsafe` at these nodes:",
        &nodes,
        " So the author promises that they touch only the memory that they name, within its bounds, and only as they",
        " declare it, in every launch that other code can bring about without `unsafe`:",
        "",
        " * for any contents of the memory, whoever has written them;",
        " * for any values of params and build arguments;",
        " * whichever nodes are disabled;",
        " * for any memory that is given to `build`, bound or rebound;",
        " * as a child of any graph.",
    ];
    Some(quote!(#(#[doc = #lines])*))
}

/// The sentence in the documentation of a method that could change what the promise covers.
pub(super) fn mention(graph: &Graph<'_>) -> Option<TokenStream> {
    sentence(graph, "")
}

/// The same sentence, on the page of another type.
pub(super) fn mention_elsewhere(graph: &Graph<'_>) -> Option<TokenStream> {
    sentence(graph, &graph.item.name.to_string())
}

fn sentence(graph: &Graph<'_>, page: &str) -> Option<TokenStream> {
    if !graph.unsafe_nodes.get_or_init(|| unsafe_nodes(graph).next().is_some()) {
        return None;
    }
    let text = format!(" The promise of the [unsafe nodes]({page}#unsafe-nodes) covers whatever this changes.");
    Some(quote!(#[doc = ""] #[doc = #text]))
}

/// The nodes at which the author has written `unsafe`.
fn unsafe_nodes<'a>(graph: &'a Graph<'_>) -> impl Iterator<Item = &'a Node> {
    let is_documented = !graph.is_expression();
    let nodes = graph.nodes.iter().copied().filter(move |_| is_documented);
    nodes.filter(|node| match &node.action {
        Action::Kernel(launch) => launch.unsafety.is_some(),
        Action::Library(library) => {
            library.unsafety.is_some() || mentions(library.body.to_token_stream(), &["unsafe".to_owned()])
        }
        _ => false,
    })
}
