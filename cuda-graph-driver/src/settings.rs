//! Wishes of the environment to the library. docs/driver.md lists the variables.

use std::env;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

/// The value of `CUDA_GRAPH_DRIVER_` and a name.
fn variable(name: &str) -> Option<String> {
    env::var(format!("CUDA_GRAPH_DRIVER_{name}")).ok()
}

fn number<T: std::str::FromStr>(name: &str) -> Option<T> {
    variable(name)?.parse().ok()
}

/// A limit, which 0 lifts.
fn limit(number: u64) -> Option<u64> {
    (number > 0).then_some(number)
}

/// A call that goes wrong on purpose: the one of a name with a number, counted from 1, or each one.
struct Planned {
    call: String,
    number: Option<u64>,
    code: u32,
}

/// The settings, read once.
pub(crate) struct Settings {
    /// Calls that fail with a code, without having done anything.
    fails: Vec<Planned>,
    /// Calls at which the context dies.
    dies: Vec<Planned>,
    /// Whether a mistake of the caller that a GPU may not survive ends the process.
    pub(crate) is_strict: bool,
    /// Whether launches on a stream that is being captured become a part of the capture.
    pub(crate) captures_launches: bool,
    /// Whether the device's only context is not its primary one.
    pub(crate) no_primary: bool,
    /// Whether launches of graphs never end, unless their context dies.
    pub(crate) is_stuck: bool,
    /// The number of devices.
    pub(crate) devices: i32,
    /// Whether no device reaches the memory of another one.
    pub(crate) no_peers: bool,
    pub(crate) version: i32,
    pub(crate) runtime_version: i32,
    /// The bytes of the memory of all devices.
    pub(crate) memory: usize,
    /// The most instructions that the warps of a block may execute; no limit if `None`.
    pub(crate) step_limit: Option<u64>,
    /// The longest time after the beginning of a launch at which a `while` node still begins an iteration; no limit if
    /// `None`.
    pub(crate) time_limit: Option<Duration>,
    /// The longest delay of work, in microseconds.
    pub(crate) delay: u64,
}

pub(crate) static SETTINGS: LazyLock<Settings> = LazyLock::new(|| {
    let version = number("VERSION").unwrap_or(12_090);
    Settings {
        fails: planned("FAILS", crate::code::UNKNOWN),
        dies: planned("DIES", crate::code::ILLEGAL_ADDRESS),
        is_strict: variable("STRICT").is_some(),
        captures_launches: variable("CAPTURES_LAUNCHES").is_some(),
        no_primary: variable("NO_PRIMARY").is_some(),
        is_stuck: variable("STUCK").is_some(),
        devices: number("DEVICES").unwrap_or(1).max(1),
        no_peers: variable("NO_PEERS").is_some(),
        version,
        runtime_version: number("RUNTIME_VERSION").unwrap_or(version),
        memory: number("MEMORY").unwrap_or(4 << 30),
        // The limits of `Device::emulator()`.
        step_limit: limit(number("STEP_LIMIT").unwrap_or(1 << 29)),
        time_limit: limit(number("TIME_LIMIT").unwrap_or(10)).map(Duration::from_secs),
        delay: number("DELAY").unwrap_or(200),
    }
});

/// Calls as `cuGraphLaunch:3=700,cuMemAlloc_v2`: a name, a number if there is one, and a code.
fn planned(name: &str, code: u32) -> Vec<Planned> {
    let text = variable(name).unwrap_or_default();
    let one = |item: &str| {
        let (call, code) = match item.split_once('=') {
            Some((call, number)) => (call, number.parse().ok()?),
            None => (item, code),
        };
        let (call, number) = match call.split_once(':') {
            Some((call, number)) => (call, Some(number.parse().ok()?)),
            None => (call, None),
        };
        Some(Planned {
            call: call.to_owned(),
            number,
            code,
        })
    };
    text.split(',').filter_map(one).collect()
}

/// The plan for a call that begins now.
pub(crate) enum Plan {
    Runs,
    Fails(u32),
    Dies(u32),
}

/// Counts a call, if any are to go wrong, and returns the plan for it.
pub(crate) fn arrive(call: &str) -> Plan {
    static COUNTS: Mutex<Vec<(String, u64)>> = Mutex::new(Vec::new());
    let settings = &*SETTINGS;
    if settings.fails.is_empty() && settings.dies.is_empty() {
        return Plan::Runs;
    }
    let mut counts = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    let count = match counts.iter_mut().find(|(name, _)| name == call) {
        Some((_, count)) => {
            *count += 1;
            *count
        }
        None => {
            counts.push((call.to_owned(), 1));
            1
        }
    };
    let is_due = |plan: &&Planned| plan.call == call && plan.number.is_none_or(|number| number == count);
    if let Some(plan) = settings.fails.iter().find(is_due) {
        return Plan::Fails(plan.code);
    }
    settings
        .dies
        .iter()
        .find(is_due)
        .map_or(Plan::Runs, |plan| Plan::Dies(plan.code))
}

/// A random number below `end`. All threads draw from one sequence, which `CUDA_GRAPH_DRIVER_SEED` begins.
pub(crate) fn random(end: u64) -> u64 {
    static STATE: LazyLock<Mutex<u64>> = LazyLock::new(|| Mutex::new(number("SEED").unwrap_or(1)));
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    // SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators).
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *state;
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (word ^ word >> 31) % end.max(1)
}
