//! Graphs by the runtime library: the same as by the driver, call by call.

use crate::common::listener::Listener;
use crate::common::*;
use crate::enumeration::SCENARIOS;
use crate::graphs::{self, Run};
use crate::software::{alone, device, device_with};
use graph_runtime::fault_injection as faults;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use tracing::Event;
use tracing::field::{Field, Visit};
use tracing::subscriber::with_default;

/// The graphs of a scenario as the driver has them, and the number of calls of each name.
fn observed(
    device: &Device,
    scenario: fn(&Device, &mut Run) -> Result<()>,
) -> (Vec<String>, BTreeMap<&'static str, usize>) {
    faults::start();
    let mut run = Run::new();
    scenario(device, &mut run).expect("nothing fails");
    (run.graphs, faults::counts())
}

/// The driver's name of a call, if it is one of the runtime's about graphs; some of the driver's end in `_v2`.
fn of_driver(call: &str) -> Option<String> {
    let name = format!("cuGraph{}", call.strip_prefix("cudaGraph")?);
    let mut names = faults::names().into_iter();
    let found = names.find(|driver| *driver == name || driver.strip_suffix("_v2") == Some(&name));
    found.map(str::to_owned)
}

#[test]
fn both_interfaces_make_the_same_graphs_by_the_same_calls() {
    let Some((device, _turn)) = device("runtime::both_interfaces_make_the_same_graphs_by_the_same_calls") else {
        return;
    };
    let mut nodes = 0;
    for (name, scenario) in SCENARIOS {
        let (by_driver, calls_of_driver) = observed(&device, scenario);
        let (by_runtime, calls_of_runtime) = observed(&device.with_runtime_api(), scenario);
        assert_eq!(by_runtime, by_driver, "{name}");
        nodes += by_driver.iter().map(|graph| graph.lines().count()).sum::<usize>();
        // A call of the runtime stands where the driver's call did.
        let mut calls = calls_of_runtime.clone();
        for (call, count) in &calls_of_runtime {
            if let Some(driver) = of_driver(call) {
                calls.remove(call);
                let known = calls_of_driver.get_key_value(&*driver);
                let (driver, _) = known.unwrap_or_else(|| panic!("{name}: the driver has no {driver}"));
                *calls.entry(driver).or_default() += count;
            }
        }
        let graph_calls = |calls: BTreeMap<&'static str, usize>| -> BTreeMap<&'static str, usize> {
            calls
                .into_iter()
                .filter(|(call, _)| call.starts_with("cuGraph"))
                .collect()
        };
        assert_eq!(graph_calls(calls), graph_calls(calls_of_driver), "{name}");
    }
    assert!(nodes > 60, "{nodes} nodes were compared");
}

#[cuda_kernels("../examples/kernels/forward_backward.ptx")]
unsafe extern "C" {
    #[requires(threads <= data.len())]
    safe fn kernel_forward(data: &mut [f32]);
    #[requires(threads <= data.len())]
    safe fn kernel_backward(data: &mut [f32]);
}

cuda_graph! {
    /// The graph of the README, and of the example of this name.
    graph ForwardBackward<const N: usize> {
        host   input:  [f32; N];
        device data:   [f32; N];
        host   output: [f32; N];

        memcpy upload   = input -> data;
        kernel forward  = kernel_forward<<<1, N>>>(&mut data)    after upload;
        kernel backward = kernel_backward<<<1, N>>>(&mut data)   after forward;
        memcpy download = data -> output                         after backward;
    }
}

/// Collects the messages of events, which are the names of calls.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<Vec<String>>>);

impl Visit for Calls {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0.lock().unwrap().push(format!("{value:?}"));
        }
    }
}

/// The calls of graphs and of kernels in the C++ program of a page, in order.
fn calls_of_page(page: &str) -> Vec<String> {
    let (_, program) = page.split_once("```cpp\n").expect("the page has a C++ program");
    let (program, _) = program.split_once("```").expect("the program ends");
    let words = program.split(|letter: char| !(letter.is_alphanumeric() || "_(".contains(letter)));
    let calls = words
        .flat_map(|word| word.split_inclusive('('))
        .filter_map(|word| word.strip_suffix('('));
    let calls = calls.filter(|call| call.starts_with("cudaGraph") || call.starts_with("cuLibrary"));
    calls.map(str::to_owned).collect()
}

