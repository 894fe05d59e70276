//! Graphs as nodes of others: what a graph offers to those that it is a node of, and the calls of these.

use super::build::{declare, nodes};
use super::interface::{Bodies, place_type};
use super::node::borrow;
use super::part::{generic, local, spanned_call};
use super::programmatic::edges_of_child;
use super::shape::Shape;
use super::{build::hidden, node::generic_assertions};
use crate::graph::ast::{Action, Argument, Binding, Child, Node, Resource, ResourceKind};
use crate::graph::resolve::Graph;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Type;
use syn::ext::IdentExt;

/// Something that can be bound, with its type.
struct Slot<'a> {
    name: &'a Ident,
    ty: TokenStream,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Memory(usize, &'a Resource),
    Value,
    Param,
}

/// Does a child have the resource for itself?
fn is_own(resource: &Resource) -> bool {
    matches!(resource.kind, ResourceKind::Scratch | ResourceKind::Rng)
}

fn slots<'a>(graph: &Graph<'a>) -> Vec<Slot<'a>> {
    let memory = graph.resources.iter().enumerate();
    let memory = memory.filter(|(_, resource)| !is_own(resource));
    let memory = memory.map(|(index, &resource)| Slot {
        name: &resource.name,
        ty: place_type(graph, resource),
        kind: Kind::Memory(index, resource),
    });
    let slot = |name: &'a Ident, ty: &'a Type, kind| Slot {
        name,
        ty: ty.to_token_stream(),
        kind,
    };
    let values = graph.values.iter().map(|value| slot(value.name, value.ty, Kind::Value));
    let params = graph
        .params
        .iter()
        .map(|param| slot(&param.name, &param.ty, Kind::Param));
    memory.chain(values).chain(params).collect()
}

