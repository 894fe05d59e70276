//! Rebinding: other memory in the place of memory that a graph shares.

use crate::error::Result;
use crate::graph::Graph;
use crate::graph::change::rebind_checks::check_alone;
use crate::graph::change::update::{Update, update};
use crate::ownership::block::{Shareable, SharedMemory};
use crate::shape::Lengths;
use crate::shape::place::{Place, Span};

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
    /// * [`Error::ForeignPlace`](crate::Error::ForeignPlace) if the place is another graph's;
    /// * [`Error::Unsupported`](crate::Error::Unsupported) for memory that the graph owns, for a part of the memory,
    ///   for memory of a `capture` or `raw` node, and for memory that is lent to be read only if the graph writes it;
    /// * [`Error::ForeignMemory`](crate::Error::ForeignMemory) for memory of another device,
    ///   [`Error::LoanEnded`](crate::Error::LoanEnded) for memory that was lent to a scope that has ended;
    /// * [`Error::Invalid`](crate::Error::Invalid) if lengths differ (`shape-mismatch`), or if the memory overlaps
    ///   other memory that the graph shares, and nodes touch the same bytes that nothing orders (`race`), or one node
    ///   gets them twice (`aliased-argument`).
    ///
    /// So it is after [`Error::Cuda`](crate::Error::Cuda), since the driver refuses a change, and after
    /// [`Error::Node`](crate::Error::Node), if the closure of a captured graph fails. If the driver then also refuses
    /// to change the nodes back, [`Graph::launch`] fails until a change has succeeded.
    pub fn rebind<B: Shareable>(&mut self, place: &Place<B::Shape, B::Memory>, buffer: &B) -> Result<()> {
        update(self, MEMORY, |update| update.rebind(place, buffer))
    }

    /// Rebinds memory whose types fit the places: all, or none. Lengths and sizes are compared here.
    pub(crate) fn rebind_memory(&mut self, all: impl IntoIterator<Item = Rebound>) -> Result<()> {
        update(self, MEMORY, |update| {
            all.into_iter().try_for_each(|rebound| update.rebind_memory(rebound))
        })
    }
}

/// Other memory for a place.
pub struct Rebound {
    pub(crate) span: Span,
    pub(crate) memory: SharedMemory,
    /// The lengths of the memory and of the place that their types do not tell.
    pub(crate) lengths: (Lengths, Lengths),
}

/// The name of rebinding in messages.
const MEMORY: &str = "memory";

impl Update<'_> {
    /// Replaces memory that the graph shares: see [`Graph::rebind`].
    ///
    /// # Errors
    /// The errors of [`Graph::rebind`]. The graph is then unchanged.
    pub fn rebind<B: Shareable>(&mut self, place: &Place<B::Shape, B::Memory>, buffer: &B) -> Result<()> {
        let memory = SharedMemory::of(buffer);
        let lengths = (*memory.lengths(), place.lengths);
        self.rebind_memory(Rebound {
            span: place.span,
            memory,
            lengths,
        })
    }

    /// As [`Graph::rebind_memory`], for one place.
    pub(in crate::graph) fn rebind_memory(&mut self, rebound: Rebound) -> Result<()> {
        let Rebound { span, memory, lengths } = rebound;
        check_alone(self.graph, span, &memory, lengths)?;
        self.batch.rebind(span.resource, memory);
        Ok(())
    }
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;
    use crate::{Device, GraphBuilder};

    /// As the driver's refusal of a node leaves a graph: the next change that succeeds mends it.
    #[test]
    fn a_graph_that_is_broken_does_not_launch() -> Result<()> {
        let device = Device::emulator();
        let data = device.alloc::<[f32; 4]>()?;
        let mut builder = GraphBuilder::new(&device, "Half");
        let mut place = builder.shared("w", &data, true);
        builder.memset("set", &mut place, 1.0_f32);
        let mut graph = builder.build()?;
        graph.begin_change(MEMORY, vec![0]);
        let text = "graph `Half`: an update of `memory` failed half-way; update `memory` again before launching";
        assert_eq!(graph.launch().unwrap_err().to_string(), text);
        let other = device.alloc_slice::<f32>(4)?;
        let shorter = Rebound {
            span: place.span,
            memory: SharedMemory::of(&other.rows(1..)?),
            lengths: (place.lengths, place.lengths),
        };
        assert!(graph.rebind_memory([shorter]).is_err());
        assert_eq!(graph.launch().unwrap_err().to_string(), text);
        graph.rebind(&place, &data)?;
        graph.launch()?;
        assert_eq!(*data.read()?, [1.0; 4]);
        Ok(())
    }
}
