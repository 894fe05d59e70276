//! The objects of the driver, by their handles, and the contexts of threads.

use crate::capture::{Capture, Captured, Capturing};
use crate::code::{CAPTURE_IMPLICIT, CAPTURE_UNSUPPORTED, Done, Failure, INVALID_CONTEXT, INVALID_HANDLE, fail};
use crate::graph::{Exec, Graph, Node};
use crate::handle::Handle;
use crate::memory::{Array, Blocks};
use crate::module::{Function, Loaded};
use crate::queue::{Mark, Queue};
use crate::settings::SETTINGS;
use graph_emulator::{Surface, Texture};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// The first handle of an object. Lower ones stand for special streams.
const FIRST: Handle = 0x00cd_0000_0000_0000;
/// The stream that synchronises with all streams that are not non-blocking; 0, too.
const LEGACY: Handle = 1;
/// The null stream of each thread.
const PER_THREAD: Handle = 2;

/// An object of the driver.
pub(crate) enum Object {
    Context(Context),
    Stream(Stream),
    Event(Event),
    Module(Arc<Loaded>),
    /// A library, by its module.
    Library(Handle),
    /// A kernel of a library, by its function.
    Kernel(Handle),
    Function(Arc<Function>),
    Graph(Graph),
    Node(Node),
    Exec(Exec),
    /// Memory without addresses: its bytes.
    Physical(usize),
    Array(Arc<Array>),
}

#[derive(Default)]
pub(crate) struct Context {
    /// The number of its device.
    pub(crate) device: i32,
    /// The contexts of other devices whose memory its kernels reach.
    pub(crate) peers: Vec<Handle>,
    /// The reason that every call fails.
    pub(crate) lost: Option<Failure>,
    /// The ends of streams that were destroyed before their work was done.
    pub(crate) left: Vec<Mark>,
    /// Its null streams: of all threads, and of each.
    legacy: Option<Handle>,
    per_thread: HashMap<ThreadId, Handle>,
}

pub(crate) struct Stream {
    pub(crate) context: Handle,
    pub(crate) queue: Arc<Queue>,
    /// Whether it synchronises with the null stream.
    pub(crate) blocks: bool,
    pub(crate) flags: u32,
    pub(crate) priority: i32,
    pub(crate) capturing: Option<Capturing>,
}

#[derive(Default)]
pub(crate) struct Event {
    /// The work that it was recorded after.
    pub(crate) mark: Option<Mark>,
    /// The capture that it was recorded in.
    pub(crate) captured: Option<Captured>,
    pub(crate) recorded_at: Option<std::time::Instant>,
}

#[derive(Default)]
pub(crate) struct State {
    last: Handle,
    objects: HashMap<Handle, Object>,
    pub(crate) blocks: Blocks,
    pub(crate) captures: BTreeMap<u64, Capture>,
    pub(crate) textures: Vec<Option<(Texture, Option<Arc<Array>>)>>,
    pub(crate) surfaces: Vec<Option<(Surface, Arc<Array>)>>,
    /// The primary contexts, by device.
    pub(crate) primary: BTreeMap<i32, Handle>,
    /// The last conditional handle.
    pub(crate) conditional: u64,
    /// The number of the last capture.
    pub(crate) last_capture: u64,
}

thread_local! {
    static CURRENT: RefCell<Vec<Handle>> = const { RefCell::new(Vec::new()) };
    /// The thread's mode of captures: 0 is global, 1 of the thread, 2 relaxed.
    pub(crate) static MODE: Cell<u32> = const { Cell::new(0) };
    /// Whether a function of the user runs, which may make no calls.
    pub(crate) static IN_FUNCTION: Cell<bool> = const { Cell::new(false) };
}

/// All objects. Nothing that could call or wait for the user happens while this is held.
pub(crate) fn state() -> MutexGuard<'static, State> {
    static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);
    static WAITING: AtomicUsize = AtomicUsize::new(0);
    // The lock is not fair: a thread that makes calls all the time would keep all others out for minutes.
    if WAITING.load(Relaxed) > 0 {
        thread::sleep(Duration::from_micros(20));
    }
    STATE.try_lock().unwrap_or_else(|error| match error {
        TryLockError::Poisoned(poisoned) => poisoned.into_inner(),
        TryLockError::WouldBlock => {
            WAITING.fetch_add(1, Relaxed);
            let locked = STATE.lock().unwrap_or_else(PoisonError::into_inner);
            WAITING.fetch_sub(1, Relaxed);
            locked
        }
    })
}

/// The contexts of this thread, of which the last is current.
pub(crate) fn with_stack<T>(f: impl FnOnce(&mut Vec<Handle>) -> T) -> T {
    CURRENT.with_borrow_mut(f)
}

pub(crate) fn current() -> Option<Handle> {
    with_stack(|stack| stack.last().copied())
}

