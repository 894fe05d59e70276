//! Mistakes of the code `access`.
use graph_runtime::{Device, Texel, cuda_graph, cuda_kernels};
use ui_tests::{count, look};

// A graph with mistakes still takes its arguments, so that its uses give no further errors.
cuda_graph! {
    graph MistakesInUse(n: usize, w: device [f32; n], value: f32) {
        memset clear = w <- value;
        join end after claer;
    }
}

fn mistakes_in_use() -> graph_runtime::Result<()> {
    let device = Device::emulator();
    let w = device.alloc_slice::<f32>(4)?;
    let mut graph = MistakesInUse::build(&device, 4, &w, 1.0)?;
    graph.rebind_w(w.clone())?;
    println!("{:?}", graph.w()?.read_vec()?);
    graph.launch()
}

// The kernel reads layers.
#[cuda_kernels("../../../kernels/arrays.ptx")]
unsafe extern "C" {
    safe fn look_at_layers(layers: &[[[Texel<f32>; 8]; 8]], out: &mut [f32]);
}

// A child that updates memory and also reads it plainly is given it as `&mut`.
cuda_graph! {
    graph ChildReadsToo {
        device bins: [u32; 4];
        device seen: [u32; 4];
        graph inner = Inner(bins: &bins, seen: &mut seen);
    }
}

cuda_graph! {
    graph Inner {
        device bins: [u32; 4];
        device seen: [u32; 4];
        kernel update = count<<<1, 4>>>(&bins);
        kernel read = look<<<1, 4>>>(&bins, &mut seen) after update;
    }
}

// Memory that is updated atomically is shared as `mut`.
cuda_graph! {
    graph SharedWithoutMut(bins: device [u32; 4]) {
        kernel update = count<<<1, 4>>>(&bins);
    }
}

// The child writes what it gets as `&`.
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
        graph step = Save(from: &mut a, to: &b) after up, keep;
    }
}

// The kernel gets a handle, which is no address.
#[cuda_kernels("../../../kernels/textures.ptx")]
unsafe extern "C" {
    safe fn sample_and_load(image: &[[Texel<f32>; 8]], out: &mut [f32]);
}

fn main() {}
