//! Declaring memory that the graph uses but does not own.

use super::GraphBuilder;
use crate::backend::block::{Shareable, SharedMemory};
use crate::error::mistakes;
use crate::shape::Rows;
use crate::shape::place::{Place, Span};
use std::borrow::Cow;

/// A resource that is shared.
pub(super) struct Shared {
    pub(super) resource: usize,
    pub(super) memory: SharedMemory,
    mutable: bool,
}

impl GraphBuilder {
    /// Declares memory that is outside the graph, and perhaps shared with others: a
    /// [`DeviceBuffer`](crate::DeviceBuffer) or a [`SharedHost`](crate::SharedHost). Nodes may write it only where it
    /// is `mutable`. The graph keeps it alive.
    ///
    /// Launches of graphs that share memory, on whatever streams and threads, run one after the other where one of them
    /// writes it.
    pub fn shared<B: Shareable>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        buffer: &B,
        mutable: bool,
    ) -> Place<B::Shape, B::Memory> {
        self.share(name.into(), SharedMemory::of(buffer), mutable)
    }

    /// Declares shared memory of shape `S` in memory `M`, if lengths are equal.
    pub(crate) fn share<S: ?Sized, M>(
        &mut self,
        name: Cow<'static, str>,
        memory: SharedMemory,
        mutable: bool,
    ) -> Place<S, M> {
        let (space, _) = memory.addresses();
        let place = self.resource(name, space, memory.bytes(), 1);
        self.shared.push(Shared {
            resource: place.span.resource,
            memory,
            mutable,
        });
        place
    }

    /// Demands that shared memory has `len` elements in its outermost dimension; building fails where it has not.
    pub fn require_len<T, M>(&mut self, place: &Place<[T], M>, len: usize)
    where
        [T]: Rows<Row = T>,
    {
        let has = place.span.bytes.checked_div(size_of::<T>()).unwrap_or(len);
        self.require(place.span, has, len, "rows");
    }

    /// Demands that shared memory has `bytes` bytes.
    pub(crate) fn require_bytes<S: ?Sized, M>(&mut self, place: &Place<S, M>, bytes: usize) {
        self.require(place.span, place.span.bytes, bytes, "bytes");
    }

    fn require(&mut self, span: Span, has: usize, expected: usize, units: &str) {
        if span.graph == self.id && has != expected {
            let name = &self.draft.resources[span.resource].name;
            let mistake = mistakes::wrong_length(span.resource, name, has, expected, units);
            self.mistakes.push(mistake);
        }
    }

    /// Whether this is shared memory that nodes must not write.
    pub(super) fn is_read_only(&self, resource: usize) -> bool {
        let found = self.shared.binary_search_by_key(&resource, |shared| shared.resource);
        found.is_ok_and(|index| !self.shared[index].mutable)
    }
}
