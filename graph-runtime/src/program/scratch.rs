//! Scratch memory: one allocation for all scratch resources of a graph. Resources that are never used at the same time
//! may overlap in it.

use crate::program::{Argument, Program};
use crate::shape::part::Layout;
use graph_plan::{Code, Diagnostic, Draft, Outcome, Sharing, Subject, is_packing, pack};

/// The allocation for scratch memory: its size, and the offset of every scratch resource.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arena {
    /// The size in bytes.
    pub(crate) bytes: usize,
    /// The scratch resources in order of declaration, each with its offset in bytes.
    pub(crate) offsets: Vec<(usize, usize)>,
}

/// An arena that was packed when the program was compiled: the offset of each scratch resource in order of declaration,
/// and the size of the arena, in bytes.
#[derive(Debug)]
pub(crate) struct Packed {
    pub(crate) offsets: Vec<usize>,
    pub(crate) bytes: usize,
}

impl Arena {
    /// The arena of a graph without mistakes: `packed`, if it fits this graph, else a new one.
    pub(crate) fn new(draft: &Draft, layouts: &[Option<Layout>], sharing: &Sharing, packed: Option<Packed>) -> Self {
        if let Some(packed) = packed {
            let scratch = (0..draft.resources.len()).filter(|&resource| draft.is_scratch(resource));
            let arena = Self {
                bytes: packed.bytes,
                offsets: scratch.zip(packed.offsets).collect(),
            };
            if arena.fits(layouts, sharing) {
                return arena;
            }
            tracing::warn!(target: "graph_runtime", graph = %draft.name, "scratch memory is packed again: its packing is not one for this graph");
        }
        let (offsets, bytes) = pack(&sizes(layouts, sharing), &sharing.apart());
        let mut offsets: Vec<(usize, usize)> = sharing.resources().iter().copied().zip(offsets).collect();
        offsets.sort_unstable();
        Self { bytes, offsets }
    }

    /// Whether the arena has all scratch resources, and keeps apart those that must not share addresses.
    fn fits(&self, layouts: &[Option<Layout>], sharing: &Sharing) -> bool {
        let place = |resource: &usize| {
            let index = self.offsets.binary_search_by_key(resource, |known| known.0);
            index.ok().map(|index| self.offsets[index].1)
        };
        let offsets: Option<Vec<usize>> = sharing.resources().iter().map(place).collect();
        offsets.is_some_and(|offsets| is_packing(&sizes(layouts, sharing), &sharing.apart(), &offsets, self.bytes))
    }

    /// The mistake that the graph has if only the nodes run for which `runs` is true, if any.
    pub(crate) fn fault(
        &self,
        draft: &Draft,
        layouts: &[Option<Layout>],
        program: &Program,
        runs: impl Fn(usize) -> bool,
    ) -> Option<&'static str> {
        let mut left = draft.clone();
        left.accesses.retain(|access| runs(access.node));
        let outcome = graph_plan::check_errors(&left);
        let reads = |error: &Diagnostic| error.code == Code::Uninitialized;
        if outcome.errors.iter().any(reads) || !first_reads(&left, &outcome, program).is_empty() {
            return Some("a node would read scratch memory that no enabled node before it has written");
        }
        let fits = self.fits(layouts, &Sharing::of(&left, &outcome.order));
        (!fits).then_some("scratch memory would have to last for longer, where other scratch memory has its place")
    }
}

/// The sizes of scratch resources in bytes, in the order of `sharing`.
fn sizes(layouts: &[Option<Layout>], sharing: &Sharing) -> Vec<usize> {
    let bytes = |&resource: &usize| layouts[resource].map_or(0, |layout| layout.bytes);
    sharing.resources().iter().map(bytes).collect()
}

/// The mistakes of kernels that are the first to use scratch memory, as `&mut`, and load from it.
pub(crate) fn first_reads(draft: &Draft, outcome: &Outcome, program: &Program) -> Vec<Diagnostic> {
    let first_read = |&index: &usize| {
        let access = &draft.accesses[index];
        let kernel = program.ops.get(access.node)?.kernel()?;
        let facts = program.functions.get(kernel.function as usize)?.facts;
        // A node's first accesses are its buffers.
        let earlier = draft.accesses[..index].iter().rev();
        let number = earlier.take_while(|earlier| earlier.node == access.node).count();
        let is_buffer = |argument: &Argument| matches!(argument, Argument::Buffer { .. });
        let arguments = program.arguments(kernel).iter().enumerate();
        let (param, _) = arguments.filter(|(_, argument)| is_buffer(argument)).nth(number)?;
        let (node, memory) = (&draft.nodes[access.node].name, &draft.resources[access.resource].name);
        let text = facts.code().reads_uninitialized(node, memory, param)?;
        Some(Diagnostic::parse(Subject::Access(index), text.as_str()))
    };
    outcome.first_writes.iter().filter_map(first_read).collect()
}
