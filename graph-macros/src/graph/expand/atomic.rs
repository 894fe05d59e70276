//! Accesses that are written `&x` and may be atomic updates: the assertions and warnings that only constants can
//! decide, those of the types of kernels and children.

use super::alias::{child_path, kernel};
use super::part::{generic, spanned_call};
use crate::graph::ast::{Action, ResourceKind};
use crate::graph::check::mutability;
use crate::graph::resolve::Graph;
use crate::report::conditional_warning;
use graph_plan::{Code, Diagnostic, Draft, Memory, Mode, Outcome, Subject, clash, mixed_reads};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use std::collections::BTreeSet;
use syn::ext::IdentExt;

/// The draft in which every access that may be an atomic update is one.
pub(super) fn if_atomic(graph: &Graph<'_>) -> Draft {
    let mut draft = graph.draft.clone();
    for access in graph.updates.accesses() {
        draft.accesses[access].mode = Mode::Atomic;
    }
    draft
}

/// The classes of some accesses, each once.
fn classes(graph: &Graph<'_>, accesses: impl Iterator<Item = usize>) -> BTreeSet<usize> {
    accesses.filter_map(|access| graph.updates.of(access)).collect()
}

/// The accesses to a resource, by index.
fn accesses_to<'a>(graph: &'a Graph<'_>, resource: usize) -> impl Iterator<Item = usize> + 'a {
    let accesses = graph.draft.accesses.iter().enumerate();
    accesses.filter_map(move |(index, access)| (access.resource == resource).then_some(index))
}

