//! Mistakes of nodes that rustc reports as E0277.
use graph_runtime::cudarc::driver::CudaFunction;
use graph_runtime::{Device, Element, cuda_graph};
use std::rc::Rc;
use ui_tests::*;

// Clusters are numbers of blocks.
cuda_graph! {
    graph ClusterIsFloat {
        device data: [f32; 1024];
        #[cluster(2.0)]
        kernel fill = write<<<4, 256>>>(&mut data);
    }
}

// Host functions run on threads of CUDA's.
cuda_graph! {
    graph NotSend(counter: Rc<u32>) {
        call count = || assert_eq!(*counter, 1);
    }
}

// A host function returns nothing, so it has no error to return.
cuda_graph! {
    graph QuestionMark {
        host text: [u8; 4];
        call parse = |&text| {
            std::str::from_utf8(text)?;
        };
    }
}

// A graph may go to another thread, and the closures that it keeps with it.
cuda_graph! {
    graph CaptureNotSend(handle: Rc<u32>) {
        device data: [f32; 4];
        capture calls = (&mut data) |stream| assert_eq!(*handle, 1);
    }
}

// Library calls end with nothing, or with a result.
cuda_graph! {
    graph WrongEnding {
        device data: [f32; 4];
        capture calls = (&mut data) |stream| data.address();
    }
}

// A type that is no graph.
cuda_graph! {
    graph IsStruct {
        device data: [f32; 4];
        param factor: f32 = 1.0;
        graph step = Params(data: &mut data, a: factor);
    }
}

// A type that is no graph, in an expression.
fn is_struct_in_expression() {
    let _ = cuda_graph! { &Device::emulator() =>
        device data: [f32; 4];
        graph step = Params(data: &mut data);
    };
}

// A condition is one number.
cuda_graph! {
    graph ConditionIsArray {
        device flags: [u32; 4];
        device data: u32;
        switch choice = flags {
            { memset set = data <- 1; }
        };
    }
}

// A condition is a number of 32 bits.
cuda_graph! {
    graph ConditionOfFloats {
        device flag: f32;
        device data: u32;
        if maybe = flag {
            memset set = data <- 1;
        };
    }
}

// rustc itself reports a wrong argument in a body.
cuda_graph! {
    graph WrongArgumentInBody {
        device flag: u32;
        device data: [f32; 4];
        if maybe = flag {
            kernel copy = read<<<1, 4>>>(&data, &data);
        };
    }
}

// A `record` records an event.
cuda_graph! {
    graph Number {
        record done = 3;
    }
}

// A generic kernel exists for the types that `#[for_each(..)]` lists, and for no others.
cuda_graph! {
    graph ForEachOtherType {
        device data: [u32; 64];
        kernel double = scale::<u32><<<1, 64>>>(&mut data, 2);
    }
}

// A graph that is generic over an element type says which kernels it needs.
cuda_graph! {
    graph ForEachWithoutBound<T: Element> {
        device data: [T; 64];
        kernel double = scale::<T><<<1, 64>>>(&mut data, T::zeroed());
    }
}

// Memory that a kernel writes is passed as `&mut`.
cuda_graph! {
    graph ArgumentNotMutable {
        device data: [f32; 4];
        kernel fill = write<<<1, 4>>>(&data);
    }
}

// A parameter that is memory takes memory.
cuda_graph! {
    graph ArgumentNumberForMemory {
        kernel fill = write<<<1, 4>>>(4);
    }
}

// Memory has the parameter's element type.
cuda_graph! {
    graph ArgumentOfOtherElement {
        device data: [f64; 4];
        kernel fill = write<<<1, 4>>>(&mut data);
    }
}

// A parameter of a fixed shape takes no other.
cuda_graph! {
    graph ArgumentOfOtherShape {
        device data: [[f32; 16]; 8];
        kernel fill = tile<<<1, (16, 8)>>>(&mut data);
    }
}

// A number where the kernel takes memory that it reads, and memory of another shape beside it.
cuda_graph! {
    graph ArgumentSharedIsNumber {
        device data: [u32; 4];
        kernel copy = read<<<1, 4>>>(4.0, &mut data);
    }
}

// A constant in a tuple is an integer.
const THREADS: &str = "64";

cuda_graph! {
    graph DimensionConstInTupleIsText {
        device data: [f32; 2048];
        kernel fill = write<<<1, (THREADS, 1)>>>(&mut data);
    }
}

