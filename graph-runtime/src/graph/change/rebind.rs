//! Replaces memory that a graph shares.

use crate::error::mistakes;
use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::graph::change::state::Edit;
use crate::ownership::block::{Shareable, SharedMemory};
use crate::ownership::shared_resources::SharedResources;
use crate::program::External;
use crate::shape::Lengths;
use crate::shape::place::{Place, Span};
use crate::shape::table::text;
use graph_plan::Diagnostic;

impl Graph {
    /// Replaces memory that was declared with [`GraphBuilder::shared`](crate::GraphBuilder::shared) by `buffer`, which
    /// must have the same length, for later launches. Nodes are changed in place. In [an edit](Graph::edit), all is
    /// done when that ends.
    ///
    /// The old memory lives until launches in flight have ended. If the graph had the last handle to it, this waits for
    /// them.
    ///
    /// CUDA changes neither copies of rows that lie apart, nor copies that would now use memory of the other kind:
    /// [`Device::alloc`](crate::Device::alloc) makes one kind, cudarc's pool the other. If the memory is in such a
    /// copy, this waits for launches in flight and instantiates the graph again.
    ///
    /// A [captured graph](crate::CapturedGraph) is recorded again: its closure runs with the new addresses.
    ///
    /// # Errors
    /// After these, the graph is unchanged:
    ///
    /// * [`Error::ForeignPlace`] if the place is another graph's;
    /// * [`Error::Unsupported`] for memory that the graph owns, for a part of the memory, for memory of a `capture` or
    ///   `raw` node, and for memory that is lent to be read only if the graph writes it;
    /// * [`Error::ForeignMemory`] for memory of another device, [`Error::LoanEnded`] for memory that was lent to a
    ///   scope that has ended;
    /// * [`Error::Invalid`] if lengths differ (`shape-mismatch`), or if the memory overlaps other memory that the graph
    ///   shares and the graph writes one of the two (`aliased-argument`).
    ///
    /// After [`Error::Cuda`], since the driver refuses a change, [`Graph::launch`] fails until the same memory has been
    /// rebound. So it does after [`Error::Node`], if the closure of a captured graph fails.
    pub fn rebind<B: Shareable>(&mut self, place: &Place<B::Shape, B::Memory>, buffer: &B) -> Result<()> {
        let memory = SharedMemory::of(buffer);
        let lengths = (*memory.lengths(), place.lengths);
        self.rebind_memory(place.span, memory, lengths)
    }

    /// Rebinds memory whose type fits the place. `lengths` are the lengths of the memory and of the place that their
    /// types do not tell. They are compared here, and so are the sizes.
    pub(crate) fn rebind_memory(
        &mut self,
        span: Span,
        memory: SharedMemory,
        lengths: (Lengths, Lengths),
    ) -> Result<()> {
        let rebound = rebind(self, span, memory, lengths);
        rebound.or_else(|error| self.refuse(error))
    }
}