/// The failure of a call with a handle that does not live, or is one of something else. A GPU's driver may crash then.
pub(crate) fn mistake<T>(text: String) -> Done<T> {
    if SETTINGS.is_strict {
        eprintln!("cuda-graph-driver: {text}");
        std::process::abort();
    }
    fail(INVALID_HANDLE, text)
}

/// Declares how objects of a kind are found: to be looked at and, with a second name, to be changed.
macro_rules! found {
    ($($name:ident $(, $name_mut:ident)?: $variant:ident($type:ty), $what:literal;)*) => {
        $(
            pub(crate) fn $name(&self, handle: Handle) -> Done<&$type> {
                match self.objects.get(&handle) {
                    Some(Object::$variant(object)) => Ok(object),
                    _ => mistake(format!("{handle:#x} is no {}", $what)),
                }
            }

            $(pub(crate) fn $name_mut(&mut self, handle: Handle) -> Done<&mut $type> {
                match self.objects.get_mut(&handle) {
                    Some(Object::$variant(object)) => Ok(object),
                    _ => mistake(format!("{handle:#x} is no {}", $what)),
                }
            })?
        )*
    };
}

impl Context {
    /// A context of a device.
    pub(crate) fn of(device: i32) -> Self {
        Self {
            device,
            ..Self::default()
        }
    }
}

impl State {
    found! {
        context, context_mut: Context(Context), "context";
        real_stream, real_stream_mut: Stream(Stream), "stream";
        event, event_mut: Event(Event), "event";
        module: Module(Arc<Loaded>), "module";
        library: Library(Handle), "library";
        kernel: Kernel(Handle), "kernel";
        real_function: Function(Arc<Function>), "function";
        graph, graph_mut: Graph(Graph), "graph";
        node, node_mut: Node(Node), "node";
        exec, exec_mut: Exec(Exec), "executable graph";
        physical: Physical(usize), "memory";
        array: Array(Arc<Array>), "array";
    }

    pub(crate) fn add(&mut self, object: Object) -> Handle {
        self.last += 0x10;
        self.objects.insert(FIRST + self.last, object);
        FIRST + self.last
    }

    pub(crate) fn remove(&mut self, handle: Handle) {
        self.objects.remove(&handle);
    }

    /// A graph that may be gone.
    pub(crate) fn graph_if_there(&mut self, handle: Handle) -> Option<&mut Graph> {
        match self.objects.get_mut(&handle) {
            Some(Object::Graph(graph)) => Some(graph),
            _ => None,
        }
    }

    /// An event that may be gone: CUDA lets it be destroyed while its recording is queued.
    pub(crate) fn event_if_there(&mut self, handle: Handle) -> Option<&mut Event> {
        match self.objects.get_mut(&handle) {
            Some(Object::Event(event)) => Some(event),
            _ => None,
        }
    }

    /// The handle of a loaded module.
    pub(crate) fn module_of(&self, loaded: &Arc<Loaded>) -> Option<Handle> {
        let mut all = self.objects.iter();
        all.find_map(|(handle, object)| match object {
            Object::Module(other) if Arc::ptr_eq(other, loaded) => Some(*handle),
            _ => None,
        })
    }

    /// Whether a conditional handle was made for a graph, or for one around it.
    pub(crate) fn is_handle_of(&self, conditional: u64, graph: Handle) -> bool {
        let Ok(found) = self.graph(graph) else {
            return false;
        };
        let around = found.owner.and_then(|node| self.node(node).ok()).map(|node| node.graph);
        found.handles.iter().any(|(handle, _)| *handle == conditional)
            || around.is_some_and(|graph| self.is_handle_of(conditional, graph))
    }

    /// A function, or that of a kernel.
    pub(crate) fn function(&self, handle: Handle) -> Done<&Arc<Function>> {
        match self.objects.get(&handle) {
            Some(Object::Kernel(function)) => self.real_function(*function),
            _ => self.real_function(handle),
        }
    }

    /// The handle of a stream, where null stands for that of the current context.
    pub(crate) fn stream_handle(&mut self, handle: Handle) -> Done<Handle> {
        if handle > PER_THREAD {
            self.real_stream(handle)?;
            return Ok(handle);
        }
        let Some(context) = current() else {
            return fail(
                INVALID_CONTEXT,
                "the null stream is that of a context, but none is current",
            );
        };
        let is_legacy = handle <= LEGACY;
        let known = match (is_legacy, self.context(context)?) {
            (true, known) => known.legacy,
            (false, known) => known.per_thread.get(&thread::current().id()).copied(),
        };
        if let Some(known) = known {
            return Ok(known);
        }
        let made = self.add(Object::Stream(Stream::new(context, true)));
        let known = self.context_mut(context)?;
        if is_legacy {
            known.legacy = Some(made);
        } else {
            known.per_thread.insert(thread::current().id(), made);
        }
        Ok(made)
    }

