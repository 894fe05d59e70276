//! The names under which expansions mention kernels and child graphs.

use super::part::generic;
use crate::graph::ast::{Action, Child, Node};
use crate::graph::resolve::Graph;
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;

/// The name by which the expansion mentions a node's kernel. The user's path occurs only in the declaration of this
/// name, so that a wrong path is one error.
pub(super) fn alias(node: &Node) -> Ident {
    Ident::new(&format!("__kernel_{}", node.name.unraw()), node.name.span())
}

/// The lints that items with names of the user's may break. (Beside a type, the constant around all items allows them.)
pub(super) fn allowed(graph: &Graph<'_>) -> Option<TokenStream> {
    let levels = || quote!(#[allow(non_camel_case_types, non_upper_case_globals, dead_code)]);
    graph.is_expression().then(levels)
}

/// The declarations of all [`alias`]es.
pub(super) fn aliases(graph: &Graph<'_>) -> TokenStream {
    let allowed = allowed(graph);
    let declare = |node: &&Node| {
        let (alias, path) = match &node.action {
            Action::Kernel(launch) => (alias(node), launch.path()?),
            Action::Graph(child) => (own_alias(graph, node, child)?, &child.path),
            Action::Memcpy { .. }
            | Action::Memset { .. }
            | Action::Call(_)
            | Action::Capture(_)
            | Action::Raw(_)
            | Action::Join
            | Action::Record(_)
            | Action::Wait(_)
            | Action::If(_)
            | Action::While(_)
            | Action::Switch(_) => return None,
        };
        Some(quote!(#allowed type #alias = #path;))
    };
    graph.nodes.iter().filter_map(declare).collect()
}

/// The child's type. It is the alias, so that a wrong path is one error, unless the path mentions generics of the
/// parent graph.
pub(super) fn child_path(graph: &Graph<'_>, node: &Node, child: &Child) -> TokenStream {
    let path = child.path.to_token_stream();
    match generic(graph, path.clone()) {
        true => quote!(<#path>),
        false => child_alias(node).to_token_stream(),
    }
}

pub(super) fn child_alias(node: &Node) -> Ident {
    Ident::new(&format!("__child_{}", node.name.unraw()), node.name.span())
}

/// The alias, if items beside the type can name the child's type.
pub(super) fn own_alias(graph: &Graph<'_>, node: &Node, child: &Child) -> Option<Ident> {
    (!generic(graph, child.path.to_token_stream())).then(|| child_alias(node))
}
