//! The memory of this process and of the device, before and after.

use graph_runtime::Device;
use graph_runtime::fault_injection as faults;
use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};

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

/// The number of the driver's objects of each kind that this library has made and not destroyed.
pub(crate) fn objects() -> BTreeMap<&'static str, isize> {
    faults::live().into_iter().filter(|(_, count)| *count != 0).collect()
}

/// The bytes that are allocated in Rust.
pub(crate) fn heap_bytes() -> isize {
    ALLOCATED.load(Relaxed)
}

/// The bytes of device memory that are free, as the driver says.
pub(crate) fn free_on(device: &Device) -> usize {
    let context = device.context().expect("a CUDA device has a context");
    context.mem_get_info().expect("the driver knows").0
}
