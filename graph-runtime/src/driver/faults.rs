//! Makes calls of the CUDA driver and of NVRTC fail on purpose, runs code between them, and counts them: for the tests
//! of this project, which turn the feature `fault-injection` on. Do not use it otherwise.
//!
//! Only the calls that this crate makes itself are counted; cudarc makes others. All threads count together.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The kind of an object, the calls that make it, and the calls that destroy it.
const OBJECTS: &[(&str, &[&str], &[&str])] = &[
    ("device memory", &["cuMemAlloc_v2"], &["cuMemFree_v2"]),
    ("host memory", &["cuMemHostAlloc"], &["cuMemFreeHost"]),
    ("reserved addresses", &["cuMemAddressReserve"], &["cuMemAddressFree"]),
    ("handles to memory", &["cuMemCreate"], &["cuMemRelease"]),
    ("mappings", &["cuMemMap"], &["cuMemUnmap"]),
    (
        "graphs",
        &["cuGraphCreate", "cudaGraphCreate", "cuStreamEndCapture"],
        &["cuGraphDestroy", "cudaGraphDestroy"],
    ),
    (
        "executable graphs",
        &["cuGraphInstantiateWithParams", "cudaGraphInstantiateWithParams"],
        &["cuGraphExecDestroy", "cudaGraphExecDestroy"],
    ),
    ("streams", &["cuStreamCreate"], &["cuStreamDestroy_v2"]),
    ("events", &["cuEventCreate"], &["cuEventDestroy_v2"]),
    (
        "modules",
        &["cuModuleLoadData", "cuModuleLoadDataEx"],
        &["cuModuleUnload"],
    ),
    ("libraries", &["cuLibraryLoadData"], &["cuLibraryUnload"]),
    (
        "primary contexts",
        &["cuDevicePrimaryCtxRetain"],
        &["cuDevicePrimaryCtxRelease_v2"],
    ),
];

/// `CUDA_ERROR_OUT_OF_MEMORY`
const OUT_OF_MEMORY: u32 = 2;
/// `CUDA_ERROR_UNKNOWN`
const UNKNOWN: u32 = 999;

static STATE: Mutex<State> = Mutex::new(State {
    counts: BTreeMap::new(),
    plans: Vec::new(),
    live: BTreeMap::new(),
});

struct State {
    counts: BTreeMap<&'static str, usize>,
    plans: Vec<Plan>,
    live: BTreeMap<&'static str, isize>,
}

/// The plan for one call.
struct Plan {
    call: String,
    number: usize,
    action: Action,
}

enum Action {
    Fail(u32),
    Before(Box<dyn FnOnce() + Send>),
    After(Box<dyn FnOnce() + Send>),
}

/// Counts from 0 again, and forgets what was planned.
pub fn start() {
    let mut state = lock();
    state.counts.clear();
    state.plans = Vec::new(); // without the memory of earlier plans, which tests would take for a leak
}

/// The number of calls of each name since [`start`]. Names that were not called are missing.
pub fn counts() -> BTreeMap<&'static str, usize> {
    lock().counts.clone()
}

/// The number of objects of each kind that were made by this crate and not destroyed.
pub fn live() -> BTreeMap<&'static str, isize> {
    lock().live.clone()
}

/// Makes a call fail: the one of this name with this number, counted from 1 since [`start`]. Calls that allocate return
/// `CUDA_ERROR_OUT_OF_MEMORY`, others `CUDA_ERROR_UNKNOWN`.
///
/// The call is not made, unless it destroys something: CUDA's calls may return errors of earlier work, and have done
/// their own work then.
pub fn fail(call: &str, number: usize) {
    let makes = OBJECTS.iter().any(|(_, makers, _)| makers.contains(&call));
    fail_with(call, number, if makes { OUT_OF_MEMORY } else { UNKNOWN });
}

/// As [`fail`], with the code that the call returns.
pub fn fail_with(call: &str, number: usize, code: u32) {
    plan(call, number, Action::Fail(code));
}

/// Runs `f` just before a call: the one of this name with this number, counted from 1 since [`start`].
pub fn before(call: &str, number: usize, f: impl FnOnce() + Send + 'static) {
    plan(call, number, Action::Before(Box::new(f)));
}

/// Runs `f` just after a call: the one of this name with this number, counted from 1 since [`start`].
pub fn after(call: &str, number: usize, f: impl FnOnce() + Send + 'static) {
    plan(call, number, Action::After(Box::new(f)));
}

/// The number of plans that have not come true yet.
pub fn pending() -> usize {
    lock().plans.len()
}

fn plan(call: &str, number: usize, action: Action) {
    let call = call.to_owned();
    lock().plans.push(Plan { call, number, action });
}

fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a call, or lets it fail, as was planned. Returns its code.
pub(super) fn call(name: &'static str, make: impl FnOnce() -> u32) -> u32 {
    let (mut failure, mut earlier, mut later) = (None, None, None);
    for action in arrive(name) {
        match action {
            Action::Fail(code) => failure = Some(code),
            Action::Before(f) => earlier = Some(f),
            Action::After(f) => later = Some(f),
        }
    }
    if let Some(f) = earlier {
        f();
    }
    let destroyed = OBJECTS.iter().find(|(.., destroyers)| destroyers.contains(&name));
    let code = match failure {
        None => make(),
        Some(code) => {
            if destroyed.is_some() {
                make();
            }
            code
        }
    };
    let made = OBJECTS.iter().find(|(_, makers, _)| makers.contains(&name));
    let mut state = lock();
    match (made, destroyed) {
        (Some((object, ..)), _) if code == 0 => *state.live.entry(object).or_default() += 1,
        (_, Some((object, ..))) => *state.live.entry(object).or_default() -= 1,
        _ => {}
    }
    drop(state);
    if let Some(f) = later {
        f();
    }
    code
}

/// Counts a call, and takes the actions that are planned for it.
fn arrive(name: &'static str) -> Vec<Action> {
    let mut state = lock();
    let count = state.counts.entry(name).or_default();
    *count += 1;
    let number = *count;
    let (due, rest) = std::mem::take(&mut state.plans)
        .into_iter()
        .partition(|plan| plan.call == name && plan.number == number);
    state.plans = rest;
    let due: Vec<Plan> = due;
    due.into_iter().map(|plan| plan.action).collect()
}
