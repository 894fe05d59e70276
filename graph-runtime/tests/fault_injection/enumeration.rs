//! Every call of the driver fails once, in each of several scenarios: a first run counts the calls, then there is one
//! run for each call and some of its numbers.

use crate::common::*;
use crate::definitions;
use crate::graphs::{self, Run};
use crate::lending::{adopting, lending};
use crate::memory::{free_on, heap_bytes, kept_allocations, objects};
use crate::software::device;
use graph_runtime::fault_injection as faults;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::thread;
use std::time::{Duration, Instant};

type Scenario = fn(&Device, &mut Run) -> Result<()>;

pub(crate) const SCENARIOS: [(&str, Scenario); 15] = [
    ("small", graphs::small),
    ("statements", graphs::statements),
    ("control", graphs::control),
    ("predicated", graphs::predicated),
    ("library", graphs::library),
    ("captured", graphs::captured),
    ("sharing", graphs::sharing),
    ("pooling", graphs::pooling),
    ("definitions", definitions::definitions),
    ("profiles", definitions::profiles),
    ("outside", graphs::outside),
    ("lending", lending),
    ("adopting", adopting),
    ("debug", graphs::debug),
    ("futures", graphs::futures),
];

/// The scenarios that run once more by the runtime library: together, they make all its calls.
const OF_RUNTIME: [&str; 6] = [
    "statements",
    "control",
    "predicated",
    "library",
    "sharing",
    "definitions",
];

/// All scenarios, each with its name and its device.
pub(crate) fn runs(device: &Device) -> Vec<(String, Device, Scenario)> {
    let by_driver = SCENARIOS.map(|(name, scenario)| (name.to_owned(), device.clone(), scenario));
    let mut runs = by_driver.to_vec();
    let again = SCENARIOS.iter().filter(|(name, _)| OF_RUNTIME.contains(name));
    runs.extend(again.map(|&(name, scenario)| (format!("{name} by the runtime"), device.with_runtime_api(), scenario)));
    runs
}

/// The calls whose failures nobody need hear of: they free something, they are made when something is dropped, they
/// only improve a message, or something else is tried in their place.
const QUIET: &[&str] = &[
    "cuArrayDestroy",
    "cuCtxGetCurrent",
    "cuCtxSetCurrent",
    "cuCtxSynchronize",
    "cuDeviceGetName",
    "cuEventDestroy_v2",
    "cuEventQuery",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuFuncGetParamInfo",
    "cuGetErrorName",
    "cuGraphDestroy",
    "cuGraphExecDestroy",
    "cuLibraryGetModule",
    "cuLibraryLoadData",
    "cuLibraryUnload",
    "cuMemAddressFree",
    "cuMemFreeHost",
    "cuMemFree_v2",
    "cuMemHostUnregister",
    "cuMemRelease",
    "cuMemUnmap",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuStreamDestroy_v2",
    "cuStreamQuery",
    "cuStreamSynchronize",
    "cuSurfObjectDestroy",
    "cuTexObjectDestroy",
    "cuThreadExchangeStreamCaptureMode",
    "cudaGraphDestroy",
    "cudaGraphExecDestroy",
];

/// The calls whose failures nobody need hear of in the scenario of futures: an alarm that cannot be set is set again.
const QUIET_ALARMS: [&str; 3] = ["cuLaunchHostFunc", "cuLaunchHostFunc_v2", "cuStreamWaitEvent"];

/// The call that copies memory before a launch, for the note about a fault: without the copy, the note says less.
const QUIET_COPY: &str = "cuMemcpyDtoHAsync_v2";
/// The scenarios in debug mode, which makes these copies.
const RERUN: [&str; 2] = ["debug", "profiles"];

/// The calls that some scenario makes again and again to wait, in debug mode or for a future, so that there are more or
/// fewer in each run.
const POLLED: [&str; 7] = [
    "cuCtxGetCurrent",
    "cuEventQuery",
    "cuGetErrorName",
    "cuLaunchHostFunc",
    "cuStreamQuery",
    "cuStreamWaitEvent",
    "cuThreadExchangeStreamCaptureMode",
];

