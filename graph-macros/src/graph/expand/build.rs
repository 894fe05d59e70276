//! `build`, and the setters of params.
//!
//! A node that mentions a param becomes a function of its own, generic over what it applies to: `build` adds the node through
//! it, `set_x` updates the node through it, and the user's expression is compiled once. The build arguments that such a node mentions, too,
//! are kept in the graph.

use super::anonymous;
use super::argument::{self, kept, parameters};
use super::interface::{Source, copy, place_type, receiver, setter, value_name};
use super::node::{add, apply, generic_assertions, loaded, loaded_name, places};
use super::part::local;
use super::scratch;
use super::shape::Shape;
use crate::graph::ast::{Node, Resource, ResourceKind, Statement};
use crate::graph::resolve::{Graph, Scalar, Value, added_scalars, params, scalars};
use graph_plan::Space;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use std::ops::Range;

/// The documentation of every `build`.
const SUMMARY: &str = " Allocates the graph's memory, zeroed, builds it on the device and uploads it.";

/// `build` of a graph with mistakes.
pub(super) fn stub(graph: &Graph<'_>) -> TokenStream {
    let arguments = parameters(graph);
    quote! {
        #[doc = #SUMMARY]
        pub fn build(device: &::graph_runtime::Device #arguments) -> ::graph_runtime::Result<Self> {
            ::core::unreachable!("this graph has mistakes and did not compile")
        }
    }
}

