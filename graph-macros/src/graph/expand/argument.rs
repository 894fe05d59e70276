//! Build arguments: the parameters of `build` besides the device, and the values that the graph keeps.

use super::shape::Shape;
use crate::graph::ast::{BuildArgument, GroupArgument, Resource};
use crate::graph::resolve::{Graph, Scalar, Value, params, scalars};
use graph_plan::Space;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use std::collections::BTreeSet;

/// The parameters of `build` after the device, in the order of their declaration, each after a comma.
pub(super) fn parameters(graph: &Graph<'_>) -> TokenStream {
    let parameter = |argument: &BuildArgument| match argument {
        BuildArgument::Value { name, ty } => quote!(, #name: #ty),
        BuildArgument::Communicator { name, ty } => quote!(, #name: &#ty),
        BuildArgument::Memory(memory) => {
            let (name, ty) = (&memory.name, argument_type(graph, memory));
            quote!(, #name: #ty)
        }
        BuildArgument::Group(argument) => {
            let GroupArgument { name, group, .. } = &**argument;
            quote!(, #name: impl ::core::convert::AsRef<[#group]>)
        }
        BuildArgument::Unknown(_) => quote!(, _: impl ::core::marker::Sized),
    };
    graph.item.arguments.iter().map(parameter).collect()
}

/// The names of these parameters, each after a comma.
pub(super) fn names(graph: &Graph<'_>) -> TokenStream {
    let name = |argument: &BuildArgument| {
        let name = argument.name();
        quote!(, #name)
    };
    graph.item.arguments.iter().map(name).collect()
}

/// The type that `build` takes for shared memory.
pub(super) fn argument_type(graph: &Graph<'_>, memory: &Resource) -> TokenStream {
    let shape = Shape::of(graph, memory);
    match memory.space() {
        Space::Host => quote!(impl __g::HostShare<#shape>),
        Space::Device => quote!(impl __g::DeviceShare<#shape>),
    }
}

/// Binds the build arguments, in their order: memory as places of the builder, other values unchanged.
pub(super) fn bound(graph: &Graph<'_>, builder: &Ident, bound: &Ident) -> TokenStream {
    let bind = |argument: &BuildArgument| match argument {
        BuildArgument::Value { name, .. } => quote!(#bound.#name = ::core::option::Option::Some(#name);),
        BuildArgument::Communicator { name, .. } => {
            quote!(#bound.#name = ::core::option::Option::Some(::core::clone::Clone::clone(#name));)
        }
        BuildArgument::Memory(memory) => {
            let (variable, name, mutable) = (&memory.name, memory.name.to_string(), memory.is_mutable());
            let shape = Shape::of(graph, memory);
            quote! {
                #bound.#variable = ::core::option::Option::Some(
                    __p::memory_argument::<#shape, _>(&mut #builder, #name, #variable, #mutable),
                );
            }
        }
        BuildArgument::Group(argument) => bound_group(graph, argument, builder, bound),
        BuildArgument::Unknown(_) => TokenStream::new(),
    };
    graph.item.arguments.iter().map(bind).collect()
}

/// Binds the fields of groups.
fn bound_group(graph: &Graph<'_>, argument: &GroupArgument, builder: &Ident, bound: &Ident) -> TokenStream {
    let (name, group) = (&argument.name, &argument.group);
    let fields = argument.fields.iter().filter_map(|field| {
        let (shape, mutable, variable) = (Shape::of(graph, field), field.is_mutable(), &field.name);
        let (argument, field) = field.name.path()?;
        let text = [argument.to_string(), field.to_string()];
        Some(quote! {
            #bound.#variable = ::core::option::Option::Some(__p::GroupField::<#shape, __g::OnDevice>::declared::<#group>(
                &mut #builder,
                (#(#text),*),
                ::core::convert::AsRef::<[#group]>::as_ref(&#name),
                |group| &group.#field,
                #mutable,
            ));
        })
    });
    fields.collect()
}

/// The plain values that nodes mention together with a param: setters need these again.
pub(super) fn kept<'a>(graph: &Graph<'a>) -> Vec<Value<'a>> {
    let changing = graph.nodes.iter().filter(|node| !params(graph, node).is_empty());
    let used: BTreeSet<Scalar> = changing.flat_map(|node| scalars(graph, node)).collect();
    let value = |scalar: &&Scalar| matches!(scalar, Scalar::Value(_));
    used.iter().filter(value).map(|&scalar| graph.scalar(scalar)).collect()
}
