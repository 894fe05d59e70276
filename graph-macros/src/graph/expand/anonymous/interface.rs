//! The type of an anonymous graph: what it is generic over, and the methods that graphs as items have not.

use super::changes;
use crate::graph::ast::{Resource, ResourceKind};
use crate::graph::editor;
use crate::graph::expand::build::hidden;
use crate::graph::expand::interface::{self, Bodies, Lent, Source, copy, implementation, receiver, setter, value_name};
use crate::graph::resolve::{Entity, Graph, params};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::{GenericParam, Generics, parse_quote};

/// The module that the type stands in.
pub(super) fn module() -> Ident {
    Ident::new("__cuda_graph", Span::mixed_site())
}

/// The module with the type and all its methods.
pub(super) fn definitions(graph: &Graph<'_>, bodies: Bodies) -> TokenStream {
    let (types, interface) = (interface::types(graph), interface::methods(graph, bodies));
    let (paths, params) = (editor::paths(), implementation(graph, interface::params(graph, bodies)));
    let parts = parts(graph, bodies);
    let plan = bodies.of(quote!(__g::Graph::plan(&self.__graph)));
    let setters = (0..graph.params.len()).filter(|_| bodies == Bodies::Real);
    let setters = setters.map(|param| setter(graph, param, set(graph, param)));
    let new = new(graph);
    let methods = implementation(
        graph,
        quote! {
            #new
            #(#setters)*

            /// The graph as data: nodes, what they touch, the edges that are lowered, levels.
            pub fn plan(&self) -> __g::Plan { #plan }
        },
    );
    let module = module();
    quote! {
        #[allow(dead_code, non_snake_case, unreachable_pub, unused_variables, clippy::all, clippy::pedantic)]
        mod #module {
            #paths
            #types
            #interface
            #params
            #methods
            #parts
        }
    }
}

