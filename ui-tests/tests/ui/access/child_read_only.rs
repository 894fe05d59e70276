//! The child writes what it gets as `&`.
use graph_runtime::cuda_graph;

cuda_graph! {
    pub graph Save {
        device from: [f32; 32];
        device to: [f32; 32];
        param value: f32 = 1.0;
        memcpy save = from -> to;
        memset clear = from <- value after save;
    }
}

cuda_graph! {
    pub graph Parent {
        device a: [f32; 32];
        device b: [f32; 32];
        host h: [f32; 32];
        device short: [f32; 16];
        param factor: f32 = 2.0;
        memset keep = short <- factor;
        memcpy up = h -> b;
        graph step = Save(from: &mut a, to: &b) after up, keep;
    }
}

fn main() {}