/// `build` of a right graph.
pub(super) fn build(graph: &Graph<'_>) -> TokenStream {
    let name = graph.item.name.to_string();
    let builder = hidden("builder");
    let sink = quote!(&mut #builder);
    let resources = graph.resources.iter().map(|resource| declare(graph, resource, &sink));
    let (initial, nodes, edges) = (initial(graph), nodes(graph, &builder), edges(graph));
    let fields = graph.resources.iter().map(|resource| {
        let (field, place) = (&resource.name, local(&resource.name));
        quote!(#field: #place,)
    });
    let params = graph.params.iter().map(|param| &param.name);
    let kept = kept(graph).into_iter().map(|value| value.name);
    let arguments = parameters(graph);
    let arena = scratch::places(graph, &builder);
    let assertions = generic_assertions(graph);
    let device = hidden("device");
    quote! {
        #[doc = #SUMMARY]
        pub fn build(#device: &::graph_runtime::Device #arguments) -> ::graph_runtime::Result<Self> {
            #assertions
            let mut #builder = ::graph_runtime::GraphBuilder::new(#device, #name);
            #(#resources)*
            #arena
            #initial
            #nodes
            ::graph_runtime::GraphBuilder::edges(&mut #builder, &[#edges]);
            ::core::result::Result::Ok(Self {
                __graph: ::graph_runtime::GraphBuilder::build(#builder)?,
                #(#fields)*
                #(#params,)*
                #(#kept,)*
                __marker: ::core::marker::PhantomData,
            })
        }
    }
}

/// The params, as local variables with their initial values.
pub(super) fn initial(graph: &Graph<'_>) -> TokenStream {
    let initial = graph.params.iter().map(|param| {
        let (name, ty, value) = (&param.name, &param.ty, &param.initial);
        quote!(let #name: #ty = #value;)
    });
    initial.collect()
}

/// All nodes, added to the builder.
pub(super) fn nodes(graph: &Graph<'_>, builder: &Ident) -> TokenStream {
    let steps = steps(graph);
    let sink = quote!(&mut #builder);
    let groups: Vec<&[Step]> = steps.chunks(GROUP).collect();
    if groups.len() <= 1 || graph.is_expression() {
        return steps.iter().map(|step| step.tokens(graph, &sink)).collect();
    }
    let call = |(group, steps): (usize, &&[Step])| {
        let nodes = nodes_of(steps);
        let used = scalars_of(graph, nodes.clone());
        call(graph, &group_function(group), nodes, &used, &sink, None)
    };
    groups.iter().enumerate().map(call).collect()
}

/// All edges, as pairs of node indices.
pub(super) fn edges(graph: &Graph<'_>) -> TokenStream {
    let edges = graph.draft.edges.iter().map(|edge| {
        let (from, to) = (edge.from, edge.to);
        quote!((#from, #to),)
    });
    edges.collect()
}

/// The declaration of a resource, whose place becomes a local variable. `builder` is a `&mut GraphBuilder`.
pub(super) fn declare(graph: &Graph<'_>, resource: &Resource, builder: &TokenStream) -> TokenStream {
    if let ResourceKind::Shared { .. } = resource.kind {
        return argument::declare(graph, resource, builder);
    }
    let (place, name) = (local(&resource.name), resource.name.to_string());
    let function = |fixed: &str, dynamic: &str| {
        let function = if graph.is_dynamic(resource) { dynamic } else { fixed };
        Ident::new(function, resource.name.span())
    };
    let function = match (resource.kind, resource.space()) {
        (ResourceKind::Scratch, _) => function("scratch", "scratch_slice"),
        (_, Space::Host) => function("host", "host_slice"),
        (_, Space::Device) => function("device", "device_slice"),
    };
    match Shape::of(graph, resource) {
        Shape::Inferred => TokenStream::new(), // what is captured is not declared
        Shape::Fixed(shape) => {
            quote!(let #place = ::graph_runtime::GraphBuilder::#function::<#shape>(#builder, #name);)
        }
        Shape::Dynamic { row, length } => {
            quote!(let #place = ::graph_runtime::GraphBuilder::#function::<#row>(#builder, #name, #length);)
        }
    }
}

/// The most steps one function has: rustc's type inference takes more than linear time in the length of a function.
const GROUP: usize = 128;

/// One call of `build` on its builder.
#[derive(Clone, Copy)]
enum Step {
    /// Adds the node.
    Node(usize),
    /// Begins the next body of the newest conditional.
    Begin,
    /// Ends the body that was begun last.
    End,
}

impl Step {
    /// `builder` is a `&mut GraphBuilder`.
    fn tokens(self, graph: &Graph<'_>, builder: &TokenStream) -> TokenStream {
        match self {
            Step::Node(index) => add_or_apply(graph, index, builder),
            Step::Begin => quote!(::graph_runtime::GraphBuilder::begin_body(#builder);),
            Step::End => quote!(::graph_runtime::GraphBuilder::end_body(#builder);),
        }
    }
}

/// All steps of `build`, with the nodes in order of their indices.
fn steps(graph: &Graph<'_>) -> Vec<Step> {
    let mut found = Vec::new();
    steps_of(&graph.item.statements, &mut 0, &mut found);
    found
}

/// The steps of a body whose first node has the index `next`.
fn steps_of(statements: &[Statement], next: &mut usize, found: &mut Vec<Step>) {
    for statement in statements {
        let Statement::Node(node) = statement else { continue };
        found.push(Step::Node(*next));
        *next += 1;
        for (_, body) in node.action.bodies() {
            found.push(Step::Begin);
            steps_of(&body.statements, next, found);
            found.push(Step::End);
        }
    }
}

/// The nodes that steps add: their indices follow each other.
fn nodes_of(steps: &[Step]) -> Range<usize> {
    let node = |step: &Step| match step {
        Step::Node(index) => Some(*index),
        Step::Begin | Step::End => None,
    };
    let first = steps.iter().find_map(node).unwrap_or(0);
    first..first + steps.iter().filter_map(node).count()
}

/// Adds a node: directly, or through its function if it mentions params. `builder` is a `&mut GraphBuilder`.
fn add_or_apply(graph: &Graph<'_>, index: usize, builder: &TokenStream) -> TokenStream {
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
        index..index + 1,
        &scalars(graph, node),
        builder,
        loaded,
    )
}

/// The call of a function that has the places of `nodes` and the scalars `used` as [`operands`]; that of a node with a function value has
/// this behind them.
fn call(
    graph: &Graph<'_>,
    function: &Ident,
    nodes: Range<usize>,
    used: &[Scalar],
    sink: &TokenStream,
    loaded: Option<TokenStream>,
) -> TokenStream {
    let places = resources_of(graph, nodes).map(|resource| local(&resource.name));
    let values = used
        .iter()
        .map(|&scalar| copy(graph.scalar(scalar).name, &Source::Variable));
    quote!(Self::#function(#sink, #(#places,)* #(#values,)* #loaded)?;)
}

/// The scalars that the nodes mention, each once.
fn scalars_of(graph: &Graph<'_>, nodes: Range<usize>) -> Vec<Scalar> {
    let mut used: Vec<Scalar> = nodes
        .flat_map(|index| added_scalars(graph, graph.nodes[index]))
        .collect();
    used.sort_unstable();
    used.dedup();
    used
}

/// The name of a group's function.
fn group_function(group: usize) -> Ident {
    format_ident!("__nodes_{group}")
}

/// The functions of all groups, if there are several.
pub(super) fn group_functions(graph: &Graph<'_>) -> TokenStream {
    let steps = steps(graph);
    let groups: Vec<&[Step]> = steps.chunks(GROUP).collect();
    if groups.len() <= 1 {
        return TokenStream::new();
    }
    let builder = hidden("builder");
    let define = |(group, steps): (usize, &&[Step])| {
        let (function, nodes) = (group_function(group), nodes_of(steps));
        let operands = operands(graph, nodes.clone(), &scalars_of(graph, nodes));
        let steps = steps.iter().map(|step| step.tokens(graph, &quote!(#builder)));
        quote! {
            fn #function(#builder: &mut ::graph_runtime::GraphBuilder, #operands) -> ::graph_runtime::Result<()> {
                #(#steps)*
                ::core::result::Result::Ok(())
            }
        }
    };
    groups.iter().enumerate().map(define).collect()
}

/// The places of the nodes and the scalars, as parameters of a function.
fn operands(graph: &Graph<'_>, nodes: Range<usize>, used: &[Scalar]) -> TokenStream {
    let places = resources_of(graph, nodes).map(|resource| {
        let (place, ty) = (local(&resource.name), place_type(graph, resource));
        quote!(#place: #ty,)
    });
    let values = used.iter().map(|&scalar| {
        let Value { name, ty } = graph.scalar(scalar);
        quote!(#name: #ty,)
    });
    quote!(#(#places)* #(#values)*)
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
    let operands = operands(graph, index..index + 1, used);
    let loaded = loaded(node).map(|_| {
        let name = loaded_name();
        quote!(#name: ::core::option::Option<::graph_runtime::cudarc::driver::CudaFunction>,)
    });
    let apply = apply(graph, index, node, &sink);
    quote! {
        fn #function(
            #sink: &mut impl ::graph_runtime::private::NodeSink,
            #operands
            #loaded
        ) -> ::graph_runtime::Result<()> {
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
    let mut locals: Vec<&Ident> = affected
        .iter()
        .flat_map(|&node| resources_of(graph, node..node + 1))
        .map(|resource| &resource.name)
        .collect();
    locals.sort_unstable();
    locals.dedup();
    let locals = locals.into_iter().map(|name| {
        let place = local(name);
        quote!(let #place = #this.#name;)
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
    let calls = affected.iter().map(|&node| {
        let unchanged = loaded(graph.nodes[node]).map(|_| quote!(::core::option::Option::None));
        call(
            graph,
            &function(node),
            node..node + 1,
            &used[node],
            &quote!(#update),
            unchanged,
        )
    });
    quote! {
        #(#locals)*
        #(#others)*
        ::graph_runtime::Graph::update(&mut #this.__graph, #text, |#update| {
            #(#calls)*
            ::core::result::Result::Ok(())
        })?;
        #this.#name = #value;
        ::core::result::Result::Ok(())
    }
}

/// The resources the nodes touch, each once, as they were declared.
fn resources_of<'a>(graph: &Graph<'a>, nodes: Range<usize>) -> impl Iterator<Item = &'a Resource> + use<'a> {
    let touched = nodes.flat_map(|node| places(graph.nodes[node]));
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
