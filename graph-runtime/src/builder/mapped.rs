//! Mapped memory: memory of the host that kernels and the host access while the graph runs.

use super::GraphBuilder;
use crate::shape::Element;
use crate::shape::place::{OnMapped, Place};
use crate::shape::rows::Tabular;
use crate::shape::size::Size;
use crate::shape::table::Table;
use graph_plan::Memory;
use std::borrow::Cow;

impl GraphBuilder {
    /// Declares memory of the host, of shape `S`, that kernels take as `&[Mapped<T>]` ([`Mapped`](crate::Mapped)), and
    /// that the host loads and stores at any time, also while the graph runs. It is zeroed when the graph is built,
    /// and page-locked on CUDA. [`Graph::mapped`](crate::Graph::mapped) returns a handle for the host. Nodes of other
    /// kinds cannot take it.
    ///
    /// Any number of unordered nodes may access it: none of these accesses is a race.
    pub fn mapped<S: Element>(&mut self, name: impl Into<Cow<'static, str>>) -> Place<S, OnMapped> {
        self.declare(name, Memory::Mapped, Size::fixed())
    }

    /// Declares mapped memory of `len` elements. See [`GraphBuilder::mapped`].
    pub fn mapped_slice<T: Element>(&mut self, name: impl Into<Cow<'static, str>>, len: usize) -> Place<[T], OnMapped> {
        self.declare(name, Memory::Mapped, Size::slice(len))
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
        self.declare(name, Memory::Mapped, Size::table(lengths))
    }
}
