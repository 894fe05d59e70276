//! Definitions: several graphs of one, options, updates of whole graphs, reset, upload, and files with drawings.

use crate::common::*;
use graph_runtime::cudarc::driver::sys;
use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

cuda_graph! {
    /// `output = by + factor` in each element, and the number of launches.
    pub(crate) graph Added(len: usize, by: f32) {
        device data:   [f32; len];
        device spare:  [f32; 4];
        host   output: [f32; len];
        host   runs:   u32;
        param  factor: f32 = 2.0;

        memset set    = data <- by;
        kernel scale  = scale<<<1, len>>>(&mut data, factor, len) after set;
        memset never  = spare <- 7.0;
        memcpy down   = data -> output                            after scale;
        call   count  = |&mut runs| *runs += 1                    after down;
    }

    /// A graph whose nodes CUDA does not change in place.
    graph Chosen(value: u32) {
        device flag:   u32;
        device data:   [u32; 4];
        host   output: [u32; 4];

        memset on   = flag <- 1;
        if yes = flag {
            memset write = data <- value;
        } after on;
        memcpy down = data -> output after yes;
    }

    /// A graph with a node that does not run at first.
    graph Skips(by: u32) {
        device data:   [u32; 8];
        host   output: [u32; 8];

        memset clear = data <- by;
        #[disabled]
        kernel off   = add_to<<<1, 8>>>(&mut data, 100) after clear;
        memcpy down  = data -> output                   after off;
    }

    graph Noise {
        device numbers: [u32; 8];
        host   output:  [u32; 8];
        rng    noise = 5, draws 1;
        kernel draw = draw_numbers<<<1, 8>>>(&noise, &mut numbers, 1);
        memcpy down = numbers -> output after draw;
    }
}

/// Whether the graph has an executable graph of CUDA's: not on the emulator, and not in debug mode.
fn is_instantiated(graph: &impl AnyGraph) -> bool {
    graph.raw().is_some()
}

/// The options that upload nothing.
const LATER: InstantiateOptions = InstantiateOptions {
    upload: false,
    auto_free_on_launch: true,
    device_launch: false,
    node_priority: Some(true),
};

/// The options of graphs that kernels launch.
const FOR_KERNELS: InstantiateOptions = InstantiateOptions {
    upload: true,
    auto_free_on_launch: false,
    device_launch: true,
    node_priority: None,
};

#[test]
fn graphs_of_one_definition_have_memory_of_their_own() -> Result<()> {
    let mut definition = Added::define(&device(), 4, 3.0)?;
    assert_eq!(definition.name(), "Added");
    assert_eq!(definition.plan().nodes.len(), 5);
    let mut graphs = [
        definition.instantiate(InstantiateOptions::default())?,
        definition.instantiate(LATER)?,
        definition.build()?,
    ];
    graphs[1].upload()?;
    graphs[2].set_factor(5.0)?;
    for (launches, graph) in (1..).zip(&mut graphs) {
        (0..launches).try_for_each(|_| graph.launch())?;
    }
    for (launches, graph) in (1..).zip(&graphs) {
        let expected = if launches == 3 { [15.0; 4] } else { [6.0; 4] };
        assert_eq!((graph.output()?, *graph.runs()?), (&expected[..], launches));
    }
    Ok(())
}

