//! One missing edge is one mistake, although it leaves five nodes unordered with the copy.
use graph_runtime::cuda_graph;
use ui_tests::read;

cuda_graph! {
    graph Test {
        host input: [f32; 4];
        device data: [f32; 4];
        device start: f32;
        device a: [f32; 4];
        device b: [f32; 4];
        device c: [f32; 4];
        device d: [f32; 4];
        device e: [f32; 4];
        memcpy up = input -> data;
        memset begin = start <- 0.0;
        kernel first = read<<<1, 4>>>(&data, &mut a) after begin;
        kernel second = read<<<1, 4>>>(&data, &mut b) after begin;
        kernel third = read<<<1, 4>>>(&data, &mut c) after begin;
        kernel fourth = read<<<1, 4>>>(&data, &mut d) after begin;
        kernel fifth = read<<<1, 4>>>(&data, &mut e) after begin;
    }
}

fn main() {}
