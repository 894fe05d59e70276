//! Scratch memory: what nodes of one launch hand to each other.

use super::GraphBuilder;
use crate::program::scratch::Packed;
use crate::shape::Element;
use crate::shape::place::{OnDevice, Place};
use graph_plan::Space;
use std::borrow::Cow;

impl GraphBuilder {
    /// Declares device memory of shape `S` whose contents last one launch at most: nodes must write it before others
    /// read it.
    ///
    /// All scratch memory of a graph lies in one allocation, its arena, in which those pieces overlap that never hold
    /// anything at the same time. Results are the same as if each had memory of its own: two overlap only where the
    /// graph orders every use of one before every use of the other, or a copy or memset begins it anew in between.
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
        let place = self.resource(name.into(), Space::Device, size_of::<S>(), align_of::<S>());
        self.draft.resources[place.span.resource].scratch = true;
        place
    }

    /// Declares scratch memory of `len` elements. See [`GraphBuilder::scratch`].
    pub fn scratch_slice<T: Element>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        len: usize,
    ) -> Place<[T], OnDevice> {
        let bytes = len.saturating_mul(size_of::<T>());
        let place = self.resource(name.into(), Space::Device, bytes, align_of::<T>());
        self.draft.resources[place.span.resource].scratch = true;
        place
    }

    /// Where the scratch resources lie, in order of declaration, and how much memory they take in all, as found before.
    /// `build` looks whether it is right, and finds places itself where it is not.
    pub(crate) fn set_arena(&mut self, offsets: &[usize], bytes: usize) {
        self.packed = Some(Packed {
            offsets: offsets.to_vec(),
            bytes,
        });
    }

    /// Gives every scratch resource memory of its own, to compare results.
    pub(crate) fn place_scratch_apart(&mut self) {
        self.apart = true;
    }
}
