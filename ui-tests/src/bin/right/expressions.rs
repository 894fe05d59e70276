//! A graph as an expression, in every place where expressions stand.
#![deny(warnings)]
use graph_runtime::{Device, DeviceBuffer, Element, HostBuffer, Result, SharedHost, cuda_graph};
use ui_tests::{scaled, write};

const HALF: usize = 8;

fn locals(device: &Device, n: usize, factor: f32) -> Result<usize> {
    let count = n as u32;
    let mut graph = cuda_graph! { device =>
        host   input: [f32; n];
        device data: [f32; n];
        device rows: [[f32; HALF]; 2 * n];
        param  rate: f32 = factor;
        memcpy upload = input -> data;
        kernel scale = scaled<<<count.div_ceil(64), 64>>>(&mut data, rate * factor, count) after upload;
        memset clear = rows[n..] <- factor;
    }?;
    graph.set_rate(graph.rate() + 1.0)?;
    graph.launch()?;
    let plan = graph.plan();
    let input: &mut [f32] = graph.input_mut()?;
    Ok(input.len() + plan.nodes.len())
}

fn captured(
    device: &Device,
    data: DeviceBuffer<[f32; HALF]>,
    from: HostBuffer<[f32]>,
    to: &SharedHost<[f32]>,
) -> Result<()> {
    let graph = cuda_graph! { device =>
        memcpy up   = from -> data;
        kernel k    = write<<<1, HALF as u32>>>(&mut data) after up;
        memset last = data[HALF - 1] <- 1.0 after k;
        memcpy down = data -> to after last;
    }?;
    let parts = graph.into_parts()?;
    let (_, _, _): (DeviceBuffer<[f32; HALF]>, HostBuffer<[f32]>, &SharedHost<[f32]>) =
        (parts.data, parts.from, parts.to);
    Ok(())
}

fn generic<T: Element, const N: usize>(device: &Device, value: T) -> Result<[T; N]> {
    let mut graph = cuda_graph! { device =>
        device data: [T; N];
        host   output: [T; N];
        memset set  = data <- value;
        memcpy down = data -> output after set;
    }?;
    graph.launch()?;
    Ok(*graph.output()?)
}

fn in_an_argument(device: &Device) -> bool {
    struct Expression;
    let _shadows_nothing = Expression;
    cuda_graph! { device => join start; }.is_ok()
}

pub(crate) fn main() {
    let _: fn(&Device, usize, f32) -> Result<usize> = locals;
    let _: fn(&Device, DeviceBuffer<[f32; HALF]>, HostBuffer<[f32]>, &SharedHost<[f32]>) -> Result<()> = captured;
    let _: fn(&Device, f32) -> Result<[f32; 4]> = generic;
    let _: fn(&Device) -> bool = in_an_argument;
}
