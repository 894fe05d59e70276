//! The names under which expansions mention kernels and child graphs.

use super::part::generic;
use crate::graph::ast::{Child, Launch, Node};
use crate::graph::resolve::Graph;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::HashMap;
use syn::Path;
use syn::ext::IdentExt;
use syn::spanned::Spanned;

/// The type of a node's kernel: by an alias, so that a wrong path is one error, unless it mentions generics of the
/// graph, which items beside the type cannot name.
pub(super) fn kernel(graph: &Graph<'_>, node: &Node) -> TokenStream {
    kernel_at(graph, node, node.name.span())
}

/// The same type, with the alias at another place.
pub(super) fn kernel_at(graph: &Graph<'_>, node: &Node, span: Span) -> TokenStream {
    let launch = node.action.launch();
    if let Some(launch) = launch
        && own_kernel(graph, launch).is_none()
    {
        return launch.path().to_token_stream();
    }
    let mut alias = kernel_alias(graph, node);
    let generic = launch.filter(|launch| !launch.generics().is_empty());
    alias.set_span(generic.map_or(span, |launch| launch.function.span()));
    alias.to_token_stream()
}

fn kernel_alias(graph: &Graph<'_>, node: &Node) -> Ident {
    alias(graph, "kernel", node)
}

/// The path of a declared kernel, if items beside the type can name it.
pub(super) fn own_kernel<'a>(graph: &Graph<'_>, launch: &'a Launch) -> Option<&'a Path> {
    let generics = launch.generics();
    launch
        .path()
        .filter(|_| generics.is_empty() || !generic(graph, generics))
}

/// Whether the graph launches a kernel that items beside the type cannot name.
pub(super) fn has_generic_kernels(graph: &Graph<'_>) -> bool {
    let mut launches = graph.nodes.iter().filter_map(|node| node.action.launch());
    launches.any(|launch| launch.path().is_some() && own_kernel(graph, launch).is_none())
}

/// The lints that items with names of the user's may break. (Beside a type, the constant around all items allows them.)
pub(super) fn allowed(graph: &Graph<'_>) -> Option<TokenStream> {
    let levels = || quote!(#[allow(non_camel_case_types, non_upper_case_globals, dead_code)]);
    graph.is_expression().then(levels)
}

/// The nodes that launch declared kernels, with the kernels' paths.
pub(super) fn launches(graph: &Graph<'_>) -> Vec<(usize, String)> {
    let nodes = graph.nodes.iter().enumerate();
    let launches = nodes.filter_map(|(index, node)| Some((index, node.action.kernel()?.to_token_stream().to_string())));
    launches.collect()
}

/// The declarations of the aliases of kernels.
pub(super) fn kernels_aliased(graph: &Graph<'_>) -> TokenStream {
    declared(graph, |node| {
        let launch = node.action.launch()?;
        let path = own_kernel(graph, launch)?;
        let ty = match launch.generics().is_empty() {
            true => path.to_token_stream(),
            // If there is no such instance, rustc says so wherever the alias is mentioned: in the same words, about the
            // same place, so that it prints them once.
            false => quote_spanned!(launch.function.span()=> <#path as __p::Instance>::Kernel),
        };
        Some((kernel_alias(graph, node), ty))
    })
}

/// The declarations of the aliases of children.
pub(super) fn children_aliased(graph: &Graph<'_>) -> TokenStream {
    declared(graph, |node| {
        let child = node.action.child()?;
        Some((own_alias(graph, node, child)?, child.path.to_token_stream()))
    })
}

fn declared(graph: &Graph<'_>, alias: impl Fn(&Node) -> Option<(Ident, TokenStream)>) -> TokenStream {
    let allowed = allowed(graph);
    let aliases = graph.nodes.iter().filter_map(|node| alias(node));
    let declared = aliases.map(|(alias, ty)| quote!(#allowed type #alias = #ty;));
    declared.collect()
}

/// The child's type. It is the alias, so that a wrong path is one error, unless the path mentions generics of the
/// parent graph.
pub(super) fn child_path(graph: &Graph<'_>, node: &Node, child: &Child) -> TokenStream {
    let path = child.path.to_token_stream();
    match generic(graph, path.clone()) {
        true => quote!(<#path>),
        false => child_alias(graph, node).to_token_stream(),
    }
}

/// The child's type where a type is expected, at the place of its name.
pub(super) fn child_type(graph: &Graph<'_>, node: &Node, child: &Child) -> TokenStream {
    match own_alias(graph, node, child) {
        None => child.path.to_token_stream(),
        Some(mut alias) => {
            alias.set_span(child.span());
            alias.to_token_stream()
        }
    }
}

fn child_alias(graph: &Graph<'_>, node: &Node) -> Ident {
    alias(graph, "child", node)
}

/// The name of an alias. A node whose name is taken, which is reported, has an alias of its own, so that the check of
/// its arguments knows its kernel.
fn alias(graph: &Graph<'_>, prefix: &str, node: &Node) -> Ident {
    let is_node = |index: &&usize| std::ptr::eq(graph.nodes[**index], node);
    let number = graph.nameless.iter().find(is_node).map(|index| format!("_{index}"));
    let number = number.unwrap_or_default();
    Ident::new(&format!("__{prefix}_{}{number}", node.name.unraw()), node.name.span())
}

/// The alias, if items beside the type can name the child's type.
fn own_alias(graph: &Graph<'_>, node: &Node, child: &Child) -> Option<Ident> {
    (!generic(graph, child.path.to_token_stream())).then(|| child_alias(graph, node))
}

/// The declared kernels of a graph, each once.
pub(super) struct Kernels {
    /// Their types.
    pub(super) types: Vec<TokenStream>,
    /// For each node, the index of its kernel.
    pub(super) of_nodes: Vec<Option<usize>>,
}

/// The kernels of the nodes whose launch is `wanted`.
pub(super) fn kernels(graph: &Graph<'_>, wanted: impl Fn(&Launch) -> bool) -> Kernels {
    let (mut numbers, mut types) = (HashMap::new(), Vec::new());
    let number = |&node: &&Node| {
        let path = node.action.launch().filter(|launch| wanted(launch))?.path()?;
        Some(*numbers.entry(path.to_token_stream().to_string()).or_insert_with(|| {
            types.push(kernel(graph, node));
            types.len() - 1
        }))
    };
    let of_nodes = graph.nodes.iter().map(number).collect();
    Kernels { types, of_nodes }
}
