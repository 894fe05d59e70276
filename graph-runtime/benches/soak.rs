//! Very many launches, updates and rebuilds of graphs that have every statement between them. Fails if memory of the
//! device or of the host grows.
//!
//! `bash .gpu/run.sh soak`, on a machine with a GPU, makes 1,000,000 launches, 10,000 updates and 1,000 rebuilds, which
//! takes about a minute. `cargo test` runs a short version, on the emulator. `CUDA_GRAPH_SOAK_REBUILDS` is another
//! number of rebuilds, with 1000 launches after each.

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "soak/graphs.rs"]
mod graphs;

use graph_runtime::{Device, Result};
use graphs::{Request, Soaked, World, builders};
use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt;
use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};
use std::time::Instant;

/// The bytes that are allocated now, by Rust code.
static ALLOCATED: AtomicIsize = AtomicIsize::new(0);

/// Counts what the system's allocator gives.
struct Counting;

// SAFETY: all is passed on to the system's allocator.
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

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Launches after each rebuild.
#[derive(Clone, Copy)]
struct Length {
    rebuilds: usize,
    launches: usize,
}

const UPDATES: usize = 10;
const FULL: Length = Length {
    rebuilds: 1000,
    launches: 1000,
};
const SHORT: Length = Length {
    rebuilds: 40,
    launches: 25,
};

/// The growth that is no leak, in bytes: caches of allocators and of the driver. (A byte for each of the last 900,000
/// launches, or 100 for each of the last 900 rebuilds, would be more.)
const MAX_ALLOCATED: isize = 64 << 10;
const MAX_RESIDENT: isize = 4 << 20;
const MAX_DEVICE: isize = 2 << 20;
/// The size of the emulator's list of freed allocations, which it names in messages: the last 4096 of them.
const MAX_FREED: isize = 512 << 10;

/// Memory in use, in bytes.
#[derive(Clone, Copy)]
struct Used {
    /// By Rust code of this process.
    allocated: isize,
    /// Memory of the host that the process has in its working set; 0 where the system does not tell.
    resident: isize,
    /// Memory of the device in use; 0 on the emulator.
    device: isize,
}

impl Used {
    fn now(device: &Device) -> Self {
        let memory = device
            .context()
            .map(|context| context.mem_get_info().expect("its memory"));
        Self {
            allocated: ALLOCATED.load(Relaxed),
            resident: resident().unwrap_or(0),
            device: memory.map_or(0, |(free, total)| (total - free) as isize),
        }
    }
}

impl fmt::Display for Used {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            allocated,
            resident,
            device,
        } = self;
        let kib = |bytes: &isize| *bytes as f64 / 1024.0;
        write!(
            f,
            "{:9.1} KiB allocated by Rust, {:9.1} KiB resident on the host, {:9.1} KiB of the device",
            kib(allocated),
            kib(resident),
            kib(device)
        )
    }
}

/// The process's working set in bytes, as Linux tells it.
fn resident() -> Option<isize> {
    const PAGE: isize = 4096;
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: isize = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * PAGE)
}

/// Whether AddressSanitizer runs, which `cargo xtask asan` gives options. It keeps freed memory resident on purpose, to
/// find uses of it.
fn is_sanitized() -> bool {
    std::env::var_os("ASAN_OPTIONS").is_some()
}

fn main() -> Result<()> {
    let is_given = |name: &str| std::env::args().any(|argument| argument == name);
    if is_given("--list") {
        return Ok(()); // there are no tests to choose from
    }
    let device = common::device();
    let full = is_given("--bench") && !device.is_emulator();
    let asked = std::env::var("CUDA_GRAPH_SOAK_REBUILDS").ok();
    let length = match asked.and_then(|rebuilds| rebuilds.parse().ok()) {
        Some(rebuilds) => Length { rebuilds, ..FULL },
        None if full => FULL,
        None => SHORT,
    };
    let Length { rebuilds, launches } = length;
    println!(
        "{}: {} launches, {} updates, {rebuilds} rebuilds",
        device.name(),
        rebuilds * launches,
        rebuilds * UPDATES
    );
    let world = World::new(device)?;
    let began = Instant::now();
    println!("before:   {}", Used::now(&world.device));
    let (early, end) = soak(&world, length)?;
    println!("at 10 %:  {early}");
    println!("at end:   {end}");
    println!("{:.1} s", began.elapsed().as_secs_f64());
    let freed = if world.device.is_emulator() { MAX_FREED } else { 0 };
    let max_resident = match is_sanitized() {
        true => {
            println!("memory of the host is not compared: AddressSanitizer keeps what is freed");
            isize::MAX
        }
        false => MAX_RESIDENT,
    };
    for (memory, early, end, most) in [
        (
            "memory that Rust code has allocated",
            early.allocated,
            end.allocated,
            MAX_ALLOCATED + freed,
        ),
        ("memory of the host", early.resident, end.resident, max_resident),
        ("memory of the device", early.device, end.device, MAX_DEVICE),
    ] {
        let growth = end - early;
        assert!(
            growth <= most,
            "{memory} has grown by {growth} bytes after 10 % of the rounds"
        );
    }
    Ok(())
}

/// Makes all rounds. Returns the memory that was in use after a tenth of them, and at the end.
fn soak(world: &World, length: Length) -> Result<(Used, Used)> {
    let builders = builders(&world.device);
    let mut graphs: Vec<Soaked> = builders.iter().map(|(build, _)| build(world)).collect::<Result<_>>()?;
    let shares: usize = builders.iter().map(|(_, share)| share).sum();
    let mut early = None;
    let mut launches = 0;
    for round in 0..length.rebuilds {
        let rebuilt = round % builders.len();
        graphs[rebuilt] = builders[rebuilt].0(world)?;
        for update in 0..UPDATES {
            let number = round * UPDATES + update;
            graphs[number % builders.len()](Request::Update(number))?;
        }
        for (graph, (_, share)) in graphs.iter_mut().zip(&builders) {
            let count = (length.launches * share).div_ceil(shares);
            (0..count).try_for_each(|_| graph(Request::Launch))?;
            launches += count;
        }
        graphs.iter_mut().try_for_each(|graph| graph(Request::Check))?;
        if round == length.rebuilds / 10 {
            early = Some(Used::now(&world.device));
        }
    }
    assert!(launches >= length.rebuilds * length.launches, "{launches} launches");
    let end = Used::now(&world.device);
    Ok((early.unwrap_or(end), end))
}
