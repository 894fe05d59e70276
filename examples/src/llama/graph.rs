//! The graph that writes a text: about five kernels a layer, and a loop over tokens on the device.

use crate::engine::Config;
use graph_runtime::{Mapped, Result, cuda_graph, cuda_kernels};
use half::bf16;

/// The bytes of shared memory of each thread, for weights on their way: as `STEPS` and `AHEAD` of `llama.cu` say. A
/// thread of `project` has more of it.
pub(super) const RING: usize = 2 * 6 * 16;
const LONG_RING: usize = 2 * 8 * 16;

#[cuda_kernels("kernels/llama.ptx")]
unsafe extern "C" {
    /// `x` becomes the row of the token at the place, and `turn` that of the angles; by one block
    #[requires(grid == 1 && block == block.x && block.x <= 512 && 1 <= context && context <= text.len())]
    #[requires(1 <= vocabulary && vocabulary * width <= table.len() && context * head <= angles.len())]
    #[requires(width <= x.len() && head <= turn.len())]
    safe fn begin(
        table: &[bf16],
        angles: &[f32],
        text: &[u32],
        state: &[u32; 8],
        x: &mut [f32],
        turn: &mut [f32],
        width: u32,
        vocabulary: u32,
        head: u32,
        context: u32,
    );

    /// Queries, keys and values of the normed `x`: keys and values go to the row of the place
    #[requires(grid == grid.x && block == block.x && block.x.is_multiple_of(32) && block.x <= 512)]
    #[requires(width.is_multiple_of(8) && shared >= 2 * width + LONG_RING * block.x && width <= x.len())]
    #[requires(width <= gain.len() && width * width <= q.len() && kept * width <= k.len() && kept * width <= v.len())]
    #[requires(1 <= half && half <= 64 && 2 * half <= turn.len() && width.is_multiple_of(2 * half))]
    #[requires(kept.is_multiple_of(2 * half) && width <= queries.len() && 1 <= context)]
    #[requires(context * kept <= keys.len() && context * kept <= values.len())]
    safe fn project(
        x: &[f32],
        gain: &[bf16],
        q: &[bf16],
        k: &[bf16],
        v: &[bf16],
        turn: &[f32],
        state: &[u32; 8],
        queries: &mut [f32],
        keys: &mut [bf16],
        values: &mut [bf16],
        width: u32,
        kept: u32,
        half: u32,
        context: u32,
        epsilon: f32,
    );

    /// The values of all places so far, mixed for each query; a block for each
    #[requires(grid == grid.x && block.x == 256 && block == 256)]
    #[requires(8 <= head && head <= 128 && head.is_power_of_two() && 1 <= sharing)]
    #[requires(grid.x * head <= queries.len() && grid.x * head <= mixed.len() && grid.x * head <= sharing * kept)]
    #[requires(kept.is_multiple_of(8) && 1 <= context && context * kept <= keys.len() && context * kept <= values.len())]
    safe fn attend(
        queries: &[f32],
        keys: &[bf16],
        values: &[bf16],
        state: &[u32; 8],
        mixed: &mut [bf16],
        head: u32,
        sharing: u32,
        kept: u32,
        context: u32,
    );

    /// `x += w y`
    #[requires(grid == grid.x && block == block.x && block.x.is_multiple_of(32) && block.x <= 512)]
    #[requires(columns.is_multiple_of(8) && shared >= 2 * columns + RING * block.x && columns <= y.len())]
    #[requires(rows * columns <= w.len() && rows <= x.len())]
    safe fn add_product(w: &[bf16], y: &[bf16], x: &mut [f32], rows: u32, columns: u32);

    /// `hidden = silu(gate n) * (up n)`, with `n` the normed `x`
    #[requires(grid == grid.x && block == block.x && block.x.is_multiple_of(32) && block.x <= 512)]
    #[requires(width.is_multiple_of(8) && shared >= 2 * width + RING * block.x && width <= x.len())]
    #[requires(width <= gain.len() && rows * width <= gate.len() && rows * width <= up.len() && rows <= hidden.len())]
    safe fn widen(
        x: &[f32],
        gain: &[bf16],
        gate: &[bf16],
        up: &[bf16],
        hidden: &mut [bf16],
        width: u32,
        rows: u32,
        epsilon: f32,
    );

    /// The logits of the normed `x`, and the likeliest token of each block
    #[requires(grid == grid.x && block == block.x && block.x.is_multiple_of(32) && block.x <= 512)]
    #[requires(width.is_multiple_of(8) && shared >= 2 * width + RING * block.x && width <= x.len())]
    #[requires(width <= gain.len() && vocabulary * width <= table.len() && vocabulary <= logits.len())]
    #[requires(grid.x <= most.len() && grid.x <= likeliest.len())]
    safe fn score(
        x: &[f32],
        gain: &[bf16],
        table: &[bf16],
        logits: &mut [f32],
        most: &mut [f32],
        likeliest: &mut [u32],
        width: u32,
        vocabulary: u32,
        epsilon: f32,
    );

    /// Goes on to the next place: its token is the likeliest one, unless it is given
    #[requires(grid == 1 && block.x == 256 && block == 256 && blocks <= most.len() && blocks <= likeliest.len())]
    #[requires(1 <= vocabulary && vocabulary * width <= table.len() && 1 <= context && context * head <= angles.len())]
    #[requires(context < text.len() && context < stream.len() && width <= x.len() && head <= turn.len())]
    safe fn choose(
        most: &[f32],
        likeliest: &[u32],
        table: &[bf16],
        angles: &[f32],
        text: &mut [u32],
        stream: &[Mapped<u32>],
        state: &mut [u32; 8],
        x: &mut [f32],
        turn: &mut [f32],
        blocks: u32,
        width: u32,
        vocabulary: u32,
        head: u32,
        context: u32,
    );
}

