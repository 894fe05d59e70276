//! A memset sets memory of any plain type to any value of it.
use graph_runtime::cuda_graph;
use ui_tests::Params;

const PATTERN: u16 = 0xabcd;

fn value() -> f64 {
    0.5
}

cuda_graph! {
    graph Test<const N: usize> {
        device bytes: [u8; 3];
        device halves: [u16; N];
        device words: [[i32; 4]; 4];
        device wide: [u64; 4];
        device floats: [f32; 4];
        device doubles: [f64; 4];
        device single: i64;
        device structs: [Params; 2];
        param level: f32 = 1.0;
        memset a = bytes <- 0xff;
        memset b = halves <- PATTERN;
        memset c = words[1..3] <- -1;
        memset d = wide <- u64::MAX - 1;
        memset e = floats <- level * 2.0 + 1.0;
        memset f = doubles <- value();
        memset g = single <- i64::MIN;
        memset h = structs <- Params { a: 1.0, b: 2.0, n: N as u32 };
    }
}
