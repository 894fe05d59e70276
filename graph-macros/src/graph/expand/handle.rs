//! The handles of nodes: the methods of a graph, and the type by which a parent reaches the nodes of a child.

use super::alias::child_type;
use super::interface::{Bodies, method, structure, without_suggestions};
use super::names::unseen;
use super::promise;
use super::types::{expression_child, generics, generics_after, marker_value};
use crate::graph::ast::Node;
use crate::graph::resolve::Graph;
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Lifetime;

/// The methods of a graph that return handles.
pub(super) fn handles(graph: &Graph<'_>, bodies: Bodies) -> TokenStream {
    let owner = if graph.is_translated() {
        Owner::Translated
    } else {
        Owner::Graph
    };
    methods(graph, owner, bodies)
}

/// The type by which a parent reaches the nodes of the graph. It is as visible as the graph.
pub(super) fn nodes_type(graph: &Graph<'_>) -> TokenStream {
    let lifetime = Lifetime::new("'nodes", Span::mixed_site());
    let generics = generics_after(graph, &lifetime);
    let summary = format!(
        " The nodes of a [`{}`] that is a node of another graph, and the handle of that node.",
        graph.item.name
    );
    let promise = promise::mention_elsewhere(graph);
    let documentation = quote!(#[doc = #summary] #promise);
    let fields = quote!(__node: ::graph_runtime::NodeHandle<#lifetime>,);
    structure(graph, nodes_name(graph), generics, documentation, fields)
}

/// The implementations of that type, and of the trait of graphs that can be children.
pub(super) fn nodes(graph: &Graph<'_>, bodies: Bodies) -> TokenStream {
    let (graph_name, name) = (&graph.item.name, nodes_name(graph));
    let lifetime = Lifetime::new("'nodes", Span::mixed_site());
    let borrowed = generics_after(graph, &lifetime);
    let (parameters, arguments, condition) = borrowed.split_for_impl();
    let methods = methods(graph, Owner::Nodes, bodies);
    let own = generics(graph);
    let (own_parameters, own_arguments, own_condition) = own.split_for_impl();
    // Who had `&mut` of it could exchange it with that of another graph's child, whose nodes are visible elsewhere.
    let get = bodies.of(quote!(&self.__node));
    let marker = marker_value(&own);
    let new = bodies.of(quote!(#name { __node: node, #marker }));
    quote! {
        impl #parameters #name #arguments #condition { #methods }
        impl #parameters ::core::ops::Deref for #name #arguments #condition {
            type Target = __g::NodeHandle<#lifetime>;
            fn deref(&self) -> &Self::Target { #get }
        }
        impl #own_parameters __p::DeclaredGraph for #graph_name #own_arguments #own_condition {
            type Nodes<#lifetime> = #name #arguments;
            fn __nodes<#lifetime>(node: __g::NodeHandle<#lifetime>) -> Self::Nodes<#lifetime> { #new }
        }
    }
}

fn nodes_name(graph: &Graph<'_>) -> Ident {
    without_suggestions(format_ident!("{}Nodes", graph.item.name))
}

/// The type whose methods return handles.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// A graph with one node for each declaration.
    Graph,
    /// A graph with loops or children.
    Translated,
    /// The nodes of a child.
    Nodes,
}

/// The most nodes of a child that have methods there. rustc needs 0.15 ms for each, in every graph, child or not.
const MAX_NODES_OF_CHILD: usize = 256;

fn methods(graph: &Graph<'_>, owner: Owner, bodies: Bodies) -> TokenStream {
    if owner == Owner::Nodes && graph.nodes.len() > MAX_NODES_OF_CHILD {
        return TokenStream::new();
    }
    let nodes = graph.nodes.iter().enumerate();
    let named = nodes.filter(|(index, _)| !graph.nameless.contains(index));
    named
        .map(|(index, node)| handle(graph, index, node, owner, bodies))
        .collect()
}

/// The method that returns the handle of a node; of a child, with its nodes. In `for`s, it takes the numbers of the
/// iterations, from the outermost inwards.
fn handle(graph: &Graph<'_>, index: usize, node: &Node, owner: Owner, bodies: Bodies) -> TokenStream {
    let name = &node.name;
    let summary = format!(" The node `{name}`.");
    let variables = graph.variables_up_to(graph.draft.loop_around(index));
    let distinct = |(position, variable): (usize, &&Ident)| match variables[..position].contains(variable) {
        true => format_ident!("__iteration_{position}"), // a mistake that was reported
        false => (*variable).clone(),
    };
    let variables: Vec<Ident> = variables.iter().enumerate().map(distinct).collect();
    let (number, text) = (Literal::usize_unsuffixed(index), name.to_string());
    let values = variables.iter().map(unseen);
    let get = match owner {
        Owner::Graph => quote!(__p::node_handle(&mut self.__graph, #number)),
        Owner::Translated => quote!(__p::Handles::handle(&mut self.__graph, #number, #text, &[#(#values),*])),
        Owner::Nodes => quote!(__p::Handles::handle(&mut self.__node, #number, #text, &[#(#values),*])),
    };
    let (ty, get, condition) = match node.action.child() {
        None => (quote!(__g::NodeHandle<'_>), get, None),
        Some(child) => {
            let ty = match graph.is_expression() {
                true => expression_child(index).to_token_stream(),
                false => child_type(graph, node, child),
            };
            // The type of a child of an item is no parameter: rustc checks it where it is mentioned.
            let condition = graph.is_expression().then(|| quote!(where #ty: __p::DeclaredGraph));
            // All has one span, so that rustc says only once that a type is no graph.
            let span = child.span();
            (
                quote_spanned!(span=> <#ty as __p::DeclaredGraph>::Nodes<'_>),
                quote_spanned!(span=> <#ty as __p::DeclaredGraph>::__nodes(#get)),
                condition,
            )
        }
    };
    let promise = match owner {
        Owner::Graph | Owner::Translated => promise::mention(graph),
        Owner::Nodes => promise::mention_elsewhere(graph),
    };
    let get = bodies.of(get);
    let signature = quote!(#name(&mut self #(, #variables: ::core::primitive::usize)*) -> #ty #condition { #get });
    method(graph, &node.attributes, summary, promise, signature)
}
