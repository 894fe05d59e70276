//! The graph that trains a decoder on a text, in f32: forwards, backwards, and a step of Adam.

use crate::decoder::{HEAD, Sizes};
use crate::gradients;
use crate::program::random;
use graph_runtime::{Atomic, BoxError, DeviceBuffer, Philox, cuda_graph, cuda_kernels};

#[cuda_kernels("kernels/train_text.ptx")]
unsafe extern "C" {
    /// Windows of `context + 1` characters of the text, a thread for each
    #[requires(1 <= rng.len() && length <= text.len() && context < length && count * (context + 1) <= ids.len())]
    safe fn pick(rng: &[Philox], text: &[u8], ids: &mut [u32], length: u32, context: u32, count: u32);

    /// The embeddings of a token and its place, by a block for each
    #[requires(1 <= context && 1 <= vocabulary && grid == grid.x && grid.div_ceil(context) * (context + 1) <= ids.len())]
    #[requires(vocabulary * width <= tokens.len() && context * width <= places.len() && grid * width <= x.len())]
    safe fn embed(
        ids: &[u32],
        tokens: &[f32],
        places: &[f32],
        x: &mut [f32],
        width: u32,
        vocabulary: u32,
        context: u32,
    );

    /// Adds to the gradients of the embeddings
    #[requires(1 <= context && 1 <= vocabulary && grid == grid.x && grid.div_ceil(context) * (context + 1) <= ids.len())]
    #[requires(vocabulary * width <= tokens.len() && context * width <= places.len() && grid * width <= dx.len())]
    safe fn embed_back(
        ids: &[u32],
        dx: &[f32],
        tokens: &[Atomic<f32>],
        places: &[Atomic<f32>],
        width: u32,
        vocabulary: u32,
        context: u32,
    );

    /// `out = normal * gain + bias` for each row of `x`, by a block each
    #[requires(grid == grid.x && block == block.x && block.x.is_multiple_of(32) && grid * width <= x.len() && grid * width <= normal.len())]
    #[requires(width <= gain.len() && width <= bias.len() && grid <= inverse.len() && grid * width <= out.len())]
    safe fn layer_norm(
        x: &[f32],
        gain: &[f32],
        bias: &[f32],
        normal: &mut [f32],
        inverse: &mut [f32],
        out: &mut [f32],
        width: u32,
    );

    /// Adds the gradient by `x` to `dx`
    #[requires(grid == grid.x && block == block.x && block.x.is_multiple_of(32) && grid * width <= dout.len() && grid * width <= normal.len())]
    #[requires(grid <= inverse.len() && width <= gain.len() && grid * width <= dx.len() && width <= dgain.len() && width <= dbias.len())]
    safe fn layer_norm_back(
        dout: &[f32],
        normal: &[f32],
        inverse: &[f32],
        gain: &[f32],
        dx: &mut [f32],
        dgain: &[Atomic<f32>],
        dbias: &[Atomic<f32>],
        width: u32,
    );

    /// `out = x w^T + bias`, added to `out` where `add`
    #[requires(block == 256 && block.x == 256 && rows * inputs <= x.len() && outputs * inputs <= w.len() && outputs <= bias.len())]
    #[requires(rows * outputs <= out.len())]
    safe fn linear(x: &[f32], w: &[f32], bias: &[f32], out: &mut [f32], rows: u32, outputs: u32, inputs: u32, add: u32);

    /// `dx = dout w`
    #[requires(block == 256 && block.x == 256 && rows * outputs <= dout.len() && outputs * inputs <= w.len() && rows * inputs <= dx.len())]
    safe fn linear_back(dout: &[f32], w: &[f32], dx: &mut [f32], rows: u32, outputs: u32, inputs: u32);

    /// `dw += dout^T x`, and `dbias += dout`
    #[requires(block == 256 && block.x == 256 && rows * outputs <= dout.len() && rows * inputs <= x.len())]
    #[requires(outputs * inputs <= dw.len() && outputs <= dbias.len())]
    safe fn linear_learn(
        dout: &[f32],
        x: &[f32],
        dw: &[Atomic<f32>],
        dbias: &[Atomic<f32>],
        rows: u32,
        outputs: u32,
        inputs: u32,
    );

    /// Attention of each place, head and text, by a block each
    #[requires(block == block.x && block.x.is_multiple_of(32) && grid.x == context && context <= 1024 && grid.y * 64 == width)]
    #[requires(grid.z * context * 3 * width <= qkv.len() && grid * context <= shares.len() && grid.z * context * width <= out.len())]
    safe fn attend(qkv: &[f32], shares: &mut [f32], out: &mut [f32], width: u32, context: u32);

    /// The gradients by `q` and by the scores
    #[requires(block == block.x && block.x.is_multiple_of(32) && grid.x == context && context <= 1024 && grid.y * 64 == width)]
    #[requires(grid.z * context * 3 * width <= qkv.len() && grid * context <= shares.len() && grid.z * context * width <= dout.len())]
    #[requires(grid * context <= dscores.len() && grid.z * context * 3 * width <= dqkv.len())]
    safe fn attend_back_q(
        qkv: &[f32],
        shares: &[f32],
        dout: &[f32],
        dscores: &mut [f32],
        dqkv: &mut [f32],
        width: u32,
        context: u32,
    );

    /// The gradients by `k` and `v`
    #[requires(block == block.x && grid.x == context && grid.y * 64 == width)]
    #[requires(grid.z * context * 3 * width <= qkv.len() && grid * context <= shares.len() && grid.z * context * width <= dout.len())]
    #[requires(grid * context <= dscores.len() && grid.z * context * 3 * width <= dqkv.len())]
    safe fn attend_back_kv(
        qkv: &[f32],
        shares: &[f32],
        dout: &[f32],
        dscores: &[f32],
        dqkv: &mut [f32],
        width: u32,
        context: u32,
    );

    /// GELU of each number
    #[requires(n <= x.len() && n <= out.len())]
    safe fn activate(x: &[f32], out: &mut [f32], n: u32);

    /// The gradient by `x`, in place
    #[requires(n <= x.len() && n <= d.len())]
    safe fn activate_back(x: &[f32], d: &mut [f32], n: u32);

    /// The loss of each row and their mean; the gradient by the logits in place
    #[requires(grid == grid.x && block == block.x && block.x.is_multiple_of(32) && 1 <= context && 1 <= vocabulary)]
    #[requires(grid.div_ceil(context) * (context + 1) <= ids.len() && grid * vocabulary <= logits.len() && grid <= losses.len())]
    safe fn cross_entropy(
        ids: &[u32],
        logits: &mut [f32],
        losses: &mut [f32],
        mean: &Atomic<f32>,
        vocabulary: u32,
        context: u32,
    );

    /// `step += 1`
    #[requires(threads == 1)]
    safe fn tick(step: &mut u32);

    /// A step of Adam; the rate rises to `rate` for `warm_up` steps, then falls until `steps`
    #[requires(n <= weights.len() && n <= gradients.len() && n <= means.len() && n <= squares.len())]
    safe fn adam(
        weights: &mut [f32],
        gradients: &[f32],
        means: &mut [f32],
        squares: &mut [f32],
        step: &u32,
        rate: f32,
        warm_up: u32,
        steps: u32,
        n: u32,
    );
}

