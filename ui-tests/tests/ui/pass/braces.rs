//! rustc does not warn of braces around one expression, where the statement needs or allows them.
#![deny(warnings)]

use graph_runtime::cuda_graph;
use ui_tests::scaled;

cuda_graph! {
    pub graph Test<const N: usize>(value: f32) {
        host input: [f32; { N * 2 }];
        device data: [f32; { N * 2 }];
        param factor: f32 = { value };
        memcpy up = input -> data;
        kernel scale = scaled<<<{ N >> 1 }, { 1 }>>>(&mut data, { factor }, { N as u32 }) after up;
        memset clear = data[{ N }..] <- { value } after scale;
        call read = |&mut input| { input[0] = 1.0 } after clear;
        for i in { 0 }..{ 2 } {
            memset each_one = data[{ i }] <- 0.0 after clear;
        }
    }
}

fn main() {}
