//! Mistakes that rustc reports as E0425.
use graph_runtime::{Device, Result, cuda_graph, cuda_kernels};

// There is no such graph.
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
        graph step = Sav(from: &mut a, to: &mut b) after up, keep;
    }
}

// rustc itself reports an unknown kernel in a body.
cuda_graph! {
    graph UnknownKernelInBody {
        device flag: u32;
        while repeat = flag {
            kernel stop = missing<<<1, 1>>>(&mut flag);
        };
    }
}

// Any other name is a constant in scope.
#[cuda_kernels("../../../kernels/ui.ptx")]
unsafe extern "C" {
    #[requires(n <= LIMIT)]
    safe fn scaled(data: &mut [f32], factor: f32, n: u32);
}

// A name that is neither declared nor a local is rustc's own error.
fn run(device: &Device) -> Result<()> {
    let mut graph = cuda_graph! { device =>
        device data: [f32; 4];
        memcpy copy = input -> data;
    }?;
    graph.launch()?;
    println!("{:?}", graph.data()?.read()?);
    Ok(())
}

// A kernel is named by a path that is in scope.
cuda_graph! {
    graph KernelUnknown {
        device data: [f32; 4];
        kernel fill = fill_all<<<1, 4>>>(&mut data);
    }
}

// A variable means nothing outside of its `for`.
cuda_graph! {
    graph VariableOutside {
        device data: [f32; 4];
        for i in 0..4 {
            memset set = data[i] <- 1.0;
        }
        memset last = data[i] <- 2.0 after set;
    }
}

// The types and constants of a shape are in scope.
cuda_graph! {
    graph ElementUnknown {
        host input: [Sample; 4];
        device data: [f32; LEN];
        memset zero = data <- 0.0;
        memcpy upload = input -> data after zero;
    }
}

fn main() {}
