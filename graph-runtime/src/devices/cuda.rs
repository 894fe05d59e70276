//! A CUDA context.

use crate::devices::event_alarm::Alarms;
use crate::devices::shared_modules::SharedModules;
use crate::driver::{
    self, CUcontext, CUdevice, CUdevice_attribute, CUstream, CaptureStatus, CudaContext, CudaStream, GraphApi,
    RelaxedCapture,
};
use crate::error::{At, CudaError, Error, Result, Site};
use crate::in_flight::lock::Lock;
use crate::program::host_call::{self, refuse_in_host_function};
use std::any::Any;
use std::cell::Cell;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use tracing::level_filters::LevelFilter;

/// The oldest CUDA version that has every call used here: `cuGraphAddKernelNode_v2` came with it.
const MIN_VERSION: u32 = 12_000;

/// A CUDA context and streams for work outside graphs.
pub(crate) struct Cuda {
    context: Arc<CudaContext>,
    /// The owner of a context of others, which keeps it alive. Dropped after all that `drop` destroys.
    #[cfg_attr(not(feature = "cudart"), expect(dead_code, reason = "it keeps the context alive"))]
    keep_alive: Option<Arc<dyn Any + Send + Sync>>,
    api: GraphApi,
    copies: Lock<CopyStream>,
    alarms: Alarms,
    modules: SharedModules,
}

/// The stream for copies: made at the first copy, null before. It is not CUDA's null stream, which would wait for the
/// user's own work.
struct CopyStream(CUstream);

// SAFETY: a stream may be used by any thread, and the mutex around it gives it to one at a time.
unsafe impl Send for CopyStream {}

/// The contexts, as addresses, in which somebody gave up waiting for a node: see [`Cuda::give_up`].
static GIVEN_UP: Lock<Vec<usize>> = Lock::new(Vec::new());
/// Whether there are any. [`Cuda::bind`] reads this instead of taking the lock.
static ANY_GIVEN_UP: AtomicBool = AtomicBool::new(false);

impl Cuda {
    /// Opens the primary context of a device.
    pub(crate) fn open(ordinal: usize) -> Result<Arc<Self>> {
        initialise()?;
        // SAFETY: the driver is initialised.
        let devices = unsafe { driver::context::device_count() }.at(Site::default)? as usize;
        if ordinal >= devices {
            return Err(Error::NoDevice { ordinal, devices });
        }
        Ok(Self::new(driver::objects::retain(ordinal).at(Site::default)?))
    }

    /// A context of others, by its handle.
    ///
    /// # Safety
    ///
    /// The context lives as long as `keep_alive`, and as long as anybody uses the objects that are made of
    /// [`Cuda::context`].
    pub(crate) unsafe fn of_others(context: CUcontext, keep_alive: Arc<dyn Any + Send + Sync>) -> Result<Arc<Self>> {
        initialise()?;
        // SAFETY: by the caller's promise.
        unsafe { driver::context::set_current(context) }.at(Site::default)?;
        // SAFETY: a context is current.
        let device = unsafe { driver::context::current_device() }.at(Site::default)?;
        // SAFETY: by the caller's promise; the device was asked for above.
        let context = unsafe { driver::objects::of_others(context, device) }.at(Site::default)?;
        Ok(Self::with_api(context, Some(keep_alive), GraphApi::of_environment()))
    }

    /// The context of an object. Its graphs are built and launched by the interface that the environment asks for.
    pub(crate) fn new(context: Arc<CudaContext>) -> Arc<Self> {
        Self::with_api(context, None, GraphApi::of_environment())
    }

    fn with_api(context: Arc<CudaContext>, keep_alive: Option<Arc<dyn Any + Send + Sync>>, api: GraphApi) -> Arc<Self> {
        Arc::new(Self {
            context,
            keep_alive,
            api,
            copies: Lock::new(CopyStream(ptr::null_mut())),
            alarms: Alarms::default(),
            modules: SharedModules::default(),
        })
    }