fn rebind(graph: &mut Graph, span: Span, memory: SharedMemory, lengths: (Lengths, Lengths)) -> Result<()> {
    check_alone(graph, span, &memory, lengths)?;
    let resource = span.resource;
    if graph.half_edited.is_open() {
        return graph.request(|open| open.batch.rebind(resource, memory));
    }
    let shared = check_together(graph, &[(resource, memory.clone())])?;
    let mut nodes: Vec<usize> = Vec::new();
    let accesses = graph.draft.accesses.iter();
    nodes.extend(
        accesses
            .filter(|access| access.resource == resource)
            .map(|access| access.node),
    );
    nodes.dedup(); // accesses are grouped by node
    graph.begin(Edit::Rebind(resource));
    graph.executable.rebind(resource, memory);
    graph.shared = shared;
    graph.executable.apply_memory(&graph.draft, &graph.program, &nodes)?;
    graph.finish(Edit::Rebind(resource));
    if graph.program.whole_capture().is_some() {
        graph.finish(Edit::Recording); // the work was recorded again, with the other memory
    }
    Ok(())
}

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
    let Some(share) = graph.shared.find(resource) else {
        return Err(unsupported("only memory that is shared can be rebound"));
    };
    let bytes = share.memory.bytes();
    if (span.start, span.bytes) != (0, bytes) {
        return Err(unsupported("a part of shared memory cannot be rebound"));
    }
    if has != expected {
        let name = &graph.draft.resources[resource].name;
        let mistake = mistakes::wrong_lengths(resource, name, &text(&has), &text(&expected));
        return Err(invalid(graph, vec![mistake]));
    }
    if memory.bytes() != bytes {
        let name = &graph.draft.resources[resource].name;
        return Err(invalid(
            graph,
            vec![mistakes::wrong_length(resource, name, memory.bytes(), bytes, "bytes")],
        ));
    }
    memory.check(&graph.device_used().backend, share.write, || site.clone())?;
    let accesses = graph.draft.accesses.iter();
    let mut uses = accesses.filter(|access| access.resource == resource);
    uses.try_for_each(|access| check_node(graph, access.node))
}

/// Checks rebindings that are made together, of one resource each, and returns the memory that the graph will share
/// after them.
pub(in crate::graph) fn check_together(graph: &Graph, memory: &[(usize, SharedMemory)]) -> Result<SharedResources> {
    let shared = graph.shared.with(memory);
    let overlaps = shared.overlaps(&graph.draft, &graph.device_used().backend);
    if !overlaps.is_empty() {
        return Err(invalid(graph, overlaps));
    }
    Ok(shared)
}

/// Refuses nodes whose memory cannot be replaced.
fn check_node(graph: &Graph, node: usize) -> Result<()> {
    match graph.program.ops[node].external() {
        Some(External::Capture(call)) if graph.program.whole_capture().is_some() && call.is_repeatable() => Ok(()),
        Some(External::Capture(_) | External::Raw(_)) => Err(Error::Unsupported {
            site: graph.site().at_node(&graph.draft.nodes[node].name),
            message: "the memory of a `capture` or `raw` node cannot be rebound: its closure had the old address",
        }),
        Some(External::Call(_) | External::Record(_) | External::Wait(_)) | None => Ok(()),
    }
}

fn invalid(graph: &Graph, diagnostics: Vec<Diagnostic>) -> Error {
    Error::Invalid {
        graph: graph.draft.name.as_ref().into(),
        diagnostics,
    }
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;
    use crate::{Device, GraphBuilder};

    #[test]
    fn a_rebinding_that_failed_half_way_must_be_repeated() -> Result<()> {
        let device = Device::emulator();
        let data = device.alloc::<[f32; 4]>()?;
        let mut builder = GraphBuilder::new(&device, "Half");
        let mut place = builder.shared("w", &data, true);
        builder.memset("set", &mut place, 1.0_f32);
        let mut graph = builder.build()?;
        graph.begin(Edit::Rebind(place.span.resource)); // as the driver's refusal of a node leaves it
        let text = "graph `Half`, memory `w`: rebinding failed half-way; rebind again before launching";
        assert_eq!(graph.launch().unwrap_err().to_string(), text);
        graph.update("w", |_| Ok(()))?;
        assert_eq!(
            graph.launch().unwrap_err().to_string(),
            text,
            "an update of that name is something else"
        );
        let other = device.alloc_slice::<f32>(4)?;
        let (shorter, lengths) = (SharedMemory::of(&other.rows(1..)?), (place.lengths, place.lengths));
        assert!(rebind(&mut graph, place.span, shorter, lengths).is_err());
        assert!(matches!(graph.launch(), Err(Error::HalfRebound { .. })));
        graph.rebind(&place, &data)?;
        graph.launch()?;
        assert_eq!(*data.read()?, [1.0; 4]);
        Ok(())
    }
}
