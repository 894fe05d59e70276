//! What is missing at the end of the macro is told at its last token.
use graph_runtime::{Device, cuda_graph};

fn main() {
    let _ = cuda_graph! { &Device::emulator() =>
        device data: [f32; 4];
        memset fill = data <-
    };
}
