//! All mistakes are reported, each once.
use graph_runtime::cuda_graph;
use ui_tests::write;

cuda_graph! {
    graph Test {
        device flag: u32;
        device number: u32;
        device data: [f32; 4];
        if maybe = flag {
            memset one = dat <- 1.0;
        } else {
            while repeat = number {
                kernel two = write<<<1, 0>>>(&mut data);
            };
        } after never;
    }
}

fn main() {}
