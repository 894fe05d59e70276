//! Devices: a CUDA device, or the emulator in place of one.

mod ranks;

use crate::backend::launch_end::MAX_SPIN;
use crate::devices::adopted::DeviceMemory;
use crate::devices::bodies::Bodies;
use crate::devices::cuda::Cuda;
use crate::devices::options::{DebugOptions, EmulatorOptions};
use crate::devices::uploads::Uploads;
use crate::devices::{Backend, Emulated};
use crate::driver::{CUcontext, CudaContext};
use crate::error::{At, Error, Result, Site};
use crate::kernel::module::Module;
use crate::kernel::source::{CudaText, Ptx};
use crate::memory::{DeviceBuffer, Generator, HostBuffer, Philox, Pool, Scope};
use crate::ownership::device_memory::KernelMemory;
use crate::ownership::host_memory::HostMemory;
use crate::program::event::Event;
use crate::shape::rows::Tabular;
use crate::shape::size::Size;
use crate::shape::table::Table;
use crate::shape::{Element, NO_LENGTHS};
use std::any::Any;
use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A device that graphs run on: a CUDA device, or a CPU that executes the same PTX.
///
/// A clone is another handle to the same device.
#[derive(Clone)]
pub struct Device {
    pub(crate) backend: Backend,
    /// The seed of [`Device::with_delays`], on CUDA devices only.
    pub(crate) delays: Option<u64>,
    /// The options of [`Device::with_debug`], if debug mode was asked for.
    pub(crate) debug: Option<DebugOptions>,
    /// The longest time for which a processor is kept busy by one future: [`Device::with_max_spin`].
    pub(crate) max_spin: Duration,
    /// The pool of [`Device::with_pool`].
    pub(crate) pool: Option<Pool>,
    /// The form of bodies: [`Device::with_bodies`].
    pub(crate) bodies: Bodies,
    /// The form of copies from the host: [`Device::with_uploads`].
    pub(crate) uploads: Uploads,
}

impl Device {
    /// Opens the CUDA device of this number, counted from 0, in its primary context.
    ///
    /// # Errors
    /// * [`Error::NoDriver`] if no NVIDIA driver is installed, [`Error::DriverTooOld`] if it is older than CUDA 12.0;
    /// * [`Error::NoDevice`] if there is no device of this number;
    /// * [`Error::Cuda`] if the driver refuses.
    pub fn cuda(ordinal: usize) -> Result<Device> {
        Ok(Self::new(Backend::Cuda(Cuda::open(ordinal)?)))
    }

    /// Returns a new CPU emulator. Its memory is its own: another emulator cannot use it.
    ///
    /// If this crate was built without its feature `emulator`, the device exists, but whatever is made on it is
    /// refused: graphs, memory and events by [`Error::NoEmulator`].
    pub fn emulator() -> Device {
        Self::emulator_with(EmulatorOptions::default())
    }

    /// Returns a new CPU emulator with these limits, checks and order of nodes. Its memory is its own. It needs
    /// the feature `emulator`, as [`Device::emulator`] does.
    pub fn emulator_with(options: EmulatorOptions) -> Device {
        Self::new(Backend::Emulator(Emulated::new(options)))
    }

    /// Returns so many new emulators, one for each rank of a [`Communicator`](crate::Communicator).
    pub fn emulators(count: usize) -> Vec<Device> {
        (0..count).map(|_| Self::emulator()).collect()
    }

    fn new(backend: Backend) -> Device {
        Self {
            backend,
            delays: None,
            debug: None,
            max_spin: MAX_SPIN,
            pool: None,
            bodies: Bodies::default(),
            uploads: Uploads::default(),
        }
    }

    /// Returns the same device, set up to bring ordering mistakes to light. On CUDA, each node of a graph that is built
    /// on it starts after a delay of up to 50 us; the seed determines the delays. On the emulator, nodes run in a
    /// random order that the graph allows, which differs at each launch.
    ///
    /// Facts that the compiler has proved need no such test. Promises of the author do: that a `capture` or `raw` node,
    /// or a kernel declared `safe`, touches only the memory that is declared.
    pub fn with_delays(&self, seed: u64) -> Device {
        match &self.backend {
            Backend::Cuda(_) => Self {
                delays: Some(seed),
                ..self.clone()
            },
            Backend::Emulator(device) => Self {
                backend: Backend::Emulator(device.with_seed(seed)),
                ..self.clone()
            },
        }
    }

