//! Changes of built graphs, which CUDA refuses, or which must make no other calls than these.

use super::*;
use crate::common::library::ONCE;
use std::panic::{AssertUnwindSafe, catch_unwind};

type Weights = DeviceBuffer<[[u32; 4]; 4]>;
type Sums = DeviceBuffer<[u32; 4]>;

/// A graph whose body runs; weights and sums for it and for rebinding it; and what it writes.
fn shared(device: &Device) -> Result<(Sharing, [Weights; 2], [Sums; 2], Text)> {
    let mut run = Run::new();
    let weights = [weights(device, &mut run, 1)?, weights(device, &mut run, 2)?];
    let flag = device.alloc::<u32>()?;
    flag.copy_from(&1)?;
    let sums = [device.alloc()?, device.alloc()?];
    let written: Text = device.alloc_host::<[u32; 5]>()?.share();
    let graph = Sharing::build(device, &weights[0], &flag, &sums[0], &written)?;
    Ok((graph, weights, sums, written))
}

/// Rebinding instantiates the graph again, which fails: the graph is as before. If going back fails, too, it does not
/// launch until a change succeeds. The calls' names begin with `prefix`.
pub(crate) fn renewed(device: &Device, prefix: &str) -> Result<()> {
    let (mut graph, weights, sums, written) = shared(device)?;
    for call in [
        "GraphInstantiateWithParams",
        "GraphMemcpyNodeSetParams",
        "GraphUpload",
        "GraphExecDestroy",
    ] {
        let call = &format!("{prefix}{call}");
        let by = graph.by();
        graph.rebind_weights(&weights[0])?;
        graph.launch()?;
        faults::start();
        faults::fail(call, 1);
        refused(graph.rebind_weights(&weights[1])).says(call);
        graph.launch()?;
        assert_eq!(*written.read()?, text(1, by));
        faults::start();
        faults::fail(call, 1);
        faults::fail(call, 2);
        refused(graph.rebind_weights(&weights[1])).says(call);
        let broken = faults::pending() == 0; // it makes some calls only once
        faults::start();
        let launched = graph.launch();
        match &launched {
            Err(Error::HalfUpdated { what: "memory", .. }) if broken => {}
            launched => assert!(!broken && launched.is_ok(), "{call}: {launched:?}"),
        }
        graph.set_by(3)?;
        graph.launch()?;
        assert_eq!(*written.read()?, text(1, 3));
        graph.show().set_enabled(false)?;
        graph.show().set_enabled(true)?;
        graph.rebind_sum(&sums[1])?;
        graph.rebind_weights(&weights[1])?;
        graph.launch()?;
        assert_eq!(*written.read()?, text(2, 3));
        assert_eq!(*graph.seen()?, [[2; 2]; 2]);
        graph.set_by(4)?;
        graph.rebind_sum(&sums[0])?;
        graph.launch()?;
        assert_eq!(*written.read()?, text(2, 4));
    }
    faults::start();
    Ok(())
}

/// An edit that the driver refuses half-way leaves the graph as it was. If the driver refuses that, too, the graph does
/// not launch until an edit succeeds.
pub(crate) fn edited(device: &Device) -> Result<()> {
    const SET: &str = "cuGraphExecKernelNodeSetParams";
    let (mut graph, weights, sums, written) = shared(device)?;
    let change = |graph: &mut Sharing| {
        graph.edit(|e| {
            e.set_by(7)?;
            e.rebind_weights(&weights[1])?;
            e.rebind_sum(&sums[1])
        })
    };
    let old = graph.by();
    faults::start();
    change(&mut graph)?;
    let calls = faults::counts();
    graph.edit(|e| {
        e.set_by(old)?;
        e.rebind_weights(&weights[0])?;
        e.rebind_sum(&sums[0])
    })?;
    let updates = calls.iter().filter(|(name, _)| name.contains("SetParams"));
    let updates: Vec<(&str, usize)> = updates.map(|(name, count)| (*name, *count)).collect();
    let has_some = updates.iter().any(|(name, count)| *name == SET && *count > 1);
    assert!(has_some, "{updates:?}");
    let numbers = |(call, count)| (1..=count).map(move |number| (call, number));
    for (call, number) in updates.into_iter().flat_map(numbers) {
        faults::start();
        faults::fail(call, number);
        refused(change(&mut graph)).says(call);
        assert_eq!((faults::pending(), graph.by()), (0, old));
        graph.launch()?;
        assert_eq!(*written.read()?, text(1, old));
    }
    faults::start();
    faults::fail(SET, 2);
    faults::fail(SET, 3); // the first that is changed back
    refused(change(&mut graph)).says(SET);
    refused(graph.launch()).says("an update of `edit` failed half-way");
    graph.edit(|_| ())?;
    graph.launch()?;
    assert_eq!(*written.read()?, text(1, old));
    change(&mut graph)?;
    graph.launch()?;
    assert_eq!(*written.read()?, text(2, 7));
    Ok(())
}