    /// The same context, whose graphs are built and launched by the runtime library.
    #[cfg(feature = "cudart")]
    pub(crate) fn with_runtime_api(&self) -> Arc<Self> {
        Self::with_api(self.context.clone(), self.keep_alive.clone(), GraphApi::Runtime)
    }

    /// The interface by which graphs are built and launched.
    #[inline]
    pub(crate) fn api(&self) -> GraphApi {
        self.api
    }

    /// Refuses to build a graph if its interface is the runtime library's, and there is no such library, or the context
    /// is not the one in which it works.
    #[cfg(feature = "cudart")]
    pub(crate) fn check_api(&self, site: impl Fn() -> Site) -> Result<()> {
        if self.api == GraphApi::Driver {
            return Ok(());
        }
        driver::runtime_library::present().map_err(|tried| Error::NoRuntime {
            site: site(),
            tried: tried.to_vec(),
        })?;
        // SAFETY: `self.context` keeps the context alive, and the device is its.
        if unsafe { driver::interop::is_primary(self.raw(), self.device()) }.at(&site)? {
            return Ok(());
        }
        Err(Error::Unsupported {
            site: site(),
            message: "the CUDA runtime works in the primary context of a device, but this device is another context; take \
                      `Device::cuda(..)`, or build the graph without `with_runtime_api`",
        })
    }

    pub(crate) fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    /// The modules that graphs share.
    pub(crate) fn modules(&self) -> &SharedModules {
        &self.modules
    }

    pub(crate) fn alarms(&self) -> &Alarms {
        &self.alarms
    }

    /// The device that the context is of.
    pub(crate) fn device(&self) -> CUdevice {
        self.context.cu_device()
    }

    pub(crate) fn raw(&self) -> CUcontext {
        self.context.cu_ctx()
    }

    /// Makes the context current on this thread. (cudarc's own function would report errors that it has stored
    /// earlier.)
    ///
    /// Fails in host functions, and so does all that needs a context: CUDA forbids its calls there, and some would wait
    /// for ever.
    pub(crate) fn bind(&self) -> Result<(), CudaError> {
        refuse_in_host_function()?;
        if ANY_GIVEN_UP.load(Ordering::Relaxed) {
            self.refuse_if_given_up()?;
        }
        // SAFETY: the driver is initialised, or there would be no context.
        if unsafe { driver::context::current() }? != self.raw() {
            // SAFETY: `self.context` keeps the context alive.
            unsafe { driver::context::set_current(self.raw()) }?;
        }
        Ok(())
    }

    /// Prepares this thread for a call whose handles determine the context, so that another one may be current. Asking
    /// which one is current would cost more than what an edit adds to the calls that it makes.
    ///
    /// The first time on a thread, this makes the context current: driver 580 dies of
    /// `cuGraphExecKernelNodeSetParams` on a thread that has made no other call of it.
    #[inline]
    pub(crate) fn enter(&self) -> Result<(), CudaError> {
        thread_local! {
            static ENTERED: Cell<bool> = const { Cell::new(false) };
        }
        if host_call::is_running() || !ENTERED.get() || ANY_GIVEN_UP.load(Ordering::Relaxed) || self.api.needs_context()
        {
            self.bind()?;
            ENTERED.set(true);
        }
        Ok(())
    }

    /// [`Cuda::bind`], for those who free something. It is tried twice.
    pub(crate) fn bind_to_free(&self) -> Result<(), CudaError> {
        twice(|| self.bind())
    }

    /// Makes the context current, also after [`Cuda::give_up`]: for those who wait until nothing runs, and for their
    /// next calls.
    pub(crate) fn bind_drained(&self) -> Result<(), CudaError> {
        // SAFETY: `self.context` keeps the context alive.
        unsafe { driver::context::set_current(self.raw()) }
    }

