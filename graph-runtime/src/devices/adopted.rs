//! Device memory that others own, and that graphs keep while they use it.

use crate::devices::cuda::Cuda;
use crate::driver::CUstream;
use crate::error::CudaError;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::Arc;
use std::thread;

/// Device memory that others have allocated, such as a tensor of an inference engine.
/// [`Device::adopt`](crate::Device::adopt) makes a buffer of it that graphs share, and keeps the value until the last
/// handle to the memory, and the last graph that uses it, are gone, and their launches have ended.
///
/// Its owner orders work: this crate calls [`before`](DeviceMemory::before) and [`after`](DeviceMemory::after) around
/// each launch of a graph that uses the memory, and around each copy from and to the host. So nobody waits for all work
/// of a device. Launches that use the memory are ordered among each other by this crate.
///
/// An owner whose memory is written once, before it is adopted, and then only read by everybody, has nothing to do in
/// either. Others record an event after their own work, and let `stream` wait for it in `before`; in `after`, they
/// record an event on `stream`, and let their own streams wait for that.
///
/// On the emulator, the memory is the host's:
///
/// ```
/// use graph_runtime::handles::CUstream;
/// use graph_runtime::{Device, DeviceMemory, GraphBuilder};
/// use std::ptr;
///
/// /// Numbers that nobody else uses any more.
/// struct Tensor {
///     address: *mut f32,
///     len: usize,
/// }
///
/// // SAFETY: the numbers are `self`'s alone.
/// unsafe impl Send for Tensor {}
/// // SAFETY: as above; nothing uses them through `&self`.
/// unsafe impl Sync for Tensor {}
///
/// // SAFETY: the numbers live as long as `self`, and nobody else uses them, so there is nothing to order.
/// unsafe impl DeviceMemory for Tensor {
///     fn address(&self) -> u64 {
///         self.address.expose_provenance() as u64
///     }
///
///     fn bytes(&self) -> usize {
///         self.len * size_of::<f32>()
///     }
///
///     fn before(&self, _: CUstream) {}
///
///     fn after(&self, _: CUstream) {}
/// }
///
/// impl Drop for Tensor {
///     fn drop(&mut self) {
///         // SAFETY: the numbers came from a box, and are `self`'s alone.
///         drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(self.address, self.len)) });
///     }
/// }
///
/// let device = Device::emulator();
/// let numbers = Box::leak(vec![1.0_f32; 64].into_boxed_slice());
/// let tensor = Tensor { address: numbers.as_mut_ptr(), len: 64 };
/// let numbers = device.adopt(tensor)?.cast::<f32>()?;
/// let mut builder = GraphBuilder::new(&device, "Set");
/// let place = builder.shared("numbers", &numbers, true);
/// builder.memset("first", &mut place.rows(..32), 2.0_f32);
/// let mut graph = builder.build()?;
/// graph.launch()?;
/// assert_eq!(numbers.read_vec()?[31..33], [2.0, 1.0]);
/// drop(numbers);
/// graph.launch()?;                        // the graph keeps the tensor
/// # Ok::<(), graph_runtime::Error>(())
/// ```
///
/// # Safety
///
/// As long as the value lives:
///
/// 1. There are [`bytes`](DeviceMemory::bytes) initialised bytes at [`address`](DeviceMemory::address): device memory
///    of [`context`](DeviceMemory::context) or, if that is null, memory that is adopted on no emulator but where it is
///    the host's, has an exposed provenance, and no reference while it is used here. These three return the same each
///    time.
/// 2. When [`before`](DeviceMemory::before) returns, work of others that conflicts with any use of the bytes, and was
///    begun by then, has ended, or ends before what is queued on `stream` from then on.
/// 3. Work of others that conflicts with any use of the bytes begins neither between a call of `before` and the call of
///    [`after`](DeviceMemory::after) that belongs to it, nor, once `after` has returned, before the work that was
///    queued on `stream` by then has ended.
/// 4. Both queue nothing on `stream` but waits and records of events, and do not capture it.
///
/// "Others" are all but this crate, and this crate where it uses the same bytes through another value: a type of which
/// two values may have the same bytes keeps their uses apart as well, unless they only read.
pub unsafe trait DeviceMemory: Send + Sync + 'static {
    /// The address of the first byte.
    fn address(&self) -> u64;

    /// The size in bytes.
    fn bytes(&self) -> usize;

    /// The context in which the memory is device memory: a `CUcontext` of any bindings, as
    /// [`Device::raw`](crate::Device::raw) returns it. Null, if the owner does not know it, or for memory of the host:
    /// emulators take it for the latter, and GPUs ask the driver.
    fn context(&self) -> *mut c_void {
        ptr::null_mut()
    }

    /// Lets work that is queued on `stream` from now on wait for the work of others.
    ///
    /// The stream is of [`context`](DeviceMemory::context); on the emulator, it is null, and what comes next runs at
    /// once. Pairs of calls for several launches may overlap, also on several threads, if these launches only read.
    ///
    /// The call may wait, but for nobody who waits for a launch, or for memory, of this crate; it uses neither graphs
    /// nor buffers. It has no error to return: what cannot be queued must be waited for. If it panics, nothing is
    /// launched.
    fn before(&self, stream: CUstream);

    /// Lets work of others that begins from now on wait for the work that has been queued on `stream` since
    /// [`before`](DeviceMemory::before). Also called if the launch has failed.
    ///
    /// As for [`before`](DeviceMemory::before). If it panics, all work of the context is waited for before the panic
    /// goes on, so that there is nothing to order.
    fn after(&self, stream: CUstream);
}

/// The use of memory of others by work on a stream, from `before` to `after`, which is called when this is dropped.
pub(crate) struct Using<'a> {
    memory: Vec<&'a dyn DeviceMemory>,
    stream: CUstream,
    /// The context, if it is not the emulator that uses the memory.
    cuda: Option<Arc<Cuda>>,
}

impl<'a> Using<'a> {
    /// Calls `before` of all `memory`. The owners' code may make another context current: that of `cuda` is current
    /// afterwards, if it was before.
    pub(crate) fn begin(
        memory: impl IntoIterator<Item = &'a dyn DeviceMemory>,
        stream: CUstream,
        cuda: Option<&Arc<Cuda>>,
    ) -> Result<Self, CudaError> {
        let mut using = Self {
            memory: Vec::new(),
            stream,
            cuda: None,
        };
        for memory in memory {
            using.cuda = cuda.cloned();
            memory.before(stream);
            using.memory.push(memory);
        }
        using.cuda.as_ref().map_or(Ok(()), |cuda| cuda.bind())?;
        Ok(using)
    }
}

impl Drop for Using<'_> {
    fn drop(&mut self) {
        let mut panicked = None;
        for memory in self.memory.drain(..) {
            // Each owner is told, whatever the others do.
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| memory.after(self.stream))) {
                panicked.get_or_insert(payload);
            }
        }
        let Some(payload) = panicked else {
            return;
        };
        if let Some(cuda) = &self.cuda {
            cuda.drain();
        }
        if !thread::panicking() {
            resume_unwind(payload);
        }
    }
}