#[test]
fn graphs_of_one_definition_run_on_several_threads() -> Result<()> {
    let (calls, seen) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let mut builder = GraphBuilder::new(&device(), "Threads");
    let mut value = builder.host::<u32>("value");
    let inside = Arc::new(AtomicU32::new(0));
    builder.call("count", (&mut value,), {
        let (calls, seen) = (calls.clone(), seen.clone());
        move |(value,)| {
            // The closure is one for all graphs: it is never entered twice at once.
            seen.fetch_max(inside.fetch_add(1, Relaxed), Relaxed);
            *value += 1;
            calls.fetch_add(1, Relaxed);
            inside.fetch_sub(1, Relaxed);
        }
    });
    let mut definition = builder.define()?;
    let threads = (0..3).map(|_| {
        let mut graph = definition.instantiate(InstantiateOptions::default())?;
        Ok(std::thread::spawn(move || -> Result<u32> {
            (0..50).try_for_each(|_| graph.launch())?;
            graph.host(&value).copied()
        }))
    });
    let threads: Vec<_> = threads.collect::<Result<_>>()?;
    for thread in threads {
        assert_eq!(thread.join().expect("no panic")?, 50);
    }
    assert_eq!((calls.load(Relaxed), seen.load(Relaxed)), (150, 0));
    Ok(())
}

/// A host function that launches another graph of its definition would wait for itself.
#[test]
fn a_closure_is_not_entered_by_itself() -> Result<()> {
    let other: Arc<Mutex<Option<Graph>>> = Arc::default();
    let mut builder = GraphBuilder::new(&Device::emulator(), "Self");
    let mut value = builder.host::<u32>("value");
    builder.call("call", (&mut value,), {
        let other = other.clone();
        move |(value,)| {
            *value += 1;
            if let Ok(mut other) = other.try_lock()
                && let Some(other) = other.as_mut()
            {
                other.launch().expect("it is launched");
            }
        }
    });
    let mut definition = builder.define()?;
    let mut graph = definition.instantiate(InstantiateOptions::default())?;
    *other.lock().expect("nobody panics") = Some(definition.build()?);
    graph.launch()?;
    assert_eq!(*graph.host(&value)?, 1);
    let inner = other.lock().expect("nobody panics").take().expect("it is there");
    let expected = "graph `Self`, node `call`: the host function panicked: it was called while it was running, by a launch of another \
         graph of its definition";
    assert_eq!(inner.synchronize().unwrap_err().to_string(), expected);
    Ok(())
}

/// On the emulator, a host function may launch graphs. Two functions that launch graphs with each other's function at
/// the same time would wait for each other for ever.
#[test]
fn functions_that_launch_each_other_do_not_wait_in_a_circle() -> Result<()> {
    type Inner = Arc<Mutex<Option<Graph>>>;
    /// A graph whose function meets another one, and launches `inner`; and a second graph of its definition.
    fn pair(device: &Device, meeting: &Arc<Barrier>, inner: &Inner) -> Result<(Graph, Graph)> {
        let mut builder = GraphBuilder::new(device, "Circle");
        let mut value = builder.host::<u32>("value");
        let (meeting, inner) = (Arc::clone(meeting), Arc::clone(inner));
        let mut has_met = false;
        builder.call("call", (&mut value,), move |(value,)| {
            *value += 1;
            if let Ok(mut inner) = inner.try_lock()
                && let Some(inner) = inner.as_mut().filter(|_| !has_met)
            {
                has_met = true;
                meeting.wait();
                let _ = inner.launch();
            }
        });
        let mut definition = builder.define()?;
        let first = definition.instantiate(InstantiateOptions::default())?;
        Ok((first, definition.build()?))
    }
    let device = Device::emulator();
    let meeting = Arc::new(Barrier::new(2));
    let (of_first, of_second) = (Inner::default(), Inner::default());
    let (first, another_first) = pair(&device, &meeting, &of_first)?;
    let (second, another_second) = pair(&device, &meeting, &of_second)?;
    *of_first.lock().expect("nobody panics") = Some(another_second);
    *of_second.lock().expect("nobody panics") = Some(another_first);
    let (done, ended) = channel();
    for mut graph in [first, second] {
        let done = done.clone();
        thread::spawn(move || done.send(graph.launch().and_then(|()| graph.synchronize())));
    }
    for _ in 0..2 {
        let launched = ended.recv_timeout(Duration::from_secs(600));
        launched.expect("both launches end")?;
    }
    let inner = [of_first, of_second].map(|inner| inner.lock().expect("nobody panics").take().expect("it is there"));
    let refused = inner.iter().filter_map(|graph| graph.synchronize().err());
    let refused: Vec<String> = refused.map(|error| error.to_string()).collect();
    assert!(!refused.is_empty());
    for error in refused {
        error.says("node `call`: the host function panicked: it is running on another thread");
    }
    Ok(())
}

