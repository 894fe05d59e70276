//! The costs of launches of graphs that share a pool.

use super::{BATCH, Device, Graph, GraphBuilder, Launch, Result, bump, check, compare, sys};
use graph_runtime::CudaStream;

/// Prints what launches of two graphs in turns cost, with and without a pool, against bare launches.
pub(crate) fn measure(device: &Device) -> Result<()> {
    println!(
        "\n{}: CPU time per launch of graphs of a pool, against bare launches without an order",
        device.name()
    );
    let stream = device.context().and_then(|context| context.new_stream().ok());
    let stream = stream.expect("a new stream");
    let pooled = device.with_pool(&device.pool());
    for (what, device, stream) in [
        ("pooled, alone", &pooled, None),
        ("own, one stream", device, Some(&*stream)),
        ("pooled, one stream", &pooled, Some(&*stream)),
        ("pooled, two streams", &pooled, None),
    ] {
        let count = if what == "pooled, alone" { 1 } else { 2 };
        let mut graphs = (0..count).map(|_| chain(device)).collect::<Result<Vec<_>>>()?;
        turns(what, &mut graphs, stream);
    }
    Ok(())
}

/// Ten kernels in scratch memory.
fn chain(device: &Device) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "Chain");
    let mut scratch = builder.scratch::<[u32; 8]>("scratch");
    let mut last = builder.memset("clear", &mut scratch, 0_u32);
    for index in 0..10 {
        let node = builder.kernel(format!("bump_{index}"), Launch::new(1, 8), bump::call(&mut scratch, 1));
        builder.after(node, &[last]);
        last = node;
    }
    let mut result = builder.device::<[u32; 8]>("result");
    let down = builder.memcpy("down", &scratch, &mut result);
    builder.after(down, &[last]);
    builder.build()
}

/// Launches that take turns, on a stream or each on its own.
fn turns(what: &str, graphs: &mut [Graph], stream: Option<&CudaStream>) {
    let raws: Vec<_> = graphs.iter().map(|graph| graph.raw().expect("a CUDA graph")).collect();
    let wait = || {
        for raw in &raws {
            check(unsafe_call!(cuStreamSynchronize(
                stream.map_or(raw.stream, CudaStream::cu_stream)
            )));
        }
    };
    let count = BATCH as usize / raws.len();
    let bare = || {
        for raw in std::iter::repeat_n(&raws, count).flatten() {
            let stream = stream.map_or(raw.stream, CudaStream::cu_stream);
            check(unsafe_call!(cuGraphLaunch(raw.exec, stream)));
        }
    };
    let ours = || {
        for _ in 0..count {
            for graph in &mut *graphs {
                let launched = match stream {
                    Some(stream) => graph.launch_on(stream),
                    None => graph.launch(),
                };
                launched.expect("the graph launches");
            }
        }
    };
    compare(what, ours, bare, wait);
}