/// What the type is generic over.
pub(in crate::graph::expand) fn generics(graph: &Graph<'_>) -> Generics {
    let mut generics = Generics::default();
    for resource in &graph.resources {
        let name = resource_type(graph, resource);
        let bound = match resource.kind {
            ResourceKind::Moved(_) => quote!(__p::CapturedSlot),
            ResourceKind::Host => quote!(__p::HostSlot),
            ResourceKind::Rng => quote!(::core::borrow::Borrow<__g::Rng>),
            _ => quote!(__p::Slot),
        };
        generics.params.push(parse_quote!(#name: #bound));
    }
    for param in 0..graph.params.len() {
        let name = param_type(param);
        generics.params.push(parse_quote!(#name));
    }
    if changes(graph) {
        generics.params.push(nodes_parameter(graph));
    }
    generics
}

/// The closure of the nodes that mention params.
fn nodes_parameter(graph: &Graph<'_>) -> GenericParam {
    let types = (0..graph.params.len()).map(param_type);
    parse_quote!(F: __p::Nodes<(#(#types,)*)>)
}

/// The type parameter that stands for a resource: a place, or what was captured.
fn resource_type(graph: &Graph<'_>, resource: &Resource) -> Ident {
    match graph.entity(&resource.name) {
        Some(Entity::Resource(index)) => format_ident!("R{index}"),
        _ => format_ident!("R"),
    }
}

/// The type parameter that stands for a param.
pub(in crate::graph::expand) fn param_type(param: usize) -> Ident {
    format_ident!("P{param}")
}

/// What the accessors of params demand. Where a type is not `Clone`, the block has said so already: only they are
/// missing.
pub(in crate::graph::expand) fn cloned(graph: &Graph<'_>) -> Option<TokenStream> {
    let params = (0..graph.params.len()).map(param_type);
    graph
        .is_expression()
        .then(|| quote!(where #(#params: ::core::clone::Clone),*))
}

/// The type of the field that leads to a resource.
pub(in crate::graph::expand) fn place_type(graph: &Graph<'_>, resource: &Resource) -> TokenStream {
    let name = resource_type(graph, resource);
    quote!(#name)
}

/// What the accessors of a resource lend.
pub(in crate::graph::expand) fn lent(graph: &Graph<'_>, resource: &Resource) -> Lent {
    let (field, ty) = (&resource.name, resource_type(graph, resource));
    let slot = quote!(__p::Slot);
    Lent {
        shared: quote!(<#ty as #slot>::Ref<'_>),
        exclusive: quote!(<#ty as #slot>::Mut<'_>),
        get: quote!(#slot::lend(&self.#field, &self.__graph)),
        get_mut: quote!(#slot::lend_mut(&mut self.#field, &mut self.__graph)),
    }
}

/// The shape of host memory.
pub(in crate::graph::expand) fn memory_type(graph: &Graph<'_>, resource: &Resource) -> TokenStream {
    let ty = resource_type(graph, resource);
    quote!(<#ty as __p::HostSlot>::Shape)
}

/// The field of the closure.
pub(in crate::graph::expand) fn nodes_field(graph: &Graph<'_>) -> Option<TokenStream> {
    (graph.is_expression() && changes(graph)).then(|| quote!(__nodes: F,))
}

/// The constructor, since fields are private.
fn new(graph: &Graph<'_>) -> TokenStream {
    let places = graph.resources.iter().map(|resource| {
        let (name, ty) = (&resource.name, place_type(graph, resource));
        quote!(#name: #ty)
    });
    let params = graph.params.iter().enumerate().map(|(index, param)| {
        let (name, ty) = (&param.name, param_type(index));
        quote!(#name: #ty)
    });
    let fields = graph.resources.iter().map(|resource| &resource.name);
    let fields = fields.chain(graph.params.iter().map(|param| &param.name));
    let nodes = nodes_field(graph);
    let nodes_value = nodes.is_some().then(|| quote!(__nodes,));
    quote! {
        #[doc(hidden)]
        pub fn __new(__graph: __g::Graph, #(#places,)* #(#params,)* #nodes) -> Self {
            Self {
                __graph,
                #(#fields,)*
                #nodes_value
                __marker: ::core::marker::PhantomData,
            }
        }
    }
}

/// The body of `set_x`.
fn set(graph: &Graph<'_>, param: usize) -> TokenStream {
    let name = &graph.params[param].name;
    let (this, value, text) = (receiver(name), value_name(name), name.to_string());
    let values = graph.params.iter().enumerate().map(|(index, other)| {
        let source = if index == param {
            Source::Argument(value.clone())
        } else {
            Source::Field(this.clone())
        };
        copy(&other.name, &source)
    });
    let (update, values_name, nodes) = (hidden("update"), hidden("values"), hidden("nodes"));
    let affected = (0..graph.nodes.len()).filter(|&node| params(graph, graph.nodes[node]).contains(&param));
    let affected: Vec<usize> = affected.collect();
    let changes = affected.iter().map(|&node| {
        let change = quote! {
            #nodes(
                &mut __p::AnySink::Update(#update),
                #node,
                ::core::option::Option::None,
                ::core::clone::Clone::clone(&#values_name),
            )
        };
        match graph.loops_around(node).len() {
            0 => quote!(#change?;),
            depth => quote!(__p::each(#update, #node, |#update, _: [_; #depth]| #change)?;),
        }
    });
    let update = (!affected.is_empty()).then(|| {
        quote! {
            let #values_name = (#(#values,)*);
            let #nodes = &mut #this.__nodes;
            __g::Graph::update(&mut #this.__graph, #text, |#update| {
                #(#changes)*
                ::core::result::Result::Ok(())
            })?;
        }
    });
    quote! {
        #update
        #this.#name = #value;
        ::core::result::Result::Ok(())
    }
}

/// `into_parts`, and the struct of what was captured.
fn parts(graph: &Graph<'_>, bodies: Bodies) -> TokenStream {
    let slot = quote!(__p::CapturedSlot);
    let captured: Vec<&Resource> = graph
        .resources
        .iter()
        .copied()
        .filter(|resource| resource.is_moved())
        .collect();
    let fields: Vec<&Ident> = captured.iter().map(|resource| &resource.name).collect();
    let types: Vec<Ident> = captured.iter().map(|resource| resource_type(graph, resource)).collect();
    let name = format_ident!("{}Parts", graph.item.name);
    let body = bodies.of(quote! {
        __g::Graph::synchronize(&self.__graph)?;
        ::core::mem::drop(self.__graph);
        ::core::result::Result::Ok(#name {
            #(#fields: #slot::give_back(self.#fields)?,)*
        })
    });
    let method = implementation(
        graph,
        quote! {
            /// Waits for launches in flight, and gives back what the graph has captured.
            pub fn into_parts(self) -> __g::Result<#name<#(<#types as #slot>::Handle),*>> { #body }
        },
    );
    quote! {
        /// What a graph has captured, given back.
        #[derive(Debug)]
        pub struct #name<#(#types),*> {
            #(pub #fields: #types,)*
        }
        #method
    }
}
