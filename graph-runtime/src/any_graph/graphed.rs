//! A forward and a backward graph that are used as functions.

use crate::any_graph::AnyGraph;
use crate::builder::GraphBuilder;
use crate::device::Device;
use crate::error::{Error, Result, Site};
use crate::graph::Graph;
use crate::memory::DeviceBuffer;
use crate::ownership::block::SharedMemory;
use crate::program::tuples::each_tuple;
use crate::shape::place::{OnDevice, Place};
use std::fmt;

/// The memory between which a [`Graphed`] computes: device buffers that its graphs share. Each field is a
/// [`DeviceBuffer`] or a tuple of [`GraphedBuffers`].
#[derive(Clone, Debug)]
pub struct GraphedMemory<X, Y, D = X> {
    /// The memory that the forward graph reads.
    pub inputs: X,
    /// The memory that the forward graph writes.
    pub outputs: Y,
    /// The gradients of the outputs, which the backward graph reads.
    pub grad_outputs: Y,
    /// The gradients that the backward graph writes: of the inputs, or of those that have one.
    pub grad_inputs: D,
}

/// A forward and a backward graph, used as functions of inputs and of gradients: PyTorch's `make_graphed_callables`.
/// The parts of a program that graphs cannot have, such as control flow that depends on data, stay ordinary code
/// between such functions.
///
/// The graphs may be of any kind: declared, expressions, built, or [captured](crate::CapturedGraph), each another one.
/// They share the buffers of a [`GraphedMemory`], by build arguments or [`GraphBuilder::shared`], and any other memory
/// that they need, such as weights and their gradients. What is passed to the functions is copied to the buffers on the
/// device, in order with the graphs' launches. (A buffer of the memory itself is taken as it is.)
///
/// ```
/// use graph_runtime::{Device, Graphed, GraphedMemory, Result, cuda_graph, cuda_kernels};
///
/// #[cuda_kernels("../examples/kernels/forward_backward.ptx")]
/// unsafe extern "C" {
///     #[requires(threads <= data.len())]
///     safe fn kernel_forward(data: &mut [f32]);
/// }
///
/// cuda_graph! {
///     /// `y = 2 x`; read backward, the gradient of `x` from that of `y`.
///     graph Double(x: device [f32; 4], y: mut device [f32; 4]) {
///         memcpy copy   = x -> y;
///         kernel double = kernel_forward<<<1, 4>>>(&mut y) after copy;
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let device = Device::emulator();
/// let memory = GraphedMemory {
///     inputs: device.alloc::<[f32; 4]>()?,
///     outputs: device.alloc::<[f32; 4]>()?,
///     grad_outputs: device.alloc()?,
///     grad_inputs: device.alloc::<[f32; 4]>()?,
/// };
/// let forward = Double::build(&device, &memory.inputs, &memory.outputs)?;
/// let backward = Double::build(&device, &memory.grad_outputs, &memory.grad_inputs)?;
/// let mut double = Graphed::new(&device, memory, forward, backward);
///
/// let (x, dy) = (device.alloc::<[f32; 4]>()?, device.alloc::<[f32; 4]>()?);
/// x.copy_from(&[1.0, 2.0, 3.0, 4.0])?;
/// dy.copy_from(&[0.5; 4])?;
/// let y = double.forward(&x)?;
/// assert_eq!(*y.read()?, [2.0, 4.0, 6.0, 8.0]);
/// let dx = double.backward(&dy)?;
/// assert_eq!(*dx.read()?, [1.0; 4]);
/// # Ok(())
/// # }
/// ```
///
/// Calls return without waiting; whoever reads their results waits. Results stay in the same buffers: the next call
/// replaces them.
pub struct Graphed<X: GraphedBuffers, Y: GraphedBuffers, D = X> {
    device: Device,
    memory: GraphedMemory<X, Y, D>,
    forward: Box<dyn AnyGraph + Send>,
    backward: Box<dyn AnyGraph + Send>,
    of_inputs: X::Copies,
    of_grad_outputs: Y::Copies,
    /// Whether there are outputs whose gradients could be asked for.
    has_outputs: bool,
}

impl<X: GraphedBuffers, Y: GraphedBuffers, D> Graphed<X, Y, D> {
    /// Makes functions of two graphs, which have been built on `device` over `memory`.
    pub fn new(
        device: &Device,
        memory: GraphedMemory<X, Y, D>,
        forward: impl AnyGraph + Send + 'static,
        backward: impl AnyGraph + Send + 'static,
    ) -> Self {
        Self {
            device: device.clone(),
            memory,
            forward: Box::new(forward),
            backward: Box::new(backward),
            of_inputs: X::Copies::default(),
            of_grad_outputs: Y::Copies::default(),
            has_outputs: false,
        }
    }

    /// Launches both graphs `runs` times, one after the other, and waits for them, so that later launches find
    /// everything loaded. PyTorch does so 3 times before it captures; a graph that is captured can
    /// [warm up](crate::CaptureOptions::warm_up) itself. The launches change memory like others.
    ///
    /// # Errors
    /// As [`Graph::launch`] and [`Graph::synchronize`].
    pub fn warm_up(&mut self, runs: usize) -> Result<()> {
        for _ in 0..runs {
            self.forward.launch()?;
            self.backward.launch()?;
        }
        self.synchronize()
    }