/// The grid of a matrix product: a block for each 32 x 32 elements.
const fn tiles(columns: usize, rows: usize) -> (usize, usize) {
    (columns.div_ceil(32), rows.div_ceil(32))
}

/// As [`tiles`], with the rows that are summed up in several parts.
const fn parts(columns: usize, rows: usize, summed: usize) -> (usize, usize, usize) {
    (columns.div_ceil(32), rows.div_ceil(32), summed.div_ceil(512))
}

cuda_graph! {
    /// A step of training, on `batch` windows of the text; `rows` is the number of their characters.
    pub graph Train(
        s: Sizes,
        batch: usize,
        rows: usize,
        steps: u32,
        seed: u64,
        length: usize,
        text: device [u8; length],
        weights: mut device [f32; s.weights()],
    ) {
        rng     luck = seed, draws 1;
        param   rate:      f32 = 0.0;
        device  step:      u32;
        device  gradients: [f32; s.weights()];
        device  means:     [f32; s.weights()];
        device  squares:   [f32; s.weights()];
        device  ids:       [u32; batch * (s.context + 1)];
        device  x:         [f32; rows * s.width];
        // Each norm's results: two of each layer, and the last one's
        device  normal:    [[f32; rows * s.width]; 2 * s.layers + 1];
        device  inverse:   [[f32; rows]; 2 * s.layers + 1];
        device  normed:    [[f32; rows * s.width]; 2 * s.layers + 1];
        device  qkv:       [[f32; rows * 3 * s.width]; s.layers];
        device  shares:    [[f32; rows * s.context * s.width / HEAD]; s.layers];
        device  mixed:     [[f32; rows * s.width]; s.layers];
        device  up:        [[f32; rows * 4 * s.width]; s.layers];
        device  hidden:    [[f32; rows * 4 * s.width]; s.layers];
        device  logits:    [f32; rows * s.vocabulary];
        device  losses:    [f32; rows];
        device  mean:      f32;
        host    loss:      f32;
        // The logits have no bias.
        device  zeroes:    [f32; s.vocabulary];
        device  unused:    [f32; s.vocabulary];
        device  dx:        [f32; rows * s.width];
        device  dnormed:   [f32; rows * s.width];
        device  dqkv:      [f32; rows * 3 * s.width];
        device  dscores:   [f32; rows * s.context * s.width / HEAD];
        device  dhidden:   [f32; rows * 4 * s.width];

        kernel next    = tick<<<1, 1>>>(&mut step);
        memset clear   = gradients <- 0.0;
        memset restart = mean <- 0.0;
        memset begin   = dx <- 0.0;
        kernel window  = pick<<<batch.div_ceil(32), 32>>>(&luck, &text, &mut ids, length, s.context, batch);
        kernel first   = embed<<<rows, 64>>>(
            &ids, &weights[..s.places()], &weights[s.places()..s.matrix(0, 0)], &mut x,
            s.width, s.vocabulary, s.context
        ) after window;

        for i in 0..s.layers {
            kernel norm1 = layer_norm<<<rows, 64>>>(
                &x, &weights[s.vector(i, 0)..s.vector(i, 1)], &weights[s.vector(i, 2)..s.vector(i, 3)],
                &mut normal[2 * i], &mut inverse[2 * i], &mut normed[2 * i], s.width
            ) after first;
            kernel project = linear<<<tiles(3 * s.width, rows), 256>>>(
                &normed[2 * i], &weights[s.matrix(i, 0)..s.matrix(i, 3)], &weights[s.vector(i, 4)..s.vector(i, 7)],
                &mut qkv[i], rows, 3 * s.width, s.width, 0
            ) after norm1;
            kernel mix = attend<<<(s.context, s.width / HEAD, batch), 64>>>(
                &qkv[i], &mut shares[i], &mut mixed[i], s.width, s.context
            ) after project;
            kernel join_heads = linear<<<tiles(s.width, rows), 256>>>(
                &mixed[i], &weights[s.matrix(i, 3)..s.matrix(i, 4)], &weights[s.vector(i, 7)..s.vector(i, 8)],
                &mut x, rows, s.width, s.width, 1
            ) after mix;
            kernel norm2 = layer_norm<<<rows, 64>>>(
                &x, &weights[s.vector(i, 1)..s.vector(i, 2)], &weights[s.vector(i, 3)..s.vector(i, 4)],
                &mut normal[2 * i + 1], &mut inverse[2 * i + 1], &mut normed[2 * i + 1], s.width
            ) after join_heads;
            kernel widen = linear<<<tiles(4 * s.width, rows), 256>>>(
                &normed[2 * i + 1], &weights[s.matrix(i, 4)..s.matrix(i, 8)], &weights[s.vector(i, 8)..s.vector(i, 12)],
                &mut up[i], rows, 4 * s.width, s.width, 0
            ) after norm2;
            kernel bend = activate<<<(rows * 4 * s.width).div_ceil(256), 256>>>(&up[i], &mut hidden[i], rows * 4 * s.width)
                after widen;
            kernel narrow = linear<<<tiles(s.width, rows), 256>>>(
                &hidden[i], &weights[s.matrix(i, 8)..s.matrix(i, 12)], &weights[s.vector(i, 12)..s.vector(i, 13)],
                &mut x, rows, s.width, 4 * s.width, 1
            ) after bend;
        }

        kernel norm = layer_norm<<<rows, 64>>>(
            &x, &weights[s.last()..s.last() + s.width], &weights[s.last() + s.width..],
            &mut normal[2 * s.layers], &mut inverse[2 * s.layers], &mut normed[2 * s.layers], s.width
        ) after narrow;
        kernel score = linear<<<tiles(s.vocabulary, rows), 256>>>(
            &normed[2 * s.layers], &weights[..s.places()], &zeroes, &mut logits, rows, s.vocabulary, s.width, 0
        ) after norm;
        kernel compare = cross_entropy<<<rows, 64>>>(&ids, &mut logits, &mut losses, &mean, s.vocabulary, s.context)
            after score, restart;
        memcpy report  = mean -> loss after compare;

        kernel score_learn = linear_learn<<<parts(s.width, s.vocabulary, rows), 256>>>(
            &logits, &normed[2 * s.layers], &gradients[..s.places()], &unused, rows, s.vocabulary, s.width
        ) after compare, clear;
        kernel score_back = linear_back<<<tiles(s.width, rows), 256>>>(
            &logits, &weights[..s.places()], &mut dnormed, rows, s.vocabulary, s.width
        ) after compare;
        kernel norm_back = layer_norm_back<<<rows, 64>>>(
            &dnormed, &normal[2 * s.layers], &inverse[2 * s.layers], &weights[s.last()..s.last() + s.width],
            &mut dx, &gradients[s.last()..s.last() + s.width], &gradients[s.last() + s.width..], s.width
        ) after score_back, begin, clear;

        // From the last layer to the first; `dx` is the gradient by a layer's output, then by its input.
        for j in 0..s.layers {
            kernel narrow_learn = linear_learn<<<parts(4 * s.width, s.width, rows), 256>>>(
                &dx, &hidden[s.back(j)], &gradients[s.matrix(s.back(j), 8)..s.matrix(s.back(j), 12)],
                &gradients[s.vector(s.back(j), 12)..s.vector(s.back(j), 13)], rows, s.width, 4 * s.width
            ) after norm_back;
            kernel narrow_back = linear_back<<<tiles(4 * s.width, rows), 256>>>(
                &dx, &weights[s.matrix(s.back(j), 8)..s.matrix(s.back(j), 12)], &mut dhidden, rows, s.width, 4 * s.width
            ) after norm_back;
            kernel bend_back = activate_back<<<(rows * 4 * s.width).div_ceil(256), 256>>>(&up[s.back(j)], &mut dhidden, rows * 4 * s.width)
                after narrow_back;
            kernel widen_learn = linear_learn<<<parts(s.width, 4 * s.width, rows), 256>>>(
                &dhidden, &normed[2 * s.back(j) + 1], &gradients[s.matrix(s.back(j), 4)..s.matrix(s.back(j), 8)],
                &gradients[s.vector(s.back(j), 8)..s.vector(s.back(j), 12)], rows, 4 * s.width, s.width
            ) after bend_back;
            kernel widen_back = linear_back<<<tiles(s.width, rows), 256>>>(
                &dhidden, &weights[s.matrix(s.back(j), 4)..s.matrix(s.back(j), 8)], &mut dnormed, rows, 4 * s.width, s.width
            ) after bend_back;
            kernel norm2_back = layer_norm_back<<<rows, 64>>>(
                &dnormed, &normal[2 * s.back(j) + 1], &inverse[2 * s.back(j) + 1], &weights[s.vector(s.back(j), 1)..s.vector(s.back(j), 2)],
                &mut dx, &gradients[s.vector(s.back(j), 1)..s.vector(s.back(j), 2)],
                &gradients[s.vector(s.back(j), 3)..s.vector(s.back(j), 4)], s.width
            ) after widen_back, narrow_learn;

            kernel heads_learn = linear_learn<<<parts(s.width, s.width, rows), 256>>>(
                &dx, &mixed[s.back(j)], &gradients[s.matrix(s.back(j), 3)..s.matrix(s.back(j), 4)],
                &gradients[s.vector(s.back(j), 7)..s.vector(s.back(j), 8)], rows, s.width, s.width
            ) after norm2_back;
            kernel heads_back = linear_back<<<tiles(s.width, rows), 256>>>(
                &dx, &weights[s.matrix(s.back(j), 3)..s.matrix(s.back(j), 4)], &mut dnormed, rows, s.width, s.width
            ) after norm2_back;
            kernel mix_back_q = attend_back_q<<<(s.context, s.width / HEAD, batch), 64>>>(
                &qkv[s.back(j)], &shares[s.back(j)], &dnormed, &mut dscores, &mut dqkv, s.width, s.context
            ) after heads_back;
            kernel mix_back_kv = attend_back_kv<<<(s.context, s.width / HEAD, batch), 64>>>(
                &qkv[s.back(j)], &shares[s.back(j)], &dnormed, &dscores, &mut dqkv, s.width, s.context
            ) after mix_back_q;
            kernel project_learn = linear_learn<<<parts(s.width, 3 * s.width, rows), 256>>>(
                &dqkv, &normed[2 * s.back(j)], &gradients[s.matrix(s.back(j), 0)..s.matrix(s.back(j), 3)],
                &gradients[s.vector(s.back(j), 4)..s.vector(s.back(j), 7)], rows, 3 * s.width, s.width
            ) after mix_back_kv;
            kernel project_back = linear_back<<<tiles(s.width, rows), 256>>>(
                &dqkv, &weights[s.matrix(s.back(j), 0)..s.matrix(s.back(j), 3)], &mut dnormed, rows, 3 * s.width, s.width
            ) after mix_back_kv;
            kernel norm1_back = layer_norm_back<<<rows, 64>>>(
                &dnormed, &normal[2 * s.back(j)], &inverse[2 * s.back(j)], &weights[s.vector(s.back(j), 0)..s.vector(s.back(j), 1)],
                &mut dx, &gradients[s.vector(s.back(j), 0)..s.vector(s.back(j), 1)],
                &gradients[s.vector(s.back(j), 2)..s.vector(s.back(j), 3)], s.width
            ) after project_back, heads_learn;
        }
        kernel embed_learn = embed_back<<<rows, 64>>>(
            &ids, &dx, &gradients[..s.places()], &gradients[s.places()..s.matrix(0, 0)], s.width, s.vocabulary, s.context
        ) after norm1_back;

        kernel descend = adam<<<s.weights().div_ceil(256), 256>>>(
            &mut weights, &gradients, &mut means, &mut squares, &step, rate, steps / 20, steps, s.weights()
        ) after embed_learn, widen_learn, project_learn, score_learn, next;
    }
}