    /// Makes the context current again after subscribers of `tracing` have run, if there are any.
    #[inline]
    pub(crate) fn bind_after_trace(&self) -> Result<(), CudaError> {
        if LevelFilter::current() == LevelFilter::OFF {
            return Ok(());
        }
        self.bind()
    }

    /// Makes everything that needs this context fail from now on, in all of the process. A node runs that may never
    /// end: whoever waited for it, or freed memory, would wait for ever. The context itself is leaked.
    pub(crate) fn give_up(self: &Arc<Self>) {
        GIVEN_UP.lock().push(self.raw().addr());
        ANY_GIVEN_UP.store(true, Ordering::Relaxed);
        std::mem::forget(self.clone());
    }

    #[cold]
    fn refuse_if_given_up(&self) -> Result<(), CudaError> {
        let given_up = GIVEN_UP.lock();
        if !given_up.contains(&self.raw().addr()) {
            return Ok(());
        }
        Err(CudaError::new(
            "an earlier wait in debug mode",
            "CUDA_ERROR_LAUNCH_TIMEOUT",
            702,
        ))
    }

    /// Lets kernels of this context reach the memory of another one. Returns false if the devices have no way to each
    /// other. The other context lives as long as kernels use its memory.
    pub(crate) fn reach(&self, peer: &Self) -> Result<bool, CudaError> {
        /// `CUDA_ERROR_PEER_ACCESS_UNSUPPORTED`
        const UNSUPPORTED: u32 = 217;
        /// `CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED`
        const ALREADY_ENABLED: u32 = 704;
        if self.raw() == peer.raw() {
            return Ok(true);
        }
        // SAFETY: the driver is initialised, and the devices are those of contexts.
        if unsafe { driver::peer_access::can_access(self.device(), peer.device()) }? == 0 {
            return Ok(false);
        }
        self.bind()?;
        // SAFETY: a context is current, and the other one lives.
        match unsafe { driver::peer_access::enable(peer.raw()) } {
            Ok(()) => Ok(true),
            Err(error) if error.code() == ALREADY_ENABLED => Ok(true),
            Err(error) if error.code() == UNSUPPORTED => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The device's name: `NVIDIA H200`.
    pub(crate) fn name(&self) -> String {
        // SAFETY: the driver is initialised and the device is the context's.
        unsafe { driver::context::device_name(self.device()) }.unwrap_or_else(|_| "CUDA device".to_owned())
    }

    pub(crate) fn attribute(&self, attribute: CUdevice_attribute) -> Result<i32, CudaError> {
        // SAFETY: as in `name`.
        unsafe { driver::context::device_attribute(self.device(), attribute) }
    }

    /// The device's compute capability, major and minor.
    pub(crate) fn capability(&self) -> Result<(i32, i32), CudaError> {
        let major = self.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = self.attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        Ok((major, minor))
    }

    /// Waits until nothing runs in the context, where waiting for certain launches has failed, also after
    /// [`Cuda::give_up`]: then for ever, if a node never ends. It returns without waiting only if the context is lost,
    /// which runs nothing any more (D3).
    pub(crate) fn drain(&self) {
        /// The codes of errors that are about captures, which end.
        const CAPTURES: Range<u32> = 900..910;
        const PAUSE: Duration = Duration::from_millis(1);
        let mut last = None;
        loop {
            let _relaxed = RelaxedCapture::enter();
            // SAFETY: the context is current.
            let waited = self
                .bind_drained()
                .and_then(|()| unsafe { driver::context::synchronize() });
            match waited {
                Ok(()) => return,
                Err(error) if CAPTURES.contains(&error.code()) => thread::sleep(PAUSE),
                Err(error) if last == Some(error.code()) => return, // the reason does not pass
                Err(error) => last = Some(error.code()),
            }
        }
    }

    /// Waits for all work in the context.
    pub(crate) fn synchronize(&self) -> Result<(), CudaError> {
        self.bind()?;
        // SAFETY: the context is current.
        unsafe { driver::context::synchronize() }
    }

    /// Whether the work of a stream of this context is being recorded.
    pub(crate) fn is_capturing(&self, stream: &CudaStream) -> Result<bool, CudaError> {
        self.bind()?; // a null stream means that of the current context
        // SAFETY: the `CudaStream` is borrowed, so the stream lives (C1 of `docs/safety.md`).
        let status = unsafe { driver::stream::capture_status(stream.cu_stream()) }?;
        Ok(status != CaptureStatus::None)
    }

    /// Runs `queue` with a stream of the context, and waits for the work that it queued.
    pub(crate) fn copy(&self, queue: impl FnOnce(CUstream) -> Result<(), CudaError>) -> Result<(), CudaError> {
        let _relaxed = RelaxedCapture::enter();
        self.bind()?;
        let mut stream = self.copies.lock();
        if stream.0.is_null() {
            // SAFETY: the context is current.
            stream.0 = unsafe { driver::stream::create() }?;
        }
        let queued = queue(stream.0);
        // SAFETY: the stream lives as long as `self`.
        let wait = || unsafe { driver::stream::synchronize(stream.0) };
        let waited = wait();
        if waited.is_err() {
            let _ = wait(); // the reason may pass; if it does not, the context is beyond use, and runs nothing
        }
        queued.and(waited)
    }

    /// Allocates `bytes` (not 0) zeroed, page-locked bytes.
    pub(crate) fn host_alloc(&self, bytes: usize) -> Result<NonNull<u8>, CudaError> {
        let _relaxed = RelaxedCapture::enter();
        self.bind()?;
        // SAFETY: the context is current.
        let pointer = unsafe { driver::allocation::host_alloc(bytes) }?.cast::<u8>();
        let pointer = NonNull::new(pointer).expect("cuMemHostAlloc succeeded");
        // SAFETY: `bytes` bytes were just allocated there, and nobody else knows of them.
        unsafe { pointer.write_bytes(0, bytes) };
        Ok(pointer)
    }

    /// Frees memory from [`Cuda::host_alloc`]. Nothing may use it any more.
    pub(crate) fn host_free(&self, pointer: NonNull<u8>) {
        let _relaxed = RelaxedCapture::enter();
        // SAFETY: `HostMemory::drop`, the only caller, owns the allocation and gives it up.
        let free = |()| unsafe { driver::allocation::host_free(pointer.as_ptr().cast()) };
        if let Err(error) = self.bind_to_free().and_then(free) {
            tracing::warn!(target: "graph_runtime", %error, "host memory was not freed");
        }
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        let stream = self.copies.get_mut().0;
        if stream.is_null() && self.alarms.is_empty() || self.bind_to_free().is_err() {
            return;
        }
        if !stream.is_null() {
            // SAFETY: the stream was made for `self` alone, and every copy on it has been waited for.
            let _ = unsafe { driver::stream::destroy(stream) };
        }
        // SAFETY: the context is current, and is that of these alarms.
        unsafe { self.alarms.destroy() };
    }
}

/// Makes a call that must come before something is freed, and makes it again if it fails: the reason may pass, and what
/// is not freed is lost.
pub(crate) fn twice(call: impl Fn() -> Result<(), CudaError>) -> Result<(), CudaError> {
    call().or_else(|_| call())
}

/// Loads and initialises the driver.
fn initialise() -> Result<()> {
    if !driver::context::is_present() {
        return Err(Error::NoDriver);
    }
    check_version()?;
    // SAFETY: the library is loaded.
    unsafe { driver::context::init() }.at(Site::default)
}

/// Refuses a driver that is too old for the calls used here. The library must be loaded.
pub(crate) fn check_version() -> Result<()> {
    // SAFETY: the library is loaded; the call needs neither initialisation nor a context.
    let version = unsafe { driver::context::driver_version() }.at(Site::default)?;
    if version < MIN_VERSION {
        return Err(Error::DriverTooOld { version });
    }
    Ok(())
}
