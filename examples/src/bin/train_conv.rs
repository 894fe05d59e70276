//! Trains a small convolutional net on handwritten digits, with convolutions of its own and with those of cuDNN, and
//! shows the memory that it takes at each stage, with and without a graph.
//!
//! It needs nothing. On a GPU it also uses cuDNN, if the folder of `libcudnn` is in `LD_LIBRARY_PATH`; on the emulator,
//! plain Rust stands for cuDNN, and it trains for fewer steps. `train_conv --bench` measures a step on a GPU.

use examples::bench;
use examples::conv::kernels::*;
use examples::conv::*;
use examples::cudnn;
use examples::memory::Table;
use examples::program::{sized, start};
use graph_runtime::{BoxError, cuda_graph};

cuda_graph! {
    /// A step with convolutions of our own: each kernel also has the bias, ReLU and pooling, or the descent.
    graph Own(
        n: usize,
        steps: usize,
        images: device [[f32; PIXELS]; n],
        labels: device [u32; n],
        x: mut device [[f32; PIXELS]; BATCH],
        y: mut device [u32; BATCH],
        w1: mut device [[f32; 9]; C1],
        b1: mut device [f32; C1],
        w2: mut device [[[f32; 9]; C1]; C2],
        b2: mut device [f32; C2],
        w3: mut device [[f32; FEATURES]; CLASSES],
        b3: mut device [f32; CLASSES],
    ) {
        device  step:   u32;
        device  losses: [f32; steps];
        param   rate:   f32 = RATE;
        scratch h1:     [[[f32; CELLS1]; C1]; BATCH];
        scratch which1: [[[u8; CELLS1]; C1]; BATCH];
        scratch h2:     [[[f32; CELLS2]; C2]; BATCH];
        scratch which2: [[[u8; CELLS2]; C2]; BATCH];
        scratch d:      [[f32; CLASSES]; BATCH];
        scratch dh2:    [[[f32; CELLS2]; C2]; BATCH];
        scratch dh1:    [[[f32; CELLS1]; C1]; BATCH];
        scratch dw2:    [[[[f32; 9]; C1]; C2]; PARTS];

        kernel pick     = pick<<<32, 256>>>(&images, &labels, &step, n, &mut x, &mut y);
        kernel first    = conv1<<<(32, 4), 256>>>(&x, &w1, &b1, &mut h1, &mut which1)               after pick;
        kernel second   = conv2<<<(32, 4), 256>>>(&h1, &w2, &b2, &mut h2, &mut which2)              after first;
        kernel last     = head<<<32, 512>>>(&h2, &w3, &b3, &y, &step, &mut d, &mut dh2, &losses, steps)  after second;
        kernel learn3   = linear_descend<<<40, 128>>>(&h2, &d, &mut w3, &mut b3, rate, &mut step)   after last;
        kernel back     = conv2_backward<<<(32, 4), 256>>>(&dh2, &which2, &w2, &h1, &mut dh1)       after last;
        kernel grad2    = conv2_gradient<<<(32, 8), 256>>>(&h1, &dh2, &which2, &mut dw2)            after last;
        kernel learn2   = filters_descend<<<32, 256>>>(&dw2, &dh2, &h2, &mut w2, &mut b2, rate, PARTS, 144, 16)
            after back, grad2;
        kernel learn1   = conv1_descend<<<(16, 3), 512>>>(&x, &dh1, &which1, &mut w1, &mut b1, rate)     after back;
    }
}

fn main() -> Result<(), BoxError> {
    let device = start(&[Own::PLAN, Library::PLAN])?;
    let steps = sized(&device, 6, 300);
    let row = |name| bench::is_wanted(&device).then_some(name);
    let data = Data::read()?;
    let n = data.labels.len();

    let build = |s: &Shared| {
        Own::build(
            &device, n, steps, &s.images, &s.labels, &s.x, &s.y, &s.w1, &s.b1, &s.w2, &s.b2, &s.w3, &s.b3,
        )
    };
    let losses = |graph: &Own| graph.losses()?.read_vec();
    let own = train(&device, &data, steps, row("train_conv own"), build, losses)?;
    own.check(&data)?;
    let mut tables = vec![("with a graph", own.memory.clone())];

    if let Some(context) = device.context() {
        let (memory, weights) = train_without_graph(&device, context, &data, steps)?;
        weights.close("weights without a graph", &own.last, 0.0)?;
        tables.insert(0, ("without a graph", memory));
    }

    if !device.is_emulator() && !cudnn::is_present() {
        println!("cudnn:   not used: it needs the folder of `libcudnn` in LD_LIBRARY_PATH");
    } else {
        let build = |s: &Shared| {
            Library::build(
                &device, n, steps, &s.images, &s.labels, &s.x, &s.y, &s.w1, &s.b1, &s.w2, &s.b2, &s.w3, &s.b3,
            )
        };
        let losses = |graph: &Library| graph.losses()?.read_vec();
        let library = train(&device, &data, steps, row("train_conv cudnn"), build, losses)?;
        let difference = library.close("losses with cuDNN", &own, 1e-2)?;
        let (name, table) = match device.is_emulator() {
            true => ("stand-in", "with what stands for cuDNN"),
            false => ("cudnn", "with cuDNN, in a graph"),
        };
        println!(
            "{:<8} losses differ by {difference:.1e} at most in {} steps",
            format!("{name}:"),
            steps.min(100)
        );
        tables.push((table, library.memory));
    }

    println!("{}", Table(&tables));
    tables.iter().try_for_each(|(_, memory)| memory.check_steady())?;
    let [start, end] = own.means();
    println!("check:   {steps} steps, as plain Rust and PyTorch; loss {start:.3} to {end:.3}; memory does not grow");
    Ok(())
}
