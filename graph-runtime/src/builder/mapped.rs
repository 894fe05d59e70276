//! Mapped memory: memory of the host that kernels and the host access while the graph runs.

use super::GraphBuilder;
use crate::shape::Element;
use crate::shape::place::{OnMapped, Place};
use crate::shape::rows::Tabular;
use crate::shape::table::Table;
use graph_plan::Space;
use std::borrow::Cow;

impl GraphBuilder {
    /// Declares memory of the host, of shape `S`, that kernels take as `&[Mapped<T>]` ([`Mapped`](crate::Mapped)), and
    /// that the host loads and stores at any time, also while the graph runs. It is zeroed when the graph is built,
    /// and page-locked on CUDA. [`Graph::mapped`](crate::Graph::mapped) returns a handle for the host. Nodes of other
    /// kinds cannot take it.
    ///
    /// Any number of unordered nodes may access it: none of these accesses is a race.
    pub fn mapped<S: Element>(&mut self, name: impl Into<Cow<'static, str>>) -> Place<S, OnMapped> {
        let place = self.resource(name.into(), Space::Device, size_of::<S>(), align_of::<S>());
        self.draft.resources[place.span.resource].mapped = true;
        place
    }

    /// Declares mapped memory of `len` elements. See [`GraphBuilder::mapped`].
    pub fn mapped_slice<T: Element>(&mut self, name: impl Into<Cow<'static, str>>, len: usize) -> Place<[T], OnMapped> {
        let bytes = len.saturating_mul(size_of::<T>());
        let place = self.resource(name.into(), Space::Device, bytes, align_of::<T>());
        self.draft.resources[place.span.resource].mapped = true;
        place
    }

    /// Declares mapped memory of two to four dimensions, as [`GraphBuilder::mapped`]. `lengths` begin with the
    /// outermost dimension and count elements: see [`Table`].
    pub fn mapped_table<T: Element, const D: usize>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        lengths: [usize; D],
    ) -> Place<Table<T, D>, OnMapped>
    where
        Table<T, D>: Tabular,
    {
        let place = self.table(name.into(), Space::Device, lengths);
        self.draft.resources[place.span.resource].mapped = true;
        place
    }
}