#[test]
fn options_that_exclude_each_other_are_refused() -> Result<()> {
    let device = device();
    let mut definition = Chosen::define(&device, 1)?;
    let options = InstantiateOptions {
        auto_free_on_launch: true,
        ..FOR_KERNELS
    };
    let refused = |definition: &mut Definition<Chosen>, options| {
        let error = definition.instantiate(options).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }));
        error.to_string()
    };
    assert_eq!(
        refused(&mut definition, options),
        "graph `Chosen`: `device_launch` and `auto_free_on_launch` exclude each other: kernels launch no graph that frees memory"
    );
    let message = refused(&mut definition, FOR_KERNELS);
    let mut graph = definition.instantiate(LATER)?;
    let expected = match is_instantiated(&graph) {
        true => {
            "graph `Chosen`, node `yes`: a graph that kernels may launch has kernels, copies, memsets and child graphs only, \
             and no copies of arrays (CUDA's rules)"
        }
        false if device.is_emulator() => "graph `Chosen`: on the CPU emulator no kernel can launch a graph",
        false => "graph `Chosen`: in debug mode there is no executable graph that a kernel could launch",
    };
    assert_eq!(message, expected);
    graph.launch()?;
    assert_eq!(graph.output()?, &[1; 4]);
    Ok(())
}

/// A graph that kernels may launch can still be launched by the host, updated and changed.
#[test]
#[ignore = "needs a CUDA device"]
fn graphs_for_kernels_are_launched_by_the_host() -> Result<()> {
    let device = cuda_device();
    let define = |value: u32| {
        let mut builder = GraphBuilder::new(&device, "OfKernels");
        let mut data = builder.device::<[u32; 8]>("data");
        let mut output = builder.host::<[u32; 8]>("output");
        let set = builder.memset("set", &mut data, value);
        let add = builder.kernel("add", Launch::new(1, 8), add_to::call(&mut data, 2));
        let down = builder.memcpy("down", &data, &mut output);
        in_order(&mut builder, &[set, add, down]);
        Ok::<_, Error>((builder.define()?, output))
    };
    let (mut definition, output) = define(40)?;
    if definition.raw()?.is_none() {
        return Ok(()); // debug mode
    }
    let mut graph = definition.instantiate(FOR_KERNELS)?;
    graph.launch()?;
    assert_eq!(graph.host(&output)?, &[42; 8]);
    let (other, output) = define(60)?;
    graph.update_from(other)?;
    graph.upload()?; // a kernel may launch it again only now
    graph.launch()?;
    assert_eq!(graph.host(&output)?, &[62; 8]);
    Ok(())
}

/// The graph is looked at, and changed, by calls of the driver before it is instantiated.
#[test]
fn the_driver_sees_a_graph_before_it_is_instantiated() -> Result<()> {
    let mut definition = Added::define(&device(), 4, 3.0)?;
    let Some(raw) = definition.raw()? else {
        // SAFETY: nothing is changed.
        refused(unsafe { definition.change(|_| Ok(())) })
            .reads("graph `Added`: on the CPU emulator and in debug mode there is no CUDA graph to change");
        return Ok(());
    };
    let nodes = |graph| {
        let mut count = 0;
        // SAFETY: the graph lives; without room for nodes, CUDA writes only their number.
        let result = unsafe { sys::cuGraphGetNodes(graph, std::ptr::null_mut(), &mut count) };
        assert_eq!(result, sys::CUresult::CUDA_SUCCESS);
        count
    };
    let own = if delayed() { 10 } else { 5 };
    assert_eq!(nodes(raw), own);
    let change = |graph: sys::CUgraph| {
        let mut node = std::ptr::null_mut();
        // SAFETY: the graph lives; the node comes after no other.
        unsafe { sys::cuGraphAddEmptyNode(&mut node, graph, std::ptr::null(), 0) }.result()?;
        Ok(())
    };
    // SAFETY: an empty node touches nothing.
    unsafe { definition.change(change) }?;
    for number in 0..2 {
        let mut graph = definition.instantiate(InstantiateOptions::default())?;
        let handles = graph.raw().expect("it was instantiated");
        assert_eq!(nodes(handles.graph), own + 1);
        assert_eq!(handles.graph == raw, number == 0); // the first graph is made of the one that was looked at
        graph.launch()?;
        assert_eq!(graph.output()?, &[6.0; 4]);
    }
    // SAFETY: nothing is changed.
    unsafe { definition.change(|_| Err("not today".into())) }?;
    refused(definition.instantiate(LATER))
        .reads("graph `Added`: the closure of `Definition::change` failed: not today");
    Ok(())
}

