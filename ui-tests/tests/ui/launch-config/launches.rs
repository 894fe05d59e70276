//! Mistakes in launches.
use graph_runtime::cuda_graph;
use ui_tests::{bounded, clustered, required, write};

// Constants are as good as literals.
const THREADS: u32 = 2048;

cuda_graph! {
    graph BlockConstTooLarge {
        device data: [f32; 2048];
        kernel fill = write<<<1, THREADS>>>(&mut data);
    }
}

// A constant tuple is as good as a literal one.
const BLOCK: (u32, u32) = (64, 32);

cuda_graph! {
    graph BlockConstTupleTooLarge {
        device data: [f32; 2048];
        kernel fill = write<<<1, BLOCK>>>(&mut data);
    }
}

// A kernel compiled with a required block has that block and no other.
cuda_graph! {
    graph BlockNotTheRequired {
        device data: [f32; 64];
        kernel fill = required<<<2, 32>>>(&mut data);
    }
}

// A kernel compiled with `__launch_bounds__(128)` has no larger blocks.
cuda_graph! {
    graph BlockOverLaunchBounds {
        device data: [f32; 256];
        kernel fill = bounded<<<1, 256>>>(&mut data);
    }
}

// A kernel that runs in clusters of two blocks needs an even number of them.
cuda_graph! {
    graph GridOfBrokenClusters {
        device data: [f32; 96];
        kernel fill = clustered<<<3, 32>>>(&mut data);
    }
}

fn main() {}