    /// Copies `inputs` to the memory of the forward graph, launches it, and returns its outputs.
    ///
    /// # Errors
    /// * [`Error::Invalid`] if lengths that the types do not tell differ (`shape-mismatch`), or if an input overlaps
    ///   the memory that it is copied to (`aliased-argument`);
    /// * [`Error::ForeignMemory`] if an input is memory of another device;
    /// * those of [`Graph::launch`].
    pub fn forward(&mut self, inputs: X::Passed<'_>) -> Result<&Y> {
        let name = format!("inputs of {}", self.forward.name());
        let memory = &self.memory.inputs;
        memory.copy_in(inputs, &mut self.of_inputs, &self.device, &name)?;
        self.forward.launch()?;
        self.has_outputs = true;
        Ok(&self.memory.outputs)
    }

    /// Copies `grad_outputs` to the memory of the backward graph, launches it, and returns the gradients of the inputs.
    /// They are those at the inputs of the last [`Graphed::forward`].
    ///
    /// # Errors
    /// As [`Graphed::forward`]; and [`Error::Unsupported`] if there was no `forward` before.
    pub fn backward(&mut self, grad_outputs: Y::Passed<'_>) -> Result<&D> {
        if !self.has_outputs {
            return Err(Error::Unsupported {
                site: Site::graph(self.backward.name()),
                message: "gradients are those of the outputs of `forward`, which has not been called",
            });
        }
        let name = format!("inputs of {}", self.backward.name());
        let memory = &self.memory.grad_outputs;
        memory.copy_in(grad_outputs, &mut self.of_grad_outputs, &self.device, &name)?;
        self.backward.launch()?;
        Ok(&self.memory.grad_inputs)
    }

    /// Waits for all launches of both graphs.
    ///
    /// # Errors
    /// As [`Graph::synchronize`].
    pub fn synchronize(&self) -> Result<()> {
        self.forward.synchronize()?;
        self.backward.synchronize()
    }

    /// The buffers of both graphs.
    pub fn memory(&self) -> &GraphedMemory<X, Y, D> {
        &self.memory
    }

    /// The forward and the backward graph.
    pub fn graphs(&self) -> [&dyn AnyGraph; 2] {
        [&*self.forward, &*self.backward]
    }
}

impl<X: GraphedBuffers, Y: GraphedBuffers, D> fmt::Debug for Graphed<X, Y, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Graphed({:?}, {:?})", self.forward, self.backward)
    }
}

mod sealed {
    pub trait GraphedBuffers {}
}

/// The buffers of one field of [`GraphedMemory`]: a [`DeviceBuffer`], or a tuple of up to twelve of them or of tuples.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no memory that a `Graphed` computes between",
    label = "neither a `DeviceBuffer` nor a tuple of them"
)]
pub trait GraphedBuffers: sealed::GraphedBuffers {
    /// The argument of the function: a reference to a buffer of the same shape, or a tuple of such.
    type Passed<'a>;

    /// The graphs that copy the arguments.
    #[doc(hidden)]
    type Copies: Default + Send;

    #[doc(hidden)]
    fn copy_in(&self, passed: Self::Passed<'_>, copies: &mut Self::Copies, device: &Device, name: &str) -> Result<()>;
}

/// A graph that copies a buffer to one that stays.
#[doc(hidden)]
pub struct CopyGraph<S: ?Sized> {
    graph: Graph,
    from: Place<S, OnDevice>,
    /// The memory that is copied from. The graph keeps it alive.
    source: SharedMemory,
}

impl<S: ?Sized> CopyGraph<S> {
    fn new(device: &Device, name: &str, from: &DeviceBuffer<S>, to: &DeviceBuffer<S>) -> Result<Self> {
        let mut builder = GraphBuilder::new(device, name.to_owned());
        let place = builder.shared("passed", from, false);
        let mut to = builder.shared("memory", to, true);
        builder.memcpy("copy", &place, &mut to);
        Ok(Self {
            graph: builder.build()?,
            from: place,
            source: SharedMemory::of(from),
        })
    }
}

impl<S: ?Sized> sealed::GraphedBuffers for DeviceBuffer<S> {}

impl<S: ?Sized + 'static> GraphedBuffers for DeviceBuffer<S> {
    type Passed<'a> = &'a DeviceBuffer<S>;
    type Copies = Option<CopyGraph<S>>;

    fn copy_in(&self, passed: &Self, copies: &mut Self::Copies, device: &Device, name: &str) -> Result<()> {
        let source = SharedMemory::of(passed);
        if source.is_same(&SharedMemory::of(self)) {
            return Ok(());
        }
        let copy = match copies {
            Some(copy) => copy,
            None => copies.insert(CopyGraph::new(device, name, passed, self)?),
        };
        if !source.is_same(&copy.source) {
            copy.graph.rebind(&copy.from, passed)?;
            copy.source = source;
        }
        copy.graph.launch()
    }
}

macro_rules! tuples {
    ($([$($buffer:ident $index:tt)*])*) => {$(
        impl<$($buffer: GraphedBuffers),*> sealed::GraphedBuffers for ($($buffer,)*) {}

        impl<$($buffer: GraphedBuffers),*> GraphedBuffers for ($($buffer,)*) {
            type Passed<'a> = ($($buffer::Passed<'a>,)*);
            type Copies = ($($buffer::Copies,)*);

            fn copy_in(
                &self,
                passed: Self::Passed<'_>,
                copies: &mut Self::Copies,
                device: &Device,
                name: &str,
            ) -> Result<()> {
                $(self.$index.copy_in(passed.$index, &mut copies.$index, device, name)?;)*
                Ok(())
            }
        }
    )*};
}
each_tuple!(tuples);
