//! Mistakes of the code `launch-config`.
use graph_runtime::{cuda_graph, cuda_kernels};
use ui_tests::*;

// A grid is made of whole clusters.
cuda_graph! {
    graph ClusterBroken {
        device data: [f32; 1024];
        #[cluster(3)]
        kernel fill = write<<<4, 256>>>(&mut data);
    }
}

// A grid that is not made of whole clusters, which only rustc knows.
const BLOCKS: usize = 4;

cuda_graph! {
    graph ClusterConstBroken {
        device data: [f32; 1024];
        #[cluster(BLOCKS - 1, 1, 1)]
        kernel fill = write<<<BLOCKS, 256>>>(&mut data);
    }
}

// A cluster has a block.
cuda_graph! {
    graph ClusterEmpty {
        device data: [f32; 1024];
        #[cluster(2, 0)]
        kernel fill = write<<<4, 256>>>(&mut data);
    }
}

// The kernel is made for clusters of two blocks.
cuda_graph! {
    graph ClusterNotTheRequired {
        device data: [f32; 1024];
        #[cluster(4)]
        kernel fill = clustered<<<4, 256>>>(&mut data);
    }
}

// No device has clusters of more than 16 blocks.
cuda_graph! {
    graph ClusterTooLarge {
        device data: [f32; 1024];
        #[cluster(32)]
        kernel fill = write<<<32, 32>>>(&mut data);
    }
}

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

// Grid and block are two mistakes.
cuda_graph! {
    graph GridAndBlock {
        device data: [f32; 4];
        kernel fill = write<<<0, 2048>>>(&mut data);
    }
}

// Launches and programmatic edges are right for all files.
#[cuda_kernels("../../../kernels/tuned.ptx", tuned = ["../../../kernels/tuned.sm_90.ptx"])]
unsafe extern "C" {
    #[requires(threads <= data.len())]
    safe fn numbers(data: &mut [u32]);
    #[requires(threads <= from.len() && threads <= to.len())]
    safe fn moved(from: &mut [u32], to: &mut [u32]);
}

cuda_graph! {
    graph Tuned {
        device a: [u32; 96];
        device b: [u32; 96];

        kernel first  = numbers<<<3, 32>>>(&mut a);
        kernel second = moved<<<3, 32>>>(&mut a, &mut b) after programmatic(first);
    }
}

fn main() {}
