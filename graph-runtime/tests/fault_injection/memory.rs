//! The memory of this process and of the device, before and after; and a process whose allocations fail.

use crate::common::*;
use crate::graphs::Run;
use crate::software::turn;
use graph_runtime::fault_injection as faults;
use std::alloc::{GlobalAlloc, Layout, System};
use std::backtrace::Backtrace;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering::Relaxed};

static ALLOCATED: AtomicIsize = AtomicIsize::new(0);

/// Allocations of so many bytes, or more, are large. Only one test makes them.
const LARGE: usize = 3 << 20;
/// The large allocations so far.
static LARGE_ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
/// The number of the large allocation that fails; 0 if none does.
static FAILS: AtomicUsize = AtomicUsize::new(0);

/// Whether [`ORIGINS`] keeps where each allocation was made.
static TRACING: AtomicBool = AtomicBool::new(false);
/// The size of each live allocation that was made while it was traced, and where: by its address.
static ORIGINS: Mutex<BTreeMap<usize, (usize, Backtrace)>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// Whether this thread is in [`ORIGINS`], whose own allocations are not traced.
    static IN_ORIGINS: Cell<bool> = const { Cell::new(false) };
}

/// Changes [`ORIGINS`] while allocations are traced.
fn trace(change: impl FnOnce(&mut BTreeMap<usize, (usize, Backtrace)>)) {
    if TRACING.load(Relaxed) && !IN_ORIGINS.replace(true) {
        change(&mut ORIGINS.lock().expect("no change panics"));
        IN_ORIGINS.set(false);
    }
}

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() >= LARGE && LARGE_ALLOCATIONS.fetch_add(1, Relaxed) + 1 == FAILS.load(Relaxed) {
            return std::ptr::null_mut();
        }
        ALLOCATED.fetch_add(layout.size() as isize, Relaxed);
        // SAFETY: by the caller's promise.
        let pointer = unsafe { System.alloc(layout) };
        trace(|origins| drop(origins.insert(pointer.addr(), (layout.size(), Backtrace::force_capture()))));
        pointer
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size() as isize, Relaxed);
        trace(|origins| drop(origins.remove(&pointer.addr())));
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

/// The allocations that `run` makes and that live after it, each with the place where it was made.
pub(crate) fn kept_allocations(run: impl FnOnce()) -> Vec<String> {
    TRACING.store(true, Relaxed);
    run();
    TRACING.store(false, Relaxed);
    let kept = std::mem::take(&mut *ORIGINS.lock().expect("no change panics"));
    kept.values()
        .map(|(bytes, origin)| format!("{bytes} bytes, allocated at\n{origin}"))
        .collect()
}

/// The bytes of device memory that are free, as the driver says.
pub(crate) fn free_on(device: &Device) -> usize {
    let context = device.context().expect("a CUDA device has a context");
    context.mem_get_info().expect("the driver knows").0
}

const WORDS: usize = 1 << 20;

cuda_graph! {
    graph Large {
        host    input:  [u32; WORDS];
        device  data:   [u32; WORDS];
        scratch copy:   [u32; WORDS];
        host    output: [u32; WORDS];

        memcpy upload = input -> data;
        memcpy move_on = data -> copy   after upload;
        memset half   = copy[..WORDS / 2] <- 7 after move_on;
        memcpy down   = copy -> output  after half;
    }
}

/// Memory of all kinds, on the emulator.
fn large(run: &mut Run) -> Result<()> {
    let device = Device::emulator();
    let buffer = run.step(|| device.alloc::<[u32; WORDS]>())?;
    let mut pinned = run.step(|| device.alloc_host_slice::<u32>(WORDS))?;
    pinned.fill(3);
    let slice = run.step(|| device.alloc_slice::<u32>(WORDS))?;
    run.step(|| slice.copy_from(&pinned))?;
    assert_eq!(run.step(|| slice.read_vec())?[..], pinned[..]);
    assert!(run.step(|| buffer.read())?.iter().all(|word| *word == 0));
    let mut graph = run.step(|| Large::build(&device))?;
    run.step(|| graph.input_mut().map(|input| input.copy_from_slice(&pinned)))?;
    run.step(|| graph.launch())?;
    run.step(|| graph.synchronize())?;
    let sum: u64 = graph.output()?.iter().map(|word| u64::from(*word)).sum();
    assert_eq!(sum, 5 * WORDS as u64);
    Ok(())
}

#[test]
fn allocations_of_the_emulator_fail_with_errors() -> Result<()> {
    let _turn = turn();
    let before = LARGE_ALLOCATIONS.load(Relaxed);
    large(&mut Run::new())?;
    let count = LARGE_ALLOCATIONS.load(Relaxed) - before;
    assert!(count >= 8, "{count} large allocations");
    for number in 1..=count {
        FAILS.store(LARGE_ALLOCATIONS.load(Relaxed) + number, Relaxed);
        let mut run = Run::new();
        large(&mut run)?;
        let errors = &run.errors[..];
        assert!(
            matches!(errors, [Error::OutOfMemory { bytes, .. }] if *bytes >= LARGE),
            "allocation {number} of {count}: {errors:?}"
        );
    }
    Ok(())
}