#[test]
fn a_whole_graph_is_updated_in_place_or_instantiated_again() -> Result<()> {
    let device = device();
    let mut graph = Added::build(&device, 4, 3.0)?;
    graph.never().set_enabled(false)?;
    graph.scale().set_enabled(false)?;
    graph.set_factor(10.0)?;
    for _ in 0..20 {
        graph.launch()?; // in flight when the graph is updated
    }
    let updated = graph.update_from(Added::define(&device, 64, 1.5)?)?;
    assert_eq!(updated, Updated::InPlace);
    assert_eq!((graph.factor(), *graph.runs()?), (2.0, 0));
    assert!(graph.scale().is_enabled() && graph.never().is_enabled());
    graph.launch()?;
    assert_eq!((graph.output()?, *graph.runs()?), (&[3.0; 64][..], 1));
    assert_eq!(*graph.spare()?.read()?, [7.0; 4]);
    // The nodes are still changed one by one, and again as a whole.
    graph.set_factor(4.0)?;
    graph.never().set_enabled(false)?;
    graph.launch()?;
    assert_eq!((graph.output()?, *graph.runs()?), (&[6.0; 64][..], 2));
    graph.scale().set_enabled(false)?;
    graph.launch()?;
    assert_eq!(graph.output()?, &[1.5; 64]);
    for len in [3, 32] {
        graph.update_from(Added::define(&device, len, len as f32)?)?;
        graph.launch()?;
        assert_eq!(graph.output()?, vec![2.0 * len as f32; len]);
    }

    // CUDA does not change these in place: the graph is instantiated again.
    let mut graph = launched(Chosen::build(&device, 1))?;
    for value in [2, 3] {
        let updated = graph.update_from(Chosen::define(&device, value)?)?;
        let in_place = !is_instantiated(&graph);
        assert_eq!(updated == Updated::InPlace, in_place);
        graph.launch()?;
        assert_eq!(graph.output()?, &[value; 4]);
    }
    Ok(())
}

#[test]
fn disabled_nodes_are_skipped_after_an_update_of_the_whole_graph() -> Result<()> {
    let device = device();
    let mut graph = launched(Skips::build(&device, 1))?;
    assert_eq!(graph.update_from(Skips::define(&device, 2)?)?, Updated::InPlace);
    graph.launch()?;
    assert_eq!(graph.output()?, &[2; 8]);
    graph.off().set_enabled(true)?;
    graph.launch()?;
    assert_eq!(graph.output()?, &[102; 8]);
    Ok(())
}

