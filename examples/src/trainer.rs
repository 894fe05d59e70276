//! The graph that trains a decoder on a text, in bf16 with weights in f32: forwards, backwards, and a step of AdamW.

use crate::decoder::{HEAD, Sizes, plain_loss};
use crate::gradients;
use crate::program::random;
use graph_runtime::{
    AnyGraph, Atomic, BoxError, Communicator, Device, DeviceBuffer, Philox, Result, cuda_graph, cuda_kernels,
};
use half::bf16;

#[cuda_kernels("kernels/train_text.ptx", tuned = ["kernels/train_text.sm_90a.ptx"])]
unsafe extern "C" {
    /// `rounded = weights`, two by each thread
    #[requires(n.is_multiple_of(2) && n <= weights.len() && n <= rounded.len())]
    safe fn round_all(weights: &[f32], rounded: &mut [bf16], n: u32);

    /// The first norm of windows of the text that luck draws, by a warp for each place; `texts` windows before them are
    /// those of other ranks
    #[requires(block.x == 256 && block == 256 && grid == grid.x && 1 <= context && context < length && length <= text.len())]
    #[requires(1 <= rng.len() && rows.div_ceil(context) * (context + 1) <= ids.len() && rows * 128 <= ones.len())]
    #[requires(width.is_multiple_of(4) && width <= 384 && 128 * width <= tokens.len() && context * width <= places.len())]
    #[requires(width <= gain.len() && width <= shift.len() && rows * width <= x.len() && 2 * rows <= stats.len())]
    #[requires(rows * width <= out.len())]
    safe fn embed(
        rng: &[Philox],
        text: &[u8],
        tokens: &[f32],
        places: &[f32],
        gain: &[f32],
        shift: &[f32],
        ids: &mut [u32],
        ones: &mut [bf16],
        x: &mut [f32],
        stats: &mut [f32],
        out: &mut [bf16],
        step: &mut u32,
        mean: &mut f32,
        length: u32,
        rows: u32,
        width: u32,
        context: u32,
        texts: u32,
    );

    /// `out = normal * gain + shift` for each row of `x`, by a warp each; `stats` gets mean and scale
    #[requires(block.x == 256 && block == 256 && grid == grid.x && width.is_multiple_of(4) && width <= 384)]
    #[requires(rows * width <= x.len() && width <= gain.len() && width <= shift.len() && 2 * rows <= stats.len())]
    #[requires(rows * width <= out.len())]
    safe fn layer_norm(
        x: &[f32],
        gain: &[f32],
        shift: &[f32],
        stats: &mut [f32],
        out: &mut [bf16],
        rows: u32,
        width: u32,
    );

    /// Adds the gradient by `x` to `dx`, or stores it where `first`; and rounded
    #[requires(block.x == 256 && block == 256 && grid == grid.x && width.is_multiple_of(4) && width <= 384)]
    #[requires(rows * width <= dout.len() && rows * width <= x.len() && 2 * rows <= stats.len() && width <= gain.len())]
    #[requires(rows * width <= dx.len() && rows * width <= rounded.len() && width <= dgain.len() && width <= dshift.len())]
    safe fn norm_back(
        dout: &[bf16],
        x: &[f32],
        stats: &[f32],
        gain: &[f32],
        dx: &mut [f32],
        rounded: &mut [bf16],
        dgain: &[Atomic<f32>],
        dshift: &[Atomic<f32>],
        rows: u32,
        width: u32,
        first: u32,
    );

    /// `out = a w^T + bias`, by blocks for 128 x 128 of it
    #[requires(block.x == 256 && block == 256 && shared >= LARGE && 1 <= rows && columns.is_multiple_of(64) && 64 <= columns)]
    #[requires(k.is_multiple_of(64) && rows * k <= a.len() && columns * k <= w.len() && columns <= bias.len())]
    #[requires(rows * columns <= out.len())]
    safe fn project(a: &[bf16], w: &[bf16], bias: &[f32], out: &mut [bf16], rows: u32, columns: u32, k: u32);

    /// `up = a w^T + bias`, and GELU of it, by blocks for 128 x 128 of it
    #[requires(block.x == 256 && block == 256 && shared >= LARGE && 1 <= rows && columns.is_multiple_of(64) && 64 <= columns)]
    #[requires(k.is_multiple_of(64) && rows * k <= a.len() && columns * k <= w.len() && columns <= bias.len())]
    #[requires(rows * columns <= up.len() && rows * columns <= hidden.len())]
    safe fn widen(
        a: &[bf16],
        w: &[bf16],
        bias: &[f32],
        up: &mut [bf16],
        hidden: &mut [bf16],
        rows: u32,
        columns: u32,
        k: u32,
    );

    /// `out = x + a w^T + bias`, by blocks for 128 x 128 of it, or 128 x 64 where `small`
    #[requires(block.x == 256 && block == 256 && shared >= LARGE && (small == 0 || shared >= SMALL) && 1 <= rows && columns.is_multiple_of(64) && 64 <= columns)]
    #[requires(k.is_multiple_of(64) && rows * k <= a.len() && columns * k <= w.len() && columns <= bias.len())]
    #[requires(rows * columns <= x.len() && rows * columns <= out.len())]
    safe fn linear_add(
        a: &[bf16],
        w: &[bf16],
        bias: &[f32],
        x: &[f32],
        out: &mut [f32],
        rows: u32,
        columns: u32,
        k: u32,
        small: u32,
    );

    /// `out = dout w`, by blocks for 128 x 128 of it, or 128 x 64 where `small`
    #[requires(block.x == 256 && block == 256 && shared >= LARGE && (small == 0 || shared >= SMALL) && 1 <= rows && columns.is_multiple_of(64) && 64 <= columns)]
    #[requires(k.is_multiple_of(64) && rows * k <= dout.len() && columns * k <= w.len() && rows * columns <= out.len())]
    safe fn linear_back(dout: &[bf16], w: &[bf16], out: &mut [bf16], rows: u32, columns: u32, k: u32, small: u32);

    /// The gradient by `up`, of which GELU has a matrix product, by blocks for 128 x 128 of it
    #[requires(block.x == 256 && block == 256 && shared >= LARGE && 1 <= rows && columns.is_multiple_of(64) && 64 <= columns)]
    #[requires(k.is_multiple_of(64) && rows * k <= dout.len() && columns * k <= w.len() && rows * columns <= up.len())]
    #[requires(rows * columns <= out.len())]
    safe fn narrow_back(dout: &[bf16], w: &[bf16], up: &[bf16], out: &mut [bf16], rows: u32, columns: u32, k: u32);

    /// The loss of each row, their mean, and the gradient by the logits, by blocks for 64 rows
    #[requires(block.x == 128 && block == 128 && grid == grid.x && shared >= SCORE && 1 <= rows && 1 <= context)]
    #[requires(width.is_multiple_of(64) && rows * width <= a.len() && 128 * width <= tokens.len())]
    #[requires(rows.div_ceil(context) * (context + 1) <= ids.len() && rows * 128 <= dlogits.len() && rows <= losses.len())]
    safe fn score(
        a: &[bf16],
        tokens: &[bf16],
        ids: &[u32],
        dlogits: &mut [bf16],
        losses: &mut [f32],
        mean: &Atomic<f32>,
        rows: u32,
        context: u32,
        width: u32,
    );

    /// Attention of each 64 places, by heads of 64 columns and texts
    #[requires(block.x == 128 && block == 128 && grid.x * 64 == context && grid.y * 64 == width)]
    #[requires(grid.z * context * 3 * width <= qkv.len() && grid.y * grid.z * context <= logs.len())]
    #[requires(grid.z * context * width <= out.len())]
    safe fn attend(qkv: &[bf16], logs: &mut [f32], out: &mut [bf16], width: u32, context: u32);

    /// The gradient by `qkv`
    #[requires(block.x == 128 && block == 128 && grid.x * 32 == context && context.is_multiple_of(64) && grid.y * 64 == width)]
    #[requires(shared >= ATTEND + 8 * context && grid.z * context * 3 * width <= qkv.len())]
    #[requires(grid.y * grid.z * context <= logs.len() && grid.z * context * width <= out.len())]
    #[requires(grid.z * context * width <= dout.len() && grid.z * context * 3 * width <= dqkv.len())]
    safe fn attend_back(
        qkv: &[bf16],
        logs: &[f32],
        out: &[bf16],
        dout: &[bf16],
        dqkv: &mut [bf16],
        width: u32,
        context: u32,
    );

    /// The gradients of all weights, and their step of AdamW; the rate rises to `rate` for `warm_up` steps, then falls
    /// until `steps`
    #[requires(block.x == 256 && block == 256 && grid == grid.x && shared >= LEARN && width.is_multiple_of(64) && 64 <= width)]
    #[requires(rows.is_multiple_of(64) && 64 <= rows && 1 <= context && rows.is_multiple_of(context))]
    #[requires(rows * 128 <= dlogits.len() && rows * 128 <= ones.len() && (2 * layers + 1) * rows * width <= normed.len())]
    #[requires(layers * rows * width <= mixed.len() && layers * 4 * rows * width <= hidden.len())]
    #[requires(layers * 3 * rows * width <= dqkv.len() && (2 * layers + 1) * rows * width <= dxs.len())]
    #[requires(layers * 4 * rows * width <= dup.len() && rows * width <= dx.len() && (4 * layers + 2) * width <= dvectors.len())]
    #[requires((128 + context + 12 * layers * width + 13 * layers + 2) * width <= weights.len())]
    #[requires((128 + context + 12 * layers * width) * width <= rounded.len())]
    #[requires((128 + context + 12 * layers * width + 13 * layers + 2) * width <= means.len())]
    #[requires((128 + context + 12 * layers * width + 13 * layers + 2) * width <= squares.len())]
    safe fn learn(
        dlogits: &[bf16],
        ones: &[bf16],
        normed: &[bf16],
        mixed: &[bf16],
        hidden: &[bf16],
        dqkv: &[bf16],
        dxs: &[bf16],
        dup: &[bf16],
        dx: &[f32],
        dvectors: &mut [f32],
        weights: &mut [f32],
        rounded: &mut [bf16],
        means: &mut [f32],
        squares: &mut [f32],
        step: &u32,
        rate: f32,
        warm_up: u32,
        steps: u32,
        decay: f32,
        layers: u32,
        width: u32,
        context: u32,
        rows: u32,
    );

    /// The gradients by the matrices of a layer and by their biases; the tables are those of the layer
    #[requires(block.x == 256 && block == 256 && grid == grid.x && shared >= LEARN && width.is_multiple_of(64) && 64 <= width)]
    #[requires(rows.is_multiple_of(64) && 64 <= rows && rows * width <= mixed.len() && 2 * rows * width <= normed.len())]
    #[requires(4 * rows * width <= hidden.len() && 3 * rows * width <= dqkv.len() && 3 * rows * width <= dxs.len())]
    #[requires(4 * rows * width <= dup.len() && 12 * width * width <= matrices.len() && 9 * width <= biases.len())]
    safe fn layer_gradients(
        normed: &[bf16],
        mixed: &[bf16],
        hidden: &[bf16],
        dqkv: &[bf16],
        dxs: &[bf16],
        dup: &[bf16],
        matrices: &mut [f32],
        biases: &mut [f32],
        width: u32,
        rows: u32,
    );

    /// The gradients by tokens and places; `normed` is of the last norm, and `dxs` of the first one
    #[requires(block.x == 256 && block == 256 && grid == grid.x && shared >= LEARN && width.is_multiple_of(64) && 64 <= width)]
    #[requires(rows.is_multiple_of(64) && 64 <= rows && 1 <= context && rows.is_multiple_of(context))]
    #[requires(rows * 128 <= dlogits.len() && rows * 128 <= ones.len() && rows * width <= normed.len() && rows * width <= dxs.len())]
    #[requires(rows * width <= dx.len() && (128 + context) * width <= embeddings.len())]
    safe fn embedding_gradients(
        dlogits: &[bf16],
        ones: &[bf16],
        normed: &[bf16],
        dxs: &[bf16],
        dx: &[f32],
        embeddings: &mut [f32],
        width: u32,
        context: u32,
        rows: u32,
    );

    /// A step of AdamW by gradients that are there
    #[requires(block.x == 256 && block == 256 && grid == grid.x && width.is_multiple_of(8) && 8 <= width)]
    #[requires((128 + context) * width <= embeddings.len() && layers * 12 * width * width <= matrices.len())]
    #[requires(layers * 9 * width <= biases.len() && (4 * layers + 2) * width <= dvectors.len())]
    #[requires((128 + context + 12 * layers * width + 13 * layers + 2) * width <= weights.len())]
    #[requires((128 + context + 12 * layers * width + 13 * layers + 2) * width <= rounded.len())]
    #[requires((128 + context + 12 * layers * width + 13 * layers + 2) * width <= means.len())]
    #[requires((128 + context + 12 * layers * width + 13 * layers + 2) * width <= squares.len())]
    safe fn descend(
        embeddings: &[f32],
        matrices: &[f32],
        biases: &[f32],
        dvectors: &mut [f32],
        weights: &mut [f32],
        rounded: &mut [bf16],
        means: &mut [f32],
        squares: &mut [f32],
        step: &u32,
        rate: f32,
        warm_up: u32,
        steps: u32,
        decay: f32,
        layers: u32,
        width: u32,
        context: u32,
    );
}

