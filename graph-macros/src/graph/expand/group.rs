//! Groups of memory: the type of a group, and what a graph that takes groups has for them: `layers(i)`, `layers_mut(i)`
//! and `rebind_layers(i, ..)`.

use super::interface::{Bodies, implementation, structure, without_suggestions};
use super::names::unseen;
use super::part::generic;
use super::promise;
use super::shape::Shape;
use super::types::{arguments, generics, generics_after, marker_value};
use crate::graph::ast::{Group, GroupArgument, Resource};
use crate::graph::groups::takers;
use crate::graph::resolve::Graph;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::Lifetime;
use syn::ext::IdentExt;

/// The type of a group: a struct of handles to device memory. The first graph that takes the group tells the shapes.
pub(super) fn declaration(group: &Group, graphs: &[Graph<'_>]) -> TokenStream {
    let (visibility, docs) = (&group.attributes.visibility, &group.attributes.docs);
    let name = without_suggestions(group.name.clone());
    let taker = takers(group, graphs).next();
    let fields = group.fields.iter().enumerate().map(|(index, field)| {
        let shape = match &taker {
            Some((graph, _)) if generic(graph, field.shape.to_token_stream()) => quote!([::core::primitive::u8]), // reported
            Some((graph, fields)) => Shape::of(graph, &fields[index]).at(&quote!(::graph_runtime)),
            None => field.shape.to_token_stream(),
        };
        let (name, docs) = (&field.name, &field.attributes.docs);
        let visibility = field.attributes.visibility.as_ref().or(visibility.as_ref());
        let summary = format!(" The memory `{name}` of one group.");
        quote!(#[doc = #summary] #(#docs)* #visibility #name: ::graph_runtime::DeviceBuffer<#shape>,)
    });
    let summary = format!(" The group of memory `{name}`, declared with `cuda_graph!`.");
    let documentation = match docs.is_empty() {
        true => quote!(#[doc = #summary]),
        false => quote!(#(#docs)*),
    };
    quote! {
        #documentation
        #[allow(dead_code)]
        #[derive(Clone, Debug)]
        #visibility struct #name { #(#fields)* }
    }
}

/// The type of the accessor `layers` or `layers_mut` of a graph.
fn lent_name(graph: &Graph<'_>, argument: &GroupArgument, mutable: bool) -> Ident {
    let words = argument.name.unraw().to_string();
    let words = words.split('_').map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(|first| first.to_uppercase().to_string());
        first.unwrap_or_default() + letters.as_str()
    });
    let words: String = words.collect();
    let suffix = if mutable { "Mut" } else { "" };
    without_suggestions(format_ident!("{}{words}{suffix}", graph.item.name))
}

fn lifetime() -> Lifetime {
    Lifetime::new("'group", Span::mixed_site())
}

/// Both forms in which groups are lent: by `&` and, if the graph writes a field, by `&mut`.
fn forms(argument: &GroupArgument) -> impl Iterator<Item = bool> {
    [false, true]
        .into_iter()
        .filter(|mutable| !mutable || argument.is_mutable())
}

/// The types that lend one group.
pub(super) fn types(graph: &Graph<'_>) -> TokenStream {
    let of = |argument: &GroupArgument, mutable: bool| {
        let (lifetime, name, own) = (lifetime(), &graph.item.name, arguments(&generics(graph)));
        let mutability = mutable.then(|| quote!(mut));
        let summary = format!(
            " One group of `{}` of a [`{name}`], which lends its fields for {}.",
            argument.name,
            if mutable { "writing" } else { "reading" }
        );
        structure(
            graph,
            lent_name(graph, argument, mutable),
            generics_after(graph, &lifetime),
            quote!(#[doc = #summary] #[derive(Debug)]),
            quote!(__graph: &#lifetime #mutability #name<#(#own),*>, __index: ::core::primitive::usize,),
        )
    };
    let all = graph
        .groups
        .iter()
        .flat_map(|argument| forms(argument).map(|mutable| of(argument, mutable)));
    all.collect()
}

/// The methods of graphs and of lent groups.
pub(super) fn methods(graph: &Graph<'_>, bodies: Bodies) -> TokenStream {
    let of = |argument: &&GroupArgument| {
        let own = forms(argument).map(|mutable| accessor(graph, argument, mutable, bodies));
        let own: TokenStream = own.chain([rebind(graph, argument, bodies)]).collect();
        let lent = forms(argument).map(|mutable| lent(graph, argument, mutable, bodies));
        let (own, lent) = (implementation(graph, own), lent.collect::<TokenStream>());
        quote!(#own #lent)
    };
    graph.groups.iter().map(of).collect()
}

/// `layers(i)` or `layers_mut(i)`.
fn accessor(graph: &Graph<'_>, argument: &GroupArgument, mutable: bool, bodies: Bodies) -> TokenStream {
    let (name, ty) = (&argument.name, lent_name(graph, argument, mutable));
    let (own, marker) = (arguments(&generics(graph)), marker_value(&generics(graph)));
    let method = match mutable {
        true => Ident::new(&format!("{}_mut", name.unraw()), name.span()),
        false => name.clone(),
    };
    let (mutability, promise) = match mutable {
        true => (Some(quote!(mut)), promise::mention(graph)),
        false => (None, None),
    };
    let summary = format!(" Group `index` of `{name}`. Each field waits for launches in flight, and lends its memory.");
    let body = bodies.of(quote!(#ty { __graph: self, __index: index, #marker }));
    quote! {
        #[doc = #summary]
        #promise
        pub fn #method(&#mutability self, index: ::core::primitive::usize) -> #ty<'_, #(#own),*> { #body }
    }
}

/// The methods of a lent group, one for each field.
fn lent(graph: &Graph<'_>, argument: &GroupArgument, mutable: bool, bodies: Bodies) -> TokenStream {
    let (lifetime, ty) = (lifetime(), lent_name(graph, argument, mutable));
    let generics = generics_after(graph, &lifetime);
    let (parameters, arguments, condition) = generics.split_for_impl();
    let fields = argument.fields.iter().filter(|field| !mutable || field.is_mutable());
    let fields = fields.filter_map(|resource| {
        let (_, name) = resource.name.path()?;
        let (shape, field) = (Shape::of(graph, resource), unseen(&resource.name));
        let place = quote!(&__p::GroupField::at(&self.__graph.#field, self.__index)?);
        let (this, summary, lent, get) = match mutable {
            true => (
                quote!(self),
                format!(" Waits for launches in flight and lends `{name}` for writing."),
                quote!(__g::DeviceMut<#lifetime, #shape>),
                quote!(__g::Graph::device_mut(&mut self.__graph.__graph, #place)),
            ),
            false => (
                quote!(&self),
                format!(" Waits for launches in flight and lends `{name}` for reading."),
                quote!(__g::DeviceRef<#lifetime, #shape>),
                quote!(__g::Graph::device(&self.__graph.__graph, #place)),
            ),
        };
        let (docs, body) = (&resource.attributes.docs, bodies.of(get));
        let promise = mutable.then(|| promise::mention(graph)).flatten();
        Some(quote! {
            #[doc = #summary]
            #(#docs)*
            #promise
            pub fn #name(#this) -> __g::Result<#lent> { #body }
        })
    });
    quote! {
        #[allow(dead_code)]
        impl #parameters #ty #arguments #condition { #(#fields)* }
    }
}

/// `rebind_layers(i, &layer)`.
fn rebind(graph: &Graph<'_>, argument: &GroupArgument, bodies: Bodies) -> TokenStream {
    let GroupArgument {
        name, group, fields, ..
    } = argument;
    let rebind = Ident::new(&format!("rebind_{}", name.unraw()), name.span());
    let summary = format!(
        " Puts another group in the place of group `index` of `{name}` for later launches, all of its memory or none: see `Graph::rebind`."
    );
    let rebound = |resource: &Resource| {
        let ((_, field), slot) = (resource.name.path()?, unseen(&resource.name));
        Some(quote!(__p::GroupField::rebound(&self.#slot, index, &group.#field)?,))
    };
    let rebound: TokenStream = fields.iter().filter_map(rebound).collect();
    let body = bodies.of(quote! {
        let group: &#group = ::core::borrow::Borrow::borrow(&group);
        let memory = [#rebound];
        __p::rebind_all(&mut self.__graph, memory)
    });
    let promise = promise::mention(graph);
    quote! {
        #[doc = #summary]
        #promise
        pub fn #rebind(
            &mut self,
            index: ::core::primitive::usize,
            group: impl ::core::borrow::Borrow<#group>,
        ) -> __g::Result<()> { #body }
    }
}
