//! The placement of scratch memory, by which nodes of one launch pass data to each other.

use super::GraphBuilder;
use crate::program::scratch::{Arena, Packed};
use crate::shape::part::Layout;
use graph_plan::{Draft, Nest, Sharing};

/// The placement of scratch memory in the arena.
#[derive(Default)]
pub(super) struct ScratchPlacement {
    /// The packing that the macro has found, if any.
    packed: Option<Packed>,
    /// Whether every scratch resource gets memory of its own.
    apart: bool,
}

impl ScratchPlacement {
    /// The arena of a graph.
    pub(super) fn arena(self, draft: &Draft, layouts: &[Option<Layout>], order: &Nest) -> Arena {
        let sharing = if self.apart {
            Sharing::none(draft)
        } else {
            Sharing::of(draft, order)
        };
        Arena::new(draft, layouts, &sharing, self.packed)
    }
}

impl GraphBuilder {
    /// Gives the offsets of the scratch resources in the arena, in order of declaration, and the size of the arena, in
    /// bytes, as the macro has found them. `build` checks them, and packs again if they are wrong.
    pub(crate) fn set_arena(&mut self, offsets: &[usize], bytes: usize) {
        self.memory.scratch.packed = Some(Packed {
            offsets: offsets.to_vec(),
            bytes,
        });
    }

    /// Gives every scratch resource memory of its own, to compare results.
    pub(crate) fn place_scratch_apart(&mut self) {
        self.memory.scratch.apart = true;
    }
}
