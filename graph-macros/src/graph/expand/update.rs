//! The functions of nodes that mention params, and the setters that call them.

use super::interface::setter;
use super::names::{Source, copy, hidden, loaded_name, local, receiver, value_name};
use super::node::{apply, loaded};
use super::operands;
use super::operands::handed;
use super::operands::{function_of, operands, operands_of, resources_of};
use crate::graph::ast::{Node, Resource};
use crate::graph::resolve::{Graph, Scalar, params, scalars};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

/// The functions of nodes that mention params, and the setters that call them.
pub(super) fn updates(graph: &Graph<'_>) -> TokenStream {
    let used: Vec<Vec<Scalar>> = graph.nodes.iter().map(|node| scalars(graph, node)).collect();
    let functions = graph
        .nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| !params(graph, node).is_empty())
        .map(|(index, node)| node_function(graph, index, node, &used[index]));
    let setters = (0..graph.params.len()).map(|param| setter(graph, param, set(graph, param, &used)));
    quote!(#(#functions)* #(#setters)*)
}

pub(super) fn node_function(graph: &Graph<'_>, index: usize, node: &Node, used: &[Scalar]) -> TokenStream {
    let (function, target) = (function_of(index), hidden("target"));
    let operands = operands(graph, &operands_of(graph, index, used.to_vec()));
    let loaded = loaded(node).map(|_| {
        let name = loaded_name();
        quote!(#name: ::core::option::Option<__g::cudarc::driver::CudaFunction>,)
    });
    let apply = apply(graph, index, node, &target);
    quote! {
        fn #function(
            #target: &mut impl __p::NodeTarget,
            #operands
            #loaded
        ) -> __g::Result<()> {
            #apply
        }
    }
}

/// The body of `set_x`.
pub(super) fn set(graph: &Graph<'_>, param: usize, used: &[Vec<Scalar>]) -> TokenStream {
    let name = &graph.params[param].name;
    let param = Scalar::Param(param);
    let (this, value) = (receiver(name), value_name(name));
    let text = name.to_string();
    let affected: Vec<usize> = (0..graph.nodes.len())
        .filter(|&node| used[node].contains(&param))
        .collect();
    let update = hidden("update");
    let mut locals: Vec<&Resource> = affected.iter().flat_map(|&node| resources_of(graph, &[node])).collect();
    locals.sort_unstable_by_key(|resource| &resource.name);
    locals.dedup_by_key(|resource| &resource.name);
    let locals = locals.into_iter().map(|resource| {
        let (name, place) = (&resource.name, local(&resource.name));
        let field = handed(resource, quote!(#this.#name));
        quote!(let #place = #field;)
    });
    let mut others: Vec<Scalar> = affected.iter().flat_map(|&node| used[node].iter().copied()).collect();
    others.sort_unstable();
    others.dedup();
    let others = others.iter().map(|&other| {
        let name = graph.scalar(other).name;
        let source = if other == param {
            Source::Argument(value.clone())
        } else {
            Source::Field(this.clone())
        };
        let value = copy(name, &source);
        quote!(let #name = #value;)
    });
    let calls = update_calls(graph, &affected, &update);
    quote! {
        #(#locals)*
        #(#others)*
        __g::Graph::update(&mut #this.__graph, #text, |#update| {
            #calls
            ::core::result::Result::Ok(())
        })?;
        #this.#name = #value;
        ::core::result::Result::Ok(())
    }
}

/// The calls, by an update, of the functions of nodes that mention params, for all iterations. Their operands are local
/// variables.
pub(super) fn update_calls(graph: &Graph<'_>, nodes: &[usize], update: &Ident) -> TokenStream {
    let calls = nodes.iter().map(|&node| {
        let unchanged = loaded(graph.nodes[node]).map(|_| quote!(::core::option::Option::None));
        let operands = operands_of(graph, node, scalars(graph, graph.nodes[node]));
        let call = operands::call(graph, &function_of(node), &operands, &quote!(#update), unchanged);
        let variables = graph.variables_up_to(operands.around);
        if variables.is_empty() {
            return quote!(#call __p::check_reached(#update, #node)?;);
        }
        quote! {
            __p::each(#update, #node, |#update, [#(#variables),*]| {
                #call
                __p::check_reached(#update, #node)
            })?;
        }
    });
    calls.collect()
}
