//! Mistakes of nodes that rustc reports as E0308.
use graph_runtime::cuda_graph;
use ui_tests::*;

// A priority is an `i32`.
cuda_graph! {
    graph PriorityIsText {
        device data: [f32; 1024];
        #[priority("high")]
        kernel fill = write<<<4, 256>>>(&mut data);
    }
}

// A host function returns nothing.
cuda_graph! {
    graph ValueReturned {
        host input: [f32; 4];
        call sum = |&input| input.iter().sum::<f32>();
    }
}

// The calls of a `capture` only read memory that is declared with `&`.
cuda_graph! {
    graph ReadOnlyWritten {
        device data: [f32; 4];
        capture calls = (&data) |stream| {
            // SAFETY: the call is the mistake under test.
            let _ = unsafe { stream.slice_mut::<f32, _>(&data) };
        };
    }
}

// Memory of another shape than the child's.
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
        graph step = Save(from: &mut a, to: &mut short) after up, keep;
    }
}

// Host memory where the child has device memory.
cuda_graph! {
    pub graph Space {
        device a: [f32; 32];
        device b: [f32; 32];
        host h: [f32; 32];
        device short: [f32; 16];
        param factor: f32 = 2.0;
        memset keep = short <- factor;
        memcpy up = h -> b;
        graph step = Save(from: &mut a, to: &mut h) after up, keep;
    }
}

// An argument has the parameter's type.
cuda_graph! {
    graph ArgumentOfOtherType {
        device data: [f32; 4];
        kernel double = scaled<<<1, 4>>>(&mut data, 2, 4);
    }
}

// The initial value of a `param` has its type.
cuda_graph! {
    graph ParamInitialOfOtherType {
        device data: [f32; 4];
        param factor: f32 = "two";
        kernel double = scaled<<<1, 4>>>(&mut data, factor, 4);
    }
}

// A `param` has the type that its uses need.
cuda_graph! {
    graph ParamOfOtherType {
        device data: [f32; 4];
        param factor: f64 = 2.0;
        kernel double = scaled<<<1, 4>>>(&mut data, factor, 4);
    }
}

// rustc reports a wrong argument in a loop once.
cuda_graph! {
    graph WrongArgument {
        device data: [f32; 4];
        for i in 0..4 {
            kernel k = scaled<<<1, 1>>>(&mut data[i..], i, 1);
        }
    }
}

fn main() {}