    /// Returns the same device, set up to hand the text that kernels print by `printf` to `receive`, which is called
    /// once for each call of `printf` by a thread. Blocks run on several host threads, so it may be called on any of
    /// them, and on several at the same time. If it panics, so does the launch. As in host functions, memory that
    /// graphs share is refused in it ([`Error::InUse`]) while others use it. Without a receiver, the text goes to
    /// standard output.
    ///
    /// On CUDA this changes nothing: the driver collects the text in a buffer of its own (1 MB, of which the oldest
    /// text is lost if there is more) and writes it to standard output when the host waits for the device.
    ///
    /// ```
    /// use graph_runtime::Device;
    /// use std::sync::{Arc, Mutex};
    ///
    /// let text = Arc::new(Mutex::new(String::new()));
    /// let sink = text.clone();
    /// let device = Device::emulator().with_printer(move |line| sink.lock().unwrap().push_str(line));
    /// # assert!(device.is_emulator());
    /// ```
    pub fn with_printer(&self, receive: impl Fn(&str) + Send + Sync + 'static) -> Device {
        match &self.backend {
            Backend::Cuda(_) => self.clone(),
            Backend::Emulator(device) => Self {
                backend: Backend::Emulator(device.with_printer(receive)),
                ..self.clone()
            },
        }
    }

    /// Returns the same device in debug mode: graphs that are built on it run node by node on the GPU, with a wait
    /// after each node, in bodies and loops too. So the first fault names its node, the kernel with its launch and its
    /// arguments, and the iterations of the loops around it. The lines of CUDA's own log (CUDA 12.9) follow, if there
    /// are any. The error is [`Error::Fault`]; [`Graph::launch`](crate::Graph::launch) returns it, and so do waits and
    /// accessors.
    ///
    /// Results are those of other launches, but nodes do not overlap, a launch returns when the graph has run, and
    /// `raw()` of a graph is `None`. [`Device::with_delays`] has no effect. Launches of graphs that were built without
    /// debug mode cost nothing more.
    ///
    /// The environment variable `CUDA_GRAPH_DEBUG=1` does this for all graphs of a program, with default options;
    /// `CUDA_GRAPH_DEBUG_TIMEOUT` (seconds) and `CUDA_GRAPH_DEBUG_ITERATIONS` change these, and 0 is no limit. It is
    /// read when a graph is built.
    ///
    /// `CUDA_GRAPH_DEBUG=nan` also finds the first value that is not finite: [`DebugOptions::check_finite`]. With
    /// `CUDA_GRAPH_DEBUG=writes`, writes through `&` are found: [`DebugOptions::check_writes`]. A comma joins both.
    ///
    /// The emulator always runs graphs so, and has limits of its own ([`EmulatorOptions`]): there this does nothing but
    /// that search.
    pub fn with_debug(&self, options: DebugOptions) -> Device {
        Self {
            debug: Some(options),
            ..self.clone()
        }
    }

    /// Returns the same device, on which the bodies of `if`, `switch` and `while` run in this form on a GPU.
    ///
    /// A conditional node of CUDA costs much more than a small kernel: on an H200, 8 us for a choice that runs one
    /// kernel, and 4 us for each iteration of a `while`. *Predicated* kernels look at the condition themselves, and
    /// return at once if their body does not run: 0.2 us if it runs, 0.8 us if not. For that, `build` adds a parameter
    /// and a few instructions to copies of the kernels' PTX; memsets and copies in such bodies become kernels, too. The
    /// body of a `while` is repeated several times in one iteration of its node, each time after the first predicated.
    ///
    /// By default ([`Bodies::Cheapest`]), `build` chooses what costs less, by prices that were measured. Either form
    /// does the same. Bodies with functions of the host, captured or raw nodes, events, child graphs, large copies,
    /// copies from or to the host, or kernels that were loaded elsewhere are always conditional nodes, and so are those
    /// with a `while`.
    /// [`Graph::body_forms`](crate::Graph::body_forms) tells what was chosen, and why. On the emulator and in debug
    /// mode, where the host chooses the bodies, this does nothing.
    pub fn with_bodies(&self, bodies: Bodies) -> Device {
        Self { bodies, ..self.clone() }
    }