/// The functions that a graph offers.
pub(super) fn offered(graph: &Graph<'_>, bodies: Bodies) -> TokenStream {
    let slots = slots(graph);
    let types = slots.iter().rev().fold(
        quote!(()),
        |inner, Slot { ty, .. }| quote!((::core::option::Option<#ty>, #inner)),
    );
    let none = slots
        .iter()
        .fold(quote!(()), |inner, _| quote!((::core::option::Option::None, #inner)));
    let (interface, none) = (interface(graph, &slots), bodies.of(none));
    let setters = slots
        .iter()
        .enumerate()
        .map(|(index, slot)| setter(index, slot, &types, bodies));
    let (builder, bound) = (hidden("builder"), hidden("bound"));
    let added = bodies.of(added(graph, &slots, &builder, &bound));
    quote! {
        #interface
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __slots() -> #types { #none }
        #(#setters)*
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn __add(
            #builder: &mut ::graph_runtime::GraphBuilder,
            #bound: #types,
        ) -> ::graph_runtime::Result<()> {
            #added
        }
    }
}

/// The names that can be bound.
fn interface(graph: &Graph<'_>, slots: &[Slot<'_>]) -> TokenStream {
    let writes = |resource: usize| {
        let mut accesses = graph.draft.accesses.iter();
        accesses.any(|access| access.resource == resource && access.mode.writes())
    };
    let (mut memory, mut values) = (Vec::new(), Vec::new());
    for slot in slots {
        let name = slot.name.unraw().to_string();
        match slot.kind {
            Kind::Memory(index, _) => {
                let written = writes(index);
                memory.push(quote!((#name, #written)));
            }
            Kind::Value => values.push(quote!((#name, true))),
            Kind::Param => values.push(quote!((#name, false))),
        }
    }
    let name = graph.item.name.to_string();
    quote! {
        #[doc(hidden)]
        pub const __INTERFACE: ::graph_runtime::private::Interface = ::graph_runtime::private::Interface {
            graph: #name,
            memory: &[#(#memory),*],
            values: &[#(#values),*],
        };
    }
}

/// The function that fills a slot.
fn setter(index: usize, slot: &Slot<'_>, types: &TokenStream, bodies: Bodies) -> TokenStream {
    let (bound, given, place, ty) = (hidden("bound"), hidden("given"), of_index(index), &slot.ty);
    let memory = matches!(slot.kind, Kind::Memory(..));
    let function = function(slot.name, memory);
    let (ty, value) = match memory {
        true => (quote!(&#ty), quote!(::core::clone::Clone::clone(#given))),
        false => (ty.clone(), given.to_token_stream()),
    };
    let set = bodies.of(quote!(#bound #place = ::core::option::Option::Some(#value);));
    quote! {
        #[doc(hidden)]
        #[allow(clippy::type_complexity)]
        pub fn #function(#bound: &mut #types, #given: #ty) { #set }
    }
}

/// `.1.1.0`
fn of_index(index: usize) -> TokenStream {
    let deeper = std::iter::repeat_n(quote!(.1), index);
    deeper.chain([quote!(.0)]).collect()
}

/// The name of the function that fills a slot.
fn function(name: &Ident, memory: bool) -> Ident {
    let kind = if memory { "place" } else { "value" };
    format_ident!("__{kind}_{}", name.unraw(), span = name.span())
}

/// Adds the nodes to another graph's builder.
fn added(graph: &Graph<'_>, slots: &[Slot<'_>], builder: &Ident, bound: &Ident) -> TokenStream {
    let taken = slots.iter().enumerate().map(|(index, slot)| {
        let (place, text, ty, name) = (of_index(index), slot.name.to_string(), &slot.ty, slot.name);
        let given = quote!(::graph_runtime::private::bound(#bound #place, #builder, #text)?);
        match slot.kind {
            Kind::Memory(_, resource) => {
                let place = local(&resource.name);
                quote!(let #place: #ty = #given;)
            }
            Kind::Value => quote!(let #name: #ty = #given;),
            Kind::Param => TokenStream::new(),
        }
    });
    let lengths = slots.iter().filter_map(|slot| length(graph, slot, builder));
    let first_param = slots.len() - graph.params.len();
    let params = graph.params_in_order().into_iter().map(|param| {
        let (place, name) = (of_index(first_param + param), &graph.params[param].name);
        let (ty, initial) = (&graph.params[param].ty, &graph.params[param].initial);
        quote! {
            let #name: #ty = #initial;
            let #name: #ty = ::core::option::Option::unwrap_or(#bound #place, #name);
        }
    });
    let scratch = graph.resources.iter().filter(|resource| is_own(resource));
    let scratch = scratch.map(|resource| declare(graph, resource, &builder.to_token_stream()));
    let (nodes, edges) = (nodes(graph, &builder.to_token_stream()), edges_of_child(graph, builder));
    let assertions = generic_assertions(graph);
    quote! {
        #assertions
        #(#taken)*
        #(#lengths)*
        #(#scratch)*
        #(#params)*
        #nodes
        #edges
        ::core::result::Result::Ok(())
    }
}

/// The check that memory has the length that the child declares. As in `build`, where the child is a graph of its own, the length is an
/// argument of what declares memory: so rustc says only once what is wrong with it.
fn length(graph: &Graph<'_>, slot: &Slot<'_>, builder: &Ident) -> Option<TokenStream> {
    let Kind::Memory(_, resource) = slot.kind else {
        return None;
    };
    let Shape::Dynamic { length, .. } = Shape::of(graph, resource) else {
        return None;
    };
    let place = local(&resource.name);
    if let ResourceKind::Shared { .. } = resource.kind {
        return Some(quote!(::graph_runtime::GraphBuilder::require_len(#builder, &#place, #length);));
    }
    let (blank, like) = (hidden("blank"), hidden("like"));
    let declared = declare(graph, resource, &quote!(&mut #blank));
    Some(quote! {
        let #like = {
            let mut #blank = ::graph_runtime::GraphBuilder::blank(#builder);
            #declared
            #place
        };
        ::graph_runtime::GraphBuilder::require_like(#builder, &#place, &#like);
    })
}

/// The child's type: by its alias, so that a wrong path is one error, unless it mentions generics of the graph around.
fn path(graph: &Graph<'_>, node: &Node, child: &Child) -> TokenStream {
    let path = child.path.to_token_stream();
    match generic(graph, path.clone()) {
        true => quote!(<#path>),
        false => alias(node).to_token_stream(),
    }
}

fn alias(node: &Node) -> Ident {
    Ident::new(&format!("__child_{}", node.name.unraw()), node.name.span())
}

/// The declaration of the alias.
pub(super) fn declared_alias(graph: &Graph<'_>, node: &Node, child: &Child) -> Option<TokenStream> {
    let (alias, path) = (alias(node), &child.path);
    let own = !generic(graph, path.to_token_stream());
    own.then(|| quote!(#[allow(non_camel_case_types, dead_code)] type #alias = #path;))
}

/// Adds a child. A name that it does not have is told by [`assertions`] alone: here a trait stands in for its function.
pub(super) fn add(graph: &Graph<'_>, node: &Node, child: &Child, builder: &TokenStream) -> TokenStream {
    let (name, path, slots) = (node.name.to_string(), path(graph, node, child), hidden("slots"));
    let functions: Vec<Ident> = child
        .bindings
        .iter()
        .map(|Binding { name, argument }| function(name, matches!(argument, Argument::Borrow { .. })))
        .collect();
    let calls = child
        .bindings
        .iter()
        .zip(&functions)
        .map(|(binding, function)| match &binding.argument {
            Argument::Borrow { place, .. } => {
                let place = borrow(graph, place, false);
                quote_spanned!(binding.name.span()=> #path::#function(&mut #slots, #place);)
            }
            Argument::Value(value) => quote_spanned!(binding.name.span()=> #path::#function(&mut #slots, #value);),
        });
    let mut missing: Vec<&Ident> = functions.iter().collect();
    missing.sort_unstable();
    missing.dedup();
    quote! {
        {
            #[allow(dead_code)]
            trait __Missing { #(fn #missing<S, T>(_: S, _: T) where Self: ::core::marker::Sized {})* }
            impl<T> __Missing for T {}
            #[allow(unused_mut)]
            let mut #slots = #path::__slots();
            #(#calls)*
            if ::graph_runtime::GraphBuilder::begin_child(#builder, #name) {
                let added = #path::__add(#builder, #slots);
                ::graph_runtime::GraphBuilder::end_child(#builder, added);
            }
        }
    }
}

/// What is asserted of a node's bindings, where each is.
pub(super) fn assertions(graph: &Graph<'_>, node: &Node) -> Vec<(Span, TokenStream)> {
    let Action::Graph(child) = &node.action else {
        return Vec::new();
    };
    let (path, name) = (path(graph, node, child), node.name.to_string());
    let bindings = child.bindings.iter().map(|binding| {
        let (bound, end) = match &binding.argument {
            Argument::Borrow {
                mutable: None, place, ..
            } => ("Read", place.end),
            Argument::Borrow { place, .. } => ("Write", place.end),
            Argument::Value(_) => ("Value", binding.name.span()),
        };
        let (bound, text, span) = (
            format_ident!("{bound}"),
            binding.name.unraw().to_string(),
            binding.name.span(),
        );
        let function = quote_spanned!(span=> ::graph_runtime::private::check_binding);
        let operands = quote!(&#path::__INTERFACE, #name, #text, ::graph_runtime::private::Bound::#bound);
        (span, spanned_call(function, operands, end))
    });
    let names = child.bindings.iter().map(|binding| binding.name.unraw().to_string());
    let span = child
        .path
        .segments
        .first()
        .map_or(child.parens, |segment| segment.ident.span());
    let function = quote_spanned!(span=> ::graph_runtime::private::check_bound);
    let all = spanned_call(
        function,
        quote!(&#path::__INTERFACE, #name, &[#(#names),*]),
        child.parens,
    );
    bindings.chain([(span, all)]).collect()
}
