//! A scenario of failures: definitions, several graphs of one, and updates of whole graphs.

use crate::common::*;
use crate::graphs::Run;

cuda_graph! {
    /// A graph that is updated as a whole, with nodes of all kinds that CUDA changes in place.
    graph Whole(len: usize, by: u32) {
        device data:   [u32; len];
        device other:  [u32; 8];
        host   output: [u32; 8];
        host   total:  u32;
        rng    noise = 7, draws 1;
        param  more:   u32 = 1;

        memset clear  = data <- by;
        kernel add    = add_to<<<1, 8>>>(&mut data, more)   after clear;
        #[disabled]
        kernel off    = add_to<<<1, 8>>>(&mut data, 100)    after add;
        memset zero   = other <- 0;
        kernel draw   = draw_numbers<<<1, 8>>>(&noise, &mut other, 1) after zero;
        memcpy result = data[..8] -> output                 after off;
        call   sum    = |&output, &mut total| *total = output.iter().sum::<u32>() after result;
    }

    /// A graph of memory of others.
    graph Lent(to: mut device [u32; 8]) {
        memset fill = to <- 3;
    }
}

/// Definitions, several graphs of one, and whole-graph updates.
pub(crate) fn definitions(device: &Device, run: &mut Run) -> Result<()> {
    let options = InstantiateOptions {
        upload: false,
        ..Default::default()
    };
    let mut definition = run.step(|| Whole::define(device, 8, 2))?;
    run.step(|| definition.raw())?;
    let mut graph = run.step(|| definition.instantiate(options))?;
    let mut second = run.step(|| definition.instantiate(options))?;
    run.step(|| graph.upload())?;
    for graph in [&mut graph, &mut second] {
        run.step(|| graph.launch())?;
        assert_eq!(run.step(|| graph.total().copied())?, 24);
    }
    run.step(|| graph.zero().set_enabled(false))?;
    run.step(|| graph.off().set_enabled(false))?;
    run.step(|| graph.update_from(Whole::define(device, 16, 5)?))?;
    run.step(|| graph.launch())?;
    assert_eq!(run.step(|| graph.total().copied())?, 48);
    run.step(|| graph.set_more(3))?;
    run.step(|| graph.off().set_enabled(true))?;
    run.step(|| graph.update_from(Whole::define(device, 8, 1)?))?;
    run.step(|| graph.set_more(2))?;
    run.step(|| graph.launch())?;
    assert_eq!(run.step(|| graph.total().copied())?, 24);
    run.step(|| graph.reset())?;
    assert_eq!(run.step(|| graph.total().copied())?, 0);
    let file = std::env::temp_dir().join(format!("cuda-graph-{}.dot", std::process::id()));
    run.step(|| graph.debug_dump(&file))?;
    let removed = std::fs::remove_file(&file);
    assert!(removed.is_ok(), "{removed:?}");
    Ok(())
}

/// Profiles, also in debug mode and of shared memory, with launches after them.
pub(crate) fn profiles(device: &Device, run: &mut Run) -> Result<()> {
    let debugged = device.with_debug(DebugOptions::default());
    for device in [device, &debugged] {
        let mut graph = run.step(|| Whole::build(device, 8, 2))?;
        let profile = run.step(|| graph.profile(2))?;
        let calls = profile.nodes().iter().map(|node| node.calls);
        assert_eq!(calls.sum::<u64>(), 14, "{profile}");
        assert_eq!(run.step(|| graph.total().copied())?, 24);
        run.step(|| graph.launch())?;
        assert_eq!(run.step(|| graph.total().copied())?, 24);
    }
    let memory = run.step(|| device.alloc::<[u32; 8]>())?;
    let mut graph = run.step(|| Lent::build(device, &memory))?;
    run.step(|| graph.profile(1))?;
    assert_eq!(run.step(|| Ok(*memory.read()?))?, [3; 8]);
    Ok(())
}
