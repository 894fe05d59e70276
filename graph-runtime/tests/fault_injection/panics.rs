//! Code of the user panics, once in each place where it runs in the middle of a change: copies and destructors of
//! params, expressions of nodes, closures, subscribers of `tracing`, wakers. Afterwards the graph launches, and does
//! what its accessors say; or it refuses to launch, says why, and the next change mends it.

use crate::common::library::ONCE;
use crate::common::listener::Listener;
use crate::common::*;
use crate::software::{alone, turn};
use graph_runtime::cudarc::driver::result;
use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::{Pin, pin};
use std::ptr;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};
use tracing::Event;
use tracing::subscriber::with_default;

/// The calls of code of the user, while they are counted.
#[derive(Default)]
struct Calls {
    is_counting: bool,
    /// The places of the calls, in order.
    places: Vec<&'static str>,
    /// The number of the call that panics.
    panics_at: Option<usize>,
}

fn calls() -> MutexGuard<'static, Calls> {
    static CALLS: Mutex<Calls> = Mutex::new(Calls {
        is_counting: false,
        places: Vec::new(),
        panics_at: None,
    });
    CALLS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The payload of the panics.
struct Planned;

/// Stands in all code of the user.
fn user_code(place: &'static str) {
    let mut calls = calls();
    if !calls.is_counting || thread::panicking() {
        return;
    }
    calls.places.push(place);
    if calls.panics_at == Some(calls.places.len()) {
        drop(calls);
        resume_unwind(Box::new(Planned));
    }
}

