//! Borrows several pieces of a graph's host memory at the same time.

use crate::error::{Error, Result, Site};
use crate::graph::Graph;
use crate::ownership::block::SharedMemory;
use crate::ownership::storage::Storage;
use crate::shape::place::{OnHost, Place, Span};
use crate::shape::table::{Table, TableMut};
use crate::shape::{Element, Extent};
use std::ptr::NonNull;

/// The host memory of a graph, of which several pieces can be borrowed at the same time: see [`Graph::split_host`].
#[derive(Debug)]
pub struct HostSplit<'g> {
    graph: &'g mut Graph,
    /// Whether each resource has been taken.
    taken: Vec<bool>,
}

impl<'g> HostSplit<'g> {
    /// Makes a split of a graph without launches in flight: the caller has waited.
    pub(crate) fn new(graph: &'g mut Graph) -> Self {
        Self {
            taken: vec![false; graph.data.draft.resources.len()],
            graph,
        }
    }

    /// Lends host memory to read and write, as long as the graph is borrowed.
    ///
    /// # Errors
    /// * [`Error::AlreadyTaken`] if this resource, or a part of it, was taken before;
    /// * [`Error::ForeignPlace`] if the place is another graph's, [`Error::OutOfBounds`] if it reaches outside;
    /// * [`Error::Unsupported`] for memory that the graph shares.
    pub fn take<S>(&mut self, place: &Place<S, OnHost>) -> Result<&'g mut S> {
        let mut pointer = self.claim::<S>(place.span)?;
        // SAFETY: as in `Graph::host_mut`: `split_host` has waited, and the graph stays exclusively borrowed for `'g`.
        // Each resource is given out once, so no two references overlap.
        Ok(unsafe { pointer.as_mut() })
    }

    /// Lends host memory to read and write, whose length was fixed when the graph was built.
    ///
    /// # Errors
    /// As [`HostSplit::take`].
    pub fn take_slice<T: Element>(&mut self, place: &Place<[T], OnHost>) -> Result<&'g mut [T]> {
        self.elements(place.span)
    }

    /// Lends host memory to read and write, whose lengths were fixed when the graph was built.
    ///
    /// # Errors
    /// As [`HostSplit::take`].
    pub fn take_table<T: Element, const D: usize>(
        &mut self,
        place: &Place<Table<T, D>, OnHost>,
    ) -> Result<TableMut<'g, T, D>> {
        Ok(TableMut::new(self.elements(place.span)?, &place.lengths))
    }

    /// Lends a span that was issued for a slice or a table of `T`s.
    fn elements<T: Element>(&mut self, span: Span) -> Result<&'g mut [T]> {
        let mut slice = self.claim::<[T]>(span)?;
        // SAFETY: as in `take`; the span is a whole number of elements.
        Ok(unsafe { slice.as_mut() })
    }

    fn claim<S: ?Sized + Extent>(&mut self, span: Span) -> Result<NonNull<S>> {
        let site = self.graph.check_place(span)?;
        if std::mem::replace(&mut self.taken[span.resource], true) {
            return Err(Error::AlreadyTaken { site });
        }
        host_pointer(&self.graph.executable.storage()[span.resource], span, site)
    }
}

/// A pointer to a span, which was checked to lie in the memory, and whose shape is `S`. Fails if the graph does not own
/// the memory.
pub(crate) fn host_pointer<S: ?Sized + Extent>(storage: &Storage, span: Span, site: Site) -> Result<NonNull<S>> {
    match storage {
        // SAFETY: the span was issued by the builder of this graph as a part of this resource, whose size the memory
        // has.
        Storage::Host(memory) => Ok(S::at(unsafe { memory.pointer().add(span.start) }, span.bytes)),
        Storage::Shared(SharedMemory::Host(_)) => Err(Error::Unsupported {
            site,
            message: "shared host memory is lent by guards: `SharedHost::read` and `SharedHost::write`",
        }),
        _ => Err(Error::ForeignPlace { site }),
    }
}
