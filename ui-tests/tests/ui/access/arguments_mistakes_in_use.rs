//! A graph with mistakes still takes its arguments, so that its uses give no further errors.
use graph_runtime::{Device, cuda_graph};

cuda_graph! {
    graph Test(n: usize, w: device [f32; n], value: f32) {
        memset clear = w <- value;
        join end after claer;
    }
}

fn main() -> graph_runtime::Result<()> {
    let device = Device::emulator();
    let w = device.alloc_slice::<f32>(4)?;
    let mut graph = Test::build(&device, 4, &w, 1.0)?;
    graph.rebind_w(w.clone())?;
    println!("{:?}", graph.w()?.read_vec()?);
    graph.launch()
}
