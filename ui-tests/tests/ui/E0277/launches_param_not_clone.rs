//! A `param` is cloned for every node that uses it.
use graph_runtime::cuda_graph;

pub struct Level(f32);

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        param level: Level = Level(1.0);
        memset fill = data <- level.0;
    }
}

fn main() {}
