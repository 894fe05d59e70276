//! Mistakes of nodes of the code `signature`.
use graph_runtime::{cuda_graph, cuda_kernels};

// A param of the child is bound to memory.
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
        graph step = Save(from: &mut a, to: &mut b, value: &short) after up, keep;
    }
}

// The child's memory is not bound.
cuda_graph! {
    pub graph Missing {
        device a: [f32; 32];
        device b: [f32; 32];
        host h: [f32; 32];
        device short: [f32; 16];
        param factor: f32 = 2.0;
        memset keep = short <- factor;
        memcpy up = h -> b;
        graph step = Save(from: &mut a) after up, keep;
    }
}

// A param of the parent is bound to a build argument of the child, which is fixed when the graph is built.
cuda_graph! {
    graph Clear(n: usize) {
        device data: [f32; n];
        memset clear = data <- 0.0;
    }
    graph Param {
        device data: [f32; 32];
        param count: usize = 32;
        graph step = Clear(data: &mut data, n: count);
    }
}

// Private memory and params of a graph are not bound where they are not visible.
mod graphs {
    use graph_runtime::cuda_graph;

    cuda_graph! {
        pub graph PrivateSave {
            pub(self) device from: [f32; 32];
            device to: [f32; 32];
            pub(self) param value: f32 = 1.0;
            memcpy save = from -> to;
            memset clear = from <- value after save;
        }
        pub graph Inside {
            device a: [f32; 32];
            device b: [f32; 32];
            graph step = PrivateSave(from: &mut a, to: &mut b, value: 2.0);
        }
    }
}

graph_runtime::cuda_graph! {
    pub graph Private {
        device a: [f32; 32];
        device b: [f32; 32];
        graph step = graphs::PrivateSave(from: &mut a, to: &mut b, value: 2.0);
    }
}

// A binding of a name that the child does not have.
cuda_graph! {
    pub graph Unknown {
        device a: [f32; 32];
        device b: [f32; 32];
        host h: [f32; 32];
        device short: [f32; 16];
        param factor: f32 = 2.0;
        memset keep = short <- factor;
        memcpy up = h -> b;
        graph step = Save(from: &mut a, to: &mut b, sink: &short) after up, keep;
    }
}

// A value for a name that the child does not have.
cuda_graph! {
    pub graph UnknownValue {
        device a: [f32; 32];
        device b: [f32; 32];
        host h: [f32; 32];
        device short: [f32; 16];
        param factor: f32 = 2.0;
        memset keep = short <- factor;
        memcpy up = h -> b;
        graph step = Save(from: &mut a, to: &mut b, speed: 1.0) after up, keep;
    }
}

// Memory is bound by value.
cuda_graph! {
    pub graph ValueOfMemory {
        device a: [f32; 32];
        device b: [f32; 32];
        host h: [f32; 32];
        device short: [f32; 16];
        param factor: f32 = 2.0;
        memset keep = short <- factor;
        memcpy up = h -> b;
        graph step = Save(from: &mut a, to: 1.0) after up, keep;
    }
}

// rustc knows the alignment of a struct, the PTX the one that the kernel takes.
#[cuda_kernels("../../../kernels/odd.ptx")]
unsafe extern "C" {
    safe fn with_pair(out: &mut [f32], pair: [u32; 2]);
}

// rustc knows the size of a struct, the PTX the one that the kernel takes.
#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    fn with_struct(data: &mut [f32], p: [f32; 4]);
}

// Each parameter is a mistake of its own.
#[cuda_kernels("../../../kernels/odd.ptx")]
unsafe extern "C" {
    safe fn scalars(out: &mut [f32], factor: f32, flag: u8, offset: f32);
}

// A kernel has no generics.
#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    safe fn write(out: &mut [f32])
    where
        f32: Copy;
}

// A graph that takes groups is no child.
cuda_graph! {
    group Layer { q: mut device [f32; 32] }
    graph Layers(layers: [Layer; 2]) {
        memset clear = layers[0].q <- 0.0;
    }
    graph OfLayers {
        graph step = Layers();
    }
}

fn main() {}