    /// Returns the same device, on which copies from `host` memory to `device` and `scratch` memory run in this form on
    /// a GPU.
    ///
    /// A copy node of CUDA costs more than a kernel that reads a few bytes from the memory of the host. By default
    /// ([`Uploads::Cheapest`]), `build` takes that where it costs less, by prices that were measured. Either form does
    /// the same: the edges of the graph order both. Copies from memory that graphs share, and to arrays and variables
    /// of modules, are always copy nodes. [`Graph::upload_forms`](crate::Graph::upload_forms) tells what was chosen,
    /// and why. On the emulator and in debug mode this does nothing.
    pub fn with_uploads(&self, uploads: Uploads) -> Device {
        Self {
            uploads,
            ..self.clone()
        }
    }

    /// Returns the same device, with a limit of the time for which the end of a launch is asked for without a pause. It
    /// is for launches that [futures](crate::LaunchFuture) of graphs built on this device wait for. The default is
    /// 100 ms.
    ///
    /// A thread of this crate does that. Until the limit, it keeps one processor busy, however many launches it asks
    /// for, and sees the end within a few microseconds. (CUDA's own waits keep one busy without a limit.) After the
    /// limit, it sleeps until CUDA wakes it, a fraction of a millisecond late: 0.2 to 0.4 ms on an H200 with driver
    /// 580. A driver of CUDA 13.2 or later is asked to keep a processor busy itself then.
    pub fn with_max_spin(&self, time: Duration) -> Device {
        Self {
            max_spin: time,
            ..self.clone()
        }
    }

    /// Returns the same device, whose graphs are built and launched by CUDA's runtime library, libcudart, instead of
    /// the driver: by `cudaGraphAddKernelNode`, `cudaGraphInstantiateWithParams`, `cudaGraphLaunch` and so on. They are
    /// the same graphs, and mix with others: handles and memory are the same. Streams, events, memory and captures
    /// remain the driver's, and so do nodes of a [`CudaFunction`](cudarc::driver::CudaFunction) that was loaded
    /// elsewhere, which the runtime does not take.
    ///
    /// The library is loaded when the first graph is built, of CUDA 12.1 or later and of no newer major version than
    /// the driver: from where the system's loader looks (`LD_LIBRARY_PATH`), from the CUDA toolkit (`CUDA_HOME`,
    /// `/usr/local/cuda`), or from the Python package `nvidia-cuda-runtime`. `build` fails with [`Error::NoRuntime`] if
    /// there is none, and with [`Error::Unsupported`] if the device is not a primary context. With the runtime,
    /// `RUST_LOG=graph_runtime=trace` shows launches, too.
    ///
    /// The environment variable `CUDA_GRAPH_RUNTIME_API=1` does this for all devices of a program. It is read when a
    /// device is opened. On the emulator, this does nothing.
    #[cfg(feature = "cudart")]
    pub fn with_runtime_api(&self) -> Device {
        match &self.backend {
            Backend::Cuda(cuda) => Self {
                backend: Backend::Cuda(cuda.with_runtime_api()),
                ..self.clone()
            },
            Backend::Emulator(_) => self.clone(),
        }
    }

    /// Makes an empty pool, for scratch memory that several graphs share: see [`Pool`].
    pub fn pool(&self) -> Pool {
        Pool::new(&self.backend)
    }

    /// Returns the same device, on which graphs are built with their scratch memory in this pool. It works for declared
    /// graphs, expressions and builders, in debug mode and with delays. [`Graph::pool`](crate::Graph::pool) tells the
    /// pool of a graph.
    ///
    /// If the pool is another device's, building a graph fails with [`Error::ForeignMemory`].
    ///
    /// ```
    /// use graph_runtime::{Device, cuda_graph};
    ///
    /// cuda_graph! {
    ///     graph Sums(n: usize) {
    ///         host    output: f32;
    ///         scratch hidden: [f32; n];
    ///         memset  set  = hidden <- 1.0;
    ///         memcpy  down = hidden[0] -> output after set;
    ///     }
    /// }
    ///
    /// let device = Device::emulator();
    /// let pooled = device.with_pool(&device.pool());
    /// let mut large = Sums::build(&pooled, 1024)?;
    /// let mut small = Sums::build(&pooled, 16)?;     // in the same memory
    /// large.launch()?;
    /// small.launch()?;                               // after the other, whatever streams they run on
    /// assert_eq!((*large.output()?, *small.output()?), (1.0, 1.0));
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    pub fn with_pool(&self, pool: &Pool) -> Device {
        Self {
            pool: Some(pool.clone()),
            ..self.clone()
        }
    }

