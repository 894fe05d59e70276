//! Mistakes in conditionals.
use graph_runtime::cuda_graph;
use ui_tests::read;

// A condition is one number.
cuda_graph! {
    graph ConditionIsArray {
        device flags: [u32; 4];
        device data: u32;
        switch choice = flags {
            { memset set = data <- 1; }
        };
    }
}

// A condition is a number of 32 bits.
cuda_graph! {
    graph ConditionOfFloats {
        device flag: f32;
        device data: u32;
        if maybe = flag {
            memset set = data <- 1;
        };
    }
}

// rustc itself reports a wrong argument in a body.
cuda_graph! {
    graph WrongArgumentInBody {
        device flag: u32;
        device data: [f32; 4];
        if maybe = flag {
            kernel copy = read<<<1, 4>>>(&data, &data);
        };
    }
}

fn main() {}
