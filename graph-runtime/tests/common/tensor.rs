//! Memory of an owner who is not this crate, and who has work of its own with it.

use graph_runtime::cudarc::driver::{CudaEvent, CudaStream, result, sys};
use graph_runtime::handles::CUstream;
use graph_runtime::{Device, DeviceMemory};
use std::ffi::c_void;
use std::ptr::{self, with_exposed_provenance_mut};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

/// 64 words. What they are when their owner has freed them differs from all that tests write.
pub(crate) struct Tensor {
    address: u64,
    bytes: usize,
    cuda: Option<Own>,
    log: Arc<Log>,
}

/// The owner's own stream, on which its work with the memory is.
struct Own {
    stream: Arc<CudaStream>,
    /// Recorded after the owner's work.
    theirs: CudaEvent,
    /// Recorded after the work of graphs.
    ours: CudaEvent,
}

/// The calls that owners of a test get.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) before: AtomicUsize,
    pub(crate) after: AtomicUsize,
    pub(crate) dropped: AtomicUsize,
    pub(crate) streams: Mutex<Vec<usize>>,
    pub(crate) panics_before: AtomicBool,
    pub(crate) panics_after: AtomicBool,
}

impl Log {
    /// The numbers of calls so far: `before`, `after`, and `drop`.
    pub(crate) fn counts(&self) -> [usize; 3] {
        [&self.before, &self.after, &self.dropped].map(|count| count.load(SeqCst))
    }
}

/// The words of a tensor that is gone.
const FREED: u8 = 0xee;

impl Tensor {
    pub(crate) const LEN: usize = 64;

    /// Words of this byte each.
    pub(crate) fn new(device: &Device, byte: u8, log: &Arc<Log>) -> Self {
        let bytes = Self::LEN * size_of::<u32>();
        let (address, cuda) = match device.context() {
            None => {
                let words = Box::leak(vec![0_u32; Self::LEN].into_boxed_slice());
                (words.as_mut_ptr().expose_provenance() as u64, None)
            }
            Some(context) => {
                context.bind_to_thread().expect("the context binds");
                // SAFETY: the context is current.
                let address = unsafe { result::malloc_sync(bytes) }.expect("memory");
                let [theirs, ours] = [(); 2].map(|()| context.new_event(None).expect("an event"));
                let stream = context.new_stream().expect("a stream");
                (address, Some(Own { stream, theirs, ours }))
            }
        };
        let tensor = Self {
            address,
            bytes,
            cuda,
            log: log.clone(),
        };
        tensor.set(byte);
        tensor
    }

    /// The stream on which its owner works.
    pub(crate) fn stream(&self) -> Option<&Arc<CudaStream>> {
        self.cuda.as_ref().map(|own| &own.stream)
    }

    /// Sets all bytes, by work of its owner's.
    pub(crate) fn set(&self, byte: u8) {
        let Some(own) = &self.cuda else {
            // SAFETY: the words live as long as `self`, and no launch uses them now.
            unsafe { with_exposed_provenance_mut::<u8>(self.address as usize).write_bytes(byte, self.bytes) };
            return;
        };
        own.stream.context().bind_to_thread().expect("the context binds");
        // SAFETY: the memory lives as long as `self`, whose `drop` waits for the stream.
        unsafe { result::memset_d8_async(self.address, byte, self.bytes, own.stream.cu_stream()) }.expect("it is set");
    }
}

// SAFETY: the words live as long as `self`. The owner's own work is on one stream, which waits in `after`, and is
// waited for in `before`; tests queue none between the two. On the emulator, it is done at once.
unsafe impl DeviceMemory for Tensor {
    fn address(&self) -> u64 {
        self.address
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn context(&self) -> *mut c_void {
        let own = self.cuda.as_ref();
        own.map_or(ptr::null_mut(), |own| own.stream.context().cu_ctx().cast())
    }

    fn before(&self, stream: CUstream) {
        assert!(!self.log.panics_before.swap(false, SeqCst), "no tensor is ready");
        self.log.before.fetch_add(1, SeqCst);
        self.log.streams.lock().expect("no panic").push(stream.addr());
        if let Some(own) = &self.cuda {
            order(&own.theirs, own.stream.cu_stream(), stream);
        }
    }

    fn after(&self, stream: CUstream) {
        self.log.after.fetch_add(1, SeqCst);
        assert!(!self.log.panics_after.swap(false, SeqCst), "no tensor is done");
        if let Some(own) = &self.cuda {
            order(&own.ours, stream, own.stream.cu_stream());
        }
    }
}

/// Lets later work on one stream wait for all work so far on another.
fn order(event: &CudaEvent, earlier: CUstream, later: CUstream) {
    let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
    event.context().bind_to_thread().expect("the context binds");
    // SAFETY: the event lives, and so does the stream during the call; both are of one context.
    unsafe { result::event::record(event.cu_event(), earlier) }.expect("the event is recorded");
    // SAFETY: as for the call before.
    unsafe { result::stream::wait_event(later, event.cu_event(), flags) }.expect("the stream waits");
}

/// A tensor that the test has, too. It does not know its context.
pub(crate) struct Kept(pub(crate) Arc<Tensor>);

// SAFETY: that of `Tensor`. Tests adopt one, or several of which launches only read.
unsafe impl DeviceMemory for Kept {
    fn address(&self) -> u64 {
        self.0.address()
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }

    fn before(&self, stream: CUstream) {
        self.0.before(stream);
    }

    fn after(&self, stream: CUstream) {
        self.0.after(stream);
    }
}

impl Drop for Tensor {
    fn drop(&mut self) {
        self.set(FREED);
        match &self.cuda {
            None => {
                let words = with_exposed_provenance_mut::<u32>(self.address as usize);
                // SAFETY: the words came from such a box, and nothing uses them any more.
                drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(words, Self::LEN)) });
            }
            Some(own) => {
                own.stream.synchronize().expect("the stream ends");
                // SAFETY: nothing uses the memory any more.
                unsafe { result::free_sync(self.address) }.expect("it is freed");
            }
        }
        self.log.dropped.fetch_add(1, SeqCst);
    }
}