    /// Opens the first CUDA device, or a new emulator if no CUDA device can be used (no driver, one that is too old, or
    /// no device).
    ///
    /// # Errors
    /// * [`Error::Cuda`] if there is a device but the driver refuses it;
    /// * [`Error::NoEmulator`] if no CUDA device can be used, and this crate was built without its feature `emulator`.
    pub fn any() -> Result<Device> {
        match Self::cuda(0) {
            Err(error @ (Error::NoDriver | Error::NoDevice { .. })) => Self::emulator_after(error),
            Err(error) if is_unusable(&error) => {
                tracing::warn!(target: "graph_runtime", %error, "CUDA cannot be used here; graphs run on the CPU");
                Self::emulator_after(error)
            }
            device => device,
        }
    }

    /// Returns an emulator in place of the CUDA device whose error is given.
    fn emulator_after(error: Error) -> Result<Device> {
        let device = Self::emulator();
        let cuda = Some(Box::new(error));
        device
            .backend
            .check()
            .map_err(|_| Error::NoEmulator { cuda })
            .map(|()| device)
    }

    /// The device's name: `NVIDIA H200`, or `CPU emulator`.
    pub fn name(&self) -> String {
        match &self.backend {
            Backend::Cuda(cuda) => cuda.name(),
            Backend::Emulator(_) => "CPU emulator".to_owned(),
        }
    }

    /// Whether this is the emulator.
    pub fn is_emulator(&self) -> bool {
        matches!(self.backend, Backend::Emulator(_))
    }

    /// Takes a CUDA context of any other bindings, primary or not, as a device: a `CUcontext`. The device, its clones,
    /// its memory and its graphs keep `keep_alive`, of which dropping may destroy the context: for example the other
    /// bindings' handle.
    ///
    /// # Safety
    ///
    /// `context` lives as long as `keep_alive`, and as long as anybody uses the [events](Device::event) of the device,
    /// or what was made of its [`Device::context`].
    ///
    /// # Errors
    /// * [`Error::NoDriver`], [`Error::DriverTooOld`] as [`Device::cuda`];
    /// * [`Error::Cuda`] if the driver refuses the context.
    pub unsafe fn from_raw_context(context: *mut c_void, keep_alive: impl Any + Send + Sync) -> Result<Device> {
        // SAFETY: by the caller's promise.
        let cuda = unsafe { Cuda::of_others(context.cast(), Arc::new(keep_alive)) }?;
        Ok(Self::new(Backend::Cuda(cuda)))
    }

    /// The driver's handle of the context, for any bindings to CUDA; `None` on the emulator.
    pub fn raw(&self) -> Option<CUcontext> {
        self.backend.context()
    }

    /// The CUDA context, to share it with cudarc; `None` on the emulator.
    pub fn context(&self) -> Option<&Arc<CudaContext>> {
        match &self.backend {
            Backend::Cuda(cuda) => Some(cuda.context()),
            Backend::Emulator(_) => None,
        }
    }

    /// Reads PTX that a program has while it runs. Nothing is loaded yet: graphs load the kernels that they launch.
    ///
    /// # Errors
    /// [`Error::Module`] if it is not PTX.
    pub fn module(&self, ptx: Ptx) -> Result<Module> {
        self.backend.check()?;
        Module::new(ptx)
    }

    /// Compiles CUDA C++ that a program has while it runs, by NVRTC: for the newest architecture that the device runs,
    /// unless the options name one. The PTX is kept in the cache on disk that `#[cuda_kernels(cuda = "file.cu")]` has,
    /// so that the next process compiles nothing.
    ///
    /// NVRTC has no headers of the host: it gets texts for those that kernels use (`stdint.h`, `math.h`, `cmath`,
    /// `limits.h`, `algorithm`, `cuda.h` and their like). CUDA's own, such as `cuda_fp16.h`, come from the toolkit in
    /// `CUDA_PATH`, `CUDA_HOME` or `/usr/local/cuda`, if there is one.
    ///
    /// ```no_run
    /// use graph_runtime::{CudaText, Device};
    ///
    /// let device = Device::cuda(0)?;
    /// let text = r#"
    ///     #include <stdint.h>
    ///     #include "tile.h"
    ///     extern "C" __global__ void set(float *data, uint32_t n) {
    ///         uint32_t i = blockIdx.x * TILE + threadIdx.x;
    ///         if (i < n) data[i] = SCALE;
    ///     }
    /// "#;
    /// let source = CudaText::new("set.cu", text)
    ///     .header("tile.h", "#define TILE 64")
    ///     .option("-DSCALE=2.0f");
    /// let set = device.compile(&source)?.kernel("set")?;
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// * [`Error::NoNvrtc`] if NVRTC is not on this machine, and the cache does not have the PTX;
    /// * [`Error::Compile`] with the compiler's log if it refuses the source;
    /// * [`Error::Cuda`] if the driver does not tell the architecture.
    pub fn compile(&self, source: &CudaText) -> Result<Module> {
        self.backend.check()?;
        let architecture = self.backend.architecture().at(Site::default)?;
        Module::compile(source, architecture)
    }

