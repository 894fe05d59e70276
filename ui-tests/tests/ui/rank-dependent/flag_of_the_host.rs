use graph_runtime::{Communicator, cuda_graph};

cuda_graph! {
    graph Example(world: &Communicator) {
        host   more: u32;
        device flag: u32;
        device x: [f32; 1024];
        memcpy load = more -> flag;
        if choose = flag {
            all_reduce sum = x over world;
        } after load;
    }
}

fn main() {}
