//! The memory of this process and of the device, before and after.

use graph_runtime::Device;
use graph_runtime::fault_injection as faults;
use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};

/// The bytes that are allocated in Rust.
static ALLOCATED: AtomicIsize = AtomicIsize::new(0);

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size() as isize, Relaxed);
        // SAFETY: by the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size() as isize, Relaxed);
        // SAFETY: by the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// What is in use at one time.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct InUse {
    /// Objects of the driver that this library has made, by kind.
    pub(crate) objects: BTreeMap<&'static str, isize>,
    /// Bytes in Rust's heap.
    pub(crate) heap: isize,
}

pub(crate) fn in_use() -> InUse {
    let objects = faults::live().into_iter().filter(|(_, count)| *count != 0).collect();
    InUse {
        objects,
        heap: ALLOCATED.load(Relaxed),
    }
}

/// The bytes of device memory that are free, as the driver says.
pub(crate) fn free_on(device: &Device) -> usize {
    let context = device.context().expect("a CUDA device has a context");
    context.mem_get_info().expect("the driver knows").0
}