    pub(crate) fn stream(&mut self, handle: Handle) -> Done<&mut Stream> {
        let handle = self.stream_handle(handle)?;
        self.real_stream_mut(handle)
    }

    /// Whether kernels of a context reach the memory of another one.
    pub(crate) fn reaches(&self, context: Handle, other: Handle) -> bool {
        let is_peer = |context: &Context| context.peers.contains(&other);
        context == other || self.context(context).is_ok_and(is_peer)
    }

    /// The streams of a context.
    pub(crate) fn streams(&self, context: Handle) -> impl Iterator<Item = (Handle, &Stream)> {
        self.all_streams().filter(move |(_, stream)| stream.context == context)
    }

    /// All work of a context that is queued.
    pub(crate) fn all_work(&mut self, context: Handle) -> Vec<Mark> {
        let mut ends: Vec<Mark> = self.streams(context).map(|(_, stream)| stream.queue.end()).collect();
        if let Ok(context) = self.context_mut(context) {
            context.left.retain(|mark| !mark.has_come());
            ends.extend(context.left.iter().cloned());
        }
        ends
    }

    pub(crate) fn all_streams(&self) -> impl Iterator<Item = (Handle, &Stream)> {
        self.objects.iter().filter_map(|(handle, object)| match object {
            Object::Stream(stream) => Some((*handle, stream)),
            _ => None,
        })
    }

    /// The work of other streams that work on a stream comes after: the null stream and the blocking ones wait for each
    /// other.
    pub(crate) fn before(&self, handle: Handle) -> Done<Vec<Mark>> {
        let stream = self.real_stream(handle)?;
        if !stream.blocks {
            return Ok(Vec::new());
        }
        let legacy = self.context(stream.context)?.legacy;
        let is_before = |other: Handle| {
            if Some(handle) == legacy {
                true
            } else {
                Some(other) == legacy
            }
        };
        let all = self.streams(stream.context);
        let blocking = all.filter(|(other, stream)| stream.blocks && is_before(*other));
        Ok(blocking.map(|(_, stream)| stream.queue.end()).collect())
    }

    /// Refuses the null stream while a blocking stream is being captured.
    pub(crate) fn check_implicit(&mut self, handle: Handle) -> Done {
        let stream = self.real_stream(handle)?;
        if Some(handle) != self.context(stream.context)?.legacy {
            return Ok(());
        }
        let captured: Option<u64> = self
            .streams(stream.context)
            .filter(|(_, stream)| stream.blocks)
            .find_map(|(_, stream)| stream.capturing.as_ref().map(|capturing| capturing.capture));
        match captured {
            None => Ok(()),
            Some(capture) => {
                self.invalidate(capture);
                fail(
                    CAPTURE_IMPLICIT,
                    "the null stream would wait for a stream that is being captured",
                )
            }
        }
    }

    /// Makes a capture invalid.
    pub(crate) fn invalidate(&mut self, capture: u64) {
        if let Some(capture) = self.captures.get_mut(&capture) {
            capture.is_invalid = true;
        }
    }

    /// Refuses a call that no thread may make, or this one may not, while a stream is being captured: such a call makes
    /// the captures invalid. The mode of the thread decides.
    pub(crate) fn check_unsafe(&mut self) -> Done {
        let (mode, thread) = (MODE.get(), thread::current().id());
        let disturbed: Vec<u64> = self
            .captures
            .iter()
            .filter(|(_, capture)| match mode {
                0 => capture.mode == 0 || capture.mode == 1 && capture.thread == thread,
                1 => capture.mode < 2 && capture.thread == thread,
                _ => false,
            })
            .map(|(id, _)| *id)
            .collect();
        if disturbed.is_empty() {
            return Ok(());
        }
        disturbed.into_iter().for_each(|capture| self.invalidate(capture));
        fail(
            CAPTURE_UNSUPPORTED,
            "this call is not permitted while a stream is being captured",
        )
    }

    /// The failure of a context that is lost.
    pub(crate) fn check_context(&self, context: Handle) -> Done {
        match &self.context(context)?.lost {
            None => Ok(()),
            Some(lost) => Err(lost.clone()),
        }
    }

    /// Loses a context: all its calls fail from now on.
    pub(crate) fn lose(&mut self, context: Handle, failure: Failure) {
        if let Ok(context) = self.context_mut(context) {
            context.lost.get_or_insert(failure);
        }
    }
}

impl Stream {
    pub(crate) fn new(context: Handle, blocks: bool) -> Self {
        Self {
            context,
            queue: Arc::default(),
            blocks,
            flags: u32::from(!blocks),
            priority: 0,
            capturing: None,
        }
    }
}
