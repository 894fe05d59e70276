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

use examples::log;
use graph_runtime::{Device, DeviceBuffer, Graphed, GraphedMemory, Result, cuda_graph, cuda_kernels};

/// Rows of a batch.
const B: usize = 16;
const INPUTS: usize = 16;
const HIDDEN: usize = 32;
const OUTPUTS: usize = 8;
const STEPS: usize = 300;
const WARM_UP: usize = 3;

#[cuda_kernels("kernels/mlp.ptx")]
unsafe extern "C" {
    /// `y[r][c] = x[r] . w[c] + b[c]`, not below 0 where `relu`; a block for each row, a thread for each column
    #[requires(grid.x * inputs <= x.len() && outputs * inputs <= w.len() && outputs <= b.len() && grid.x * outputs <= y.len())]
    #[requires(outputs <= block.x)]
    safe fn linear(x: &[f32], w: &[f32], b: &[f32], y: &mut [f32], inputs: u32, outputs: u32, relu: u32);
    /// Adds the mean squared error of `y` to `loss`, and writes its gradient by `y` to `dy`; a thread for each of `n`
    #[requires(n <= threads && n <= y.len() && n <= target.len() && n <= dy.len())]
    safe fn squared_error(y: &[f32], target: &[f32], dy: &mut [f32], loss: &mut f32, n: u32);
    /// `dx[r][k]`: the gradient by the outputs of `linear` and its `relu`; a block for each row, a thread for each
    /// input
    #[requires(grid.x * outputs <= dy.len() && outputs * inputs <= w.len() && grid.x * inputs <= x.len() && grid.x * inputs <= dx.len())]
    #[requires(inputs <= block.x)]
    safe fn gradient(dy: &[f32], w: &[f32], x: &[f32], dx: &mut [f32], inputs: u32, outputs: u32);
    /// `w -= rate * dy^T x`, and `b` likewise; a block for each output, a thread for each input
    #[requires(rows * grid.x <= dy.len() && rows * inputs <= x.len() && grid.x * inputs <= w.len() && grid.x <= b.len())]
    #[requires(inputs <= block.x)]
    safe fn descend(dy: &[f32], x: &[f32], w: &mut [f32], b: &mut [f32], rate: f32, rows: u32, inputs: u32);
}

type Data = [[f32; INPUTS]; B];
type Hidden = [[f32; HIDDEN]; B];
type Output = [[f32; OUTPUTS]; B];

