//! Mistakes in launches.
use graph_runtime::cuda_graph;
use graph_runtime::cudarc::driver::CudaFunction;
use ui_tests::{indirect, read, scaled, tile, write};

// Memory that a kernel writes is passed as `&mut`.
cuda_graph! {
    graph ArgumentNotMutable {
        device data: [f32; 4];
        kernel fill = write<<<1, 4>>>(&data);
    }
}

// A parameter that is memory takes memory.
cuda_graph! {
    graph ArgumentNumberForMemory {
        kernel fill = write<<<1, 4>>>(4);
    }
}

// Memory has the parameter's element type.
cuda_graph! {
    graph ArgumentOfOtherElement {
        device data: [f64; 4];
        kernel fill = write<<<1, 4>>>(&mut data);
    }
}

// A parameter of a fixed shape takes no other.
cuda_graph! {
    graph ArgumentOfOtherShape {
        device data: [[f32; 16]; 8];
        kernel fill = tile<<<1, (16, 8)>>>(&mut data);
    }
}

// A number where the kernel takes memory that it reads, and memory of another shape beside it.
cuda_graph! {
    graph ArgumentSharedIsNumber {
        device data: [u32; 4];
        kernel copy = read<<<1, 4>>>(4.0, &mut data);
    }
}

// A constant in a tuple is an integer.
const THREADS: &str = "64";

cuda_graph! {
    graph DimensionConstInTupleIsText {
        device data: [f32; 2048];
        kernel fill = write<<<1, (THREADS, 1)>>>(&mut data);
    }
}

// A constant tuple is made of integers.
const GRID: (u32, f64) = (2, 1.0);

cuda_graph! {
    graph DimensionConstTupleOfFloats {
        device data: [f32; 2048];
        kernel fill = write<<<GRID, 64>>>(&mut data);
    }
}

// A constant tuple has at most three dimensions.
const BLOCK: (u32, u32, u32, u32) = (64, 1, 1, 1);

cuda_graph! {
    graph DimensionConstTupleOfFour {
        device data: [f32; 2048];
        kernel fill = write<<<1, BLOCK>>>(&mut data);
    }
}

// A dimension is an integer.
cuda_graph! {
    graph DimensionIsFloat {
        device data: [f32; 4];
        kernel fill = write<<<1, 4.0>>>(&mut data);
    }
}

// Only integers convert to an integer.
cuda_graph! {
    graph IntegerIsFloat(some: f64, all: bool) {
        device data: [f32; 64];
        kernel first = scaled<<<1, 64>>>(&mut data, 2.0, 64.0);
        kernel second = scaled<<<1, 64>>>(&mut data, 2.0, some) after first;
        kernel third = scaled<<<1, 64>>>(&mut data, 2.0, all) after second;
    }
}

// An integer is passed by value, not as memory.
cuda_graph! {
    graph IntegerIsMemory {
        device data: [f32; 64];
        device count: u32;
        kernel double = scaled<<<1, 64>>>(&mut data, 2.0, &count);
    }
}

// A `param` is cloned for every node that uses it.
pub struct Level(f32);

cuda_graph! {
    graph ParamNotClone {
        device data: [f32; 4];
        param level: Level = Level(1.0);
        memset fill = data <- level.0;
    }
}

// A kernel that is not declared `safe` is launched with `unsafe`.
cuda_graph! {
    graph UnsafeMissing {
        device table: [u64; 4];
        kernel fill = indirect<<<1, 4>>>(&mut table);
    }
}

// Arguments are plain data, and memory of the graph.
cuda_graph! {
    graph ValueArgumentNoElement(f: CudaFunction) {
        device data: [f32; 64];
        kernel fill = unsafe (f)<<<1, 64>>>(&mut data, true);
    }
}

// A value that is launched is a `CudaFunction`, or a reference to one.
cuda_graph! {
    graph ValueIsNoFunction(name: &'static str) {
        device data: [f32; 64];
        kernel fill = unsafe (name)<<<1, 64>>>(&mut data);
    }
}

fn main() {}
