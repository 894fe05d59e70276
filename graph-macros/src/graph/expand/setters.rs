//! The functions of nodes that mention params, and the setters that call them.

use super::interface;
use super::names::{Source, copy, hidden, loaded_name, local, receiver, value_name};
use super::node::{apply, loaded};
use super::operands;
use super::operands::handed;
use super::operands::{function_of, operands, operands_of, resources_of};
use super::types::{cloned, generics};
use crate::graph::ast::{Action, Argument, Node, Param};
use crate::graph::resolve::{Graph, Scalar, expressions, params, scalars};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{format_ident, quote};
use std::collections::BTreeSet;
use syn::{Expr, Type};

/// The functions of nodes that mention params, and the setters that call them.
pub(super) fn updates(graph: &Graph<'_>) -> TokenStream {
    let used: Vec<Vec<Scalar>> = graph.nodes.iter().map(|node| scalars(graph, node)).collect();
    let functions = graph
        .nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| !params(graph, node).is_empty())
        .map(|(index, node)| node_function(graph, index, node, &used[index]));
    if graph.params.is_empty() {
        return TokenStream::new();
    }
    let changes = (0..graph.params.len()).map(|param| change(graph, param, &used));
    let setters = (0..graph.params.len()).map(|param| setter(graph, param));
    quote!(#(#functions)* #(#changes)* #(#setters)*)
}

/// `set_x(value)`.
pub(super) fn setter(graph: &Graph<'_>, param: usize) -> TokenStream {
    let name = &graph.params[param].name;
    let (graph_name, value, text) = (receiver(name), value_name(name), name.to_string());
    let (owner, other) = (hidden("graph"), hidden("other"));
    interface::setter(
        graph,
        param,
        quote! {
            __p::set_param(#graph_name, (#param, #text), #value, |#owner, #other| {
                ::core::mem::swap(&mut #owner.#name, #other)
            })
        },
    )
}

