//! The costs of building graphs of the kernels of one large PTX text, as an engine has one for each size of a batch.

use super::{Device, Graph, GraphBuilder, Launch, Result};
use graph_runtime::{ModuleKernel, Ptx};
use std::fmt::Write;
use std::time::Instant;

const GRAPHS: usize = 36;
const BYTES: usize = 1_800_000;

/// Prints what the first graph costs, and each further one while all of them live.
pub(crate) fn measure(device: &Device) -> Result<()> {
    println!(
        "\n{}: time to build {GRAPHS} graphs of kernels of one PTX text of {:.1} MB",
        device.name(),
        BYTES as f64 / 1e6
    );
    for nodes in [1, 43, 151] {
        // Each text is new to the process and to the driver's cache.
        let text = text(nodes);
        let start = Instant::now();
        let module = device.module(Ptx::from_text("large.ptx", text)?)?;
        let kernel = module.kernel("k0")?;
        let parsed = milliseconds(start);
        let mut graphs = Vec::with_capacity(GRAPHS);
        let mut times = Vec::with_capacity(GRAPHS);
        for _ in 0..GRAPHS {
            let start = Instant::now();
            graphs.push(chain(device, &kernel, nodes)?);
            times.push(milliseconds(start));
        }
        for graph in &mut graphs {
            graph.launch()?;
            graph.synchronize()?;
        }
        let (first, further) = (times[0], &mut times[1..]);
        further.sort_by(f64::total_cmp);
        let [least, median, most] = [0, further.len() / 2, further.len() - 1].map(|index| further[index]);
        println!(
            "{nodes:>3} nodes: parsed in {parsed:.1} ms, first graph {first:.1} ms; further ones {median:.2} ms \
             ({least:.2} to {most:.2}), all {} of them {:.1} ms",
            further.len(),
            further.iter().sum::<f64>()
        );
    }
    Ok(())
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// A graph of so many kernels, one after the other.
fn chain(device: &Device, kernel: &ModuleKernel, nodes: usize) -> Result<Graph> {
    let mut builder = GraphBuilder::new(device, "Bucket");
    let mut data = builder.device::<[f32; 64]>("data");
    let mut last = None;
    for index in 0..nodes {
        // SAFETY: the kernel reads and writes an element of `data` for each of 64 threads.
        let call = unsafe { kernel.call([data.write()]) };
        let node = builder.kernel(format!("k{index}"), Launch::new(1, 64), call);
        if let Some(last) = last {
            builder.after(node, &[last]);
        }
        last = Some(node);
    }
    builder.build()
}

/// A text of about [`BYTES`] bytes: kernels of some 60 instructions each. `number` is in one of its constants.
fn text(number: usize) -> String {
    let mut text = format!(".version 7.0\n.target sm_70\n.address_size 64\n// {number}\n");
    let mut kernels = 0;
    while text.len() < BYTES {
        let begin = "{\n.reg .b64 %rd<4>;\n.reg .b32 %r<2>;\n.reg .f32 %f<2>;\nld.param.u64 %rd1, [data];\n\
                     cvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\n\
                     add.s64 %rd2, %rd2, %rd3;\nld.global.f32 %f1, [%rd2];\n";
        let _ = writeln!(text, ".visible .entry k{kernels}(.param .u64 data)\n{begin}");
        for step in 0..50 {
            let bits = 0x3f00_0000 + (number * 1_000_003 + kernels * 64 + step) % 0x80_0000;
            let _ = writeln!(text, "fma.rn.f32 %f1, %f1, 0f{bits:08x}, 0f3d000000;");
        }
        let _ = writeln!(text, "st.global.f32 [%rd2], %f1;\nret;\n}}");
        kernels += 1;
    }
    text
}