/// The calls that a process makes only once, or that depend on the driver. The one in software has the last.
const OPTIONAL: [&str; 3] = ["cuLogsRegisterCallback", "cuLaunchHostFunc", "cuLaunchHostFunc_v2"];

/// The runs of which at least one allocates as much as it frees, unless memory is leaked. Others may keep what is made
/// only once: streams of alarms, for the next ones.
const MAX_REPEATS: usize = 4;

/// The longest time in which other threads free what they hold. Those that ask for events in host functions end later
/// than their callers, and how much later depends on what else the machine does.
const MAX_LATE: Duration = Duration::from_secs(1);

/// Whether errors of a call name a node.
fn is_of_a_node(call: &str) -> bool {
    if matches!(call, "cuTexObjectCreate" | "cuSurfObjectCreate") {
        return true;
    }
    let Some((_, what)) = call.split_once("Graph") else {
        return false;
    };
    let adds = what.starts_with("Add") || what.contains("NodeSet") && !what.starts_with("Mem");
    adds || what == "ConditionalHandleCreate"
}

/// Whether an error is that of the call. Graphs that run node by node say what failed by the node, and CUDA's name and
/// code; and a profile measures graphs of an empty node and of kernels, which are none of the user's.
fn names(error: &str, scenario: &str, call: &str) -> bool {
    let named = error.contains(call) || RERUN.contains(&scenario) && (error.contains("(999)") || error.contains("(2)"));
    let of_profile = scenario == "profiles" && ["cuGraphAddEmptyNode", "cuGraphAddKernelNode_v2"].contains(&call);
    named && (!is_of_a_node(call) || of_profile || error.contains("node `"))
}

/// The numbers of calls that fail, of `count`: all if they are few, else the first, the second, two in the middle and
/// the last.
fn sample(count: usize) -> BTreeSet<usize> {
    if count <= 5 {
        return (1..=count).collect();
    }
    BTreeSet::from([1, 2, count / 2, 3 * count / 4, count])
}

/// Runs a scenario on a thread of its own, since a failed call may leave the thread in another capture mode or context.
/// Returns the errors of what succeeded when it was done again.
fn run(device: &Device, scenario: Scenario) -> Result<Vec<Error>, String> {
    let run = || {
        let mut run = Run::new();
        scenario(device, &mut run).map(|()| run.errors)
    };
    let ran = thread::scope(|scope| scope.spawn(run).join());
    match ran {
        Ok(Ok(errors)) => Ok(errors),
        Ok(Err(error)) => Err(format!("it did not go on: {error}")),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            Err(format!(
                "panicked: {}",
                text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("?")
            ))
        }
    }
}

