//! Definitions with `capture` and `raw` nodes.

use crate::common::library::set_by_node;
use crate::common::*;
use crate::turn::cuda;
use graph_runtime::cudarc::driver::result;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A graph that sets bytes in a capture, and copies them to the host.
struct Captured {
    definition: Definition,
    output: Place<[u8; 64], OnHost>,
    /// The number of times that the closure was called.
    calls: Arc<AtomicU32>,
}

fn captured(device: &Device, value: u8) -> Result<Captured> {
    let calls = Arc::new(AtomicU32::new(0));
    let mut builder = GraphBuilder::new(device, "Captured");
    let mut data = builder.device::<[u8; 64]>("data");
    let mut output = builder.host::<[u8; 64]>("output");
    let counter = calls.clone();
    let set = builder.capture("set", (&mut data,), move |stream| {
        counter.fetch_add(1, Relaxed);
        let (data,) = stream.memory();
        // SAFETY: the node declares to write these bytes.
        unsafe { result::memset_d8_async(data.address(), value, data.bytes(), stream.cu_stream()) }?;
        Ok(())
    });
    let down = builder.memcpy("down", &data, &mut output);
    builder.after(down, &[set]);
    let definition = builder.define()?;
    Ok(Captured {
        definition,
        output,
        calls,
    })
}

#[test]
#[ignore = "needs a CUDA device"]
fn a_closure_is_captured_for_each_graph_and_for_updates() -> Result<()> {
    let (device, _turn) = cuda();
    let Captured {
        mut definition,
        output,
        calls,
    } = captured(&device, 7)?;
    assert_eq!(calls.load(Relaxed), 0, "nothing is captured before a graph is made");
    let mut first = definition.instantiate(InstantiateOptions::default())?;
    let mut second = definition.build()?;
    first.launch()?;
    assert_eq!(first.host(&output)?, &[7; 64]);
    drop(first);
    assert_eq!(second.host(&output)?, &[0; 64]);
    second.launch()?;
    assert_eq!(second.host(&output)?, &[7; 64]);
    assert!(calls.load(Relaxed) >= 2);

    // The captured work gets the memory, and the calls, of the other graph.
    let first = captured(&device, 7)?;
    let mut graph = first.definition.build()?;
    graph.launch()?;
    assert_eq!(graph.host(&first.output)?, &[7; 64]);
    for value in [8, 9] {
        let Captured { definition, output, .. } = captured(&device, value)?;
        assert_eq!(graph.update_from(definition)?, Updated::InPlace);
        graph.launch()?;
        assert_eq!(graph.host(&output)?, &[value; 64]);
    }
    Ok(())
}

#[test]
#[ignore = "needs a CUDA device"]
fn the_closure_of_a_raw_node_runs_once() -> Result<()> {
    let (device, _turn) = cuda();
    let mut builder = GraphBuilder::new(&device, "Raw");
    let mut data = builder.device::<[u8; 64]>("data");
    let place: Place<[u8; 64], OnDevice> = data;
    // SAFETY: the node sets the memory that it declares to write, after all nodes that it is given.
    unsafe {
        builder.raw("by_hand", (&mut data,), move |node, after| {
            let (data,) = node.memory();
            set_by_node(node, after, data.address(), 5, [1, 64])
        });
    }
    let mut definition = builder.define()?;
    let mut graph = definition.instantiate(InstantiateOptions::default())?;
    graph.launch()?;
    assert_eq!(*graph.device(&place)?.read()?, [5; 64]);
    refused(definition.instantiate(InstantiateOptions::default()))
        .reads("graph `Raw`, node `by_hand`: the closure of a `raw` node runs once, so its definition makes one graph");
    Ok(())
}