/// Whether the accesses of a class are atomic, as a constant.
fn is_atomic(graph: &Graph<'_>, class: usize) -> TokenStream {
    let class = graph.updates.class(class);
    let (node, argument) = (graph.nodes[class.node], class.argument);
    if let Action::Graph(child) = &node.action {
        let (path, name) = (child_path(graph, node, child), &child.bindings[argument].name);
        let name = name.unraw().to_string();
        return quote!({
            #[allow(unused_imports)]
            use __p::NoGraph as _;
            #path::__INTERFACE.updates(#name)
        });
    }
    let (kernel, argument) = (kernel(graph, node), Literal::usize_unsuffixed(argument));
    quote!(__p::KernelChecks::<#kernel>::is_atomic(#argument))
}

/// Whether some class is atomic, as a constant.
fn any_of(graph: &Graph<'_>, classes: &BTreeSet<usize>) -> TokenStream {
    match classes.is_empty() {
        true => quote!(false),
        false => {
            let classes = classes.iter().map(|&class| is_atomic(graph, class));
            quote!(#(#classes)||*)
        }
    }
}

/// Whether some access to a resource is an atomic update although it is written as a read, as a constant of items
/// beside the type. Such items cannot name generics of the graph, so accesses that need them are left to `build`.
pub(super) fn any(graph: &Graph<'_>, resource: usize) -> TokenStream {
    let mut classes = classes(graph, accesses_to(graph, resource));
    classes.retain(|&class| !generic(graph, is_atomic(graph, class)));
    any_of(graph, &classes)
}

/// The accesses of a graph with mistakes to a resource, as a constant `Mode`.
pub(super) fn usage_as_written(graph: &Graph<'_>, resource: usize) -> TokenStream {
    if graph.draft.resources[resource].memory == Memory::Mapped {
        return quote!(__g::Mode::Mapped);
    }
    let mut accesses = accesses_to(graph, resource);
    match accesses.any(|access| graph.draft.accesses[access].mode.writes()) {
        true => quote!(__g::Mode::ReadWrite),
        false => quote!(__g::Mode::Read),
    }
}

/// The accesses of the graph to a resource, as a constant `Mode`, for graphs that have this one as a node.
pub(super) fn usage(graph: &Graph<'_>, resource: usize) -> TokenStream {
    if graph.draft.resources[resource].memory == Memory::Mapped {
        return quote!(__g::Mode::Mapped);
    }
    let all: Vec<usize> = accesses_to(graph, resource).collect();
    if all.iter().any(|&access| graph.draft.accesses[access].mode.writes()) {
        return quote!(__g::Mode::ReadWrite);
    }
    let plain = all.iter().any(|&access| graph.updates.of(access).is_none());
    let classes = classes(graph, all.into_iter());
    if classes.is_empty() {
        return quote!(__g::Mode::Read);
    }
    let atomic = classes.iter().map(|&class| is_atomic(graph, class));
    quote!(__p::usage(#plain, &[#(#atomic),*]))
}

/// An assertion: the node that it is about, the beginning of the tokens that it is about, and the call that asserts.
pub(super) type Assertion = (usize, Span, TokenStream);

/// The assertions that no atomic update is a mistake.
pub(super) fn assertions(graph: &Graph<'_>, outcome: &Outcome) -> Vec<Assertion> {
    if graph.updates.accesses().next().is_none() {
        return Vec::new();
    }
    let mut found = clashes(graph, outcome);
    found.extend(shared(graph));
    found.extend(endless(graph, outcome));
    found
}

/// The assertion that neither only the first nor only the second of two accesses is atomic, with the message for each.
fn check_clash(start: Span, end: Span, atomic: [TokenStream; 2], texts: [String; 2]) -> TokenStream {
    let function = quote_spanned!(start=> __p::check_clash);
    spanned_call(function, quote!([#(#atomic),*], [#(#texts),*]), end)
}

/// The assertions that two classes are both atomic, or neither is: for each two whose accesses clash otherwise.
fn clashes(graph: &Graph<'_>, outcome: &Outcome) -> Vec<Assertion> {
    let (draft, order) = (&graph.draft, &outcome.order);
    let classes: Vec<Option<usize>> = (0..draft.accesses.len())
        .map(|access| graph.updates.of(access))
        .collect();
    let assertion = |(first, second): (usize, usize)| {
        let atomic = [first, second].map(|access| match classes[access] {
            Some(class) => is_atomic(graph, class),
            None => quote!(false),
        });
        let text = |modes: [Mode; 2]| {
            let mistake = clash(draft, order, [(first, modes[0]), (second, modes[1])]);
            mistake.map_or_else(
                || format!("unordered nodes access memory [{}]", Code::Race),
                |mistake| mistake.to_string(),
            )
        };
        let texts = [text([Mode::Atomic, Mode::Read]), text([Mode::Read, Mode::Atomic])];
        let (place, start) = graph.accesses[second];
        let start = match draft.accesses[first].node == draft.accesses[second].node {
            true => graph.accesses[first].1,
            false => start,
        };
        let tokens = check_clash(start, place.end, atomic, texts);
        (draft.accesses[second].node, start, tokens)
    };
    mixed_reads(draft, order, &classes).into_iter().map(assertion).collect()
}

/// The assertions that nothing updates memory that is shared without `mut`, one for each such memory.
fn shared(graph: &Graph<'_>) -> Vec<Assertion> {
    let mut found = Vec::new();
    for (index, resource) in graph.resources.iter().enumerate() {
        if !matches!(resource.kind, ResourceKind::Shared { mutable: false, .. }) {
            continue;
        }
        let mut known = BTreeSet::new();
        for access in accesses_to(graph, index) {
            let Some(class) = graph.updates.of(access).filter(|&class| known.insert(class)) else {
                continue;
            };
            let (node, (place, start)) = (graph.draft.accesses[access].node, graph.accesses[access]);
            let text = mutability::written(graph, resource, access, Mode::Atomic).to_string();
            let atomic = is_atomic(graph, class);
            let tokens = check_clash(start, place.end, [atomic, quote!(false)], [text, String::new()]);
            found.push((node, start, tokens));
        }
    }
    found
}

/// The assertions that a `while` can end: one for each whose body touches the condition only by accesses that may be
/// updates. It asserts that one of these is an update.
fn endless(graph: &Graph<'_>, outcome: &Outcome) -> Vec<Assertion> {
    let assertion = |diagnostic: &Diagnostic| {
        let Subject::Node(node) = diagnostic.subject else {
            return None;
        };
        let updates = graph.updates_of_condition(node).into_iter();
        let classes = classes(graph, updates.filter(|_| diagnostic.code == Code::EndlessWhile));
        if classes.is_empty() {
            return None;
        }
        let (ends, text) = (any_of(graph, &classes), diagnostic.to_string());
        let span = graph.nodes[node].name.span();
        let tokens = check_clash(span, span, [quote!(!(#ends)), quote!(false)], [text, String::new()]);
        Some((node, span, tokens))
    };
    outcome.errors.iter().filter_map(assertion).collect()
}

/// The warnings that hold only if no access is an atomic update.
pub(super) fn warnings(graph: &Graph<'_>, outcome: &Outcome) -> TokenStream {
    let needless = graph.resources.iter().enumerate().filter_map(|(index, resource)| {
        let updates: Vec<usize> = graph.needless_updates(index)?;
        let classes = classes(graph, updates.into_iter());
        (!classes.is_empty()).then(|| (mutability::needless(resource), resource.keyword, classes))
    });
    let dead = graph.updates_of_dead(outcome);
    let classes_of_dead = classes(graph, dead.into_iter());
    let dead = outcome.warnings.iter().filter_map(|warning| {
        let (Code::DeadNode, Subject::Node(node)) = (warning.code, warning.subject) else {
            return None;
        };
        let shown = !classes_of_dead.is_empty() && !graph.allows(node, Code::DeadNode);
        shown.then(|| (warning.clone(), graph.nodes[node].name.span(), classes_of_dead.clone()))
    });
    let warning = |(number, (warning, span, classes)): (usize, (Diagnostic, Span, BTreeSet<usize>))| {
        let rule = Ident::new(&warning.code.as_str().replace('-', "_"), span);
        let updated = any_of(graph, &classes);
        if generic(graph, updated.clone()) {
            return TokenStream::new(); // items beside the type cannot name it
        }
        let ty = format_ident!("__Unless{number}");
        conditional_warning(&ty, &rule, &warning.to_string(), &quote!(!(#updated)))
    };
    needless.chain(dead).enumerate().map(warning).collect()
}