/// Copies of rectangles, which CUDA may or may not change in place; kernels with other attributes, which it does not.
#[test]
fn what_cuda_does_not_change_in_place_is_right_too() -> Result<()> {
    let device = device();
    let corners = |row: usize, cluster: u32| {
        let mut builder = GraphBuilder::new(&device, "Corners");
        let data = builder.device::<[[u32; 8]; 8]>("data");
        let output = builder.host::<[[u32; 2]; 2]>("output");
        let mut ranks = builder.device::<[u32; 8]>("ranks");
        let set = builder.memset("set", &mut data.row(row), 7_u32);
        let copy = builder.memcpy_2d(
            "copy",
            &data.rectangle::<2, 2>(row, 3),
            &mut output.rectangle::<2, 2>(0, 0),
        );
        builder.after(copy, &[set]);
        let launch = Launch::new(1, 8);
        let launch = if cluster > 0 { launch.cluster(cluster) } else { launch };
        builder.kernel("number", launch, number::call(&mut ranks));
        Ok::<_, Error>((builder.define()?, output, ranks))
    };
    let mut graph = launched(corners(0, 0)?.0.build())?;
    for (row, cluster) in [(2, 0), (5, 1), (4, 1), (3, 0)] {
        let (definition, output, ranks) = corners(row, cluster)?;
        graph.update_from(definition)?;
        graph.launch()?;
        assert_eq!(graph.host(&output)?, &[[7; 2], [0; 2]], "{row}, {cluster}");
        graph.device(&ranks)?.read()?;
    }
    Ok(())
}

/// The parts of a graph that updates need.
struct Built {
    definition: Definition,
    data: Place<[u32; 4], OnDevice>,
    output: Place<[u32; 4], OnHost>,
    copy: NodeId,
}

/// A memset, then a kernel or `other`, then a copy, in this order unless `apart`.
fn chain(device: &Device, other: bool, apart: bool, name: &'static str) -> Result<Built> {
    let mut builder = GraphBuilder::new(device, name);
    let mut data = builder.device::<[u32; 4]>("data");
    let mut spare = builder.device::<[u32; 4]>("spare");
    let mut output = builder.host::<[u32; 4]>("output");
    let set = builder.memset("set", &mut data, 40_u32);
    let middle = match other {
        true => builder.memset("middle", &mut spare, 1_u32),
        false => builder.kernel("add", Launch::new(1, 4), add_to::call(&mut spare, 2)),
    };
    let copy = builder.memcpy("copy", &data, &mut output);
    builder.after(copy, &[set]);
    if !apart {
        in_order(&mut builder, &[set, middle, copy]);
    }
    Ok(Built {
        definition: builder.define()?,
        data,
        output,
        copy,
    })
}

#[test]
fn other_shapes_are_refused_by_node() -> Result<()> {
    let device = device();
    let built = chain(&device, false, false, "Chain")?;
    let mut graph = built.definition.build()?;
    let mut refused = |definition: Definition, expected: &str| {
        let error = graph.update_from(definition).unwrap_err();
        assert!(matches!(error, Error::OtherShape { .. }));
        assert_eq!(error.to_string(), expected);
    };
    refused(
        chain(&device, true, false, "Kind")?.definition,
        "graph `Chain`, node `add`: this node is a `kernel`, but the definition has the `memset` `middle` in its place",
    );
    refused(
        chain(&device, false, true, "Edges")?.definition,
        "graph `Chain`, node `add`: this node runs after `set`, but in the definition after no other",
    );
    let mut builder = GraphBuilder::new(&device, "Short");
    builder.join("join");
    refused(
        builder.define()?,
        "graph `Chain`, node `set`: the graph has 3 nodes, but the definition has 1 node",
    );
    let other = Device::emulator();
    if !device.is_emulator() {
        refused(
            chain(&other, false, false, "Elsewhere")?.definition,
            "graph `Chain`: the definition is for another device",
        );
    }
    // The graph is as before, and so are its places.
    graph.launch()?;
    assert_eq!(graph.host(&built.output)?, &[40; 4]);
    let again = chain(&device, false, false, "Chain")?;
    graph.update_from(again.definition)?;
    assert_eq!(graph.host(&built.output)?, &[0; 4], "the memory is new");
    graph.node(built.copy).set_enabled(true)?;
    let beside = chain(&device, false, false, "Chain")?;
    assert!(matches!(graph.host(&beside.output), Err(Error::ForeignPlace { .. })));
    assert!(matches!(
        graph.node(beside.copy).set_enabled(false),
        Err(Error::ForeignNode { .. })
    ));
    graph.node(again.copy).set_enabled(false)?;
    graph.launch()?;
    assert_eq!(graph.host(&again.output)?, &[0; 4]);
    assert_eq!(*graph.device(&again.data)?.read()?, [40; 4]);
    Ok(())
}