/// The value and the uses of each param that is a [whole argument](direct_uses) wherever it is mentioned.
fn direct_params(graph: &Graph<'_>, used: &[Vec<Scalar>]) -> Vec<TokenStream> {
    let direct = |param: usize| {
        let uses = direct_uses(graph, param, used)?;
        let uses = uses.iter().map(|(node, argument)| quote!((#node, #argument)));
        let name = &graph.params[param].name;
        Some(quote!(#param => __p::direct_param(&[#(#uses),*], &self.#name),))
    };
    (0..graph.params.len()).filter_map(direct).collect()
}

/// The arguments that are this param, by the indices of the node and of the argument, if it is mentioned nowhere else.
/// Then its value is changed without evaluating the expressions of its nodes.
fn direct_uses(graph: &Graph<'_>, param: usize, used: &[Vec<Scalar>]) -> Option<Vec<(usize, usize)>> {
    let Param { name, ty, .. } = graph.params[param];
    let is_variable = |variable: &str| graph.loops.iter().any(|for_loop| for_loop.variable() == variable);
    if !is_path(ty) || !graph.item.generics.params.is_empty() || is_variable(&name.to_string()) {
        return None;
    }
    let is_param = |argument: &Argument| matches!(argument, Argument::Value(value) if is_name(value, name));
    let mut uses = Vec::new();
    for (index, node) in graph.nodes.iter().enumerate() {
        if !used[index].contains(&Scalar::Param(param)) {
            continue;
        }
        let Action::Kernel(launch) = &node.action else {
            return None;
        };
        let arguments = launch.arguments.iter().enumerate();
        let own = arguments.filter(|(_, argument)| is_param(argument));
        let before = uses.len();
        uses.extend(own.map(|(argument, _)| (index, argument)));
        if uses.len() - before != count(expressions(node), name) {
            return None;
        }
    }
    (!uses.is_empty()).then_some(uses)
}

/// Whether a type is a path without generic arguments.
fn is_path(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    path.qself.is_none() && path.path.segments.iter().all(|segment| segment.arguments.is_none())
}

/// Whether an expression is this name.
fn is_name(expr: &Expr, name: &Ident) -> bool {
    matches!(expr, Expr::Path(path) if path.path.is_ident(name))
}

/// The number of times that tokens have this name.
fn count(tokens: TokenStream, name: &Ident) -> usize {
    let count = |token| match token {
        TokenTree::Ident(ident) => usize::from(ident == *name),
        TokenTree::Group(group) => count(group.stream(), name),
        TokenTree::Punct(_) | TokenTree::Literal(_) => 0,
    };
    tokens.into_iter().map(count).sum()
}

/// The trait by which the runtime edits a graph with params.
pub(super) fn param_graph(graph: &Graph<'_>) -> TokenStream {
    let used: Vec<Vec<Scalar>> = graph.nodes.iter().map(|node| scalars(graph, node)).collect();
    let changes = (0..graph.params.len()).map(|param| {
        let function = change_of(param);
        let is_mentioned = used.iter().any(|used| used.contains(&Scalar::Param(param)));
        is_mentioned.then(|| quote!(Self::#function(self, update)))
    });
    param_graph_of(graph, changes, &direct_params(graph, &used))
}

/// As [`param_graph`]. `changes` are the changes of nodes for each param; `None` if no node mentions it. `direct` are
/// the arms of the params that are changed without these.
pub(super) fn param_graph_of(
    graph: &Graph<'_>,
    changes: impl Iterator<Item = Option<TokenStream>>,
    direct: &[TokenStream],
) -> TokenStream {
    if graph.params.is_empty() {
        return TokenStream::new();
    }
    let changes = changes.enumerate().filter_map(|(param, change)| {
        let change = change?;
        Some(quote!(#param => #change,))
    });
    let direct = (!direct.is_empty()).then(|| {
        quote! {
            fn direct(&self, param: usize) -> ::core::option::Option<__p::DirectParam> {
                match param {
                    #(#direct)*
                    _ => ::core::option::Option::None,
                }
            }
        }
    });
    let (name, generics, cloned) = (&graph.item.name, generics(graph), cloned(graph));
    let (parameters, arguments, condition) = generics.split_for_impl();
    quote! {
        impl #parameters __p::ParamGraph for #name #arguments #condition #cloned {
            fn graph(&self, _: __p::Only<Self>) -> &__g::Graph { &self.__graph }
            fn graph_mut(&mut self, _: __p::Only<Self>) -> &mut __g::Graph { &mut self.__graph }
            fn change(&self, update: &mut __g::Update<'_>, param: usize) -> __g::Result<()> {
                match param {
                    #(#changes)*
                    _ => ::core::result::Result::Ok(()),
                }
            }
            #direct
        }
    }
}

/// The name of the function that changes the nodes that mention a param.
fn change_of(param: usize) -> Ident {
    format_ident!("__change_{param}")
}

pub(super) fn node_function(graph: &Graph<'_>, index: usize, node: &Node, used: &[Scalar]) -> TokenStream {
    let (function, target) = (function_of(index), hidden("target"));
    let operands = operands(graph, &operands_of(graph, index, used.to_vec()));
    let loaded = loaded(node).map(|_| {
        let name = loaded_name();
        quote!(#name: ::core::option::Option<__p::CudaFunction>,)
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

/// The function that changes the nodes that mention a param; `None` if no node does.
fn change(graph: &Graph<'_>, param: usize, used: &[Vec<Scalar>]) -> Option<TokenStream> {
    let (name, function) = (&graph.params[param].name, change_of(param));
    let param = Scalar::Param(param);
    let this = receiver(name);
    let affected: Vec<usize> = (0..graph.nodes.len())
        .filter(|&node| used[node].contains(&param))
        .collect();
    if affected.is_empty() {
        return None;
    }
    let update = hidden("update");
    let locals = resources_of(graph, &affected).map(|resource| {
        let (name, place) = (&resource.name, local(&resource.name));
        let field = handed(resource, quote!(#this.#name));
        quote!(let #place = #field;)
    });
    let others: BTreeSet<Scalar> = affected.iter().flat_map(|&node| used[node].iter().copied()).collect();
    let others = others.iter().map(|&other| {
        let name = graph.scalar(other).name;
        let value = copy(name, &Source::Field(this.clone()));
        quote!(let #name = #value;)
    });
    let calls = update_calls(graph, &affected, &update);
    Some(quote! {
        fn #function(&#this, #update: &mut __g::Update<'_>) -> __g::Result<()> {
            #(#locals)*
            #(#others)*
            #calls
            ::core::result::Result::Ok(())
        }
    })
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
            return quote!(#call __g::Update::check_reached(#update, #node)?;);
        }
        quote! {
            __g::Update::each(#update, #node, |#update, [#(#variables),*]| {
                #call
                __g::Update::check_reached(#update, #node)
            })?;
        }
    });
    calls.collect()
}
