//! The operands of the functions of nodes: places, scalars, and the variables of loops.

use super::names::{Source, copy, local};
use super::types::place_type;
use crate::graph::ast::Resource;
use crate::graph::resolve::{Graph, Scalar, Value, added_scalars};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use std::collections::BTreeSet;

/// The operands of a function that declares or changes some nodes.
pub(super) struct Operands {
    /// The nodes whose places it takes.
    pub(super) nodes: Vec<usize>,
    pub(super) scalars: Vec<Scalar>,
    /// The innermost `for` around the nodes: the function takes the variables of it and of all loops around it.
    pub(super) around: Option<usize>,
}

/// The operands of a node's function.
pub(super) fn operands_of(graph: &Graph<'_>, node: usize, scalars: Vec<Scalar>) -> Operands {
    Operands {
        nodes: vec![node],
        scalars,
        around: graph.draft.loop_around(node),
    }
}

/// The call of a function with these [`operands`]. If the node launches a function value, that comes after them.
pub(super) fn call(
    graph: &Graph<'_>,
    function: &Ident,
    operands: &Operands,
    target: &TokenStream,
    loaded: Option<TokenStream>,
) -> TokenStream {
    let places =
        resources_of(graph, &operands.nodes).map(|resource| handed(resource, local(&resource.name).to_token_stream()));
    let variables = graph.variables_up_to(operands.around);
    let values = operands
        .scalars
        .iter()
        .map(|&scalar| copy(graph.scalar(scalar).name, &Source::Variable));
    quote!(Self::#function(#target, #(#places,)* #(#values,)* #(#variables,)* #loaded)?;)
}

/// A resource's place, as an argument. Places are `Copy`; random numbers and fields of groups are cloned.
pub(super) fn handed(resource: &Resource, place: TokenStream) -> TokenStream {
    match resource.random.is_some() || resource.is_field() {
        true => quote!(::core::clone::Clone::clone(&#place)),
        false => place,
    }
}

/// The scalars that the nodes mention, each once.
pub(super) fn scalars_of(graph: &Graph<'_>, nodes: &[usize]) -> BTreeSet<Scalar> {
    let scalars = nodes.iter().flat_map(|&index| added_scalars(graph, graph.nodes[index]));
    scalars.collect()
}

/// The places of the nodes, the scalars and the variables, as parameters of a function.
pub(super) fn operands(graph: &Graph<'_>, operands: &Operands) -> TokenStream {
    let places = resources_of(graph, &operands.nodes).map(|resource| {
        let (place, ty) = (local(&resource.name), place_type(graph, resource));
        quote!(#place: #ty,)
    });
    let values = operands.scalars.iter().map(|&scalar| {
        let Value { name, ty, .. } = graph.scalar(scalar);
        quote!(#name: #ty,)
    });
    let variables = graph.variables_up_to(operands.around);
    quote!(#(#places)* #(#values)* #(#variables: ::core::primitive::usize,)*)
}

/// The resources that the nodes touch, each once, in order of declaration.
pub(super) fn resources_of<'a>(graph: &Graph<'a>, nodes: &[usize]) -> impl Iterator<Item = &'a Resource> + use<'a> {
    let touched = nodes.iter().flat_map(|&node| graph.nodes[node].action.places());
    let indices: BTreeSet<usize> = touched.filter_map(|place| graph.resource(place)).collect();
    let resources: Vec<&Resource> = indices.into_iter().map(|index| graph.resources[index]).collect();
    resources.into_iter()
}

/// The name of a node's function.
pub(super) fn function_of(index: usize) -> Ident {
    format_ident!("__node_{index}")
}
