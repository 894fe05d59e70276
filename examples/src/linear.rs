//! The data of `train_linear`, the same as in `pytorch/train_linear.py`, and its losses in plain Rust.

/// Samples of a batch.
pub const BATCH: usize = 64;
/// The rate of the descent.
pub const RATE: f32 = 1e-3;

/// The sizes of the layer, and of the launch.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Numbers of a sample.
    pub inputs: usize,
    /// Numbers that the layer makes of a sample.
    pub outputs: usize,
    /// Batches of an epoch.
    pub batches: usize,
    /// Blocks of the grid, x and y.
    pub grid: (u32, u32),
    /// Bytes of shared memory of a block.
    pub shared: u32,
}

impl Sizes {
    /// Numbers of a batch: inputs, and then targets.
    pub fn batch(self) -> usize {
        BATCH * (self.inputs + self.outputs)
    }
}

/// The weights, a row for each output, and the biases to begin with.
pub fn weights(s: Sizes) -> (Vec<f32>, Vec<f32>) {
    let scaled = |stream, len| numbers(stream, len).map(|number| number / 32.0).collect();
    (scaled(0, s.inputs * s.outputs), scaled(1, s.outputs))
}

/// Inputs, and then targets: half the difference of two neighbours among the inputs.
pub fn batch(s: Sizes, number: usize) -> Vec<f32> {
    let mut batch: Vec<f32> = numbers(2 + number as u32, BATCH * s.inputs).collect();
    for sample in 0..BATCH {
        let input = |output: usize| batch[sample * s.inputs + output % s.inputs];
        let targets: Vec<f32> = (0..s.outputs)
            .map(|output| (input(output) - input(output + 1)) / 2.0)
            .collect();
        batch.extend(targets);
    }
    batch
}

/// Numbers from -1 to 1 that look random, the same as in `pytorch/train_linear.py`.
fn numbers(stream: u32, len: usize) -> impl Iterator<Item = f32> {
    (0..len as u32).map(move |index| {
        let mut bits = index
            .wrapping_mul(0x9E37_79B9)
            .wrapping_add(stream.wrapping_mul(0x85EB_CA6B));
        bits = (bits ^ bits >> 16).wrapping_mul(0x21F0_AAAD);
        bits = (bits ^ bits >> 15).wrapping_mul(0x735A_2D97);
        ((bits ^ bits >> 15) >> 8) as f32 / (1 << 23) as f32 - 1.0
    })
}

/// The losses of the first epoch.
pub fn losses(s: Sizes) -> Vec<f32> {
    let (mut w, mut bias) = weights(s);
    let step = |number| {
        let batch = batch(s, number);
        let (x, targets) = batch.split_at(BATCH * s.inputs);
        let mut loss = 0.0;
        for (output, (w, bias)) in w.chunks_exact_mut(s.inputs).zip(&mut bias).enumerate() {
            let mut gradient = vec![0.0; s.inputs];
            let mut sum = 0.0;
            for (x, target) in x.chunks_exact(s.inputs).zip(targets.chunks_exact(s.outputs)) {
                let y: f32 = x.iter().zip(&*w).map(|(x, w)| x * w).sum();
                let error = y + *bias - target[output];
                loss += error * error;
                sum += 2.0 * error;
                gradient
                    .iter_mut()
                    .zip(x)
                    .for_each(|(gradient, x)| *gradient += 2.0 * error * x);
            }
            w.iter_mut()
                .zip(&gradient)
                .for_each(|(w, gradient)| *w -= RATE * gradient);
            *bias -= RATE * sum;
        }
        loss
    };
    (0..s.batches).map(step).collect()
}