/// Bytes of shared memory: three parts of both factors are on their way, each with 64 numbers of a row.
const LARGE: usize = 3 * (128 + 128) * 128;
/// Small tiles have six parts on their way.
const SMALL: usize = 6 * (128 + 64) * 128;
const SCORE: usize = 3 * (64 + 128) * 128;
/// With ones, to add up rows by.
const LEARN: usize = LARGE + 1024;
/// Six tiles of a head's columns; the logarithms and products of each place come after them.
const ATTEND: usize = 6 * 64 * 128;
/// As nanoGPT's: it is for matrices and embeddings.
const DECAY: f32 = 0.1;

/// The grid of a matrix product: a block for each 128 x 128 elements.
const fn large(columns: usize, rows: usize) -> (usize, usize) {
    (columns.div_ceil(128), rows.div_ceil(128))
}

/// Whether a product with few columns has smaller tiles, since a batch of so few rows has too few large ones.
const fn is_small(rows: usize) -> bool {
    rows <= 4096
}

/// The grid of such a product.
const fn narrow_grid(columns: usize, rows: usize) -> (usize, usize) {
    if is_small(rows) {
        (columns.div_ceil(64), rows.div_ceil(128))
    } else {
        large(columns, rows)
    }
}

/// The shared memory of such a product.
const fn narrow_shared(rows: usize) -> usize {
    if is_small(rows) { SMALL } else { LARGE }
}

