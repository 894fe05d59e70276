//! One missing edge is one mistake, although it leaves three nodes unordered with the memset.
use graph_runtime::cuda_graph;
use ui_tests::read;

cuda_graph! {
    graph Test {
        device data: [f32; 4];
        device a: [f32; 4];
        device b: [f32; 4];
        device c: [f32; 4];
        kernel first = read<<<1, 4>>>(&data, &mut a);
        kernel second = read<<<1, 4>>>(&data, &mut b);
        kernel third = read<<<1, 4>>>(&data, &mut c);
        join all after first, second, third;
        memset clear = data <- 0.0;
    }
}

fn main() {}
