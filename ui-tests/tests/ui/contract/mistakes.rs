//! Mistakes of the code `contract`.
use graph_runtime::cuda_graph;
use ui_tests::{scale, scaled, tile, write};

// Contracts hold wherever a kernel is launched.
cuda_graph! {
    graph ContractInBody {
        device flag: u32;
        device data: [f32; 4];
        if maybe = flag {
            kernel set = write<<<1, 8>>>(&mut data);
        };
    }
}

// Memory has the element type of the kernel that is named.
cuda_graph! {
    graph ForEachOtherElement {
        device data: [f32; 64];
        kernel double = scale::<f64><<<1, 64>>>(&mut data, 2.0);
    }
}

// A contract may be about the launch alone.
cuda_graph! {
    graph ContractBlock {
        device data: [[f32; 16]; 16];
        kernel fill = tile<<<1, (32, 8)>>>(&mut data);
    }
}

// A contract is checked wherever rustc can tell the values.
const LEN: usize = 1000;
const COUNT: u32 = 1024;

cuda_graph! {
    graph ContractConst {
        device data: [f32; LEN];
        kernel double = scaled<<<COUNT / 256, 256>>>(&mut data, 2.0, COUNT);
    }
}

// Contracts count the threads of constant tuples.
const GRID: (u32, u16) = (2, 2);
const BLOCK: (u32,) = (1024,);

cuda_graph! {
    graph ContractConstTuple {
        device data: [f32; 2048];
        kernel fill = write<<<GRID, BLOCK>>>(&mut data);
    }
}

// The length in a contract is that of the part which is passed.
cuda_graph! {
    graph ContractOfPart {
        device data: [f32; 1024];
        kernel fill = write<<<4, 256>>>(&mut data[..512]);
    }
}

// Nodes that launch a kernel in the same way break its contract once.
cuda_graph! {
    graph ContractOfSeveralNodes {
        device data: [f32; 1000];
        kernel first = write<<<4, 256>>>(&mut data);
        kernel second = write<<<4, 256>>>(&mut data) after first;
    }
}

// Every launch keeps the kernel's `#[requires]`.
cuda_graph! {
    graph ContractThreads {
        device data: [f32; 1000];
        kernel fill = write<<<4, 256>>>(&mut data);
    }
}

// A contract may be about the scalar arguments.
cuda_graph! {
    graph ContractValue {
        device data: [f32; 1000];
        kernel double = scaled<<<4, 256>>>(&mut data, 2.0, 1024);
    }
}

// A negative integer fits no unsigned parameter.
const NONE: i64 = -1;

cuda_graph! {
    graph IntegerNegative {
        device data: [f32; 64];
        kernel first = scaled<<<1, 64>>>(&mut data, 2.0, -1);
        kernel second = scaled<<<1, 64>>>(&mut data, 2.0, NONE) after first;
    }
}

// An integer by value fits its parameter.
cuda_graph! {
    graph IntegerTooLarge {
        device data: [f32; 64];
        kernel double = scaled<<<1, 64>>>(&mut data, 2.0, 4294967296);
    }
}

// The value of a constant is compared with its parameter, and with the contract, whatever its type is.
const SIZE: usize = 64;
const ALL: u64 = 1 << 32;

cuda_graph! {
    graph IntegerConstTooLarge {
        device data: [f32; SIZE];
        kernel first = scaled<<<1, 64>>>(&mut data, 2.0, ALL);
        kernel second = scaled<<<1, 64>>>(&mut data, 2.0, SIZE + 1) after first;
    }
}

fn main() {}
