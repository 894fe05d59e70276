//! PyTorch's example of partial capture, with `Graphed` for `make_graphed_callables`: a network of three modules, of
//! which data decides whether the second or the third one comes after the first. Each module is a forward and a
//! backward graph; the decision is ordinary Rust between them.
//!
//! ```python
//! for data, target in zip(real_inputs, real_targets):
//!     tmp = module1(data)
//!     if tmp.sum().item() > 0:
//!         tmp = module2(tmp)
//!     else:
//!         tmp = module3(tmp)
//!     loss = loss_fn(tmp, target)
//!     loss.backward()
//!     optimizer.step()
//! ```
//!
//! It runs on the first CUDA device, or on the CPU emulator if there is none.

use examples::mlp::{Layer, descend, gradient, linear, squared_error};
use examples::program::{random, start};
use graph_runtime::{BoxError, Device, DeviceBuffer, Graphed, GraphedMemory, Result, cuda_graph};

/// Rows of a batch.
const B: usize = 16;
const INPUTS: usize = 16;
const HIDDEN: usize = 32;
const OUTPUTS: usize = 8;
const STEPS: usize = 300;
const WARM_UP: usize = 3;
const RATE: f32 = 0.3;

type Rows<const N: usize> = DeviceBuffer<[[f32; N]; B]>;

cuda_graph! {
    /// A linear layer; its outputs are not below 0 if `relu` is 1.
    graph Forward<const I: usize, const O: usize>(
        relu: u32, x: device [[f32; I]; B], w: device [[f32; I]; O], b: device [f32; O], y: mut device [[f32; O]; B],
    ) {
        kernel layer = linear<<<B, O>>>(&x, &w, &b, &mut y, I as u32, O as u32, relu);
    }

    /// A step of gradient descent of a layer.
    graph Learn<const I: usize, const O: usize>(
        x: device [[f32; I]; B], dy: device [[f32; O]; B], w: mut device [[f32; I]; O], b: mut device [f32; O],
    ) {
        kernel learn = descend<<<O, I>>>(&dy, &x, &mut w, &mut b, RATE, B as u32, I as u32);
    }

    /// The same, and before it the gradient by `x`, the outputs of a layer with `relu`.
    graph Backward<const I: usize, const O: usize>(
        x: device [[f32; I]; B], dy: device [[f32; O]; B], w: mut device [[f32; I]; O], b: mut device [f32; O],
        dx: mut device [[f32; I]; B],
    ) {
        kernel back  = gradient<<<B, I>>>(&dy, &w, &x, &mut dx, I as u32, O as u32);
        kernel learn = descend<<<O, I>>>(&dy, &x, &mut w, &mut b, RATE, B as u32, I as u32) after back;
    }

    /// The mean squared error, and its gradient.
    graph Loss(y: device [[f32; OUTPUTS]; B], dy: mut device [[f32; OUTPUTS]; B]) {
        host    target: [[f32; OUTPUTS]; B];
        host    loss:   f32;
        scratch t:      [[f32; OUTPUTS]; B];
        scratch sum:    f32;

        memcpy wanted = target -> t;
        memset clear  = sum <- 0.0;
        kernel error  = squared_error<<<1, B * OUTPUTS>>>(&y, &t, &mut dy, &mut sum, (B * OUTPUTS) as u32)
                        after wanted, clear;
        memcpy report = sum -> loss after error;
    }
}

/// The first module: a layer with `relu`, whose inputs need no gradients.
fn first(device: &Device, random: &mut impl FnMut() -> f32) -> Result<Graphed<Rows<INPUTS>, Rows<HIDDEN>, ()>> {
    let Layer { w, b } = Layer::new(device, random, 0.5)?;
    let (inputs, outputs, grad_outputs) = (device.alloc()?, device.alloc()?, device.alloc()?);
    let forward = Forward::<INPUTS, HIDDEN>::build(device, 1, &inputs, &w, &b, &outputs)?;
    let backward = Learn::<INPUTS, HIDDEN>::build(device, &inputs, &grad_outputs, w, b)?;
    let memory = GraphedMemory {
        inputs,
        outputs,
        grad_outputs,
        grad_inputs: (),
    };
    Ok(Graphed::new(device, memory, forward, backward))
}

