//! A type that is no graph, in an expression.
use graph_runtime::{Device, cuda_graph};
use ui_tests::Params;

fn main() {
    let _ = cuda_graph! { &Device::emulator() =>
        device data: [f32; 4];
        graph step = Params(data: &mut data);
    };
}