cuda_graph! {
    /// Params that are arguments as they are.
    graph Plain {
        device data: [u32; 8];
        param  a: u32 = 1;
        param  b: u32 = 2;
        param  c: u32 = 3;

        memset clear  = data <- 0;
        kernel first  = add_to<<<1, 8>>>(&mut data, a) after clear;
        kernel second = add_to<<<1, 8>>>(&mut data, b) after first;
        kernel third  = add_to<<<1, 8>>>(&mut data, c) after second;
    }
}

/// An edit of values makes one call for each node, and no other, from any thread. If the driver refuses one, the others
/// are undone; if it refuses that, too, the graph does not launch until an edit succeeds.
pub(crate) fn values(device: &Device, set: &'static str) -> Result<()> {
    let mut graph = Plain::build(device)?;
    let change = |graph: &mut Plain, a: u32| {
        graph.edit(|e| {
            e.set_a(a)?;
            e.set_b(10 * a)?;
            e.set_c(100 * a)
        })
    };
    let sum = |graph: &mut Plain, sum: u32| -> Result<()> {
        graph.launch()?;
        assert_eq!(*graph.data()?.read()?, [sum; 8]);
        Ok(())
    };
    change(&mut graph, 2)?;
    sum(&mut graph, 222)?;
    for a in [3, 4] {
        faults::start();
        change(&mut graph, a)?;
        let mut calls = faults::counts();
        calls.remove("cuCtxGetCurrent"); // the runtime's calls need it
        assert_eq!(calls.into_iter().collect::<Vec<_>>(), [(set, 3)]);
    }
    faults::start();
    graph.set_b(40)?; // no other value than before
    assert_eq!(faults::counts().get(set), None);
    sum(&mut graph, 444)?;
    std::thread::scope(|scope| scope.spawn(|| change(&mut graph, 5)).join().expect("no panic"))?;
    sum(&mut graph, 555)?;
    for number in 1..=3 {
        faults::start();
        faults::fail(set, number);
        refused(change(&mut graph, 6)).says(set);
        assert_eq!((faults::pending(), graph.a(), graph.c()), (0, 5, 500));
        sum(&mut graph, 555)?;
    }
    faults::start();
    faults::fail(set, 2);
    faults::fail(set, 3); // the first that is changed back
    change(&mut graph, 6).unwrap_err();
    refused(graph.launch()).says("an update of `edit` failed half-way");
    graph.set_a(7)?;
    sum(&mut graph, 557)?;
    graph.edit(|e| {
        e.set_c(0)?;
        e.first().set_block(4)
    })?;
    graph.set_b(60)?;
    graph.launch()?;
    assert_eq!(*graph.data()?.read()?, [67, 67, 67, 67, 60, 60, 60, 60]);
    Ok(())
}

/// A rebinding whose capture closure panics: the graph has its old memory again, and is recorded before it launches,
/// also if the next change is of nothing.
pub(crate) fn panicked(device: &Device) -> Result<()> {
    let buffers = [device.alloc::<[u8; 64]>()?, device.alloc::<[u8; 64]>()?];
    let panics = Arc::new(AtomicUsize::new(0));
    let mut builder = GraphBuilder::new(device, "Panics");
    let mut place = builder.shared("data", &buffers[0], true);
    let told = panics.clone();
    let mut graph = builder.build_captured(ONCE, (&mut place,), move |stream| {
        assert_eq!(told.load(Relaxed), 0, "the closure panics");
        let (data,) = stream.memory();
        // SAFETY: it has this number of bytes, and the graph says that it writes it.
        unsafe { result::memset_d8_async(data.address(), 7, 64, stream.cu_stream()) }?;
        Ok(())
    })?;
    panics.store(1, Relaxed);
    let rebound = catch_unwind(AssertUnwindSafe(|| {
        graph.update("move", |update| update.rebind(&place, &buffers[1]))
    }));
    assert!(rebound.is_err(), "it panics");
    assert!(matches!(graph.launch(), Err(Error::HalfUpdated { what: "move", .. })));
    panics.store(0, Relaxed);
    faults::start();
    graph.update("nothing", |_| Ok(()))?;
    assert_eq!(faults::counts().get("cuStreamBeginCapture_v2"), Some(&1)); // it is recorded
    graph.launch()?;
    assert_eq!(*buffers[0].read()?, [7; 64]);
    graph.rebind(&place, &buffers[1])?;
    graph.launch()?;
    assert_eq!(*buffers[1].read()?, [7; 64]);
    Ok(())
}
