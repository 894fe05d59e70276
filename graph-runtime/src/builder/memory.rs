//! Declaring the graph's own memory.

use super::GraphBuilder;
use super::constant::DeclaredConstant;
use super::rng::DeclaredRng;
use super::scratch::ScratchPlacement;
use super::shared::DeclaredShared;
use crate::shape::Element;
use crate::shape::part::Layout;
use crate::shape::place::{OnArray, OnDevice, OnHost, OnMapped, OwnMemory, Place, Span};
use crate::shape::rows::Tabular;
use crate::shape::size::Size;
use crate::shape::table::Table;
use graph_plan::Memory;
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

macro_rules! own_memory {
    ($($kind:ident in $place:ident:
        $(#[$of_fixed:meta])* $fixed:ident,
        $(#[$of_slice:meta])* $slice:ident,
        $(#[$of_table:meta])* $table:ident;
    )*) => {
        /// The kinds of memory that a graph declares for itself, as types.
        pub mod kind {
            $(#[derive(Debug)]
            #[doc = concat!("`", stringify!($fixed), "` memory.")]
            pub enum $kind {})*
        }

        $(impl OwnMemory for kind::$kind {
            const MEMORY: Memory = Memory::$kind;
            type Place = $place;
        }

        impl GraphBuilder {
            $(#[$of_fixed])*
            pub fn $fixed<S: Element>(&mut self, name: impl Into<Cow<'static, str>>) -> Place<S, $place> {
                self.declare(name, Memory::$kind, Size::fixed())
            }

            $(#[$of_slice])*
            pub fn $slice<T: Element>(&mut self, name: impl Into<Cow<'static, str>>, len: usize) -> Place<[T], $place> {
                self.declare(name, Memory::$kind, Size::slice(len))
            }

            $(#[$of_table])*
            pub fn $table<T: Element, const D: usize>(
                &mut self,
                name: impl Into<Cow<'static, str>>,
                lengths: [usize; D],
            ) -> Place<Table<T, D>, $place>
            where
                Table<T, D>: Tabular,
            {
                self.declare(name, Memory::$kind, Size::table(lengths))
            }
        })*

        const _: fn(Memory) = |memory| match memory {
            $(Memory::$kind => {})*
            Memory::Constant | Memory::Variable => {}
        };
    };
}

// A kind of memory does not compile until it has a row here: the kind of its places, and the methods that declare it.
own_memory! {
    Host in OnHost:
    /// Declares host memory of shape `S`, which the graph owns. It is zeroed when the graph is built, and page-locked
    /// on CUDA. [`Graph::host`](crate::Graph::host) lends it.
    host,
    /// Declares host memory of `len` elements. As [`GraphBuilder::host`], with a length that is known at run time.
    host_slice,
    /// Declares host memory of two to four dimensions. `lengths` begin with the outermost dimension and count elements:
    /// see [`Table`].
    host_table;

    Device in OnDevice:
    /// Declares device memory of shape `S`, which the graph owns. It is zeroed when the graph is built, and kept
    /// between launches. [`Graph::device`](crate::Graph::device) lends it.
    device,
    /// Declares device memory of `len` elements. As [`GraphBuilder::device`], with a length that is known at run time.
    device_slice,
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
    device_table;

    Scratch in OnDevice:
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
    scratch,
    /// Declares scratch memory of `len` elements. See [`GraphBuilder::scratch`].
    scratch_slice,
    /// Declares scratch memory of two to four dimensions, as [`GraphBuilder::scratch`]. `lengths` begin with the
    /// outermost dimension and count elements: see [`Table`].
    scratch_table;

    Mapped in OnMapped:
    /// Declares memory of the host, of shape `S`, that kernels take as `&[Mapped<T>]` ([`Mapped`](crate::Mapped)), and
    /// that the host loads and stores at any time, also while the graph runs. It is zeroed when the graph is built,
    /// and page-locked on CUDA. [`Graph::mapped`](crate::Graph::mapped) returns a handle for the host. Nodes of other
    /// kinds cannot take it.
    ///
    /// Any number of unordered nodes may access it: none of these accesses is a race.
    mapped,
    /// Declares mapped memory of `len` elements. See [`GraphBuilder::mapped`].
    mapped_slice,
    /// Declares mapped memory of two to four dimensions, as [`GraphBuilder::mapped`]. `lengths` begin with the
    /// outermost dimension and count elements: see [`Table`].
    mapped_table;

    Array in OnArray:
    /// Declares a CUDA array of shape `S`, which the graph owns. It is zeroed when the graph is built, and kept between
    /// launches. It has no address: kernels take it as [`Texel`](crate::Texel)s or [`Surfel`](crate::Surfel)s, and
    /// [`GraphBuilder::memcpy`] copies all of it from and to other memory. Nodes of other kinds cannot take it.
    ///
    /// The kernels that take it say the type of its texels and its dimensions. `build` fails if two of them differ, or
    /// if there is none.
    array,
    /// Declares a CUDA array of `len` elements. As [`GraphBuilder::array`], with a length that is known at run time.
    array_slice,
    /// Declares a CUDA array of two to four dimensions. As [`GraphBuilder::array`]; `lengths` begin with the outermost
    /// dimension and count elements: see [`Table`].
    array_table;
}

impl GraphBuilder {
    /// Declares memory of this kind, which the graph owns.
    pub(crate) fn declare<S: ?Sized, M>(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        memory: Memory,
        size: Size<S>,
    ) -> Place<S, M> {
        let place: Place<S, M> = self.resource(name.into(), memory, size.layout);
        Place::with_lengths(place.span, size.lengths)
    }

    pub(super) fn resource<S: ?Sized, M>(
        &mut self,
        name: Cow<'static, str>,
        memory: Memory,
        layout: Layout,
    ) -> Place<S, M> {
        let name = self.position.name_of(name);
        self.memory.layouts.push(Some(layout));
        let resource = self.draft.resource(name, memory);
        self.draft.resources[resource].extent = Some(layout.bytes as u64);
        Place::new(Span {
            graph: self.id,
            resource,
            start: 0,
            bytes: layout.bytes,
            outside: false,
        })
    }
}
