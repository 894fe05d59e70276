//! Mistakes of the code `syntax`.
use graph_runtime::{Device, Result, cuda_graph};
use ui_tests::{scaled, write};

// A build argument that cannot be parsed is one that whoever builds the graph passes.
cuda_graph! {
    graph BrokenInUse(w: host [f32], n: usize) {
        device data: [f32; n];
        memcpy upload = w -> data;
    }
}

fn broken_in_use() -> Result<()> {
    let device = Device::emulator();
    let w = device.alloc_host::<[f32; 4]>()?;
    BrokenInUse::build(&device, w, 4)?.launch()
}

// What is missing at the end of the macro is told at its last token.
fn value_missing_at_end() {
    let _ = cuda_graph! { &Device::emulator() =>
        device data: [f32; 4];
        memset fill = data <-
    };
}

// A call of `cuda_graph!` declares a graph.
cuda_graph! {}

// The brackets of a launch are CUDA's.
cuda_graph! {
    graph SingleBrackets {
        device data: [f32; 4];
        kernel fill = write<1, 4>(&mut data);
    }
}

// The contents of memory are not known when the graph is built.
cuda_graph! {
    graph UsedAsValue {
        device count: u32;
        device factor: f32;
        device data: [f32; 4];
        param start: f32 = factor;
        memset zero = count <- 0;
        memset first = factor <- 1.0;
        memset set = data <- start;
        kernel scale = scaled<<<1, count>>>(&mut data, factor, data.len() as u32) after set, zero, first;
    }
}

// A statement without its `;` is known all the same, and what stands in its bodies.
cuda_graph! {
    graph MissingInUse {
        device flag: u32;
        device data: [f32; 4];
        if maybe = flag {
            kernel fill = write<<<1, 4>>>(&mut data)
        }
        memset zero = data <- 0.0 after maybe;
    }
}

fn missing_in_use() {
    let _ = (MissingInUse::fill, MissingInUse::maybe);
}

// A statement whose keyword is misspelt is known to the others all the same, and its imports count as used.
cuda_graph! {
    graph MisspeltInUse {
        devcie data: [f32; 4];
        kernal fill = write<<<1, 4>>>(&mut data);
        memset zero = data <- 0.0 after fill;
    }
}

fn main() {}
