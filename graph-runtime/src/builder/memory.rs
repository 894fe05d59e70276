//! Declaring the graph's own memory.

use super::GraphBuilder;
use super::constant::DeclaredConstant;
use super::rng::DeclaredRng;
use super::scratch::ScratchPlacement;
use super::shared::DeclaredShared;
use crate::shape::Element;
use crate::shape::part::Layout;
use crate::shape::place::{OnDevice, OnHost, Place, Span};
use crate::shape::rows::Tabular;
use crate::shape::table::{Table, bytes_of, padded};
use graph_plan::Space;
use std::borrow::Cow;

/// The facts of declared memory that the draft does not have.
#[derive(Default)]
pub(super) struct DeclaredMemory {
    /// The size and alignment of each resource in bytes; `None` for a variable of a kernel's module.
    pub(super) layouts: Vec<Option<Layout>>,
    /// The shared resources, in order of declaration.
    pub(super) shared: Vec<DeclaredShared>,
    pub(super) rngs: Vec<DeclaredRng>,
    pub(super) constants: Vec<DeclaredConstant>,
    pub(super) scratch: ScratchPlacement,
    /// A resource whose memory the graph lends by references, since nobody else has it: so it may belong to one graph
    /// only.
    pub(super) unique: Option<usize>,
}

impl DeclaredMemory {
    /// The size of a resource in bytes; 0 if it is not known.
    pub(super) fn bytes(&self, resource: usize) -> usize {
        self.layouts[resource].map_or(0, |layout| layout.bytes)
    }

    /// Whether the resource is shared memory that nodes must not write.
    pub(super) fn is_read_only(&self, resource: usize) -> bool {
        let found = self.shared.binary_search_by_key(&resource, |shared| shared.resource);
        found.is_ok_and(|index| !self.shared[index].mutable)
    }
}

impl GraphBuilder {
    /// Declares host memory of shape `S`, which the graph owns. It is zeroed when the graph is built, and page-locked
    /// on CUDA. [`Graph::host`](crate::Graph::host) lends it.
    pub fn host<S: Element>(&mut self, name: impl Into<Cow<'static, str>>) -> Place<S, OnHost> {
        self.resource(name.into(), Space::Host, size_of::<S>(), align_of::<S>())
    }

    /// Declares device memory of shape `S`, which the graph owns. It is zeroed when the graph is built, and kept
    /// between launches. [`Graph::device`](crate::Graph::device) lends it.
    pub fn device<S: Element>(&mut self, name: impl Into<Cow<'static, str>>) -> Place<S, OnDevice> {
        self.resource(name.into(), Space::Device, size_of::<S>(), align_of::<S>())
    }

    /// Declares host memory of `len` elements. As [`GraphBuilder::host`], with a length that is known at run time.
    pub fn host_slice<T: Element>(&mut self, name: impl Into<Cow<'static, str>>, len: usize) -> Place<[T], OnHost> {
        let bytes = len.saturating_mul(size_of::<T>());
        self.resource(name.into(), Space::Host, bytes, align_of::<T>())
    }

    /// Declares device memory of `len` elements. As [`GraphBuilder::device`], with a length that is known at run time.
    pub fn device_slice<T: Element>(&mut self, name: impl Into<Cow<'static, str>>, len: usize) -> Place<[T], OnDevice> {
        let bytes = len.saturating_mul(size_of::<T>());
        self.resource(name.into(), Space::Device, bytes, align_of::<T>())
    }

    /// Declares host memory of two to four dimensions. `lengths` begin with the outermost dimension and count elements:
    /// see [`Table`].
    pub fn host_table<T: Element, const D: usize>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        lengths: [usize; D],
    ) -> Place<Table<T, D>, OnHost>
    where
        Table<T, D>: Tabular,
    {
        self.table(name.into(), Space::Host, lengths)
    }

    /// Declares device memory of two to four dimensions. `lengths` begin with the outermost dimension and count
    /// elements: see [`Table`].
    ///
    /// ```
    /// use graph_runtime::{Device, GraphBuilder};
    ///
    /// let (n, d) = (3, 4);                            // known only now
    /// let mut builder = GraphBuilder::new(&Device::emulator(), "Rows");
    /// let w = builder.device_table::<f32, 2>("w", [n, d]);
    /// for i in 0..n {
    ///     builder.memset(format!("row{i}"), &mut w.row(i), i as f32);
    /// }
    ///
    /// let mut graph = builder.build()?;
    /// graph.launch()?;
    /// assert_eq!(graph.device(&w)?.row(2)?.read_vec()?, [2.0; 4]);
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    pub fn device_table<T: Element, const D: usize>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        lengths: [usize; D],
    ) -> Place<Table<T, D>, OnDevice>
    where
        Table<T, D>: Tabular,
    {
        self.table(name.into(), Space::Device, lengths)
    }

    pub(super) fn table<T, const D: usize, M>(
        &mut self,
        name: Cow<'static, str>,
        space: Space,
        lengths: [usize; D],
    ) -> Place<Table<T, D>, M> {
        let place: Place<Table<T, D>, M> = self.resource(name, space, bytes_of::<T>(&lengths), align_of::<T>());
        Place::with_lengths(place.span, padded(lengths))
    }

    pub(super) fn resource<S: ?Sized, M>(
        &mut self,
        name: Cow<'static, str>,
        space: Space,
        bytes: usize,
        align: usize,
    ) -> Place<S, M> {
        let name = self.position.name_of(name);
        self.memory.layouts.push(Some(Layout { bytes, align }));
        Place::new(Span {
            graph: self.id,
            resource: self.draft.resource(name, space),
            start: 0,
            bytes,
            outside: false,
        })
    }
}
