//! The graphs that write a text, on one device or on several: about five kernels a layer, and a loop over tokens on the
//! device.

use crate::engine::Config;
use graph_runtime::{Communicator, Mapped, cuda_graph, cuda_kernels};
use half::bf16;

/// The bytes of shared memory of each thread, for weights on their way: as `PIECE` and `AHEAD` of `llama.cu` say.
pub(super) const RING: usize = 2 * 6 * 16;

#[cuda_kernels("kernels/llama.ptx", prove)]
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

    /// Queries, keys and values of the normed `x`, `asked` and `kept` numbers of them: keys and values go to the row of
    /// the place
    #[requires(grid == grid.x && block == block.x && block.x.is_multiple_of(32) && block.x <= 512)]
    #[requires(shared >= 16 * words + 192 * block.x && 8 * words <= x.len() && 8 * words <= gain.len())]
    #[requires(1 <= asked && asked * 8 * words <= q.len() && asked <= queries.len() && 1 <= kept)]
    #[requires(kept * 8 * words <= k.len() && kept * 8 * words <= v.len())]
    #[requires(1 <= half && half <= 64 && 2 * half <= turn.len())]
    #[requires(1 <= context && context * kept <= keys.len() && context * kept <= values.len())]
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
        words: u32,
        asked: u32,
        kept: u32,
        half: u32,
        context: u32,
        epsilon: f32,
    );

    /// The values of all places so far, mixed for each query by a block; those of a row of blocks share keys and values
    #[requires(grid.z == 1 && block.x <= 16 && block.x * block.y == 256 && block.z == 1 && 1 <= context)]
    #[requires(grid.x * grid.y * 8 * block.x <= queries.len() && grid.x * grid.y * 8 * block.x <= mixed.len())]
    #[requires(context * grid.y * 8 * block.x <= keys.len() && context * grid.y * 8 * block.x <= values.len())]
    safe fn attend(queries: &[f32], keys: &[bf16], values: &[bf16], state: &[u32; 8], mixed: &mut [bf16], context: u32);

    /// `x += w y`
    #[requires(grid == grid.x && block == block.x && block.x.is_multiple_of(32) && block.x <= 512)]
    #[requires(shared >= 16 * words + 192 * block.x && 8 * words <= y.len())]
    #[requires(rows * 8 * words <= w.len() && rows <= x.len())]
    safe fn add_product(w: &[bf16], y: &[bf16], x: &mut [f32], rows: u32, words: u32);

    /// `x += w y` on rank 0, and `x = w y` on the others
    #[requires(grid == grid.x && block == block.x && block.x.is_multiple_of(32) && block.x <= 512)]
    #[requires(shared >= 16 * words + 192 * block.x && 8 * words <= y.len())]
    #[requires(rows * 8 * words <= w.len() && rows <= x.len())]
    safe fn add_share(w: &[bf16], y: &[bf16], x: &mut [f32], rows: u32, words: u32, rank: u32);

    /// `hidden = silu(gate n) * (up n)`, with `n` the normed `x`
    #[requires(grid == grid.x && block == block.x && block.x.is_multiple_of(32) && block.x <= 512)]
    #[requires(shared >= 16 * words + 192 * block.x && 8 * words <= x.len() && 8 * words <= gain.len())]
    #[requires(rows * 8 * words <= gate.len() && rows * 8 * words <= up.len() && rows <= hidden.len())]
    safe fn widen(
        x: &[f32],
        gain: &[bf16],
        gate: &[bf16],
        up: &[bf16],
        hidden: &mut [bf16],
        words: u32,
        rows: u32,
        epsilon: f32,
    );

    /// The logits of the normed `x` for the tokens from `from` on, and the likeliest token of each block
    #[requires(grid == grid.x && block == block.x && block.x.is_multiple_of(32) && block.x <= 512)]
    #[requires(shared >= 16 * words + 192 * block.x && 8 * words <= x.len() && 8 * words <= gain.len())]
    #[requires(vocabulary * 8 * words <= table.len() && vocabulary <= logits.len() && grid.x <= likeliest.len())]
    safe fn score(
        x: &[f32],
        gain: &[bf16],
        table: &[bf16],
        logits: &mut [f32],
        likeliest: &mut [u64],
        words: u32,
        vocabulary: u32,
        from: u32,
        epsilon: f32,
    );

    /// Goes on to the next place: its token is the likeliest one, unless it is given
    #[requires(grid == 1 && block.x == 256 && block == 256 && count <= likeliest.len())]
    #[requires(1 <= vocabulary && vocabulary * width <= table.len() && 1 <= context && context * head <= angles.len())]
    #[requires(context < text.len() && context < stream.len() && width <= x.len() && head <= turn.len())]
    safe fn choose(
        likeliest: &[u64],
        table: &[bf16],
        angles: &[f32],
        text: &mut [u32],
        stream: &[Mapped<u32>],
        state: &mut [u32; 8],
        x: &mut [f32],
        turn: &mut [f32],
        count: u32,
        width: u32,
        vocabulary: u32,
        head: u32,
        context: u32,
    );
}

