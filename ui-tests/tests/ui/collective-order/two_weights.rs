use graph_runtime::{Communicator, cuda_graph};

cuda_graph! {
    graph Example(world: &Communicator) {
        device w: [f32; 1024];
        device b: [f32; 32];
        all_reduce weights = w over world;
        all_reduce biases  = b over world;
    }
}

fn main() {}