/// The index of a norm's gain among all weights: two of each layer, and the last one.
const fn gain(s: Sizes, norm: usize) -> usize {
    // After the last layer, its vectors would begin with the last norm's.
    s.vector(norm / 2, norm % 2)
}

/// The index of a norm's shift.
const fn shift(s: Sizes, norm: usize) -> usize {
    gain(s, norm) + if norm == 2 * s.layers { s.width } else { 2 * s.width }
}

/// The blocks of `learn`: for each 128 x 128 of a matrix, and for 256 each of the other weights.
const fn learners(s: Sizes) -> usize {
    let tiles = s.width.div_ceil(128) + s.layers * layer_tiles(s);
    tiles + ((s.context + 4 * s.layers + 2) * s.width).div_ceil(256)
}

/// The blocks of a layer's gradients: one for each tile.
const fn layer_tiles(s: Sizes) -> usize {
    let [across, across3, across4] = [
        s.width.div_ceil(128),
        (3 * s.width).div_ceil(128),
        (4 * s.width).div_ceil(128),
    ];
    across * (across3 + across + 2 * across4)
}

/// The seed by which windows of the text are drawn.
const SEED: u64 = 1;

/// 1 for several ranks, which average their gradients, and 0 for one.
const fn several(ranks: usize) -> usize {
    (ranks > 1) as usize
}

