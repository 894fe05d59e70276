//! Graphs that are expressions of `cuda_graph!`. The type of such a graph is generic over its resources, its params,
//! and the closure with the nodes that mention params.

use crate::builder::GraphBuilder;
use crate::device::Device;
use crate::driver::CudaFunction;
use crate::error::{Error, Result};
use crate::expansion::node_target::NodeTarget;
use crate::graph::Graph;
use crate::graph::change::update::Update;
use crate::graph::host_split::HostSplit;
use crate::kernel::mapped::Word;
use crate::kernel::{KernelCall, Launch};
use crate::memory::{DeviceMut, DeviceRef, MappedHost};
use crate::program::transfer::{Memcpy, Memset};
use crate::shape::place::{OnDevice, OnHost, OnMapped, Place};
use crate::shape::table::{Table, TableMut, TableRef};
use crate::shape::{ArrayOf, Element};

/// A resource of the graph, which its accessors lend.
pub trait Slot {
    /// The type that lends it to read.
    type Ref<'g>
    where
        Self: 'g;
    /// The type that lends it to read and write.
    type Mut<'g>
    where
        Self: 'g;

    /// Waits, and lends it to read.
    fn lend<'g>(&'g self, graph: &'g Graph) -> Result<Self::Ref<'g>>;

    /// Waits, and lends it to read and write.
    fn lend_mut<'g>(&'g mut self, graph: &'g mut Graph) -> Result<Self::Mut<'g>>;
}

/// Host memory that the graph owns.
pub trait HostSlot: Slot {
    /// The type that lends it to read and write, at the same time as other memory.
    type View<'g>;

    /// Lends it to read and write, at the same time as other memory.
    fn take<'g>(split: &mut HostSplit<'g>, place: &Self) -> Result<Self::View<'g>>;
}

impl<S: ?Sized> Slot for Place<S, OnDevice> {
    type Ref<'g>
        = DeviceRef<'g, S>
    where
        Self: 'g;
    type Mut<'g>
        = DeviceMut<'g, S>
    where
        Self: 'g;

    fn lend<'g>(&'g self, graph: &'g Graph) -> Result<DeviceRef<'g, S>> {
        graph.device(self)
    }

    fn lend_mut<'g>(&'g mut self, graph: &'g mut Graph) -> Result<DeviceMut<'g, S>> {
        graph.device_mut(self)
    }
}

/// Mapped memory, to which the graph has handles.
pub trait MappedSlot {
    /// The type of its elements.
    type Element: Word;

    /// A handle to it.
    fn handle(&self, graph: &Graph) -> Result<MappedHost<Self::Element>>;
}

impl<S: ?Sized + Numbers<Number: Word> + ArrayOf<S::Number>> MappedSlot for Place<S, OnMapped> {
    type Element = S::Number;

    fn handle(&self, graph: &Graph) -> Result<MappedHost<S::Number>> {
        graph.mapped(self)
    }
}

macro_rules! host_slots {
    ($([$($bound:tt)*] $shape:ty: $shared:ty, $exclusive:ty, $lend:ident, $lend_mut:ident, $take:ident;)*) => {$(
        impl<$($bound)*> Slot for Place<$shape, OnHost> {
            type Ref<'g> = $shared;
            type Mut<'g> = $exclusive;

            fn lend<'g>(&'g self, graph: &'g Graph) -> Result<$shared> {
                graph.$lend(self)
            }

            fn lend_mut<'g>(&'g mut self, graph: &'g mut Graph) -> Result<$exclusive> {
                graph.$lend_mut(self)
            }
        }

        impl<$($bound)*> HostSlot for Place<$shape, OnHost> {
            type View<'g> = $exclusive;

            fn take<'g>(split: &mut HostSplit<'g>, place: &Self) -> Result<$exclusive> {
                split.$take(place)
            }
        }
    )*};
}
host_slots! {
    [S: Element] S: &'g S, &'g mut S, host, host_mut, take;
    [T: Element] [T]: &'g [T], &'g mut [T], host_slice, host_slice_mut, take_slice;
    [T: Element, const D: usize] Table<T, D>: TableRef<'g, T, D>, TableMut<'g, T, D>, host_table, host_table_mut, take_table;
}

/// The target of the nodes that mention params.
#[derive(Debug)]
pub enum AnyTarget<'a, 'g> {
    /// A builder, to which they are added.
    Builder(&'a mut GraphBuilder),
    /// An update, which changes them.
    Update(&'a mut Update<'g>),
}

/// Calls a function of [`NodeTarget`] with the builder or with the update.
macro_rules! either {
    ($any:ident, $target:ident => $call:expr) => {
        match $any {
            AnyTarget::Builder($target) => $call,
            AnyTarget::Update($target) => $call,
        }
    };
}

impl NodeTarget for AnyTarget<'_, '_> {
    fn kernel<const N: usize>(
        &mut self,
        index: usize,
        name: &'static str,
        launch: Launch,
        call: KernelCall<N>,
    ) -> Result<()> {
        either!(self, target => NodeTarget::kernel(*target, index, name, launch, call))
    }