cuda_graph! {
    /// The first module: a linear layer, not below 0.
    graph First(
        x: device [[f32; INPUTS]; B],
        w: device [[f32; INPUTS]; HIDDEN],
        b: device [f32; HIDDEN],
        h: mut device [[f32; HIDDEN]; B],
    ) {
        kernel layer = linear<<<B, HIDDEN>>>(&x, &w, &b, &mut h, INPUTS as u32, HIDDEN as u32, 1);
    }

    /// A step of gradient descent of the first module.
    graph FirstBack(
        x: device [[f32; INPUTS]; B],
        dh: device [[f32; HIDDEN]; B],
        w: mut device [[f32; INPUTS]; HIDDEN],
        b: mut device [f32; HIDDEN],
    ) {
        param  rate: f32 = RATE;
        kernel learn = descend<<<HIDDEN, INPUTS>>>(&dh, &x, &mut w, &mut b, rate, B as u32, INPUTS as u32);
    }

    /// The second and the third module: a linear layer.
    graph Head(
        h: device [[f32; HIDDEN]; B],
        w: device [[f32; HIDDEN]; OUTPUTS],
        b: device [f32; OUTPUTS],
        y: mut device [[f32; OUTPUTS]; B],
    ) {
        kernel layer = linear<<<B, OUTPUTS>>>(&h, &w, &b, &mut y, HIDDEN as u32, OUTPUTS as u32, 0);
    }

    /// The gradient by what comes before the first module's `relu`, and a step of gradient descent.
    graph HeadBack(
        h: device [[f32; HIDDEN]; B],
        dy: device [[f32; OUTPUTS]; B],
        w: mut device [[f32; HIDDEN]; OUTPUTS],
        b: mut device [f32; OUTPUTS],
        dh: mut device [[f32; HIDDEN]; B],
    ) {
        param  rate: f32 = RATE;
        kernel back  = gradient<<<B, HIDDEN>>>(&dy, &w, &h, &mut dh, HIDDEN as u32, OUTPUTS as u32);
        kernel learn = descend<<<OUTPUTS, HIDDEN>>>(&dy, &h, &mut w, &mut b, rate, B as u32, HIDDEN as u32) after back;
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

/// The rate of learning.
const RATE: f32 = 0.3;

/// The first module, whose inputs need no gradients.
type FirstModule = Graphed<DeviceBuffer<Data>, DeviceBuffer<Hidden>, ()>;
/// The second or the third module.
type HeadModule = Graphed<DeviceBuffer<Hidden>, DeviceBuffer<Output>>;

fn first(device: &Device, random: &mut impl FnMut() -> f32) -> Result<FirstModule> {
    let (w, b) = (
        device.alloc::<[[f32; INPUTS]; HIDDEN]>()?,
        device.alloc::<[f32; HIDDEN]>()?,
    );
    w.copy_from(&[(); HIDDEN].map(|()| [(); INPUTS].map(|()| random() / 2.0)))?;
    let memory = GraphedMemory {
        inputs: device.alloc::<Data>()?,
        outputs: device.alloc::<Hidden>()?,
        grad_outputs: device.alloc()?,
        grad_inputs: (),
    };
    let forward = First::build(device, &memory.inputs, &w, &b, &memory.outputs)?;
    let backward = FirstBack::build(device, &memory.inputs, &memory.grad_outputs, &w, &b)?;
    Ok(Graphed::new(device, memory, forward, backward))
}

fn head(device: &Device, random: &mut impl FnMut() -> f32) -> Result<HeadModule> {
    let (w, b) = (
        device.alloc::<[[f32; HIDDEN]; OUTPUTS]>()?,
        device.alloc::<[f32; OUTPUTS]>()?,
    );
    w.copy_from(&[(); OUTPUTS].map(|()| [(); HIDDEN].map(|()| random() / 4.0)))?;
    let memory = GraphedMemory {
        inputs: device.alloc::<Hidden>()?,
        outputs: device.alloc::<Output>()?,
        grad_outputs: device.alloc()?,
        grad_inputs: device.alloc::<Hidden>()?,
    };
    let forward = Head::build(device, &memory.inputs, &w, &b, &memory.outputs)?;
    let backward = HeadBack::build(
        device,
        &memory.inputs,
        &memory.grad_outputs,
        &w,
        &b,
        &memory.grad_inputs,
    )?;
    Ok(Graphed::new(device, memory, forward, backward))
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    log();
    let device = Device::any()?;
    println!("device:  {}", device.name());
    let mut random = random();
    let mut module1 = first(&device, &mut random)?;
    let mut heads = [head(&device, &mut random)?, head(&device, &mut random)?];
    // All gradients are 0 yet, so that nothing is learnt from it.
    module1.warm_up(WARM_UP)?;
    for head in &mut heads {
        head.warm_up(WARM_UP)?;
    }

    let data = device.alloc::<Data>()?;
    let dy = device.alloc::<Output>()?;
    let mut loss = Loss::build(&device, &heads[0].memory().outputs, &dy)?;
    let (mut losses, mut used) = (Vec::new(), [0; 2]);
    for _ in 0..STEPS {
        // The batch of each step is about one thing or the other.
        let sign = if random() > 0.0 { 1.0 } else { -1.0 };
        let batch = Box::new([(); B].map(|()| [(); INPUTS].map(|()| (random() + sign) / 2.0)));
        data.copy_from(&batch)?;
        for (target, row) in loss.target_mut()?.iter_mut().zip(batch.iter()) {
            *target = wanted(row, sign);
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
fn choose(hidden: &Hidden) -> usize {
    let half = |columns: std::ops::Range<usize>| hidden.iter().flat_map(|row| &row[columns.clone()]).sum::<f32>();
    usize::from(half(0..HIDDEN / 2) < half(HIDDEN / 2..HIDDEN))
}

/// The outputs to learn: of a batch of one kind the sums of two inputs, of one of the other kind their differences.
fn wanted(row: &[f32; INPUTS], sign: f32) -> [f32; OUTPUTS] {
    std::array::from_fn(|output| row[output] + sign * row[output + OUTPUTS])
}

/// Numbers between -1 and 1, the same in every run.
fn random() -> impl FnMut() -> f32 {
    let mut state = 1_u32;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    }
}