/// Nodes that were added in another order are paired right, whether or not CUDA pairs them so.
#[test]
fn nodes_are_paired_by_their_number() -> Result<()> {
    let device = device();
    let parallel = |reversed: bool, looked_at: bool| {
        let mut builder = GraphBuilder::new(&device, "Parallel");
        let mut output = builder.host::<[[u32; 4]; 3]>("output");
        let sets: Vec<NodeId> = (0..3)
            .map(|row| {
                let mut data = builder.device::<[u32; 4]>(format!("data{row}"));
                let set = builder.memset(format!("set{row}"), &mut data, 10 * (row as u32 + 1));
                builder.will_update(set);
                let copy = builder.memcpy(format!("copy{row}"), &data, &mut output.row(row));
                builder.after(copy, &[set]);
                copy
            })
            .collect();
        let join = builder.join("join");
        let mut before = sets.clone();
        if reversed {
            before.reverse(); // the same edges, added the other way round
        }
        builder.after(join, &before);
        let _ = &mut output;
        let mut definition = builder.define()?;
        if looked_at {
            definition.raw()?;
        }
        Ok::<_, Error>((definition, output, sets))
    };
    let mut graph = parallel(false, false)?.0.build()?;
    for (reversed, looked_at) in [(true, false), (true, true), (false, false), (false, true)] {
        let (definition, output, copies) = parallel(reversed, looked_at)?;
        graph.update_from(definition)?;
        graph.node(copies[1]).set_enabled(false)?;
        graph.launch()?;
        let expected = &[[10; 4], [0; 4], [30; 4]];
        assert_eq!(graph.host(&output)?, expected, "{reversed}, {looked_at}");
    }
    Ok(())
}

#[test]
fn reset_starts_memory_and_random_numbers_again_and_forgets_faults() -> Result<()> {
    let device = device();
    let mut noise = Noise::build(&device)?;
    let draw = |noise: &mut Noise| {
        noise.launch()?;
        noise.output().copied()
    };
    let first = [draw(&mut noise)?, draw(&mut noise)?];
    assert_ne!(first[0], first[1]);
    noise.reset()?;
    assert_eq!((noise.output()?, *noise.numbers()?.read()?), (&[0; 8], [0; 8]));
    assert_eq!([draw(&mut noise)?, draw(&mut noise)?], first);

    let mut graph = Added::build(&device, 4, 3.0)?;
    graph.set_factor(5.0)?;
    graph.launch()?;
    graph.reset()?;
    assert_eq!((graph.output()?, *graph.runs()?), (&[0.0; 4][..], 0));
    graph.launch()?;
    assert_eq!((graph.output()?, *graph.runs()?), (&[15.0; 4][..], 1), "params stay");

    // On the emulator, the error of the last launch is forgotten.
    let mut builder = GraphBuilder::new(&Device::emulator(), "Faulty");
    let index = builder.device::<[u32; 1]>("index");
    let input = builder.device::<[f32; 4]>("input");
    let mut out = builder.device::<[f32; 1]>("out");
    // SAFETY: on the emulator, an index out of bounds is an error.
    let call = unsafe { gather::call(&index, &input, &mut out) };
    builder.kernel("gather", Launch::new(1, 1), call);
    let mut graph = builder.build()?;
    graph.device_mut(&index)?.copy_from(&[9])?;
    graph.launch()?;
    assert!(matches!(graph.synchronize(), Err(Error::Fault { .. })));
    graph.reset()?;
    graph.launch()?;
    graph.synchronize()
}