/// Small random weights; gains are 1, biases 0.
pub fn first_weights(sizes: Sizes) -> Vec<f32> {
    let mut random = random(1);
    let mut weights = Vec::new();
    weights.resize_with(sizes.matrix(sizes.layers, 0), || random() * 0.04);
    for _ in 0..sizes.layers {
        weights.resize(weights.len() + 2 * sizes.width, 1.0);
        weights.resize(weights.len() + 11 * sizes.width, 0.0);
    }
    weights.resize(weights.len() + sizes.width, 1.0);
    weights.resize(weights.len() + sizes.width, 0.0);
    weights
}

/// Compares the gradients of a new graph with differences of the loss. It leaves `weights` as they are.
///
/// # Errors
/// If a gradient is wrong, or any error of a launch.
pub fn check_gradients(train: &mut Train, weights: &DeviceBuffer<[f32]>, sizes: Sizes) -> Result<(), BoxError> {
    let loss = |train: &mut Train, values: &[f32]| {
        weights.copy_from(values)?;
        train.luck().reseed(1)?; // the windows of before
        train.launch()?;
        // The mean that the graph computes is a sum in f32, in any order: too coarse for small differences.
        let losses = train.losses()?.read_vec()?;
        Ok(losses.iter().map(|loss| f64::from(*loss)).sum::<f64>() / losses.len() as f64)
    };
    let values = weights.read_vec()?;
    loss(train, &values)?;
    let gradients = train.gradients()?.read_vec()?;
    let ends = sizes.lengths().into_iter().scan(0, |end, length| {
        *end += length;
        Some(*end - length..*end)
    });
    let tensors: Vec<_> = ends.collect();
    gradients::check_gradients(&values, &gradients, &tensors, |values| loss(train, values))?;
    Ok(weights.copy_from(&values)?)
}
