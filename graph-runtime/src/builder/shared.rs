//! Declares memory that the graph uses but does not own.

use super::GraphBuilder;
use crate::backend::block::SharedMemory;
use crate::error::mistakes;
use crate::shape::Rows;
use crate::shape::place::{Place, Span};
use std::borrow::Cow;

/// A shared resource.
pub(super) struct DeclaredShared {
    pub(super) resource: usize,
    pub(super) memory: SharedMemory,
    /// Whether nodes may write it.
    pub(super) mutable: bool,
}

impl GraphBuilder {
    /// Declares shared memory of shape `S` in memory `M`. Its length is not checked here.
    pub(crate) fn share<S: ?Sized, M>(
        &mut self,
        name: Cow<'static, str>,
        memory: SharedMemory,
        mutable: bool,
    ) -> Place<S, M> {
        let (space, _) = memory.addresses();
        let place = self.resource(name, space, memory.bytes(), 1);
        self.memory.shared.push(DeclaredShared {
            resource: place.span.resource,
            memory,
            mutable,
        });
        place
    }

    /// Makes `build` fail (`shape-mismatch`) unless this shared memory has `len` elements in its outermost dimension.
    pub fn require_len<T, M>(&mut self, place: &Place<[T], M>, len: usize)
    where
        [T]: Rows<Row = T>,
    {
        let has = place.span.bytes.checked_div(size_of::<T>()).unwrap_or(len);
        self.require(place.span, has, len, "rows");
    }

    /// Makes `build` fail unless this shared memory has `bytes` bytes.
    pub(crate) fn require_bytes<S: ?Sized, M>(&mut self, place: &Place<S, M>, bytes: usize) {
        self.require(place.span, place.span.bytes, bytes, "bytes");
    }

    fn require(&mut self, span: Span, has: usize, expected: usize, units: &str) {
        if span.graph == self.id && has != expected {
            let name = &self.draft.resources[span.resource].name;
            let mistake = mistakes::wrong_length(span.resource, name, has, expected, units);
            self.findings.mistake(mistake);
        }
    }
}