#[test]
fn the_sample_makes_the_calls_of_the_program_in_cpp() -> Result<()> {
    let Some((device, _turn)) = device("runtime::the_sample_makes_the_calls_of_the_program_in_cpp") else {
        return Ok(());
    };
    let calls = Calls::default();
    let noted = calls.clone();
    with_default(
        Listener(move |event: &Event<'_>| event.record(&mut noted.clone())),
        || {
            let device = device.with_runtime_api().with_uploads(Uploads::Copies);
            let mut graph = ForwardBackward::<1024>::build(&device)?;
            graph.input_mut()?.fill(21.0);
            graph.launch()?;
            assert_eq!(graph.output()?[..4].to_vec(), vec![21.0; 4]);
            Ok(())
        },
    )?;
    let expected = calls_of_page(include_str!("../../../docs/cudart.md"));
    let (expected, freed) = expected.split_at(expected.len() - 3);
    assert_eq!(freed, ["cudaGraphExecDestroy", "cudaGraphDestroy", "cuLibraryUnload"]);
    let mut traced = calls.0.lock().unwrap().clone();
    traced.retain(|call| call.starts_with("cudaGraph") || call.starts_with("cuLibrary"));
    assert_eq!(traced, expected);
    assert_eq!(traced.len(), 11);
    Ok(())
}

#[test]
fn predicated_kernels_follow_each_other_by_programmatic_edges() {
    let test = "runtime::predicated_kernels_follow_each_other_by_programmatic_edges";
    let Some((device, _turn)) = device(test) else { return };
    let edges = |scenario: fn(&Device, &mut Run) -> Result<()>| {
        let (_, calls) = observed(&device, scenario);
        calls.get("cuGraphAddDependencies_v2").copied().unwrap_or(0)
    };
    assert_eq!(edges(graphs::control), 0, "conditional nodes");
    assert!(edges(graphs::predicated) > 3);
}

/// The functions with data of edges have other names in CUDA 13.
#[test]
fn a_runtime_of_cuda_13_is_called_by_its_names() {
    let test = "runtime::a_runtime_of_cuda_13_is_called_by_its_names";
    let Some((device, _turn)) = device_with(test, &[("CUDA_GRAPH_DRIVER_VERSION", "13000")]) else {
        return;
    };
    let device = device.with_runtime_api();
    let (_, calls) = observed(&device, graphs::control);
    assert!(calls["cudaGraphAddNode"] >= 4, "{calls:?}");
    let (_, calls) = observed(&device, graphs::library);
    assert_eq!(calls["cudaGraphAddDependencies"], 1, "{calls:?}");
}

fn refused(device: &Device) -> String {
    let mut run = Run::new();
    let error = graphs::small(&device.with_runtime_api(), &mut run).unwrap_err();
    assert!(graphs::small(device, &mut run).is_ok(), "the driver makes it");
    assert!(
        matches!(error, Error::NoRuntime { .. } | Error::Unsupported { .. }),
        "{error}"
    );
    error.to_string()
}

#[test]
fn a_runtime_of_another_version_is_refused() {
    for (version, why) in [
        ("11080", "is too old: it is of CUDA 11.8, but CUDA 12.1 is needed"),
        ("13000", "is of CUDA 13.0, but the driver is of CUDA 12.9"),
    ] {
        let test = "runtime::a_runtime_of_another_version_is_refused";
        let Some((device, _turn)) = device_with(
            test,
            &[
                ("CUDA_GRAPH_DRIVER_RUNTIME_VERSION", version),
                ("CUDA_GRAPH_FAULTS_WHY", why),
            ],
        ) else {
            continue;
        };
        if !is_software() {
            return; // a real library is of the version that it is
        }
        let message = refused(&device);
        let why = std::env::var("CUDA_GRAPH_FAULTS_WHY").expect("the other process has set it");
        let start = "graph `Small`: CUDA's runtime library (libcudart) was not found\nnote: `libcudart.so.12` ";
        assert!(message.starts_with(&format!("{start}{why}\n")), "{message}");
        assert!(message.contains("the loader, which looks in `LD_LIBRARY_PATH`, finds none of `libcudart.so.13`, "));
        return;
    }
}

#[test]
fn a_context_that_is_not_primary_is_refused() {
    let test = "runtime::a_context_that_is_not_primary_is_refused";
    let Some((device, _turn)) = alone(test, &[&[("CUDA_GRAPH_DRIVER_NO_PRIMARY", "1")]]) else {
        return;
    };
    if !is_software() {
        return; // cudarc makes no others
    }
    let message = refused(&device);
    message.begins("graph `Small`: the CUDA runtime works in the primary context of a device, but");
}