cuda_graph! {
    /// The tensors of a layer, as a checkpoint has them.
    pub group Layer {
        norm1: device [bf16; width],
        q:     device [[bf16; width]; width],
        k:     device [[bf16; width]; kept],
        v:     device [[bf16; width]; kept],
        o:     device [[bf16; width]; width],
        norm2: device [bf16; width],
        gate:  device [[bf16; width]; hidden],
        up:    device [[bf16; width]; hidden],
        down:  device [[bf16; hidden]; width],
    }

    /// Writes on from the place in the state, until the text ends: one launch for all tokens.
    pub graph Decode(
        config: Config,
        blocks: usize,
        threads: usize,
        count: usize,
        width: usize,
        kept: usize,
        hidden: usize,
        layers: [Layer; count],
        tokens: device [[bf16; width]; config.vocabulary],
        norm: device [bf16; width],
        head: device [[bf16; width]; config.vocabulary],
        angles: device [f32; config.context * config.head()],
    ) {
        let half:   usize = config.head() / 2;
        let narrow: usize = 2 * width + RING * threads;
        let wide:   usize = 2 * hidden + RING * threads;
        let sharing: usize = config.heads / config.groups;

        device keys:    [[bf16; config.context * kept]; count];
        device values:  [[bf16; config.context * kept]; count];
        device x:       [f32; width];
        device turn:    [f32; 2 * half];
        device queries: [f32; width];
        device mixed:   [bf16; width];
        device inner:   [bf16; hidden];
        device logits:  [f32; config.vocabulary];
        device most:      [f32; blocks];
        device likeliest: [u32; blocks];
        device text:    [u32; config.context + 1];
        /// Each token and one, as soon as it is chosen; 0 before.
        mapped stream:  [u32; config.context + 1];
        /// Whether to go on, the place, the number of given tokens, the end, tokens to stop at.
        device state:   [u32; 8];

        memset start = state[0] <- 1;
        kernel first = begin<<<1, 256>>>(
            &tokens, &angles, &text, &state, &mut x, &mut turn, width, config.vocabulary, 2 * half, config.context
        ) after start;
        while write = state[0] {
            each i in 0..count {
                kernel qkv = project<<<blocks, threads * 3 / 4, narrow>>>(
                    &x, &layers[i].norm1, &layers[i].q, &layers[i].k, &layers[i].v, &turn, &state,
                    &mut queries, &mut keys[i], &mut values[i], width, kept, half, config.context, config.epsilon
                ) after programmatic(down(i - 1));
                kernel mix = attend<<<config.heads, 256>>>(
                    &queries, &keys[i], &values[i], &state, &mut mixed, 2 * half, sharing, kept, config.context
                ) after programmatic(qkv);
                kernel out = add_product<<<blocks, threads, narrow>>>(
                    &layers[i].o, &mixed, &mut x, width, width
                ) after programmatic(mix);
                kernel up = widen<<<blocks, threads, narrow>>>(
                    &x, &layers[i].norm2, &layers[i].gate, &layers[i].up, &mut inner, width, hidden, config.epsilon
                ) after programmatic(out);
                kernel down = add_product<<<blocks, threads, wide>>>(
                    &layers[i].down, &inner, &mut x, width, hidden
                ) after programmatic(up);
            }
            kernel last = score<<<blocks, threads, narrow>>>(
                &x, &norm, &head, &mut logits, &mut most, &mut likeliest, width, config.vocabulary, config.epsilon
            ) after programmatic(down);
            kernel next = choose<<<1, 256>>>(
                &most, &likeliest, &tokens, &angles, &mut text, &stream, &mut state, &mut x, &mut turn,
                blocks, width, config.vocabulary, 2 * half, config.context
            ) after programmatic(last);
        } after first;
    }
}

impl Decode {
    /// Prepares the next launch: a text that begins with `given` tokens, at least one, and has `end` of them, or fewer
    /// if one of `stops` comes.
    ///
    /// # Errors
    /// If the context has no room for `given`.
    pub fn begin_text(&mut self, given: &[u32], end: usize, stops: [u32; 4]) -> Result<()> {
        let mut text = self.text_mut()?;
        let end = end.min(text.read_vec()?.len() - 1);
        text.rows_mut(..given.len())?.copy_from(given)?;
        let stream = self.stream()?;
        (0..stream.len()).try_for_each(|index| stream.store(index, 0))?;
        let mut state = [1, 0, given.len() as u32, end as u32 - 1, 0, 0, 0, 0];
        state[4..].copy_from_slice(&stops);
        self.state_mut()?.copy_from(&state)
    }

    /// Goes to a place whose tokens before are in the text, and ends the next launch at place `end`. A launch makes at
    /// least one token.
    ///
    /// # Errors
    /// If the device has failed.
    pub fn seek(&mut self, place: usize, end: usize) -> Result<()> {
        let mut state = self.state()?.read()?;
        (state[1], state[3]) = (place as u32, end as u32);
        self.state_mut()?.copy_from(&state)
    }

    /// The text up to the current place.
    ///
    /// # Errors
    /// If the device has failed.
    pub fn written(&self) -> Result<Vec<u32>> {
        let place = self.state()?.read()?[1] as usize;
        self.text()?.rows(..=place)?.read_vec()
    }
}