    /// Allocates zeroed device memory of shape `S`, outside any graph; graphs can share it: see [`DeviceBuffer`]. Waits
    /// until it is zeroed.
    ///
    /// # Errors
    /// [`Error::Cuda`] if the driver refuses, for example since the device has too little memory. On the emulator,
    /// [`Error::OutOfMemory`] if the host has too little.
    pub fn alloc<S: Element>(&self) -> Result<DeviceBuffer<S>> {
        self.device_buffer(Size::fixed())
    }

    /// Allocates zeroed device memory of `len` elements, outside any graph; graphs can share it. Waits until it is
    /// zeroed.
    ///
    /// # Errors
    /// As [`Device::alloc`].
    pub fn alloc_slice<T: Element>(&self, len: usize) -> Result<DeviceBuffer<[T]>> {
        self.device_buffer(Size::slice(len))
    }

    /// Allocates zeroed device memory of two to four dimensions, outside any graph; graphs can share it. `lengths`
    /// begin with the outermost dimension and count elements: see [`Table`]. Waits until it is zeroed.
    ///
    /// # Errors
    /// As [`Device::alloc`].
    pub fn alloc_table<T: Element, const D: usize>(&self, lengths: [usize; D]) -> Result<DeviceBuffer<Table<T, D>>>
    where
        Table<T, D>: Tabular,
    {
        self.device_buffer(Size::table(lengths))
    }

    /// Allocates zeroed host memory of shape `S`, page-locked on CUDA, outside any graph. [`HostBuffer::share`] makes
    /// it memory that graphs can share.
    ///
    /// # Errors
    /// As [`Device::alloc`]; and [`Error::Unsupported`] if the driver does not align the memory as `S` needs it.
    pub fn alloc_host<S: Element>(&self) -> Result<HostBuffer<S>> {
        self.host_memory(&Size::<S>::fixed()).map(HostBuffer::sized)
    }

    /// Allocates zeroed host memory of `len` elements, page-locked on CUDA, outside any graph.
    ///
    /// # Errors
    /// As [`Device::alloc_host`].
    pub fn alloc_host_slice<T: Element>(&self, len: usize) -> Result<HostBuffer<[T]>> {
        let memory = self.host_memory(&Size::<[T]>::slice(len))?;
        Ok(HostBuffer::slice(memory, len))
    }

    /// Allocates zeroed host memory of two to four dimensions, page-locked on CUDA, outside any graph. `lengths` begin
    /// with the outermost dimension and count elements: see [`Table`].
    ///
    /// # Errors
    /// As [`Device::alloc_host`].
    pub fn alloc_host_table<T: Element, const D: usize>(&self, lengths: [usize; D]) -> Result<HostBuffer<Table<T, D>>>
    where
        Table<T, D>: Tabular,
    {
        let memory = self.host_memory(&Size::<Table<T, D>>::table(lengths))?;
        Ok(HostBuffer::table(memory, lengths))
    }