cuda_graph! {
    /// The tensors of a layer, as a checkpoint has them, or the part of them that a rank multiplies with.
    pub group Layer {
        norm1: device [bf16; width],
        q:     device [[bf16; width]; asked],
        k:     device [[bf16; width]; kept],
        v:     device [[bf16; width]; kept],
        o:     device [[bf16; asked]; width],
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
        asked: usize,
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

        device keys:    [[bf16; config.context * kept]; count];
        device values:  [[bf16; config.context * kept]; count];
        device x:       [f32; width];
        device turn:    [f32; 2 * half];
        device queries: [f32; asked];
        device mixed:   [bf16; asked];
        device inner:   [bf16; hidden];
        device logits:  [f32; config.vocabulary];
        device likeliest: [u64; blocks];
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
                kernel qkv = project<<<blocks, threads, narrow>>>(
                    &x, &layers[i].norm1, &layers[i].q, &layers[i].k, &layers[i].v, &turn, &state,
                    &mut queries, &mut keys[i], &mut values[i],
                    width / 8, asked, kept, half, config.context, config.epsilon
                ) after programmatic(down(i - 1));
                kernel mix = attend<<<(config.heads / config.groups, config.groups), (half / 4, 1024 / half)>>>(
                    &queries, &keys[i], &values[i], &state, &mut mixed, config.context
                ) after programmatic(qkv);
                kernel out = add_product<<<blocks, threads, narrow>>>(
                    &layers[i].o, &mixed, &mut x, width, asked / 8
                ) after programmatic(mix);
                kernel up = widen<<<blocks, threads, narrow>>>(
                    &x, &layers[i].norm2, &layers[i].gate, &layers[i].up, &mut inner, width / 8, hidden, config.epsilon
                ) after programmatic(out);
                kernel down = add_product<<<blocks, threads, wide>>>(
                    &layers[i].down, &inner, &mut x, width, hidden / 8
                ) after programmatic(up);
            }
            kernel last = score<<<blocks, threads, narrow>>>(
                &x, &norm, &head, &mut logits, &mut likeliest, width / 8, config.vocabulary, 0, config.epsilon
            ) after programmatic(down);
            kernel next = choose<<<1, 256>>>(
                &likeliest, &tokens, &angles, &mut text, &stream, &mut state, &mut x, &mut turn,
                blocks, width, config.vocabulary, 2 * half, config.context
            ) after programmatic(last);
        } after first;
    }

    /// As `Decode`, on several ranks: each has some heads, some of the numbers between the matrices of the perceptron,
    /// and some tokens to score. All have the vector of the token, and make the same text.
    pub graph RankDecode(
        config: Config,
        world: &Communicator,
        ranks: usize,
        blocks: usize,
        threads: usize,
        count: usize,
        width: usize,
        asked: usize,
        kept: usize,
        hidden: usize,
        scored: usize,
        layers: [Layer; count],
        tokens: device [[bf16; width]; config.vocabulary],
        norm: device [bf16; width],
        head: device [[bf16; width]; scored],
        angles: device [f32; config.context * config.head()],
    ) {
        let half:   usize = config.head() / 2;
        let narrow: usize = 2 * width + RING * threads;
        let wide:   usize = 2 * hidden + RING * threads;
        let groups: usize = config.groups / ranks;
        let rank:   usize = world.rank();
        let from:   usize = rank * scored;

        device keys:    [[bf16; config.context * kept]; count];
        device values:  [[bf16; config.context * kept]; count];
        device x:       [f32; width];
        device turn:    [f32; 2 * half];
        device queries: [f32; asked];
        device mixed:   [bf16; asked];
        device inner:   [bf16; hidden];
        /// The logits of this rank's tokens.
        device logits:  [f32; scored];
        device own:     [u64; blocks];
        device likeliest: [[u64; blocks]; ranks];
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
                kernel qkv = project<<<blocks, threads, narrow>>>(
                    &x, &layers[i].norm1, &layers[i].q, &layers[i].k, &layers[i].v, &turn, &state,
                    &mut queries, &mut keys[i], &mut values[i],
                    width / 8, asked, kept, half, config.context, config.epsilon
                ) after programmatic(sum_down(i - 1));
                kernel mix = attend<<<(config.heads / config.groups, groups), (half / 4, 1024 / half)>>>(
                    &queries, &keys[i], &values[i], &state, &mut mixed, config.context
                ) after programmatic(qkv);
                kernel out = add_share<<<blocks, threads, narrow>>>(
                    &layers[i].o, &mixed, &mut x, width, asked / 8, rank
                ) after programmatic(mix);
                all_reduce sum_out = x over world after programmatic(out);
                kernel up = widen<<<blocks, threads, narrow>>>(
                    &x, &layers[i].norm2, &layers[i].gate, &layers[i].up, &mut inner, width / 8, hidden, config.epsilon
                ) after programmatic(sum_out);
                kernel down = add_share<<<blocks, threads, wide>>>(
                    &layers[i].down, &inner, &mut x, width, hidden / 8, rank
                ) after programmatic(up);
                all_reduce sum_down = x over world after programmatic(down);
            }
            kernel last = score<<<blocks, threads, narrow>>>(
                &x, &norm, &head, &mut logits, &mut own, width / 8, scored, from, config.epsilon
            ) after programmatic(sum_down);
            all_gather all = own -> likeliest over world after programmatic(last);
            kernel next = choose<<<1, 256>>>(
                &likeliest, &tokens, &angles, &mut text, &stream, &mut state, &mut x, &mut turn,
                ranks * blocks, width, config.vocabulary, 2 * half, config.context
            ) after programmatic(all);
            // All ranks have chosen the same token, but it is this that says so to the compiler.
            all_reduce agree = min(state[0..1]) over world after programmatic(next);
        } after first;
    }
}
