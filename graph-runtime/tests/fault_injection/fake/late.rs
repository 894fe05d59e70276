//! Launches that run later, with `FAKE_CUDA_LATE=1`: their copies, memsets and host functions, in the order in which
//! the nodes were added, on a thread of their own and a moment after the launch. So the program meets them as it meets
//! a GPU. Memsets and copies of page-locked memory on streams are late, too. Kernels, child graphs and bodies still do
//! nothing.
//!
//! A launch comes after the work before it on its stream, after the events that the stream waits for, and after the
//! last launch of its executable graph; after nothing else. One end is one semaphore, which is posted by the launch and
//! taken by whoever waits: ThreadSanitizer, which sees no atomics of this library, sees these and `memmove`. So it
//! reports memory that the program touches without having waited.

use super::*;
use std::cell::UnsafeCell;

static IS_ON: LazyLock<bool> = LazyLock::new(|| std::env::var_os("FAKE_CUDA_LATE").is_some());

/// The time from the launch to its first node.
const DELAY: Duration = Duration::from_micros(300);

/// The end of a launch, or of a host function. It is leaked, so that whoever waits need not say when it is done.
struct End(UnsafeCell<[u64; 4]>);

/// The work that something comes after.
type Ends = Vec<&'static End>;

// SAFETY: it is a `sem_t`, which threads share.
unsafe impl Sync for End {}

unsafe extern "C" {
    fn sem_init(semaphore: *mut [u64; 4], shared: c_int, value: u32) -> c_int;
    fn sem_post(semaphore: *mut [u64; 4]) -> c_int;
    fn sem_wait(semaphore: *mut [u64; 4]) -> c_int;
    fn sem_trywait(semaphore: *mut [u64; 4]) -> c_int;
}

impl End {
    fn new() -> &'static Self {
        let end: &Self = Box::leak(Box::new(Self(UnsafeCell::default())));
        // SAFETY: there is room for a `sem_t` of Linux, and nobody else has it.
        unsafe { sem_init(end.0.get(), 0, 0) };
        end
    }

    fn post(&self) {
        // SAFETY: `new` has made the semaphore.
        unsafe { sem_post(self.0.get()) };
    }

    /// Waits, or only asks whether this has come. The semaphore is posted again for whoever waits next.
    fn has_come(&self, wait: bool) -> bool {
        let take = if wait { sem_wait } else { sem_trywait };
        loop {
            // SAFETY: as in `post`.
            match unsafe { take(self.0.get()) } {
                0 => break,
                _ if wait => {} // a signal has come
                _ => return false,
            }
        }
        self.post();
        true
    }
}

/// A node of an executable graph.
#[derive(Clone)]
struct Step {
    node: Handle,
    kind: u32,
    params: Vec<u8>,
    enabled: bool,
}

#[derive(Default)]
struct Late {
    /// The work that the next work on a stream comes after.
    streams: HashMap<Handle, Ends>,
    /// The work that an event was recorded after.
    events: HashMap<Handle, Ends>,
    /// The nodes of each executable graph, and its last launch.
    execs: HashMap<Handle, (Vec<Step>, Ends)>,
}

static LATE: LazyLock<Mutex<Late>> = LazyLock::new(Mutex::default);

fn late() -> MutexGuard<'static, Late> {
    LATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `work` on a thread of its own, after other work.