    /// Lends memory that others own to graphs: slices of cudarc's, and slices of host memory. `f` gets a [`Scope`],
    /// whose [`lend`](Scope::lend) returns handles for graphs. Nothing is copied.
    ///
    /// The borrows last until this returns. Before that, it waits for all launches that use the memory, also if `f`
    /// fails or panics (for ever, if one of them never ends). From then on, the handles are of no use. A graph that
    /// still has one does not launch ([`Error::LoanEnded`]) until other memory has been bound.
    ///
    /// ```
    /// use graph_runtime::{Device, Error, cuda_graph};
    ///
    /// cuda_graph! {
    ///     graph Double(x: mut host [f32; 4]) {
    ///         device data: [f32; 4];
    ///         memcpy up    = x -> data;
    ///         memset first = data[0] <- 1.0 after up;
    ///         memcpy down  = data -> x      after first;
    ///     }
    /// }
    ///
    /// let device = Device::emulator();
    /// let mut numbers = [5.0, 6.0, 7.0, 8.0];
    /// let mut graph = device.scope(|scope| {
    ///     let mut graph = Double::build(&device, scope.lend(&mut numbers)?)?;
    ///     graph.launch()?;
    ///     Ok(graph)
    /// })?;
    /// assert_eq!(numbers, [1.0, 6.0, 7.0, 8.0]);
    /// assert!(matches!(graph.launch(), Err(Error::LoanEnded { .. })));
    ///
    /// device.scope(|scope| {
    ///     graph.rebind_x(scope.lend(&mut numbers)?)?;
    ///     graph.launch()
    /// })?;
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    ///
    /// Lent memory stays borrowed:
    ///
    /// ```compile_fail,E0506
    /// # let device = graph_runtime::Device::emulator();
    /// let mut numbers = [5.0_f32; 4];
    /// device.scope(|scope| {
    ///     let lent = scope.lend(&mut numbers)?;
    ///     numbers[0] = 1.0;               // error: cannot assign, because it is borrowed
    ///     Ok(())
    /// })?;
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// * The errors of `f`;
    /// * [`Error::Cuda`] if a launch that uses the memory failed;
    /// * [`Error::InUse`] in code that a launch calls.
    pub fn scope<'env, R>(&self, f: impl FnOnce(&Scope<'env>) -> Result<R>) -> Result<R> {
        Scope::run(&self.backend, f)
    }

    /// Takes device memory that others have allocated, as a buffer that graphs share. `memory` keeps it, and orders the
    /// work of others with it; it is dropped when the last handle, and the last graph that uses the memory, are gone,
    /// and their launches have ended. [`DeviceBuffer::cast`] says what its elements are. See [`DeviceMemory`].
    ///
    /// Nothing is copied, and nothing is waited for.
    ///
    /// # Errors
    /// * [`Error::ForeignMemory`] if the memory is of another context, or the emulator's and the device is a GPU, or
    ///   the other way round;
    /// * [`Error::Unsupported`] if its end is beyond all addresses; on the emulator, if its address or its size is no
    ///   multiple of 4.
    pub fn adopt(&self, memory: impl DeviceMemory) -> Result<DeviceBuffer<[u8]>> {
        let memory = KernelMemory::adopted(&self.backend, Box::new(memory))?;
        let bytes = memory.bytes();
        Ok(DeviceBuffer::new(memory, bytes, NO_LENGTHS))
    }

    /// Returns device memory that others have allocated, as a buffer that graphs share: `len` elements from `address`
    /// on, such as a pointer of `cudaMalloc`. On the emulator, it is memory of the host. It is neither copied nor
    /// freed. Waits for all work of the context, so [`Device::adopt`] is better for much memory.
    ///
    /// # Safety
    ///
    /// As long as any handle to the memory lives, or any graph that shares it (dropping these waits for their launches,
    /// forgetting one does not):
    ///
    /// * `address` is that of `len` initialised elements in one allocation of device memory of this device's
    ///   [context](Device::context), aligned for `T`, which nobody frees. On the emulator, it is that of memory of the
    ///   host, whose provenance is exposed, and of which there is no reference while a launch or a copy uses it;
    /// * nobody else writes the memory while a launch or a copy may use it, and nobody reads it while one may write it.
    ///   Work of others, on whatever streams, ends before such a launch is made, and begins after it has ended.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the address is not aligned, or the end is beyond all addresses, or, on the emulator,
    /// if the address or the size in bytes is no multiple of 4; [`Error::Cuda`] if waiting failed.
    pub unsafe fn buffer_from_raw_parts<T: Element>(&self, address: u64, len: usize) -> Result<DeviceBuffer<[T]>> {
        let bytes = len.saturating_mul(size_of::<T>());
        if !address.is_multiple_of(align_of::<T>() as u64) {
            return Err(Error::Unsupported {
                site: Site::buffer(),
                message: "no elements of this type are at this address: it is not aligned",
            });
        }
        // SAFETY: by the caller's promise.
        let memory = unsafe { KernelMemory::at(&self.backend, address, bytes) }?;
        Ok(DeviceBuffer::new(memory, bytes, NO_LENGTHS))
    }

    /// Makes a random number generator with this seed, which several graphs can share: see [`Generator`].
    ///
    /// # Errors
    /// As [`Device::alloc`].
    pub fn generator(&self, seed: u64) -> Result<Generator> {
        let memory = KernelMemory::zeroed(&self.backend, "buffer", size_of::<Philox>(), Site::buffer)?;
        Generator::new(memory, Philox { seed, offset: 0 })
    }

    /// Makes an event for `record` and `wait` nodes, which has not been recorded yet.
    ///
    /// # Errors
    /// [`Error::Cuda`] if the driver refuses.
    pub fn event(&self) -> Result<Event> {
        self.backend.event()
    }

    fn device_buffer<S: ?Sized>(&self, size: Size<S>) -> Result<DeviceBuffer<S>> {
        let bytes = size.layout.bytes;
        let memory = KernelMemory::zeroed(&self.backend, "buffer", bytes, Site::buffer)?;
        Ok(DeviceBuffer::new(memory, bytes, size.lengths))
    }

    fn host_memory<S: ?Sized>(&self, size: &Size<S>) -> Result<HostMemory> {
        HostMemory::zeroed(&self.backend, size.layout, Site::buffer)
    }
}

