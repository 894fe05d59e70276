//! Declares memory that the graph uses but does not own.

use super::GraphBuilder;
use crate::error::mistakes;
use crate::ownership::block::SharedMemory;
use crate::ownership::shared_resources::SharedResources;
use crate::shape::Lengths;
use crate::shape::float::Float;
use crate::shape::part::Layout;
use crate::shape::place::{Place, Span};
use crate::shape::table::{Table, padded, text};
use graph_plan::{Memory, Origin, Space, Views};
use std::borrow::Cow;

/// A shared resource.
pub(super) struct DeclaredShared {
    pub(super) resource: usize,
    pub(super) memory: SharedMemory,
    /// Whether nodes may write it.
    pub(super) mutable: bool,
}

impl GraphBuilder {
    /// Declares shared memory of shape `S`, with the lengths that `S` does not tell, in memory `M`. Its length is not
    /// checked here.
    pub(crate) fn share<S: ?Sized, M>(
        &mut self,
        name: Cow<'static, str>,
        memory: SharedMemory,
        lengths: Lengths,
        mutable: bool,
    ) -> Place<S, M> {
        let (space, _) = memory.addresses();
        let kind = match space {
            Space::Host => Memory::Host,
            Space::Device => Memory::Device,
        };
        let bytes = memory.bytes();
        let place: Place<S, M> = self.resource(
            name,
            kind,
            Layout {
                bytes,
                align: 1,
                float: Float::of::<S>(),
            },
        );
        self.draft.resources[place.span.resource].origin = Origin::Outside;
        self.memory.shared.push(DeclaredShared {
            resource: place.span.resource,
            memory,
            mutable,
        });
        Place::with_lengths(place.span, lengths)
    }

    /// The shared memory that overlaps other shared memory, as the nodes that have been added use it.
    pub(super) fn views(&self) -> Views {
        let shared = &self.memory.shared;
        if shared.len() < 2 {
            return Views::default();
        }
        let shared = shared
            .iter()
            .map(|shared| (shared.resource, shared.memory.clone(), shared.mutable));
        SharedResources::new(&self.draft, shared).views(&self.device.backend)
    }

    /// Makes the definition one of a single graph, which lends this shared memory by references.
    pub(crate) fn keep_unique(&mut self, span: Span) {
        self.memory.unique = Some(span.resource);
    }

    /// Makes `build` fail (`shape-mismatch`) unless this shared memory has `len` elements in its outermost dimension.
    pub fn require_len<T, M>(&mut self, place: &Place<[T], M>, len: usize) {
        let has = place.span.bytes.checked_div(size_of::<T>()).unwrap_or(len);
        self.require(place.span, has, len, "rows");
    }

    /// Makes `build` fail unless this shared memory has these lengths.
    pub fn require_lengths<T, const D: usize, M>(&mut self, place: &Place<Table<T, D>, M>, lengths: [usize; D]) {
        let (has, expected) = (&place.lengths, &padded(lengths));
        self.require_same(place.span, (has != expected).then_some((*has, *expected)));
    }

    /// Reports shared memory of other lengths, `has`, than expected.
    pub(crate) fn require_same(&mut self, span: Span, differs: Option<(Lengths, Lengths)>) {
        if let Some((has, expected)) = differs.filter(|_| span.graph == self.id) {
            let name = &self.draft.resources[span.resource].name;
            let mistake = mistakes::wrong_lengths(span.resource, name, &text(&has), &text(&expected));
            self.findings.mistake(mistake);
        }
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