fn start(after: Ends, work: impl FnOnce() + Send + 'static) -> &'static End {
    let end = End::new();
    std::thread::spawn(move || {
        after.iter().for_each(|end| _ = end.has_come(true));
        std::thread::sleep(DELAY);
        work();
        end.post();
    });
    end
}

/// Notes the nodes of a graph that was instantiated, or that an executable graph was updated from: these keep their
/// handles.
pub(super) fn instantiated(exec: Handle, nodes: impl Iterator<Item = (Handle, u32, Vec<u8>)>) {
    let mut late = late();
    let (steps, _) = late.execs.entry(exec).or_default();
    let handles: Vec<Handle> = steps.iter().map(|step| step.node).collect();
    *steps = nodes
        .enumerate()
        .map(|(index, (node, kind, params))| Step {
            node: handles.get(index).copied().unwrap_or(node),
            kind,
            params,
            enabled: true,
        })
        .collect();
}

/// Changes a node of an executable graph, for later launches.
fn change(exec: Handle, node: Handle, change: impl FnOnce(&mut Step)) {
    if let Some((steps, _)) = late().execs.get_mut(&exec)
        && let Some(step) = steps.iter_mut().find(|step| step.node == node)
    {
        change(step);
    }
}

/// Sets the parameters of a node, of `bytes` bytes.
pub(super) unsafe fn set(exec: Handle, node: Handle, params: *const c_void, bytes: usize) {
    // SAFETY: the caller has so many bytes there.
    let params = unsafe { std::slice::from_raw_parts(params.cast::<u8>(), bytes) }.to_vec();
    change(exec, node, |step| step.params = params);
}

pub(super) fn enable(exec: Handle, node: Handle, enabled: bool) {
    change(exec, node, |step| step.enabled = enabled);
}

/// Launches an executable graph.
pub(super) fn launch(exec: Handle, stream: Handle) {
    if !*IS_ON {
        return;
    }
    let mut late = late();
    let late = &mut *late;
    let Some((steps, last)) = late.execs.get_mut(&exec) else { return };
    let before = late.streams.entry(stream).or_default();
    let (after, steps) = ([&before[..], last].concat(), steps.clone());
    // SAFETY: whoever launches keeps the memory of the nodes until it has waited.
    let end = start(after, move || steps.iter().filter(|step| step.enabled).for_each(|step| unsafe { do_step(step) }));
    (*before, *last) = (vec![end], vec![end]);
}

/// Queues a function on a stream.
pub(super) fn call(stream: Handle, function: impl FnOnce() + Send + 'static) {
    let mut late = late();
    let before = late.streams.entry(stream).or_default();
    *before = vec![start(std::mem::take(before), function)];
}

/// Does something in the order of a stream: later, or at once. (CUDA's copies from and to memory that is not
/// page-locked are done when they return.)
pub(super) fn run(stream: Handle, is_late: bool, work: impl FnOnce() + Send + 'static) {
    if *IS_ON && is_late {
        return call(stream, work);
    }
    stream_has_ended(stream, true);
    work();
}

/// Records an event on a stream.
pub(super) fn record(event: Handle, stream: Handle) {
    let mut late = late();
    let before = late.streams.get(&stream).cloned().unwrap_or_default();
    late.events.insert(event, before);
}

/// Makes a stream wait for an event.
pub(super) fn wait_event(stream: Handle, event: Handle) {
    let mut late = late();
    let ends = late.events.get(&event).cloned().unwrap_or_default();
    late.streams.entry(stream).or_default().extend(ends);
}

/// Whether an event has come.
pub(super) fn event_has_come(event: Handle, wait: bool) -> bool {
    let ends = late().events.get(&event).cloned().unwrap_or_default();
    ends.iter().all(|end| end.has_come(wait))
}

/// Whether the work on a stream has ended.
pub(super) fn stream_has_ended(stream: Handle, wait: bool) -> bool {
    let ends = late().streams.get(&stream).cloned().unwrap_or_default();
    ends.iter().all(|end| end.has_come(wait))
}

/// Waits for all work.
pub(super) fn synchronize() {
    let ends: Ends = late().streams.values().flatten().copied().collect();
    ends.iter().for_each(|end| _ = end.has_come(true));
}

/// Does what a node says.
unsafe fn do_step(step: &Step) {
    let word = |index: usize| -> usize {
        let bytes = step.params[8 * index..].first_chunk().expect("the node has so many parameters");
        usize::from_ne_bytes(*bytes)
    };
    match step.kind {
        // Arrays hold nothing here: no kernel runs that could tell.
        MEMCPY if [4, 15].iter().any(|&kind| word(kind) as u32 == 3) => {}
        MEMCPY => {
            // The kind of memory, its two addresses, of which one counts, and the distances of rows and planes.
            let side = |first: usize| {
                let address = word(first + if word(first + 4) as u32 == 1 { 5 } else { 6 });
                let [x, y, z] = [0, 1, 2].map(|index| word(first + index));
                let (pitch, height) = (word(first + 9), word(first + 10));
                move |plane: usize, row: usize| address + x + ((z + plane) * height + y + row) * pitch
            };
            let (from, to) = (side(0), side(11));
            let [width, rows, planes] = [22, 23, 24].map(word);
            for (plane, row) in (0..planes).flat_map(|plane| (0..rows).map(move |row| (plane, row))) {
                // SAFETY: whoever has added the node says so.
                unsafe { ptr::copy(from(plane, row) as *const u8, to(plane, row) as *mut u8, width) };
            }
        }
        MEMSET => {
            let [address, pitch, value, width, rows] = [0, 1, 2, 3, 4].map(word);
            let (value, size) = ((value as u32).to_ne_bytes(), value >> 32);
            let filled = value[..size].repeat(width);
            for row in 0..rows {
                // SAFETY: as above.
                unsafe { ptr::copy(filled.as_ptr(), (address + row * pitch) as *mut u8, filled.len()) };
            }
        }
        HOST => {
            let function = ptr::with_exposed_provenance::<()>(word(0));
            // SAFETY: the parameters begin with such a function.
            let function: unsafe extern "C" fn(usize) = unsafe { std::mem::transmute(function) };
            // SAFETY: whoever has added the node says so.
            unsafe { function(word(1)) };
        }
        _ => {}
    }
}
