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

use examples::compare::learnt;
use examples::layers::{Backward, Forward, ROWS, Rows, first_layer, next_layer};
use examples::mlp::{Layer, squared_error};
use examples::program::{random, start};
use graph_runtime::{BoxError, cuda_graph};

const INPUTS: usize = 16;
const HIDDEN: usize = 32;
const OUTPUTS: usize = 8;
const STEPS: usize = 300;
const WARM_UP: usize = 3;

cuda_graph! {
    /// The mean squared error, and its gradient.
    graph Loss(y: device [[f32; OUTPUTS]; ROWS], dy: mut device [[f32; OUTPUTS]; ROWS]) {
        host    target: [[f32; OUTPUTS]; ROWS];
        host    loss:   f32;
        scratch t:      [[f32; OUTPUTS]; ROWS];
        scratch sum:    f32;

        memcpy wanted = target -> t;
        memset clear  = sum <- 0.0;
        kernel error  = squared_error<<<1, ROWS * OUTPUTS>>>(&y, &t, &mut dy, &mut sum, (ROWS * OUTPUTS) as u32)
                        after wanted, clear;
        memcpy report = sum -> loss after error;
    }
}

fn main() -> Result<(), BoxError> {
    let device = start(&[
        Forward::<INPUTS, HIDDEN>::PLAN,
        Backward::<HIDDEN, OUTPUTS>::PLAN,
        Loss::PLAN,
    ])?;
    let mut random = random(1);
    let mut module1 = first_layer::<INPUTS, HIDDEN>(&device, Layer::new(&device, &mut random, 0.5)?)?;
    let mut head = || next_layer::<HIDDEN, OUTPUTS>(&device, Layer::new(&device, &mut random, 0.25)?);
    let mut heads = [head()?, head()?];
    // All gradients are 0 yet, so that nothing is learnt from it.
    module1.warm_up(WARM_UP)?;
    heads.iter_mut().try_for_each(|head| head.warm_up(WARM_UP))?;

    let (data, dy): (Rows<INPUTS>, Rows<OUTPUTS>) = (device.alloc()?, device.alloc()?);
    let mut loss = Loss::build(&device, &heads[0].memory().outputs, &dy)?;
    let (mut losses, mut used) = (Vec::new(), [0; 2]);
    for _ in 0..STEPS {
        // The batch of each step is about one thing or the other: sums or differences of inputs.
        let sign = if random() > 0.0 { 1.0 } else { -1.0 };
        let batch = Box::new([(); ROWS].map(|()| [(); INPUTS].map(|()| (random() + sign) / 2.0)));
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
    if used.contains(&0) {
        return Err("a module was never chosen".into());
    }
    learnt(begin, end, 0.25)?;
    println!("check:   {STEPS} steps, each through two of three modules, have learnt what was wanted");
    Ok(())
}

/// The module for these hidden numbers: they depend on data, and so does this.
fn choose(hidden: &[[f32; HIDDEN]; ROWS]) -> usize {
    let half = |columns: std::ops::Range<usize>| hidden.iter().flat_map(|row| &row[columns.clone()]).sum::<f32>();
    usize::from(half(0..HIDDEN / 2) < half(HIDDEN / 2..HIDDEN))
}
