//! Mistakes that rustc reports as E0061.
use graph_runtime::{Device, cuda_graph};
use ui_tests::{read, scaled, write};

// All arguments are passed, in the order in which they are declared.
cuda_graph! {
    graph ValueMissing(value: f32, n: usize) {
        device data: [f32; n];
        memset fill = data <- value;
    }
}

fn value_missing() -> graph_runtime::Result<()> {
    ValueMissing::build(&Device::emulator(), 1.0)?.launch()
}

// The handle of a node takes the number of its iteration.
cuda_graph! {
    graph HandleWithoutNumber {
        device data: [f32; 4];
        each i in 0..4 {
            memset fill = data[i] <- 0.0;
        }
    }
}

fn handle_without_number() -> graph_runtime::Result<()> {
    let mut graph = HandleWithoutNumber::build(&graph_runtime::Device::emulator())?;
    graph.fill().set_enabled(false)
}

// One argument, which is memory, is missing.
cuda_graph! {
    graph ArgumentMemoryMissing {
        device data: [f32; 4];
        kernel copy = read<<<1, 4>>>(&mut data);
    }
}

// A kernel gets all of its arguments.
cuda_graph! {
    graph ArgumentMissing {
        device data: [f32; 4];
        kernel double = scaled<<<1, 4>>>(&mut data, 2.0);
    }
}

// A kernel gets no more than its arguments.
cuda_graph! {
    graph ArgumentSuperfluous {
        device data: [f32; 4];
        kernel fill = write<<<1, 4>>>(&mut data, 4);
    }
}

// The handle of a node in a `for` takes the number of the iteration.
cuda_graph! {
    graph HandleWithoutIndex {
        device data: [f32; 4];
        for i in 0..4 {
            memset set = data[i] <- 1.0;
        }
    }
}

fn disable(graph: &mut HandleWithoutIndex) -> graph_runtime::Result<()> {
    graph.set().set_enabled(false)
}

fn main() {}
