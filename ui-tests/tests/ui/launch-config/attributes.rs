//! Mistakes in attributes.
use graph_runtime::cuda_graph;
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

fn main() {}