/// The second or the third module.
fn head(device: &Device, random: &mut impl FnMut() -> f32) -> Result<Graphed<Rows<HIDDEN>, Rows<OUTPUTS>>> {
    let Layer { w, b } = Layer::new(device, random, 0.25)?;
    let (inputs, outputs, grad_outputs) = (device.alloc()?, device.alloc()?, device.alloc()?);
    let grad_inputs = device.alloc()?;
    let forward = Forward::<HIDDEN, OUTPUTS>::build(device, 0, &inputs, &w, &b, &outputs)?;
    let backward = Backward::<HIDDEN, OUTPUTS>::build(device, &inputs, &grad_outputs, w, b, &grad_inputs)?;
    let memory = GraphedMemory {
        inputs,
        outputs,
        grad_outputs,
        grad_inputs,
    };
    Ok(Graphed::new(device, memory, forward, backward))
}

fn main() -> Result<(), BoxError> {
    let device = start(&[
        Forward::<INPUTS, HIDDEN>::PLAN,
        Backward::<HIDDEN, OUTPUTS>::PLAN,
        Loss::PLAN,
    ])?;
    let mut random = random(1);
    let mut module1 = first(&device, &mut random)?;
    let mut heads = [head(&device, &mut random)?, head(&device, &mut random)?];
    // All gradients are 0 yet, so that nothing is learnt from it.
    module1.warm_up(WARM_UP)?;
    heads.iter_mut().try_for_each(|head| head.warm_up(WARM_UP))?;

    let (data, dy): (Rows<INPUTS>, Rows<OUTPUTS>) = (device.alloc()?, device.alloc()?);
    let mut loss = Loss::build(&device, &heads[0].memory().outputs, &dy)?;
    let (mut losses, mut used) = (Vec::new(), [0; 2]);
    for _ in 0..STEPS {
        // The batch of each step is about one thing or the other: sums or differences of inputs.
        let sign = if random() > 0.0 { 1.0 } else { -1.0 };
        let batch = Box::new([(); B].map(|()| [(); INPUTS].map(|()| (random() + sign) / 2.0)));
        data.copy_from(&batch)?;
        for (target, row) in loss.target_mut()?.iter_mut().zip(batch.iter()) {
            *target = std::array::from_fn(|output| row[output] + sign * row[output + OUTPUTS]);
        }

        let hidden = module1.forward(&data)?;
        let chosen = choose(&*hidden.read()?);
        used[chosen] += 1;
        let module = &mut heads[chosen];
        let y = module.forward(hidden)?;
        loss.rebind_y(y)?;
        loss.launch()?;
        let dh = module.backward(&dy)?;
        module1.backward(dh)?;
        losses.push(*loss.loss()?);
    }
    let mean = |losses: &[f32]| losses.iter().sum::<f32>() / losses.len() as f32;
    let (begin, end) = (mean(&losses[..10]), mean(&losses[STEPS - 10..]));
    println!("loss:    {begin} at first, {end} at last");
    println!("modules: the second in {} steps, the third in {}", used[0], used[1]);
    if used.contains(&0) || end > begin / 4.0 {
        return Err("it has learnt too little".into());
    }
    println!("check:   {STEPS} steps, each through two of three modules, have learnt what was wanted");
    Ok(())
}

/// The module for these hidden numbers: they depend on data, and so does this.
fn choose(hidden: &[[f32; HIDDEN]; B]) -> usize {
    let half = |columns: std::ops::Range<usize>| hidden.iter().flat_map(|row| &row[columns.clone()]).sum::<f32>();
    usize::from(half(0..HIDDEN / 2) < half(HIDDEN / 2..HIDDEN))
}