    fn memcpy(&mut self, index: usize, name: &'static str, copy: Memcpy) -> Result<()> {
        either!(self, target => NodeTarget::memcpy(*target, index, name, copy))
    }

    fn memset(&mut self, index: usize, name: &'static str, set: Memset) -> Result<()> {
        either!(self, target => NodeTarget::memset(*target, index, name, set))
    }

    fn outside(&self, index: usize, name: &'static str, memory: &str, range: (usize, usize), len: usize) -> Error {
        either!(self, target => NodeTarget::outside(*target, index, name, memory, range, len))
    }

    fn child<B>(
        &mut self,
        index: usize,
        name: &'static str,
        bound: B,
        add: impl FnOnce(&mut GraphBuilder, B) -> Result<()>,
        update: impl FnOnce(&mut Update<'_>, B) -> Result<()>,
    ) -> Result<()> {
        either!(self, target => NodeTarget::child(*target, index, name, bound, add, update))
    }

    fn iterations<const DEPTH: usize>(&self) -> [usize; DEPTH] {
        either!(self, target => NodeTarget::iterations(*target))
    }

    fn graph_name(&self) -> &str {
        either!(self, target => NodeTarget::graph_name(*target))
    }
}

/// The closure with the nodes that mention params. It applies the node with the given index, for these values of all
/// params. The third argument is the function value that the node launches; it is given only when the node is added.
pub trait Nodes<P>: FnMut(&mut AnyTarget<'_, '_>, usize, Option<CudaFunction>, P) -> Result<()> {
    /// Adds a node. If that fails, `build` returns the error.
    fn add(&mut self, builder: &mut GraphBuilder, index: usize, function: Option<CudaFunction>, params: P) {
        if let Err(error) = self(&mut AnyTarget::Builder(builder), index, function, params) {
            builder.end_early(error); // the error of a `?` in an expression
        }
    }
}

impl<P, F: FnMut(&mut AnyTarget<'_, '_>, usize, Option<CudaFunction>, P) -> Result<()>> Nodes<P> for F {}

/// Returns the closure. This tells rustc the types of its arguments.
pub fn changing<P, F: FnMut(&mut AnyTarget<'_, '_>, usize, Option<CudaFunction>, P) -> Result<()>>(nodes: F) -> F {
    nodes
}

/// An expression of the right type, for a graph with mistakes, which does not compile.
pub fn stub<G>(_device: &Device, _graph: impl FnOnce(&mut GraphBuilder) -> G) -> Result<G> {
    unreachable!("this graph has mistakes and did not compile")
}

/// Shapes whose elements are numbers.
#[diagnostic::on_unimplemented(
    message = "a memset of captured memory sets numbers, but the memory has shape `{Self}`",
    label = "its elements are no numbers",
    note = "declare the memory, or share it as `x: mut device {Self}`, which tells the type of its elements"
)]
pub trait Numbers {
    /// The type of the elements.
    type Number: Element;
}

macro_rules! numbers {
    ($($ty:ty)*) => {$(
        impl Numbers for $ty {
            type Number = $ty;
        }
    )*};
}
numbers!(u8 u16 u32 u64 u128 i8 i16 i32 i64 i128 usize isize f32 f64);

impl<T: Numbers, const N: usize> Numbers for [T; N] {
    type Number = T::Number;
}

impl<T: Numbers> Numbers for [T] {
    type Number = T::Number;
}

impl<T: Numbers, const D: usize> Numbers for Table<T, D> {
    type Number = T::Number;
}

/// Returns the value that a memset of captured memory sets. This gives it the type of the memory's elements.
pub fn element_of<S: ?Sized + Numbers, M>(_place: &Place<S, M>, value: S::Number) -> S::Number {
    value
}

/// Memory that kernels can reach.
#[diagnostic::on_unimplemented(
    message = "this is host memory, but kernels, memsets and conditions need device memory [wrong-memory]",
    label = "host memory",
    note = "declare a `device` resource of the same shape, use it here, and copy: `memcpy upload = ... -> ...`"
)]
pub trait DeviceMemory {}

impl DeviceMemory for OnDevice {}

/// Asserts that a place in captured memory is device memory.
pub fn on_device<S: ?Sized, M: DeviceMemory>(place: Place<S, M>) -> Place<S, OnDevice> {
    Place::with_lengths(place.span, place.lengths)
}