#[test]
fn graphs_are_written_as_dot_files() -> Result<()> {
    let folder = std::env::temp_dir().join(format!("cuda-graph-definition-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("graph.dot");
    let written = || fs::read_to_string(&file).expect("the file was written");
    let mut definition = Added::define(&device(), 4, 3.0)?;
    definition.debug_dump(&file)?;
    assert!(written().starts_with("digraph"), "{}", written());
    let graph = definition.build()?;
    fs::remove_file(&file).expect("it is there");
    graph.debug_dump(file.to_str().expect("its name is text"))?;
    let node = if is_instantiated(&graph) { "MEMSET" } else { "never" };
    assert!(written().contains(node), "{}", written());
    // CUDA's files have the names, also of nodes in bodies.
    let graph: Box<dyn AnyGraph> = Box::new(graph);
    let chosen: Box<dyn AnyGraph> = Box::new(Chosen::build(&device(), 3)?);
    for (graph, names) in [
        (&graph, &["set", "scale", "never", "down", "count"][..]),
        (&chosen, &["on", "write", "down"]),
    ] {
        graph.debug_dump(&file)?;
        for name in names.iter().filter(|_| graph.raw().is_some()) {
            // The label of a host node is no table.
            let labels = [format!("{{{name}\n| "), format!("label=\"{name}\n")];
            let is_told = labels.iter().any(|label| written().contains(label));
            assert!(is_told, "`{name}`: {}", written());
        }
    }
    let error = graph.debug_dump(folder.join("none").join("graph.dot")).unwrap_err();
    assert!(matches!(error, Error::File { .. }));
    error.begins("graph `Added`: cannot write `");
    fs::remove_dir_all(&folder).expect("it is ours");
    Ok(())
}

#[test]
fn tools_know_nodes_by_ids() -> Result<()> {
    let mut graph = Added::build(&device(), 4, 3.0)?;
    let ids = match graph.tool_ids() {
        Ok(ids) => ids,
        Err(error) if is_instantiated(&graph) => {
            error
                .begins("graph `Added`: the ids that tools have for nodes need an NVIDIA driver of CUDA 13.1 or later");
            println!("tool ids: this driver has none");
            return Ok(());
        }
        Err(error) => {
            error.begins("graph `Added`: on the CPU emulator and in debug mode no tool sees a CUDA graph");
            return Ok(());
        }
    };
    let mut names: Vec<&str> = ids.iter().map(|id| &*id.node).collect();
    names.sort_unstable();
    assert_eq!(names, ["count", "down", "never", "scale", "set"]);
    let known = |graph: &Added| -> Result<BTreeSet<_>> {
        Ok(graph.tool_ids()?.into_iter().map(|id| (id.id, id.executable)).collect())
    };
    let before = known(&graph)?;
    assert!(
        before.len() == 5
            && before
                .iter()
                .all(|(id, executable)| executable.is_some_and(|other| other != *id))
    );
    // The executable graph stays, with the nodes by which CUDA knows those of its own.
    if graph.update_from(Added::define(&device(), 4, 4.0)?)? == Updated::InPlace {
        assert_eq!(known(&graph)?, before);
    }
    let file = std::env::temp_dir().join(format!("cuda-graph-ids-{}.csv", std::process::id()));
    graph.write_tool_ids(&file)?;
    let text = fs::read_to_string(&file).expect("the file was written");
    fs::remove_file(&file).expect("it is ours");
    let first = &graph.tool_ids()?[0];
    let executable = first.executable.expect("it is in no body");
    let expected = format!("node,id,executable\n\"{}\",{},{executable}\n", first.node, first.id);
    assert!(text.starts_with(&expected) && text.lines().count() == 6, "{text}");
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn drivers_before_cuda_13_1_have_no_ids_for_tools() -> Result<()> {
    if !is_software() {
        return Ok(());
    }
    let output = std::process::Command::new(std::env::current_exe().expect("this program"))
        .args([
            "--include-ignored",
            "--exact",
            "--nocapture",
            "definition::tools_know_nodes_by_ids",
        ])
        .env("CUDA_GRAPH_DRIVER_FAILS", "cuGraphGetId=801")
        .output()
        .expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("tool ids: this driver has none"),
        "{text}"
    );
    Ok(())
}

/// The memory, and the nodes, of an engine.
struct Engine {
    definition: Definition,
    data: Place<[f32; 64], OnDevice>,
    seen: Place<[f32; 64], OnHost>,
    scale: NodeId,
}

fn engine(device: &Device, (start, memory): (f32, &str), last: &SharedHost<f32>) -> Result<Engine> {
    let mut builder = GraphBuilder::new(device, "Engine");
    let mut data = builder.device::<[f32; 64]>(memory.to_owned());
    let mut seen = builder.host::<[f32; 64]>("seen");
    let mut last = builder.shared("last", last, true);
    let set = builder.memset("set", &mut data, start);
    let scale = builder.kernel("scale", Launch::new(1, 64), scale::call(&mut data, 2.0, 64));
    let down = builder.memcpy("down", &data, &mut seen);
    let end = builder.memcpy("end", &data.row(63), &mut last);
    in_order(&mut builder, &[set, scale, down, end]);
    let definition = builder.define()?;
    Ok(Engine {
        definition,
        data,
        seen,
        scale,
    })
}

#[test]
fn places_and_nodes_of_an_engine_stay_valid_over_update_from() -> Result<()> {
    let device = device();
    let last = device.alloc_host::<f32>()?.share();
    let Engine {
        definition,
        mut data,
        seen,
        scale,
    } = engine(&device, (1.0, "data"), &last)?;
    let mut graph = definition.build()?;
    for start in [3.0, 5.0] {
        let newer = engine(&device, (start, "data"), &last)?;
        graph.update_from(newer.definition)?;
        graph.launch()?;
        assert_eq!((graph.host(&seen)?, *last.read()?), (&[2.0 * start; 64], 2.0 * start));
        graph.update("factor", |update| {
            update.kernel(scale, Launch::new(2, 32), scale::call(&mut data, 3.0, 64))
        })?;
        assert_eq!(graph.find("scale")?.index(), scale.index());
        graph.launch()?;
        assert_eq!(*graph.device(&data)?.read()?, [3.0 * start; 64]);
        assert_eq!(graph.host(&newer.seen)?, &[3.0 * start; 64]);
        assert_eq!(graph.node(scale).name(), "scale");
    }
    // Host memory is borrowed as the type of a place, so it must be the same; and other names are other memory.
    let other = device.alloc_host::<f32>()?.share();
    for (memory, last) in [("data", &other), ("other", &other)] {
        let newer = engine(&device, (1.0, memory), last)?;
        graph.update_from(newer.definition)?;
        assert!(matches!(graph.host(&seen), Err(Error::ForeignPlace { .. })));
        let call = scale::call(&mut data, 3.0, 64);
        assert!(
            graph
                .update("factor", |update| update.kernel(scale, Launch::new(1, 64), call))
                .is_err()
        );
        graph.launch()?;
        assert_eq!(graph.host(&newer.seen)?, &[2.0; 64]);
    }
    Ok(())
}

#[test]
fn nodes_are_found_by_their_names() -> Result<()> {
    let last = device().alloc_host::<f32>()?.share();
    let Engine { definition, scale, .. } = engine(&device(), (1.0, "data"), &last)?;
    let graph = definition.build()?;
    assert_eq!(graph.find("scale")?, scale);
    refused(graph.find("scael"))
        .reads("graph `Engine` has 1 mistake\nno node is named `scael` [unknown-node]\nhelp: did you mean `scale`?");
    refused(graph.find("nothing like it")).ends("note: `plan()` of the graph lists its nodes");
    Ok(())
}
