//! Edges as tokens, and the compile-time assertions about programmatic ones: only constants of the kernels' types tell
//! whether these order their nodes.

use super::alias::{allowed, kernel, kernels, own_kernel};
use super::atomic;
use crate::graph::ast::{Argument, Launch, Node};
use crate::graph::resolve::Graph;
use crate::report::conditional_warning;
use crate::text::plain;
use graph_plan::{Access, Code, Edge, Outcome, Shift, Writers};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;

/// The call that ends the nodes, and the calls that add all edges, in order. In a graph with loops, each edge has the
/// number of loops that are around both of its nodes. `builder` is a `&mut GraphBuilder`.
pub(super) fn edges(graph: &Graph<'_>, builder: &impl ToTokens) -> TokenStream {
    let indices: Vec<usize> = (0..graph.draft.edges.len()).collect();
    let kind = |edge: usize| match (graph.draft.is_programmatic(edge), graph.draft.is_inferred(edge)) {
        (true, _) => "programmatic_",
        (false, true) => "inferred_",
        (false, false) => "",
    };
    let runs = indices.chunk_by(|&a, &b| kind(a) == kind(b));
    let calls = runs.map(|run| {
        let method = format_ident!("{}edges", kind(run[0]));
        let edges = run.iter().map(|&edge| {
            let Edge { from, to } = graph.draft.edges[edge];
            let both = graph.loops_around(from).into_iter().zip(graph.loops_around(to));
            let common = (!graph.loops.is_empty()).then(|| both.take_while(|(from, to)| from == to).count());
            let numbers = [from, to].into_iter().chain(common).map(Literal::usize_unsuffixed);
            quote!([#(#numbers),*])
        });
        quote!(__p::Declare::#method(#builder, &[#(#edges),*]);)
    });
    let alike = |a: &Shift, b: &Shift| (a.steps.len(), a.programmatic) == (b.steps.len(), b.programmatic);
    let shifted = graph.draft.shifts.chunk_by(alike).map(|run| {
        let method = format_ident!(
            "{}shifted_edges",
            if run[0].programmatic { "programmatic_" } else { "" }
        );
        let edges = run.iter().map(|Shift { from, to, steps, .. }| {
            let [from, to] = [*from, *to].map(Literal::usize_unsuffixed);
            let steps = steps.iter().map(|&step| Literal::i64_unsuffixed(step));
            quote!((#from, #to, [#(#steps),*]))
        });
        quote!(__p::Declare::#method(#builder, &[#(#edges),*]);)
    });
    let nodes = Literal::usize_unsuffixed(graph.nodes.len());
    let end = quote!(__p::Declare::end_nodes(#builder, #nodes););
    [end].into_iter().chain(calls).chain(shifted).collect()
}

/// For each programmatic edge, the assertion that the later kernel waits, and a warning if the earlier one never lets
/// it start early.
pub(super) fn assertions(graph: &Graph<'_>, outcome: &Outcome) -> TokenStream {
    let edges = programmatic_edges(graph);
    if edges.is_empty() {
        return TokenStream::new();
    }
    let updating = atomic::if_atomic(graph);
    let writers = AllWriters {
        certain: Writers::new(&graph.draft, &outcome.order),
        possible: Writers::new(&updating, &outcome.order),
    };
    let all = kernels(graph, |launch| own_kernel(graph, launch).is_some()).types;
    let allowed = allowed(graph);
    let of_edge = |edge: &Programmatic| {
        let kernels = Kernels {
            before: graph.nodes[edge.from],
            after: graph.nodes[edge.to],
            launch: own(graph, edge.to)?, // only `build` knows the kernel of a function value
            both: own(graph, edge.from).is_some(),
        };
        let [order, arguments] = &order(graph, edge, &kernels, &writers, &all);
        let name = format_ident!("EDGE{}_{}", edge.number, kernels.after.name.unraw(), span = edge.span);
        let assertion = quote_spanned! {edge.span=>
            #allowed const #name: () = #order::programmatic #arguments;
        };
        let warning = never_triggers(graph, edge, &kernels, [order, arguments]);
        Some(quote!(#assertion #warning))
    };
    edges.iter().filter_map(of_edge).collect()
}

/// A programmatic edge as it is written: within an iteration, or between two.
struct Programmatic {
    /// The edge's index; those between iterations are numbered after the others.
    number: usize,
    from: usize,
    to: usize,
    /// The name of the earlier node in the `after` list.
    span: Span,
    /// The earlier node as a plain edge names it: `k`, or `k(i - 1)`.
    earlier: String,
}

/// All programmatic edges, those between iterations last.
fn programmatic_edges(graph: &Graph<'_>) -> Vec<Programmatic> {
    let within = graph.draft.programmatic.iter().map(|&index| {
        let Edge { from, to } = graph.draft.edges[index];
        Programmatic {
            number: index,
            from,
            to,
            span: graph.edges[index].span(),
            earlier: graph.edges[index].to_string(),
        }
    });
    let shifts = graph.draft.shifts.iter().zip(&graph.shifts).enumerate();
    let between = shifts.filter(|(_, (shift, _))| shift.programmatic);
    let between = between.map(|(index, (shift, written))| {
        let numbers = written.iteration.iter().flat_map(|iteration| &iteration.numbers);
        let numbers: Vec<String> = numbers.map(plain).collect();
        Programmatic {
            number: graph.draft.edges.len() + index,
            from: shift.from,
            to: shift.to,
            span: written.name.span(),
            earlier: format!("{}({})", written.name, numbers.join(", ")),
        }
    });
    within.chain(between).collect()
}

/// The writers of memory: those that are written as such, and all that write it if every access that may be an atomic
/// update is one.
struct AllWriters<'a> {
    certain: Writers<'a>,
    possible: Writers<'a>,
}

/// The nodes of an edge whose later kernel is declared.
struct Kernels<'a> {
    before: &'a Node,
    after: &'a Node,
    launch: &'a Launch,
    /// Whether the earlier kernel is declared, too.
    both: bool,
}

/// The type with the functions that tell whether the edge orders its nodes, and the type and the operands for them.
fn order(
    graph: &Graph<'_>,
    edge: &Programmatic,
    kernels: &Kernels<'_>,
    writers: &AllWriters<'_>,
    all: &[TokenStream],
) -> [TokenStream; 2] {
    let kernel = self::kernel(graph, kernels.after);
    let upstream = if kernels.both {
        self::kernel(graph, kernels.before)
    } else {
        kernel.clone()
    };
    let memory = sharing(graph, edge.to, kernels.launch, writers);
    let (name, other) = (kernels.after.name.to_string(), &edge.earlier);
    [
        quote_spanned!(edge.span=> __p::KernelChecks::<#kernel>),
        quote_spanned! {edge.span=>
            ::<#upstream>(#name, #other, &[#memory], &[#(<#all as __g::Kernel>::FACTS),*])
        },
    ]
}

/// A warning at the name of the earlier node, unless it is silenced or the edge is an error. A macro can only warn by
/// using a deprecated item. Constants of the kernels decide whether the item that is used is deprecated.
fn never_triggers(
    graph: &Graph<'_>,
    edge: &Programmatic,
    kernels: &Kernels<'_>,
    [order, arguments]: [&TokenStream; 2],
) -> Option<TokenStream> {
    let code = Code::ProgrammaticEdge;
    (kernels.both && !graph.allows(edge.to, code)).then_some(())?;
    let (before, after) = (&kernels.before.name, &kernels.after.name);
    let earlier = &edge.earlier;
    let note = format!(
        "node `{after}` starts no sooner than `{earlier}` has ended [{code}]\n\
         note: the kernel of `{before}` never executes `griddepcontrol.launch_dependents`\n\
         help: call `cudaTriggerProgrammaticLaunchCompletion()` in it, or write `after {earlier}`"
    );
    let ty = format_ident!("__Edge{}", edge.number);
    let edge = Ident::new("programmatic_edge", edge.span);
    let kernel = kernel(graph, kernels.before);
    let condition = quote!(!__p::triggers::<#kernel>() && #order::is_programmatic #arguments);
    Some(conditional_warning(&ty, &edge, &note, &condition))
}

/// The launch of a node whose kernel is declared, if items beside the type can name it: `build` checks the others.
fn own<'a>(graph: &Graph<'a>, node: usize) -> Option<&'a Launch> {
    let launch = graph.nodes[node].action.launch()?;
    own_kernel(graph, launch).map(|_| launch)
}

/// The accesses by other nodes to the memory of each buffer parameter of a node.
fn sharing(graph: &Graph<'_>, node: usize, launch: &Launch, writers: &AllWriters<'_>) -> TokenStream {
    let borrowed = launch.arguments.iter().enumerate();
    let borrowed = borrowed.filter(|(_, argument)| matches!(argument, Argument::Borrow { .. }));
    let accesses = graph.draft.accesses.iter().filter(|access| access.node == node);
    let shared = borrowed.zip(accesses).map(|((param, _), access): (_, &Access)| {
        let AllWriters { certain, possible } = writers;
        let said = |certain: bool, possible: bool| match certain || !possible {
            true => quote!(#certain),
            false => atomic::any(graph, access.resource),
        };
        let written = said(certain.any(access), possible.any(access));
        let written_before = said(certain.before(access), possible.before(access));
        quote! {
            __p::plan::SharedParam { param: #param, written: #written, written_before: #written_before },
        }
    });
    shared.collect()
}
