//! Mistakes of memory and its parts that rustc reports as E0308.
use graph_runtime::{Texel, cuda_graph, cuda_kernels};
use ui_tests::announce;

// Another type of this name means nothing.
struct Layered<T: ?Sized>(std::marker::PhantomData<T>);

#[cuda_kernels("../../../kernels/arrays.ptx")]
unsafe extern "C" {
    safe fn look_at_layers(layers: &Layered<[[[Texel<f32>; 8]; 8]]>, out: &mut [f32]);
}

// Another type of this name means nothing.
struct Atomic<T>(T);

#[cuda_kernels("../../../kernels/atomic.ptx")]
unsafe extern "C" {
    safe fn count(bins: &[Atomic<u32>]);
}

// A child's mapped memory is bound to mapped memory.
cuda_graph! {
    graph ChildOfDeviceMemory {
        device news: [u32; 4];
        graph inner = Inner(news: &news);
    }
}

cuda_graph! {
    graph Inner {
        mapped news: [u32; 4];
        kernel tell = announce<<<1, 4>>>(&news, 7);
    }
}

// An index is a `usize`, as everywhere in Rust.
const LAYER: u32 = 1;

cuda_graph! {
    graph IndexNotUsize {
        device rows: [[f32; 4]; 4];
        memset zero = rows[LAYER] <- 0.0;
    }
}

// A memset sets elements to a value of their type.
cuda_graph! {
    graph MemoryMemsetOfOtherType {
        device data: [u32; 4];
        memset zero = data <- 0.5;
    }
}

// The bounds of a range are `usize`s.
cuda_graph! {
    graph BoundNotUsize(first: i64, len: u32) {
        device data: [[f32; 4]; 8];
        memset rows = data[..len] <- 0.0;
        memset cell = data[0][first..] <- 1.0 after rows;
        memset some = data[1..len][first..3] <- 2.0 after cell;
    }
}

// The ends of a range are `usize`s, whose types rustc checks.
cuda_graph! {
    graph OtherType {
        host input: [f32; 64];
        device data: [f32; 64];
        param n: u32 = 64;
        memcpy up = input[..n] -> data;
    }
}

// Columns have the elements of their memory.
cuda_graph! {
    graph RectanglesMemsetOfOtherType {
        device data: [[f32; 8]; 8];
        memset clear = data[..][1..3] <- 0_u32;
    }
}

// Memory whose lengths only build knows is not bound to memory of fixed lengths.
cuda_graph! {
    graph Clear {
        device data: [[f32; 4]; 8];
        memset clear = data <- 0.0;
    }
    graph Parent(n: usize, d: usize) {
        device data: [[f32; d]; n];
        graph step = Clear(data: &mut data);
    }
}

// A length is a `usize`.
cuda_graph! {
    graph LengthNotUsize(n: usize, d: u32) {
        device data: [[f32; d]; n];
        memset clear = data <- 0.0;
    }
}

// A memset sets the elements of a table.
cuda_graph! {
    graph TablesMemsetOfOtherType(n: usize, d: usize) {
        device data: [[u32; d]; n];
        memset clear = data <- 0.5;
    }
}

// Another type of this name means nothing.
struct MaybeUninit<T>(T);

#[cuda_kernels("../../../kernels/atomic.ptx")]
unsafe extern "C" {
    safe fn through(tmp: &mut [MaybeUninit<f32>], out: &mut [f32]);
}

fn main() {}
