//! Scratch memory, by which nodes of one launch pass data to each other.

use super::GraphBuilder;
use crate::program::scratch::{Arena, Packed};
use crate::shape::Element;
use crate::shape::part::Layout;
use crate::shape::place::{OnDevice, Place};
use crate::shape::rows::Tabular;
use crate::shape::size::Size;
use crate::shape::table::Table;
use graph_plan::{Draft, Memory, Nest, Sharing};
use std::borrow::Cow;

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
    /// Declares device memory of shape `S` whose contents last one launch at most: a node must write it before another
    /// reads it (`uninitialized`).
    ///
    /// All scratch memory of a graph is one allocation, its arena. Pieces that never hold data at the same time may
    /// overlap in it. Results are the same as if each piece had its own memory: two pieces overlap only if the graph
    /// orders every use of one before every use of the other, or if a copy or memset initialises it again in between.
    ///
    /// ```
    /// use graph_runtime::{Device, GraphBuilder};
    ///
    /// let mut builder = GraphBuilder::new(&Device::emulator(), "Chain");
    /// let mut data = builder.host::<[f32; 1024]>("data");
    /// let mut last = None;
    /// for number in 0..3 {
    ///     let mut temporary = builder.scratch::<[f32; 1024]>(format!("temporary{number}"));
    ///     let there = builder.memcpy(format!("there{number}"), &data, &mut temporary);
    ///     let back = builder.memcpy(format!("back{number}"), &temporary, &mut data);
    ///     builder.after(there, last.as_slice());
    ///     builder.after(back, &[there]);
    ///     last = Some(back);
    /// }
    ///
    /// let graph = builder.build()?;
    /// assert_eq!(graph.plan().arena(), 4096);
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    pub fn scratch<S: Element>(&mut self, name: impl Into<Cow<'static, str>>) -> Place<S, OnDevice> {
        self.declare(name, Memory::Scratch, Size::fixed())
    }

    /// Declares scratch memory of `len` elements. See [`GraphBuilder::scratch`].
    pub fn scratch_slice<T: Element>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        len: usize,
    ) -> Place<[T], OnDevice> {
        self.declare(name, Memory::Scratch, Size::slice(len))
    }

    /// Declares scratch memory of two to four dimensions, as [`GraphBuilder::scratch`]. `lengths` begin with the
    /// outermost dimension and count elements: see [`Table`].
    pub fn scratch_table<T: Element, const D: usize>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        lengths: [usize; D],
    ) -> Place<Table<T, D>, OnDevice>
    where
        Table<T, D>: Tabular,
    {
        self.declare(name, Memory::Scratch, Size::table(lengths))
    }

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
