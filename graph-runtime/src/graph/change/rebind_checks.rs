//! The checks of rebinding: alone, and together with other changes.

use crate::error::mistakes;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::ownership::block::SharedMemory;
use crate::ownership::shared_resources::SharedResources;
use crate::program::edge_proofs::EdgeProofs;
use crate::program::{External, Program, fixed_views};
use crate::shape::Lengths;
use crate::shape::place::Span;
use crate::shape::table::text;
use graph_plan::{Code, Diagnostic, Draft, Views};

/// Checks a rebinding by itself.
pub(in crate::graph) fn check_alone(
    graph: &Graph,
    span: Span,
    memory: &SharedMemory,
    (has, expected): (Lengths, Lengths),
) -> Result<()> {
    let site = graph.check_place(span)?;
    let unsupported = |message| Error::Unsupported {
        site: site.clone(),
        message,
    };
    let resource = span.resource;
    let Some(share) = graph.data.shared.find(resource) else {
        return Err(unsupported("only memory that is shared can be rebound"));
    };
    let bytes = share.memory.bytes();
    if (span.start, span.bytes) != (0, bytes) {
        return Err(unsupported("a part of shared memory cannot be rebound"));
    }
    if has != expected {
        let name = &graph.data.draft.resources[resource].name;
        let mistake = mistakes::wrong_lengths(resource, name, &text(&has), &text(&expected));
        return Err(invalid(graph, vec![mistake]));
    }
    if memory.bytes() != bytes {
        let name = &graph.data.draft.resources[resource].name;
        return Err(invalid(
            graph,
            vec![mistakes::wrong_length(resource, name, memory.bytes(), bytes, "bytes")],
        ));
    }
    memory.check(&graph.device_used().backend, share.write, || site.clone())?;
    let accesses = graph.data.draft.accesses.iter();
    let mut uses = accesses.filter(|access| access.resource == resource);
    uses.try_for_each(|access| check_node(graph, access.node))
}

/// Checks rebindings that are made together, of one resource each, and returns the memory that the graph will share
/// after them. `draft` has the accesses after other changes.
pub(in crate::graph) fn check_together(
    graph: &Graph,
    draft: &Draft,
    memory: &[(usize, SharedMemory)],
) -> Result<SharedResources> {
    let shared = graph.data.shared.with(draft, memory);
    let (data, backend) = (&graph.data, &graph.device_used().backend);
    let mut mistakes = shared.overlaps(draft, backend);
    let views = shared.views(backend);
    if mistakes.is_empty() && !(views.is_empty() && data.shared.views(backend).is_empty()) {
        mistakes = mistakes_of_views(&mut draft.clone(), &data.program, &views);
    }
    if !mistakes.is_empty() {
        return Err(invalid(graph, mistakes));
    }
    Ok(shared)
}

/// The mistakes of a graph that was built for other memory, which other views overlap, or for other accesses. Its nodes
/// and edges stay, and whether scratch memory is written before it is read is looked at elsewhere.
#[cold]
pub(super) fn mistakes_of_views(draft: &mut Draft, program: &Program, views: &Views) -> Vec<Diagnostic> {
    let outcome = views.through(draft, |draft| graph_plan::check_errors(draft));
    let mut mistakes = outcome.errors;
    mistakes.retain(|mistake| mistake.code != Code::Uninitialized);
    mistakes.extend(fixed_views::mistakes(draft, program, views));
    let proofs = EdgeProofs::new(draft, program, &outcome.order);
    let edges = draft.programmatic.iter().map(|&index| draft.edges[index]);
    mistakes.extend(edges.filter_map(|edge| proofs.edge(edge.from, edge.to)?.mistake));
    mistakes
}

/// Refuses nodes whose memory cannot be replaced.
fn check_node(graph: &Graph, node: usize) -> Result<()> {
    match graph.data.program.ops[node].external() {
        Some(External::Capture(call)) if graph.data.program.whole_capture().is_some() && call.is_repeatable() => Ok(()),
        Some(External::Capture(_) | External::Raw(_)) => Err(Error::Unsupported {
            site: graph.site().at_node(&graph.data.draft.nodes[node].name),
            message: "the memory of a `capture` or `raw` node cannot be rebound: its closure had the old address",
        }),
        Some(External::Collective(call)) if call.communicator.is_by_nccl() => Err(Error::Unsupported {
            site: graph.site().at_node(&graph.data.draft.nodes[node].name),
            message: "the memory of a collective that NCCL carries cannot be rebound: build another graph, or copy to memory of \
                      the graph before the collective",
        }),
        Some(External::Call(_) | External::Record(_) | External::Wait(_) | External::Collective(_)) | None => Ok(()),
    }
}

fn invalid(graph: &Graph, diagnostics: Vec<Diagnostic>) -> Error {
    Error::Invalid {
        graph: graph.data.draft.name.as_ref().into(),
        diagnostics,
    }
}
