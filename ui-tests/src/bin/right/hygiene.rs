//! No name of the expansion is in the way of the user's, and none of the user's in its.
#![no_implicit_prelude]
use ::graph_runtime::{Device, DeviceBuffer, Result, cuda_graph};
use ::ui_tests::{read, scaled};

mod core {}
mod std {}

cuda_graph! {
    graph Test {
        device device: [f32; 4];
        host builder: [f32; 4];
        device value: [f32; 4];
        host graph: [f32; 4];
        param sink: f32 = 1.0;
        param update: u32 = 4;
        memcpy device_upload = builder -> device;
        memcpy this = graph -> value;
        kernel stream = scaled<<<1, 4>>>(&mut device, sink, update) after device_upload;
        kernel name = read<<<1, 4>>>(&device, &mut value) after stream, this;
        call memory = |&graph, &mut builder| *builder = *graph after device_upload;
        capture captured = (&device) |stream| { let (_,) = stream.memory(); } after stream;
        raw added = unsafe (&device) |graph, after| { let _ = graph; after[0] } after stream;
    }
}

struct Expression;

fn expression(builder: &Device, graph: DeviceBuffer<[f32; 4]>, index: u32, function: f32) -> Result<()> {
    let nodes = 1;
    let (sink, values) = (index, function);
    let _ = Expression;
    cuda_graph! { builder =>
        device device: [f32; 4];
        host hidden: [f32; 4];
        param update: f32 = values;
        memset this = device <- update * function;
        kernel stream = scaled<<<nodes, sink>>>(&mut graph, update, index);
        memcpy copy = graph -> hidden after stream;
    }?
    .launch()
}

pub(crate) fn main() {
    let _ = expression;
}