#[test]
fn every_function_is_declared_once() {
    let mut names = faults::names();
    names.sort_unstable();
    let twice: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

/// What came of the failures of one call.
#[derive(Default)]
struct Outcomes {
    calls: usize,
    failed: usize,
    named: usize,
    quiet: usize,
    example: String,
}

#[test]
fn every_call_fails_once() {
    let Some((device, _turn)) = device("enumeration::every_call_fails_once") else {
        return;
    };
    let mut table: BTreeMap<&str, Outcomes> = faults::names()
        .into_iter()
        .map(|name| (name, Outcomes::default()))
        .collect();
    let mut problems = Vec::new();
    let (mut heap, mut late) = (0, BTreeMap::new());
    faults::fail("cuLogsRegisterCallback", 1); // a process makes this call only once, and does without it
    let runs = runs(&device);
    for (_, device, scenario) in &runs {
        for _ in 0..2 {
            run(device, *scenario).expect("nothing fails yet"); // what is made only once is made now
        }
    }
    let free = free_on(&device);
    let mut in_use = "0 at first".to_owned();
    for (name, device, scenario) in &runs {
        let scenario = *scenario;
        faults::start();
        let _ = write!(in_use, ", {} before {name}", free.saturating_sub(free_on(device)));
        let errors = run(device, scenario).expect("nothing fails yet");
        assert!(errors.is_empty(), "{name}: {errors:?}");
        for (call, count) in faults::counts() {
            table.entry(call).or_default().calls += count;
            for number in sample(count) {
                let Failure {
                    number,
                    came_true,
                    result,
                    objects,
                    freed_late,
                    kept,
                } = fail(device, scenario, call, number);
                *late.entry(freed_late).or_insert(0_usize) += 1;
                let what = format!("{name}: {call} number {number}");
                if !came_true {
                    problems.push(format!("{what}: was not called again"));
                }
                let makes = |_| {
                    let [before, after] = fail(device, scenario, call, number).objects;
                    before != after
                };
                if objects[0] != objects[1] && (1..MAX_REPEATS).all(makes) {
                    problems.push(format!("{what}: leaked: {:?}, before {:?}", objects[1], objects[0]));
                }
                // What a process allocates once, it does not allocate again; what leaks, leaks again.
                let leaks = |_| fail(device, scenario, call, number).kept > 0;
                if kept > 0 && (1..MAX_REPEATS).all(leaks) {
                    let origins = kept_allocations(|| drop(fail(device, scenario, call, number)));
                    let origins = origins.join("\n");
                    problems.push(format!(
                        "{what}: leaked {kept} bytes of the heap, each time:\n{origins}"
                    ));
                    heap += kept;
                }
                let text = match result {
                    Ok(texts) => texts,
                    Err(problem) => {
                        problems.push(format!("{what}: {problem}"));
                        continue;
                    }
                };
                let outcomes = table.entry(call).or_default();
                outcomes.failed += 1;
                match &text[..] {
                    [] if QUIET.contains(&call) => outcomes.quiet += 1,
                    [] if call == QUIET_COPY && RERUN.iter().any(|scenario| name.starts_with(scenario)) => {
                        outcomes.quiet += 1;
                    }
                    [] if name.starts_with("futures") && QUIET_ALARMS.contains(&call) => outcomes.quiet += 1,
                    [] => problems.push(format!("{what}: no error")),
                    [error] if names(error, name, call) => {
                        outcomes.named += 1;
                        outcomes.example.clone_from(error);
                    }
                    errors => problems.push(format!("{what}: other errors: {errors:?}")),
                }
                if let Err(problem) | Ok(Some(problem)) = again(device) {
                    problems.push(format!("{what}: afterwards {problem}"));
                }
            }
        }
    }
    let lost = || free.saturating_sub(free_on(&device));
    print(&table, heap, lost());
    // What is left behind again and again would grow.
    for (_, device, scenario) in runs.iter().cycle().take(3 * runs.len()) {
        run(device, *scenario).expect("nothing fails any more");
    }
    let lost = lost();
    late.remove(&0);
    println!("faults: bytes of the heap that other threads freed later, and how often: {late:?}");
    println!("faults: bytes of device memory more in use: {in_use}, {lost} after three more runs of each");
    for (name, outcomes) in &table {
        if outcomes.failed == 0 && !OPTIONAL[..if is_software() { 2 } else { 3 }].contains(name) {
            problems.push(format!("{name}: no scenario calls it"));
        }
    }
    if lost > 4 << 20 {
        problems.push(format!("{lost} bytes of device memory are lost"));
    }
    assert_eq!(problems.len(), 0, "{}", problems.join("\n"));
}

/// What came of one failure.
struct Failure {
    /// The number of the call that failed.
    number: usize,
    came_true: bool,
    result: Result<Vec<String>, String>,
    /// The driver's objects before and after.
    objects: [BTreeMap<&'static str, isize>; 2],
    /// The bytes of the heap that were freed after the run, within [`MAX_LATE`].
    freed_late: isize,
    /// The bytes of the heap then, less those before.
    kept: isize,
}

/// Runs a scenario in which a call fails. A polled call may not reach its number again: then half of it is tried, and
/// so on. The first call of a name comes in every run.
fn fail(device: &Device, scenario: Scenario, call: &str, number: usize) -> Failure {
    faults::start();
    let (objects_before, heap_before) = (objects(), heap_bytes());
    faults::fail(call, number);
    let result = run(device, scenario).map(|errors| {
        let texts = errors.iter().map(|error| error.to_string());
        texts.collect::<Vec<String>>()
    });
    let came_true = faults::pending() == 0;
    faults::start();
    let (mut heap_after, objects_after) = (heap_bytes(), objects());
    if !came_true && number > 1 && POLLED.contains(&call) {
        return fail(device, scenario, call, number / 2);
    }
    let own = match &result {
        Ok(texts) => texts.iter().map(String::capacity).sum::<usize>() + texts.capacity() * size_of::<String>(),
        Err(text) => text.capacity(),
    };
    // Nothing here allocates, so that what is freed is what others hold.
    let at_once = heap_after;
    let since = Instant::now();
    while heap_after > heap_before + own as isize && since.elapsed() < MAX_LATE {
        thread::sleep(Duration::from_micros(100));
        heap_after = heap_bytes();
    }
    Failure {
        number,
        came_true,
        result,
        objects: [objects_before, objects_after],
        freed_late: at_once - heap_after,
        kept: heap_after - heap_before - own as isize,
    }
}

/// Whether a good graph builds, and gives right results.
fn again(device: &Device) -> Result<Option<String>, String> {
    let errors = run(device, graphs::small)?;
    Ok(errors.first().map(|error| error.to_string()))
}

/// Prints the table of calls and outcomes.
fn print(table: &BTreeMap<&str, Outcomes>, heap: isize, lost: usize) {
    let mut text = format!(
        "faults: {:<46} {:>6} {:>6} {:>6} {:>6}  for example\n",
        "call", "calls", "failed", "named", "quiet"
    );
    for (name, outcomes) in table {
        let Outcomes {
            calls,
            failed,
            named,
            quiet,
            example,
        } = outcomes;
        let example = example.lines().next().unwrap_or_default();
        let _ = writeln!(
            text,
            "faults: {name:<46} {calls:>6} {failed:>6} {named:>6} {quiet:>6}  {example}"
        );
    }
    let (failed, named, quiet) = table.values().fold((0, 0, 0), |(failed, named, quiet), outcomes| {
        (failed + outcomes.failed, named + outcomes.named, quiet + outcomes.quiet)
    });
    let device = if is_software() {
        "the driver in software"
    } else {
        "a GPU"
    };
    println!(
        "{text}faults: {failed} failures of {} calls on {device}: {named} gave an error that names the call, {quiet} made \
         no difference; {heap} bytes of the heap are leaked again and again, and {lost} bytes of device memory are more \
         in use",
        table.len()
    );
}

#[test]
fn an_update_after_a_failed_instantiation() -> Result<()> {
    let Some((device, _turn)) = device("enumeration::an_update_after_a_failed_instantiation") else {
        return Ok(());
    };
    graphs::renewed(&device, "cu")?;
    graphs::renewed(&device.with_runtime_api(), "cuda")
}

#[test]
fn an_update_whose_closure_panics() -> Result<()> {
    let Some((device, _turn)) = device("enumeration::an_update_whose_closure_panics") else {
        return Ok(());
    };
    graphs::panicked(&device)?;
    graphs::panicked(&device.with_runtime_api())
}

#[test]
fn an_edit_that_the_driver_refuses() -> Result<()> {
    let Some((device, _turn)) = device("enumeration::an_edit_that_the_driver_refuses") else {
        return Ok(());
    };
    graphs::edited(&device)
}

#[test]
fn an_edit_of_values_makes_one_call_for_each_node() -> Result<()> {
    let Some((device, _turn)) = device("enumeration::an_edit_of_values_makes_one_call_for_each_node") else {
        return Ok(());
    };
    graphs::values(&device, "cuGraphExecKernelNodeSetParams")?;
    graphs::values(&device.with_runtime_api(), "cudaGraphExecKernelNodeSetParams")
}