cuda_graph! {
    /// Rounds the weights for `Train`, before its first step.
    pub graph Begin(s: Sizes, weights: device [f32; s.weights()], rounded: mut device [bf16; s.weights()]) {
        kernel all = round_all<<<s.weights().div_ceil(512), 256>>>(&weights, &mut rounded, s.weights());
    }

    /// A step of training, on `batch` windows of the text for each rank; `rows` is the number of their characters. `x`
    /// and its gradient are before each norm: two of each layer, and the last one. Several ranks average the gradients
    /// of a layer while those of others are computed.
    pub graph Train(
        s: Sizes,
        batch: usize,
        rows: usize,
        steps: u32,
        seed: u64,
        length: usize,
        text: device [u8; length],
        weights: mut device [f32; s.weights()],
        rounded: mut device [bf16; s.weights()],
        world: &Communicator,
        ranks: usize,
        rank: usize,
    ) {
        rng     luck = seed, draws 1;
        param   rate:      f32 = 0.0;
        device  step:      u32;
        device  means:     [f32; s.weights()];
        device  squares:   [f32; s.weights()];
        device  ids:       [u32; batch * (s.context + 1)];
        device  ones:      [bf16; rows * s.vocabulary];
        device  x:         [[f32; rows * s.width]; 2 * s.layers + 1];
        device  stats:     [[f32; 2 * rows]; 2 * s.layers + 1];
        device  normed:    [[bf16; rows * s.width]; 2 * s.layers + 1];
        device  qkv:       [[bf16; rows * 3 * s.width]; s.layers];
        device  logs:      [[f32; rows * s.width / HEAD]; s.layers];
        device  mixed:     [[bf16; rows * s.width]; s.layers];
        device  up:        [[bf16; rows * 4 * s.width]; s.layers];
        device  hidden:    [[bf16; rows * 4 * s.width]; s.layers];
        device  dlogits:   [bf16; rows * s.vocabulary];
        device  losses:    [f32; rows];
        device  mean:      f32;
        host    loss:      f32;
        device  dx:        [f32; rows * s.width];
        device  dxs:       [[bf16; rows * s.width]; 2 * s.layers + 1];
        device  dout:      [bf16; rows * s.width];
        device  dqkv:      [[bf16; rows * 3 * s.width]; s.layers];
        device  dup:       [[bf16; rows * 4 * s.width]; s.layers];
        // Several ranks have gradients in memory.
        device  dembeddings: [f32; several(ranks) * s.matrix(0, 0)];
        device  dmatrices: [[f32; 12 * s.width * s.width]; several(ranks) * s.layers];
        device  dbiases:   [[f32; 9 * s.width]; several(ranks) * s.layers];
        device  dvectors:  [f32; (4 * s.layers + 2) * s.width];

        kernel first = embed<<<rows.div_ceil(8), 256>>>(
            &luck, &text, &weights[..s.places()], &weights[s.places()..s.matrix(0, 0)],
            &weights[gain(s, 0)..gain(s, 0) + s.width], &weights[shift(s, 0)..shift(s, 0) + s.width],
            &mut ids, &mut ones, &mut x[0], &mut stats[0], &mut normed[0], &mut step, &mut mean,
            length, rows, s.width, s.context, rank * batch
        );

        each i in 0..s.layers {
            kernel ask = project<<<large(3 * s.width, rows), 256, LARGE>>>(
                &normed[2 * i], &rounded[s.matrix(i, 0)..s.matrix(i, 3)], &weights[s.vector(i, 4)..s.vector(i, 7)],
                &mut qkv[i], rows, 3 * s.width, s.width
            ) after first, programmatic(norm1(i - 1));
            kernel mix = attend<<<(s.context / 64, s.width / HEAD, batch), 128>>>(
                &qkv[i], &mut logs[i], &mut mixed[i], s.width, s.context
            ) after programmatic(ask);
            kernel join = linear_add<<<narrow_grid(s.width, rows), 256, narrow_shared(rows)>>>(
                &mixed[i], &rounded[s.matrix(i, 3)..s.matrix(i, 4)], &weights[s.vector(i, 7)..s.vector(i, 8)],
                &x[2 * i], &mut x[2 * i + 1], rows, s.width, s.width, u32::from(is_small(rows))
            ) after programmatic(mix);
            kernel norm2 = layer_norm<<<rows.div_ceil(8), 256>>>(
                &x[2 * i + 1], &weights[s.vector(i, 1)..s.vector(i, 2)], &weights[s.vector(i, 3)..s.vector(i, 4)],
                &mut stats[2 * i + 1], &mut normed[2 * i + 1], rows, s.width
            ) after programmatic(join);
            kernel bend = widen<<<large(4 * s.width, rows), 256, LARGE>>>(
                &normed[2 * i + 1], &rounded[s.matrix(i, 4)..s.matrix(i, 8)], &weights[s.vector(i, 8)..s.vector(i, 12)],
                &mut up[i], &mut hidden[i], rows, 4 * s.width, s.width
            ) after programmatic(norm2);
            kernel narrow = linear_add<<<narrow_grid(s.width, rows), 256, narrow_shared(rows)>>>(
                &hidden[i], &rounded[s.matrix(i, 8)..s.matrix(i, 12)], &weights[s.vector(i, 12)..s.vector(i, 13)],
                &x[2 * i + 1], &mut x[2 * i + 2], rows, s.width, 4 * s.width, u32::from(is_small(rows))
            ) after programmatic(bend);
            // The first one of the next layer, or the last one
            kernel norm1 = layer_norm<<<rows.div_ceil(8), 256>>>(
                &x[2 * i + 2], &weights[gain(s, 2 * i + 2)..gain(s, 2 * i + 2) + s.width],
                &weights[shift(s, 2 * i + 2)..shift(s, 2 * i + 2) + s.width],
                &mut stats[2 * i + 2], &mut normed[2 * i + 2], rows, s.width
            ) after programmatic(narrow);
        }

        kernel compare = score<<<rows.div_ceil(64), 128, SCORE>>>(
            &normed[2 * s.layers], &rounded[..s.places()], &ids, &mut dlogits, &mut losses, &mean,
            rows, s.context, s.width
        ) after programmatic(norm1);
        memcpy report = mean -> loss after compare;
        kernel score_back = linear_back<<<narrow_grid(s.width, rows), 256, narrow_shared(rows)>>>(
            &dlogits, &rounded[..s.places()], &mut dout, rows, s.width, s.vocabulary, u32::from(is_small(rows))
        ) after programmatic(compare);
        kernel last_back = norm_back<<<rows.div_ceil(16), 256>>>(
            &dout, &x[2 * s.layers], &stats[2 * s.layers], &weights[s.last()..s.last() + s.width], &mut dx, &mut dxs[2 * s.layers],
            &dvectors[4 * s.layers * s.width..(4 * s.layers + 1) * s.width], &dvectors[(4 * s.layers + 1) * s.width..],
            rows, s.width, 1
        ) after programmatic(score_back);

        // From the last layer to the first
        each j in 0..s.layers {
            kernel bend_back = narrow_back<<<large(4 * s.width, rows), 256, LARGE>>>(
                &dxs[2 * s.back(j) + 2], &rounded[s.matrix(s.back(j), 8)..s.matrix(s.back(j), 12)], &up[s.back(j)], &mut dup[s.back(j)],
                rows, 4 * s.width, s.width
            ) after last_back, programmatic(norm1_back(j - 1));
            kernel widen_back = linear_back<<<narrow_grid(s.width, rows), 256, narrow_shared(rows)>>>(
                &dup[s.back(j)], &rounded[s.matrix(s.back(j), 4)..s.matrix(s.back(j), 8)], &mut dout, rows, s.width, 4 * s.width, u32::from(is_small(rows))
            ) after programmatic(bend_back);
            kernel norm2_back = norm_back<<<rows.div_ceil(16), 256>>>(
                &dout, &x[2 * s.back(j) + 1], &stats[2 * s.back(j) + 1], &weights[s.vector(s.back(j), 1)..s.vector(s.back(j), 2)],
                &mut dx, &mut dxs[2 * s.back(j) + 1],
                &dvectors[(4 * s.back(j) + 1) * s.width..(4 * s.back(j) + 2) * s.width],
                &dvectors[(4 * s.back(j) + 3) * s.width..(4 * s.back(j) + 4) * s.width], rows, s.width, 0
            ) after programmatic(widen_back);
            kernel join_back = linear_back<<<narrow_grid(s.width, rows), 256, narrow_shared(rows)>>>(
                &dxs[2 * s.back(j) + 1], &rounded[s.matrix(s.back(j), 3)..s.matrix(s.back(j), 4)], &mut dout, rows, s.width, s.width, u32::from(is_small(rows))
            ) after programmatic(norm2_back);
            kernel mix_back = attend_back<<<(s.context / 32, s.width / HEAD, batch), 128, ATTEND + 8 * s.context>>>(
                &qkv[s.back(j)], &logs[s.back(j)], &mixed[s.back(j)], &dout, &mut dqkv[s.back(j)], s.width, s.context
            ) after programmatic(join_back);
            kernel ask_back = linear_back<<<narrow_grid(s.width, rows), 256, narrow_shared(rows)>>>(
                &dqkv[s.back(j)], &rounded[s.matrix(s.back(j), 0)..s.matrix(s.back(j), 3)], &mut dout, rows, s.width, 3 * s.width, u32::from(is_small(rows))
            ) after programmatic(mix_back);
            kernel norm1_back = norm_back<<<rows.div_ceil(16), 256>>>(
                &dout, &x[2 * s.back(j)], &stats[2 * s.back(j)], &weights[s.vector(s.back(j), 0)..s.vector(s.back(j), 1)],
                &mut dx, &mut dxs[2 * s.back(j)],
                &dvectors[4 * s.back(j) * s.width..(4 * s.back(j) + 1) * s.width],
                &dvectors[(4 * s.back(j) + 2) * s.width..(4 * s.back(j) + 3) * s.width], rows, s.width, 0
            ) after programmatic(ask_back);
        }

        for alone in several(ranks)..1 {
            kernel learn_all = learn<<<learners(s), 256, LEARN>>>(
                &dlogits, &ones, &normed, &mixed, &hidden, &dqkv, &dxs, &dup, &dx, &mut dvectors,
                &mut weights, &mut rounded, &mut means, &mut squares, &step, rate, steps / 20, steps, DECAY,
                s.layers, s.width, s.context, rows
            ) after programmatic(norm1_back);
        }
        for together in 0..several(ranks) {
            each k in 0..s.layers {
                kernel layer_learn = layer_gradients<<<layer_tiles(s), 256, LEARN>>>(
                    &normed[2 * k..2 * k + 2], &mixed[k], &hidden[k], &dqkv[k], &dxs[2 * k..2 * k + 3], &dup[k],
                    &mut dmatrices[k], &mut dbiases[k], s.width, rows
                ) after norm1_back, learn_all;
                all_reduce layer_mean = avg(dmatrices[k]) over world after layer_learn, layer_mean(together, k - 1);
            }
            kernel embed_learn = embedding_gradients<<<s.width.div_ceil(128) + (s.context * s.width).div_ceil(256), 256, LEARN>>>(
                &dlogits, &ones, &normed[2 * s.layers], &dxs[0], &dx, &mut dembeddings, s.width, s.context, rows
            ) after norm1_back, learn_all;
            all_reduce embeddings_mean = avg(dembeddings) over world after embed_learn, layer_mean;
            all_reduce biases_mean = avg(dbiases) over world after embeddings_mean;
            all_reduce vectors_mean = avg(dvectors) over world after biases_mean;
            kernel learn_together = descend<<<s.weights().div_ceil(2048), 256>>>(
                &dembeddings, &dmatrices, &dbiases, &mut dvectors, &mut weights, &mut rounded, &mut means, &mut squares, &step,
                rate, steps / 20, steps, DECAY, s.layers, s.width, s.context
            ) after vectors_mean;
        }
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

/// A graph of [`Train`], and the weights that it trains.
pub struct Trainer {
    /// The sizes of the decoder.
    pub sizes: Sizes,
    /// The graph: a launch is a step.
    pub train: Train,
    /// All weights, as [`Sizes::weights`] says.
    pub weights: DeviceBuffer<[f32]>,
    begin: Begin,
}

impl Trainer {
    /// Builds the graph for windows of a text, `batch` in each step, with [`first_weights`].
    ///
    /// # Errors
    /// If the text is shorter than a window, or if the device has too little memory.
    pub fn new(device: &Device, sizes: Sizes, batch: usize, steps: u32, characters: &[u8]) -> Result<Self> {
        let world = Communicator::local(std::slice::from_ref(device))?.remove(0);
        Self::of_rank(device, &world, sizes, batch, steps, characters)
    }

    /// As [`Trainer::new`], for a rank: `batch` windows of a step are its own.
    ///
    /// # Errors
    /// As [`Trainer::new`], and if the ranks do not agree.
    pub fn of_rank(
        device: &Device,
        world: &Communicator,
        sizes: Sizes,
        batch: usize,
        steps: u32,
        characters: &[u8],
    ) -> Result<Self> {
        let text = device.alloc_slice(characters.len())?;
        text.copy_from(characters)?;
        let weights = device.alloc_slice(sizes.weights())?;
        let rounded = device.alloc_slice(sizes.weights())?;
        let rows = batch * sizes.context;
        let length = characters.len();
        let (ranks, rank) = (world.size(), world.rank());
        let train = Train::build(
            device, sizes, batch, rows, steps, SEED, length, &text, &weights, &rounded, world, ranks, rank,
        )?;
        let begin = Begin::build(device, sizes, &weights, &rounded)?;
        let mut trainer = Self {
            sizes,
            train,
            weights,
            begin,
        };
        trainer.begin(&first_weights(sizes))?;
        Ok(trainer)
    }

    /// Begins anew, with these weights and the first windows.
    ///
    /// # Errors
    /// If there are not as many weights, or if the device has failed.
    pub fn begin(&mut self, weights: &[f32]) -> Result<()> {
        self.train.reset()?;
        self.draw_after(0)?;
        self.weights.copy_from(weights)?;
        self.begin.launch()
    }

    /// Sets what a step leaves to the next one: the number of steps, the weights, and AdamW's means of the gradients
    /// and of their squares.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub fn go_on(&mut self, steps: u32, weights: &[f32], means: &[f32], squares: &[f32]) -> Result<()> {
        self.begin(weights)?;
        self.draw_after(steps)?;
        self.train.step_mut()?.copy_from(&steps)?;
        self.train.means_mut()?.copy_from(means)?;
        self.train.squares_mut()?.copy_from(squares)
    }

    /// Makes the next step draw the windows that come after those of so many steps.
    fn draw_after(&mut self, steps: u32) -> Result<()> {
        // A step is one use of `luck`, which draws one number.
        let offset = steps.into();
        self.train.luck().set_state(Philox { seed: SEED, offset })
    }
}

impl Trainer {
    /// Compares the gradients of the first step with differences of the loss in plain Rust, and begins anew.
    ///
    /// # Errors
    /// If a gradient is wrong, or any error of a launch.
    pub fn check_gradients(&mut self) -> Result<(), BoxError> {
        let weights = first_weights(self.sizes);
        self.train.set_rate(0.0)?;
        self.train.launch()?;
        // Adam's mean of the gradients after one step is a tenth of them.
        let gradients: Vec<f32> = self.train.means()?.read_vec()?.iter().map(|mean| 10.0 * mean).collect();
        let ids = self.train.ids()?.read_vec()?;
        let windows: Vec<&[u32]> = ids.chunks(self.sizes.context + 1).collect();
        let ends = self.sizes.lengths().into_iter().scan(0, |end, length| {
            *end += length;
            Some(*end - length..*end)
        });
        let tensors: Vec<_> = ends.collect();
        gradients::check_gradients(&weights, &gradients, &tensors, |weights| {
            let losses = windows.iter().map(|window| plain_loss(self.sizes, weights, window));
            Ok(losses.sum::<f64>() / windows.len() as f64)
        })?;
        Ok(self.begin(&weights)?)
    }
}