// A constant tuple is made of integers.
const GRID: (u32, f64) = (2, 1.0);

cuda_graph! {
    graph DimensionConstTupleOfFloats {
        device data: [f32; 2048];
        kernel fill = write<<<GRID, 64>>>(&mut data);
    }
}

// A constant tuple has at most three dimensions.
const BLOCK: (u32, u32, u32, u32) = (64, 1, 1, 1);

cuda_graph! {
    graph DimensionConstTupleOfFour {
        device data: [f32; 2048];
        kernel fill = write<<<1, BLOCK>>>(&mut data);
    }
}

// A dimension is an integer.
cuda_graph! {
    graph DimensionIsFloat {
        device data: [f32; 4];
        kernel fill = write<<<1, 4.0>>>(&mut data);
    }
}

// Only integers convert to an integer.
cuda_graph! {
    graph IntegerIsFloat(some: f64, all: bool) {
        device data: [f32; 64];
        kernel first = scaled<<<1, 64>>>(&mut data, 2.0, 64.0);
        kernel second = scaled<<<1, 64>>>(&mut data, 2.0, some) after first;
        kernel third = scaled<<<1, 64>>>(&mut data, 2.0, all) after second;
    }
}

// An integer is passed by value, not as memory.
cuda_graph! {
    graph IntegerIsMemory {
        device data: [f32; 64];
        device count: u32;
        kernel double = scaled<<<1, 64>>>(&mut data, 2.0, &count);
    }
}

// A `param` is cloned for every node that uses it.
pub struct Level(f32);

cuda_graph! {
    graph ParamNotClone {
        device data: [f32; 4];
        param level: Level = Level(1.0);
        memset fill = data <- level.0;
    }
}

// A kernel that is not declared `safe` is launched with `unsafe`.
cuda_graph! {
    graph UnsafeMissing {
        device table: [u64; 4];
        kernel fill = indirect<<<1, 4>>>(&mut table);
    }
}

// Arguments are plain data, and memory of the graph.
cuda_graph! {
    graph ValueArgumentNoElement(f: CudaFunction) {
        device data: [f32; 64];
        kernel fill = unsafe (f)<<<1, 64>>>(&mut data, true);
    }
}

// A value that is launched is a `CudaFunction`, or a reference to one.
cuda_graph! {
    graph ValueIsNoFunction(name: &'static str) {
        device data: [f32; 64];
        kernel fill = unsafe (name)<<<1, 64>>>(&mut data);
    }
}

// A constant that is a dimension is an integer.
const FLOAT_THREADS: f32 = 64.0;

cuda_graph! {
    graph DimensionConstIsFloat {
        device data: [f32; 2048];
        kernel fill = write<<<1, FLOAT_THREADS>>>(&mut data);
    }
}

// A range has two ends.
cuda_graph! {
    graph RangeIsNumber {
        device data: f32;
        for i in 4 {
            memset set = data <- 1.0;
        }
    }
}

// A range counts.
cuda_graph! {
    graph RangeOfFloats {
        device data: f32;
        for i in 0.0..4.0 {
            memset set = data <- 1.0;
        }
    }
}

// The closure returns the node that others come after.
cuda_graph! {
    graph NoNode {
        raw by_hand = unsafe () |graph, after| {
            assert!(after.is_empty());
        };
    }
}

// A node borrows memory of the graph, or takes values that can be kept.
cuda_graph! {
    graph WrongArgument {
        raw by_hand = unsafe (Rc::new(1)) |graph, after| std::ptr::null_mut();
    }
}

// The closure returns the node that others come after.
cuda_graph! {
    graph RawWrongEnding {
        raw by_hand = unsafe () |graph, after| graph.graph();
    }
}

// A kernel that takes numbers gets no generator.
cuda_graph! {
    graph Noise {
        rng    noise = 42, draws 4;
        device data: [f32; 64];
        kernel draw = read<<<1, 4>>>(&noise, &mut data);
    }
}

// The seed of a generator is an integer.
cuda_graph! {
    graph SeedOfOtherTypeNoise {
        rng    noise = "seven", draws 4;
        device data: [f32; 64];
        kernel draw = noisy<<<1, 64>>>(&noise, &mut data);
    }
}

fn main() {}
