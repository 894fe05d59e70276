//! Mistakes with tables.
use graph_runtime::{Device, GraphBuilder, cuda_graph};
use ui_tests::{tile, write};

// A table has two to four dimensions.
fn builder_of_one_length() {
    let mut builder = GraphBuilder::new(&Device::emulator(), "BuilderOfOneLength");
    builder.device_table::<f32, 1>("data", [4]);
}

// A parameter of fixed lengths takes no table.
cuda_graph! {
    graph KernelOfFixedShape(n: usize, d: usize) {
        device data: [[f32; d]; n];
        kernel ones = tile<<<1, (16, 16)>>>(&mut data);
    }
}

// A kernel's elements are those of the table.
cuda_graph! {
    graph KernelOfOtherElement(n: usize, d: usize) {
        device data: [[u32; d]; n];
        kernel ones = write<<<1, 32>>>(&mut data);
    }
}

fn main() {}