/// Calls `f`, and returns what came of it and the places of the calls of code of the user. One of them panics.
fn counted<T>(panics_at: Option<usize>, f: impl FnOnce() -> T) -> (thread::Result<T>, Vec<&'static str>) {
    *calls() = Calls {
        is_counting: true,
        places: Vec::new(),
        panics_at,
    };
    let ended = catch_unwind(AssertUnwindSafe(|| {
        with_default(Listener(|_: &Event<'_>| user_code("a subscriber")), f)
    }));
    let counted = std::mem::take(&mut *calls());
    (ended, counted.places)
}

/// A param with code of its own.
#[derive(Debug)]
struct Loud(u32);

impl Loud {
    fn value(&self) -> u32 {
        user_code("the expression of a node");
        self.0
    }
}

impl Clone for Loud {
    fn clone(&self) -> Self {
        user_code("the copy of a param");
        Self(self.0)
    }
}

impl Drop for Loud {
    fn drop(&mut self) {
        user_code("the destructor of a param");
    }
}

/// A waker without data.
fn loud_waker() -> Waker {
    const VTABLE: RawWakerVTable = RawWakerVTable::new(
        |_| {
            user_code("the copy of a waker");
            RawWaker::new(ptr::null(), &VTABLE)
        },
        |_| wake(),
        |_| wake(),
        |_| user_code("the destructor of a waker"),
    );
    // SAFETY: the functions use no data, and may be called on any thread.
    unsafe { Waker::from_raw(RawWaker::new(ptr::null(), &VTABLE)) }
}

/// The thread that waits for a launch.
static WAITING: Mutex<Option<Thread>> = Mutex::new(None);

fn wake() {
    user_code("a waker");
    if let Some(thread) = &*WAITING.lock().unwrap_or_else(PoisonError::into_inner) {
        thread.unpark();
    }
}

/// The longest that a thread waits for another one.
const MAX_WAIT: Duration = Duration::from_secs(600);

/// Where the host function waits while a launch is polled, so that the same code of the user is called each time.
static GATE: (Mutex<Gate>, Condvar) = (Mutex::new(Gate::Open), Condvar::new());

#[derive(Clone, Copy, PartialEq)]
enum Gate {
    Open,
    Closed,
    /// Closed, and the host function has come.
    Reached,
}

impl Gate {
    fn set(self) {
        *GATE.0.lock().unwrap_or_else(PoisonError::into_inner) = self;
        GATE.1.notify_all();
    }

    /// Waits for some time until the gate is no longer as it is here. Returns whether it is.
    fn is_left(self, max: Duration) -> bool {
        let gate = GATE.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = GATE.1.wait_timeout_while(gate, max, |gate| *gate == self);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}

/// Opens the gate in the end, even if something panics.
struct OpenGate;

impl Drop for OpenGate {
    fn drop(&mut self) {
        Gate::Open.set();
    }
}

/// The host function.
fn sum_up(output: &[u32; 4], total: &mut u32) {
    struct Arrived;
    impl Drop for Arrived {
        fn drop(&mut self) {
            let mut gate = GATE.0.lock().unwrap_or_else(PoisonError::into_inner);
            if *gate == Gate::Closed {
                *gate = Gate::Reached;
                GATE.1.notify_all();
            }
        }
    }
    let arrived = Arrived;
    user_code("a host function");
    drop(arrived);
    assert!(Gate::Reached.is_left(MAX_WAIT), "nobody opens the gate");
    *total = output.iter().sum();
}

/// Polls a launch before it ends, and returns what came of it if it has ended without the host function, since
/// something panicked.
fn poll_in_flight(launch: &mut Pin<&mut LaunchFuture>) -> Option<Result<()>> {
    let mut polled = |waker: &Waker| match launch.as_mut().poll(&mut Context::from_waker(waker)) {
        Poll::Ready(ended) => Some(ended),
        Poll::Pending => None,
    };
    while !Gate::Closed.is_left(Duration::from_millis(10)) {
        if let Some(ended) = polled(Waker::noop()) {
            return Some(ended);
        }
    }
    polled(&loud_waker()).or_else(|| polled(&loud_waker()))
}

/// Waits for a launch, by polling it with wakers that are other ones each time. A waker that panics wakes nobody, so
/// the launch is also polled without being woken. `then` is called while the launch is in flight.
fn await_launch(launch: LaunchFuture, gate: OpenGate, then: impl FnOnce() -> Result<()>) -> Result<()> {
    let mut launch = pin!(launch);
    let ended = poll_in_flight(&mut launch);
    drop(gate);
    then()?;
    if let Some(ended) = ended {
        return ended;
    }
    let began = Instant::now();
    *WAITING.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread::current());
    loop {
        let waker = loud_waker();
        if let Poll::Ready(ended) = launch.as_mut().poll(&mut Context::from_waker(&waker)) {
            return ended;
        }
        assert!(began.elapsed() < MAX_WAIT, "the launch does not end");
        thread::park_timeout(Duration::from_millis(50));
    }
}

cuda_graph! {
    /// Copies, sets and host functions show `x`; kernels show `y`, too.
    graph Told(w: mut device [u32; 4], rows: device [[u32; 4]; 4], base: u32) {
        host   output: [u32; 4];
        host   copied: [u32; 4];
        host   total:  u32;
        device corner: [[u32; 2]; 2];
        device k:      [u32; 8];
        param  x: Loud = Loud(1);
        param  y: u32  = 10;
        param  z: Loud = Loud(3);

        memset fill   = w <- base + x.value();
        memcpy result = w -> output                              after fill;
        memcpy copy   = w -> copied                              after fill;
        memcpy cut    = rows[1..3][1..3] -> corner;
        memset zero   = k <- 0;
        kernel add    = add_to<<<1, 8>>>(&mut k, y)              after zero;
        kernel more   = add_to<<<1, 8>>>(&mut k, x.value() * 100 + z.value() * 1000) after add;
        call   sum    = |&output, &mut total| sum_up(output, total) after result;
    }
}

/// The change that is made.
trait Changed: Sized {
    fn new(device: &Device) -> Result<Self>;

    /// Launches, and compares the results with what accessors say. Returns a text of all that a change changes.
    fn check(&mut self) -> Result<String>;

    /// Mends a graph that does not launch, in another way than by repeating the change.
    fn mend(&mut self) -> Result<()>;
}

struct Declared {
    device: Device,
    graph: Told,
    buffers: [DeviceBuffer<[u32; 4]>; 2],
    /// Zeros, and ones.
    rows: [DeviceBuffer<[[u32; 4]; 4]>; 2],
}

impl Declared {
    /// The definition of a graph of this memory and build argument.
    fn definition(&self, index: usize) -> Result<Definition<Told>> {
        Told::define(&self.device, &self.buffers[index], &self.rows[0], BASES[index])
    }
}

/// The build arguments: those at first, and those of the definition that the graph is updated from.
const BASES: [u32; 2] = [40, 70];

impl Changed for Declared {
    fn new(device: &Device) -> Result<Self> {
        let buffers = [device.alloc()?, device.alloc()?];
        let rows: [DeviceBuffer<[[u32; 4]; 4]>; 2] = [device.alloc()?, device.alloc()?];
        rows[1].copy_from(&[[1; 4]; 4])?;
        let graph = Told::build(device, &buffers[0], &rows[0], BASES[0])?;
        let device = device.clone();
        Ok(Self {
            device,
            graph,
            buffers,
            rows,
        })
    }

    fn check(&mut self) -> Result<String> {
        let Self { graph, buffers, .. } = self;
        let _ = graph.synchronize(); // the panic of a host function
        for buffer in &*buffers {
            buffer.copy_from(&[0; 4])?; // which fails if a guard or a claim was left behind
        }
        *graph.copied_mut()? = [9; 4];
        graph.launch()?;
        graph.synchronize()?;
        let (x, y, z) = (graph.x().0, graph.y(), graph.z().0);
        let runs = graph.copy().is_enabled();
        let block = graph.add().block();
        let shown = graph.output()?[0];
        let base = shown.checked_sub(x).filter(|base| BASES.contains(base));
        assert!(base.is_some(), "{shown} is shown, and x is {x}");
        assert_eq!(*graph.output()?, [shown; 4]);
        assert_eq!(*graph.total()?, 4 * shown);
        assert_eq!(*graph.copied()?, [if runs { shown } else { 9 }; 4], "{runs}");
        let filled = [buffers[0].read()?[0], buffers[1].read()?[0]];
        assert!(filled == [shown, 0] || filled == [0, shown], "{filled:?}");
        assert_eq!(*graph.k()?.read()?, [y + 100 * x + 1000 * z; 8]);
        let corner = *graph.corner()?.read()?;
        Ok(format!("{x} {y} {z} {runs} {block:?} {filled:?} {corner:?}"))
    }

    fn mend(&mut self) -> Result<()> {
        let definition = self.definition(0)?;
        self.graph.update_from(definition).map(drop)
    }
}

type Change<S> = (&'static str, fn(&mut S) -> Result<()>);

const CHANGES: [Change<Declared>; 13] = [
    ("build", |s| {
        s.graph = s.definition(1)?.build()?;
        Ok(())
    }),
    ("set_x", |s| s.graph.set_x(Loud(5))),
    ("set_y", |s| s.graph.set_y(50)),
    ("edit", |s| {
        s.graph.edit(|e| {
            user_code("the closure of an edit");
            e.set_y(20)?;
            e.set_x(Loud(6))?;
            e.set_z(Loud(7))?;
            e.rebind_w(&s.buffers[1])?;
            user_code("the closure of an edit");
            e.copy().set_enabled(false)?;
            e.add().set_launch(2, 4)?;
            user_code("the closure of an edit");
            Ok(())
        })
    }),
    ("edit of values", |s| {
        s.graph.edit(|e| {
            e.set_y(21)?;
            user_code("the closure of an edit");
            Ok(())
        })
    }),
    ("rebind", |s| s.graph.rebind_w(&s.buffers[1])),
    // CUDA instantiates the graph again.
    ("rebind rows that lie apart", |s| s.graph.rebind_rows(&s.rows[1])),
    ("set_enabled", |s| s.graph.copy().set_enabled(false)),
    ("set_launch", |s| s.graph.add().set_launch(2, 4)),
    ("update_from", |s| {
        let definition = s.definition(1)?;
        s.graph.update_from(definition).map(drop)
    }),
    ("update_from a changed one", |s| {
        s.graph.copy().set_enabled(false)?;
        s.graph.set_x(Loud(8))?;
        let mut definition = s.definition(1)?;
        if !s.device.is_emulator() {
            let change = |_| {
                user_code("the closure of `Definition::change`");
                Ok(())
            };
            // SAFETY: it changes nothing.
            unsafe { definition.change(change) }?;
        }
        s.graph.update_from(definition).map(drop)
    }),
    ("instantiate", |s| {
        let mut definition = s.definition(0)?;
        s.graph = definition.instantiate(InstantiateOptions::default())?;
        s.graph.reset()?;
        s.graph.upload()
    }),
    ("launch", |s| {
        Gate::Closed.set();
        let gate = OpenGate;
        let first = s.graph.launch_async()?;
        await_launch(first, gate, || s.graph.launch())
    }),
];

/// A graph of recorded work.
struct Recorded {
    graph: CapturedGraph,
    place: Place<[u8; 64], OnDevice>,
    buffers: [DeviceBuffer<[u8; 64]>; 2],
}

impl Changed for Recorded {
    fn new(device: &Device) -> Result<Self> {
        let buffers = [device.alloc()?, device.alloc()?];
        let mut builder = GraphBuilder::new(device, "Recorded");
        let mut place = builder.shared("data", &buffers[0], true);
        let graph = builder.build_captured(ONCE, (&mut place,), |stream| {
            user_code("the closure of a capture");
            let (data,) = stream.memory();
            // SAFETY: it has this number of bytes, and the graph says that it writes it.
            unsafe { result::memset_d8_async(data.address(), 7, 64, stream.cu_stream()) }?;
            user_code("the closure of a capture");
            Ok(())
        })?;
        Ok(Self { graph, place, buffers })
    }

    fn check(&mut self) -> Result<String> {
        for buffer in &self.buffers {
            buffer.copy_from(&[0; 64])?;
        }
        self.graph.launch()?;
        self.graph.synchronize()?;
        let filled = [self.buffers[0].read()?[63], self.buffers[1].read()?[63]];
        assert!(filled == [7, 0] || filled == [0, 7], "{filled:?}");
        Ok(format!("{filled:?}"))
    }

    fn mend(&mut self) -> Result<()> {
        self.graph.record_again()
    }
}

const RECORDINGS: [Change<Recorded>; 3] = [
    ("record_again", |s| s.graph.record_again()),
    ("rebind recorded work", |s| s.graph.rebind(&s.place, &s.buffers[1])),
    ("edit of recorded work", |s| {
        s.graph.edit(|e| {
            user_code("the closure of an edit");
            e.rebind(&s.place, &s.buffers[1])
        })
    }),
];

/// The results of the panics in one place of one change.
#[derive(Default)]
struct Outcomes {
    panics: usize,
    /// The graph launches: as before, or as after the change.
    launches: usize,
    /// The graph did not launch before it was mended.
    refused: usize,
    /// The panic came back as an error, or on another thread.
    caught: usize,
}

type Table = BTreeMap<(&'static str, &'static str), Outcomes>;

/// Makes a change as often as code of the user is called in it, and lets another call panic each time.
fn each_call_panics<S: Changed>(
    device: &Device,
    (name, change): Change<S>,
    table: &mut Table,
    problems: &mut Vec<String>,
) -> Result<()> {
    let mut subject = S::new(device)?;
    let (ended, places) = counted(None, || change(&mut subject));
    ended.map_err(|_| "nothing panics yet").expect("nothing panics yet")?;
    let after = subject.check()?;
    drop(subject);
    for number in 1..=places.len() {
        let mut subject = S::new(device)?;
        let (ended, seen) = counted(Some(number), || change(&mut subject));
        let Some(&place) = seen.get(number - 1) else {
            continue; // calls on other threads come sooner or later
        };
        let what = format!("{name}: {place}, call {number}");
        let mut problem = |text: String| problems.push(format!("{what}: {text}"));
        let outcomes = table.entry((place, name)).or_default();
        outcomes.panics += 1;
        match ended {
            Err(payload) if payload.is::<Planned>() => {}
            Err(payload) => problem(format!("another panic: {}", text_of(&*payload))),
            Ok(_) => outcomes.caught += 1,
        }
        let checked = catch_unwind(AssertUnwindSafe(|| -> Result<String> {
            match subject.check() {
                Err(Error::HalfUpdated { .. }) => {
                    outcomes.refused += 1;
                    if number % 2 == 0 {
                        subject.mend()?;
                        subject.check()?;
                    }
                }
                checked => {
                    checked?;
                    outcomes.launches += 1;
                }
            }
            change(&mut subject)?;
            subject.check()
        }));
        match checked {
            Ok(Ok(state)) if state == after => {}
            Ok(Ok(state)) => problem(format!("done again, it gives {state}, and at once {after}")),
            Ok(Err(error)) => problem(format!("afterwards {error}")),
            Err(payload) => problem(format!("afterwards it panics: {}", text_of(&*payload))),
        }
    }
    Ok(())
}

fn text_of(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("?")
}

/// Lets each call panic in all changes, and prints the table of places.
fn all_panic(device: &Device) -> Result<()> {
    let mut problems = Vec::new();
    let mut table = Table::new();
    for change in CHANGES {
        each_call_panics(device, change, &mut table, &mut problems)?;
    }
    if !device.is_emulator() {
        for change in RECORDINGS {
            each_call_panics(device, change, &mut table, &mut problems)?;
        }
    }
    println!(
        "panics: {:<36} {:<26} {:>6} {:>8} {:>7} {:>6}",
        "place", "in", "panics", "launches", "refused", "caught"
    );
    for ((place, name), outcomes) in &table {
        let &Outcomes {
            panics,
            launches,
            refused,
            caught,
        } = outcomes;
        println!("panics: {place:<36} {name:<26} {panics:>6} {launches:>8} {refused:>7} {caught:>6}");
    }
    let panics: usize = table.values().map(|outcomes| outcomes.panics).sum();
    println!("panics: {panics} on {device:?}, {} problems", problems.len());
    assert_eq!(problems.len(), 0, "{}", problems.join("\n"));
    // Each is called before anything that other threads do in their own time.
    let mut missing = vec![
        "the copy of a param",
        "the destructor of a param",
        "the expression of a node",
        "the closure of an edit",
        "a host function",
        "the copy of a waker",
        "the destructor of a waker",
    ];
    if !device.is_emulator() {
        missing.extend([
            "a subscriber",
            "the closure of a capture",
            "the closure of `Definition::change`",
        ]);
    }
    missing.retain(|place| !table.keys().any(|(known, _)| known == place));
    assert!(missing.is_empty(), "never called: {missing:?}");
    Ok(())
}

#[test]
fn each_call_of_code_of_the_user_panics_on_the_emulator() -> Result<()> {
    let _turn = turn();
    all_panic(&Device::emulator())
}

#[test]
fn each_call_of_code_of_the_user_panics() -> Result<()> {
    let test = "panics::each_call_of_code_of_the_user_panics";
    let Some((device, _turn)) = alone(test, &[&[]]) else {
        return Ok(());
    };
    all_panic(&device)
}
