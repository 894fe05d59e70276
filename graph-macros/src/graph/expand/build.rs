//! `build`, and the setters of params.
//!
//! A node that mentions a param becomes a function of its own, generic over what it applies to: `build` adds the node
//! through it, `set_x` updates the node through it, and the user's expression is compiled once. The build arguments
//! that such a node mentions, too, are kept in the graph.

use super::anonymous;
use super::argument::{self, parameters};
use super::child;
use super::interface::{Source, copy, place_type, receiver, setter, value_name};
use super::node::{add, apply, loaded, loaded_name, places};
use super::part::local;
use super::rng;
use super::scratch;
use super::shape::Shape;
use super::step::Steps;
use crate::graph::ast::{BuildArgument, Node, Resource, ResourceKind};
use crate::graph::resolve::{Graph, Scalar, Value, added_scalars, params, scalars};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};

/// The documentation of every `build`.
const SUMMARY: &str = " Allocates the graph's memory, zeroed, builds it on the device and uploads it.";

/// `build` of a graph with mistakes.
pub(super) fn stub(graph: &Graph<'_>) -> TokenStream {
    let (arguments, device) = (parameters(graph), hidden("device"));
    quote! {
        #[doc = #SUMMARY]
        pub fn build(#device: &__g::Device #arguments) -> __g::Result<Self> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
    }
}

/// `build` of a right graph: the function that declares its nodes, over a builder of its own and with the build arguments bound.
pub(super) fn build(graph: &Graph<'_>, asserted: &TokenStream) -> TokenStream {
    let (name, arguments) = (graph.item.name.to_string(), parameters(graph));
    let (device, builder, bound) = (hidden("device"), hidden("builder"), hidden("bound"));
    // Here too, so that a failure names the user's call of `build`.
    let assert = child::assert(graph, asserted);
    let (arena, values) = (
        scratch::places(graph, &builder),
        argument::bound(graph, &builder, &bound),
    );
    let bound_mutably = (!values.is_empty()).then(|| quote!(mut));
    let builder_mutably = (!arena.is_empty() || has_memory(graph)).then(|| quote!(mut));
    quote! {
        #[doc = #SUMMARY]
        pub fn build(#device: &__g::Device #arguments) -> __g::Result<Self> {
            #assert
            let #builder_mutably #builder = __g::GraphBuilder::new(#device, #name);
            #arena
            let #bound_mutably #bound = Self::__unbound();
            #values
            Self::__declare(#builder, #bound)
        }
    }
}

/// Whether the graph takes memory when it is built.
fn has_memory(graph: &Graph<'_>) -> bool {
    let mut arguments = graph.item.arguments.iter();
    arguments.any(|argument| matches!(argument, BuildArgument::Memory(_)))
}

/// The params, as local variables with their initial values.
pub(super) fn initial(graph: &Graph<'_>) -> TokenStream {
    let initial = graph.params_in_order().into_iter().map(|param| {
        let param = graph.params[param];
        let (name, ty, value) = (&param.name, &param.ty, &param.initial);
        quote!(let #name: #ty = #value;)
    });
    initial.collect()
}

/// All nodes, added to the builder, which is a `&mut GraphBuilder`.
pub(super) fn nodes(graph: &Graph<'_>, builder: &TokenStream) -> TokenStream {
    Steps::of(graph).tokens(builder)
}

/// The declaration of a resource, whose place becomes a local variable. `builder` is a `&mut GraphBuilder`; `bound` is
/// the struct of what is bound, if the resource can be among it.
pub(super) fn declare(
    graph: &Graph<'_>,
    resource: &Resource,
    builder: &TokenStream,
    bound: Option<&Ident>,
) -> TokenStream {
    let (field, place, name) = (&resource.name, local(&resource.name), resource.name.to_string());
    let bound = match bound {
        Some(bound) => quote!(#bound.#field),
        None => quote!(::core::option::Option::None),
    };
    let length = match Shape::of(graph, resource) {
        Shape::Dynamic { length, .. } => Some(length),
        Shape::Fixed(_) | Shape::Inferred => None,
    };
    let function = |fixed: &str, dynamic: &str| {
        let function = if length.is_some() { dynamic } else { fixed };
        Ident::new(function, resource.name.span())
    };
    let (shape, length) = (
        Shape::of(graph, resource).element(),
        length.map(|length| quote!(, #length)),
    );
    let function = match resource.kind {
        ResourceKind::Moved(_) => return TokenStream::new(), // what is moved is not declared
        ResourceKind::Rng => {
            let rng = rng::declare(resource, builder);
            return quote!(let #place = #rng;);
        }
        ResourceKind::Shared { .. } => {
            let required = length.map(|length| quote!(__g::GraphBuilder::require_len(#builder, &#place #length);));
            return quote! {
                let #place = __p::bound(#bound, #builder, #name)?;
                #required
            };
        }
        ResourceKind::Scratch => {
            let function = function("scratch", "scratch_slice");
            return quote!(let #place = __g::GraphBuilder::#function::<#shape>(#builder, #name #length););
        }
        ResourceKind::Host => function("host", "host_slice"),
        ResourceKind::Device => function("device", "device_slice"),
    };
    quote!(let #place = __p::#function::<#shape>(#builder, #name, #bound #length);)
}

/// Adds a node: directly, or through its function if it mentions params. `builder` is a `&mut GraphBuilder`.
pub(super) fn add_or_apply(graph: &Graph<'_>, index: usize, builder: &TokenStream) -> TokenStream {
    let node = graph.nodes[index];
    if params(graph, node).is_empty() {
        return add(graph, node, builder);
    }
    if graph.is_expression() {
        return anonymous::add(graph, index, builder);
    }
    let loaded = loaded(node).map(|function| quote!(::core::option::Option::Some(#function)));
    call(
        graph,
        &function(index),
        &operands_of(graph, index, scalars(graph, node)),
        builder,
        loaded,
    )
}

/// What the function of some nodes needs to know.
pub(super) struct Operands {
    /// The nodes whose places it has.
    pub(super) nodes: Vec<usize>,
    pub(super) scalars: Vec<Scalar>,
    /// The innermost `for` around it: it has the variables of that and of those around it.
    pub(super) around: Option<usize>,
}

/// Those of a node's function.
pub(super) fn operands_of(graph: &Graph<'_>, node: usize, scalars: Vec<Scalar>) -> Operands {
    Operands {
        nodes: vec![node],
        scalars,
        around: graph.draft.loop_around(node),
    }
}

/// The call of a function with these [`operands`]; that of a node with a function value has this behind them.
pub(super) fn call(
    graph: &Graph<'_>,
    function: &Ident,
    operands: &Operands,
    sink: &TokenStream,
    loaded: Option<TokenStream>,
) -> TokenStream {
    let places =
        resources_of(graph, &operands.nodes).map(|resource| handed(resource, local(&resource.name).to_token_stream()));
    let variables = graph.variables_up_to(operands.around);
    let values = operands
        .scalars
        .iter()
        .map(|&scalar| copy(graph.scalar(scalar).name, &Source::Variable));
    quote!(Self::#function(#sink, #(#places,)* #(#values,)* #(#variables,)* #loaded)?;)
}

/// A resource's place, to be handed on: `Copy`, other than random numbers.
fn handed(resource: &Resource, place: TokenStream) -> TokenStream {
    match resource.random {
        Some(_) => quote!(::core::clone::Clone::clone(&#place)),
        None => place,
    }
}

/// The scalars that the nodes mention, each once.
pub(super) fn scalars_of(graph: &Graph<'_>, nodes: &[usize]) -> Vec<Scalar> {
    let mut used: Vec<Scalar> = nodes
        .iter()
        .flat_map(|&index| added_scalars(graph, graph.nodes[index]))
        .collect();
    used.sort_unstable();
    used.dedup();
    used
}

/// The places of the nodes, the scalars and the variables, as parameters of a function.
pub(super) fn operands(graph: &Graph<'_>, operands: &Operands) -> TokenStream {
    let places = resources_of(graph, &operands.nodes).map(|resource| {
        let (place, ty) = (local(&resource.name), place_type(graph, resource));
        quote!(#place: #ty,)
    });
    let values = operands.scalars.iter().map(|&scalar| {
        let Value { name, ty } = graph.scalar(scalar);
        quote!(#name: #ty,)
    });
    let variables = graph.variables_up_to(operands.around);
    quote!(#(#places)* #(#values)* #(#variables: ::core::primitive::usize,)*)
}

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

fn node_function(graph: &Graph<'_>, index: usize, node: &Node, used: &[Scalar]) -> TokenStream {
    let (function, sink) = (function(index), hidden("sink"));
    let operands = operands(graph, &operands_of(graph, index, used.to_vec()));
    let loaded = loaded(node).map(|_| {
        let name = loaded_name();
        quote!(#name: ::core::option::Option<__g::cudarc::driver::CudaFunction>,)
    });
    let apply = apply(graph, index, node, &sink);
    quote! {
        fn #function(
            #sink: &mut impl __p::NodeSink,
            #operands
            #loaded
        ) -> __g::Result<()> {
            #apply
        }
    }
}

/// The body of `set_x`.
fn set(graph: &Graph<'_>, param: usize, used: &[Vec<Scalar>]) -> TokenStream {
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

/// The calls of the functions of nodes that mention params, of all iterations, by an update. What they need is in local
/// variables.
pub(super) fn update_calls(graph: &Graph<'_>, nodes: &[usize], update: &Ident) -> TokenStream {
    let calls = nodes.iter().map(|&node| {
        let unchanged = loaded(graph.nodes[node]).map(|_| quote!(::core::option::Option::None));
        let operands = operands_of(graph, node, scalars(graph, graph.nodes[node]));
        let call = call(graph, &function(node), &operands, &quote!(#update), unchanged);
        let variables = graph.variables_up_to(operands.around);
        if variables.is_empty() {
            return call;
        }
        quote! {
            __p::each(#update, #node, |#update, [#(#variables),*]| {
                #call
                ::core::result::Result::Ok(())
            })?;
        }
    });
    calls.collect()
}

/// The resources the nodes touch, each once, as they were declared.
pub(super) fn resources_of<'a>(graph: &Graph<'a>, nodes: &[usize]) -> impl Iterator<Item = &'a Resource> + use<'a> {
    let touched = nodes.iter().flat_map(|&node| places(graph.nodes[node]));
    let mut indices: Vec<usize> = touched.filter_map(|place| graph.resource(place)).collect();
    indices.sort_unstable();
    indices.dedup();
    indices
        .into_iter()
        .map(|index| graph.resources[index])
        .collect::<Vec<_>>()
        .into_iter()
}

/// The name of a node's function.
fn function(index: usize) -> Ident {
    format_ident!("__node_{index}")
}

/// A name that the user's expressions cannot see.
pub(super) fn hidden(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}