/// Whether the error means that no CUDA device can be used, rather than that something went wrong with one.
fn is_unusable(error: &Error) -> bool {
    const STUB_LIBRARY: u32 = 34;
    const NO_DEVICE: u32 = 100;
    const SYSTEM_DRIVER_MISMATCH: u32 = 803;
    const COMPAT_NOT_SUPPORTED_ON_DEVICE: u32 = 804;
    match error {
        Error::DriverTooOld { .. } => true,
        Error::Cuda { source, .. } => matches!(
            source.code(),
            STUB_LIBRARY | NO_DEVICE | SYSTEM_DRIVER_MISMATCH | COMPAT_NOT_SUPPORTED_ON_DEVICE
        ),
        _ => false,
    }
}

/// Takes a context of cudarc's, primary or not, as a device.
#[cfg(feature = "cudarc")]
impl From<Arc<CudaContext>> for Device {
    fn from(context: Arc<CudaContext>) -> Self {
        Self::new(Backend::Cuda(Cuda::new(context)))
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.name())
    }
}

#[cfg(all(test, not(feature = "emulator")))]
mod tests {
    use super::*;
    use crate::GraphBuilder;

    const MESSAGE: &str = "there is no CPU emulator in this build: `graph-runtime` was built without its feature `emulator`\n\
         help: add it in `Cargo.toml`: `features = [\"emulator\", ..]`, or leave the default features on";

    fn refused<T>(made: Result<T>) {
        let error = made.map(|_| ()).unwrap_err();
        assert!(matches!(error, Error::NoEmulator { cuda: None }), "{error}");
        assert_eq!(error.to_string(), MESSAGE);
    }

    #[test]
    fn nothing_is_made_on_an_emulator_that_is_not_in_the_build() {
        let device = Device::emulator().with_delays(1);
        assert!(device.is_emulator());
        refused(device.alloc::<[f32; 4]>());
        refused(device.alloc_slice::<f32>(4));
        refused(device.alloc_table::<f32, 2>([2, 2]));
        refused(device.alloc_host::<f32>());
        refused(device.alloc_host_slice::<f32>(4));
        refused(device.event());
        let mut builder = GraphBuilder::new(&device, "Empty");
        builder.device::<f32>("data");
        refused(builder.build());
        refused(GraphBuilder::new(&Device::emulator_with(EmulatorOptions::default()), "Empty").build());
    }

    #[test]
    fn the_error_of_any_says_why_there_is_no_cuda_device() {
        let error = Device::emulator_after(Error::NoDriver).unwrap_err();
        let message = "no NVIDIA driver (libcuda) was found\nnote: nor is there the CPU emulator in its place: \
                       `graph-runtime` was built without its feature `emulator`\nhelp: ";
        assert!(error.to_string().starts_with(message), "{error}");
        assert!(matches!(
            Device::any(),
            Ok(_) | Err(Error::NoEmulator { cuda: Some(_) })
        ));
    }
}
