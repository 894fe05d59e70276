//! A table has two to four dimensions.
use graph_runtime::{Device, GraphBuilder};

fn main() {
    let mut builder = GraphBuilder::new(&Device::emulator(), "Test");
    builder.device_table::<f32, 1>("data", [4]);
}
