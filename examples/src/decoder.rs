//! A decoder of the kind of GPT-2: its weights, the graph that writes text with them, and the same in plain Rust.
//!
//! The example `generate` writes with it; `train_text` trains a small one.

mod plain;
mod model;

use graph_runtime::{BoxError, Mapped, MappedHost, Philox, Result, cuda_graph, cuda_kernels};
use half::bf16;
pub use model::Model;
pub use plain::{cross_entropy, plain_logits, plain_loss};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

/// Columns of a head of attention.
pub const HEAD: usize = 64;
/// The sizes of a decoder. The width is a multiple of [`HEAD`] and at most 1,024, as is the context.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sizes {
    /// The number of layers.
    pub layers: usize,
    /// The length of the vector that stands for a token.
    pub width: usize,
    /// The number of different tokens.
    pub vocabulary: usize,
    /// The most tokens of a text.
    pub context: usize,
}

impl Sizes {
    /// GPT-2 with 124 million weights; the vocabulary is rounded up, as usual.
    pub const GPT2: Self = Self::new(12, 768, 50_304, 1024);

    /// The sizes of these layers, width, vocabulary and context.
    pub const fn new(layers: usize, width: usize, vocabulary: usize, context: usize) -> Self {
        Self {
            layers,
            width,
            vocabulary,
            context,
        }
    }

    /// The shape of each tensor: a row for each token, and one for each place; for each layer its matrices (q, k, v;
    /// projection; up; down; with a row for each output) and its vectors (both norms' gains, their biases; the biases
    /// of q, k, v; projection; up; down); the gain and the bias of the last norm.
    fn shapes(self) -> [Vec<usize>; 5] {
        let (layers, width) = (self.layers, self.width);
        [
            vec![self.vocabulary, width],
            vec![self.context, width],
            vec![layers, 12, width, width],
            vec![layers, 13, width],
            vec![2, width],
        ]
    }

    /// The length of each tensor.
    pub const fn lengths(self) -> [usize; 5] {
        let (layers, width) = (self.layers, self.width);
        let (tokens, places) = (self.vocabulary * width, self.context * width);
        [
            tokens,
            places,
            layers * 12 * width * width,
            layers * 13 * width,
            2 * width,
        ]
    }

    /// The number of all weights. As one list they have the order of [`lengths`](Self::lengths).
    pub const fn weights(self) -> usize {
        self.last() + 2 * self.width
    }

    /// The index, in that list, of the first weight of the places.
    pub const fn places(self) -> usize {
        self.lengths()[0]
    }

    /// The index of row `part * width` of a layer's matrices, of `12 * width`; each row has `width` weights.
    pub const fn matrix(self, layer: usize, part: usize) -> usize {
        self.places() + self.lengths()[1] + (12 * layer + part) * self.width * self.width
    }

    /// The index of a layer's vector, of 13.
    pub const fn vector(self, layer: usize, part: usize) -> usize {
        self.matrix(self.layers, 0) + (13 * layer + part) * self.width
    }

    /// The index of the last norm's gain.
    pub const fn last(self) -> usize {
        self.vector(self.layers, 0)
    }

    /// The length of the memory by which the blocks of a decoder pass numbers to each other.
    pub const fn passed(self) -> usize {
        let layers = if self.layers == 0 { 1 } else { self.layers };
        73 * self.width * layers
    }

    /// The layer that is `index` layers before the last one.
    pub const fn back(self, index: usize) -> usize {
        self.layers.saturating_sub(1 + index)
    }
}

/// The launches of the kernel that makes tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The number of blocks. All run at the same time.
    pub blocks: u32,
    /// The threads of a block.
    pub threads: u32,
    /// The dynamic shared memory of a block, in bytes.
    pub shared: u32,
    /// The blocks of a cluster.
    pub cluster: u32,
    /// The launches in an iteration of the loop, which costs a few microseconds by itself.
    pub launches: usize,
}

impl Shape {
    /// The shape that the tuned kernel is made for. A launch makes all tokens.
    pub const TUNED: Self = Self {
        blocks: 96,
        threads: 384,
        shared: 212_736,
        cluster: 8,
        launches: 1,
    };

    /// The number of blocks. A launch makes a token.
    pub const fn of_blocks(blocks: u32, threads: u32) -> Self {
        Self {
            blocks,
            threads,
            shared: 0,
            cluster: 1,
            launches: 4,
        }
    }
}

#[cuda_kernels("kernels/generate.ptx", tuned = ["kernels/generate.sm_90.ptx"])]
unsafe extern "C" {
    /// `out[i] = scale * r`, with `r` between -1 and 1 by a formula of `i` and `seed`; and one more for the first
    /// `ones` of every `period`
    #[requires(n <= out.len() && n <= threads && period >= 1)]
    safe fn formula(out: &mut [bf16], n: u32, seed: u32, scale: f32, ones: u32, period: u32);

    /// The token after `text[state[1]]`, by all blocks together; the tuned kernel makes all tokens of a text
    #[requires(width.is_multiple_of(64) && 64 <= width && width <= 1024 && 1 <= context && context <= 1024)]
    #[requires(layers <= 4096 && 1 <= vocabulary && vocabulary * width <= tokens.len() && context * width <= places.len())]
    #[requires(layers * 12 * width * width <= matrices.len() && layers * 13 * width <= vectors.len())]
    #[requires(2 * width <= last_norm.len() && layers * 2 * context * width <= cache.len())]
    #[requires(9 * width <= space.len() && 73 * width * layers <= space.len() && vocabulary <= logits.len() && context < text.len())]
    #[requires(context < stream.len() && 1 <= rng.len())]
    #[requires(block.x.is_multiple_of(32) && block == block.x && grid == grid.x)]
    safe fn decode(
        tokens: &[bf16],
        places: &[bf16],
        matrices: &[bf16],
        vectors: &[bf16],
        last_norm: &[bf16],
        cache: &mut [bf16],
        space: &mut [f32],
        logits: &mut [f32],
        text: &mut [u32],
        stream: &[Mapped<u32>],
        state: &mut [u32; 10],
        rng: &[Philox],
        layers: u32,
        width: u32,
        vocabulary: u32,
        context: u32,
    );
}

cuda_graph! {
    /// Fills a tensor by the formula.
    pub graph Fill(out: mut device [bf16; n], n: usize, seed: u32, scale: f32, ones: usize, period: usize) {
        kernel fill = formula<<<n.div_ceil(256), 256>>>(&mut out, n, seed, scale, ones, period);
    }

    /// Writes on from the position in the state, until the text ends: one launch for all tokens.
    pub graph Decode(
        sizes: Sizes,
        shape: Shape,
        seed: u64,
        tokens: device [bf16; sizes.lengths()[0]],
        places: device [bf16; sizes.lengths()[1]],
        matrices: device [bf16; sizes.lengths()[2]],
        vectors: device [bf16; sizes.lengths()[3]],
        last_norm: device [bf16; sizes.lengths()[4]],
    ) {
        rng    luck = seed, draws 4;
        device cache:  [bf16; sizes.layers * 2 * sizes.context * sizes.width];
        device space:  [f32; sizes.passed()];
        device logits: [f32; sizes.vocabulary];
        device text:   [u32; sizes.context + 1];
        /// Each token and one, as soon as it is chosen; 0 before.
        mapped stream: [u32; sizes.context + 1];
        /// Whether to go on, the position, the number of given tokens, the end, the last token, the heat; the kernel's.
        device state:  [u32; 10];

        memset start = state[0] <- 1;
        while  write = state[0] {
            // Once the text has ended, the other kernels of an iteration end at once.
            for i in 0..shape.launches {
                #[cooperative]
                #[cluster(shape.cluster)]
                kernel next = decode<<<shape.blocks, shape.threads, shape.shared>>>(
                    &tokens, &places, &matrices, &vectors, &last_norm,
                    &mut cache, &mut space, &mut logits, &mut text, &stream, &mut state, &luck,
                    sizes.layers, sizes.width, sizes.vocabulary, sizes.context
                );
            }
        } after start;
    }
}

/// The tokens that a text begins with, and how it goes on.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The first tokens, at least one.
    pub given: &'a [u32],
    /// The number of tokens to stop at, with the given ones.
    pub end: usize,
    /// The token to stop at.
    pub stop: u32,
    /// 0 for the likeliest token each time, else the temperature of the softmax that tokens are drawn from.
    pub heat: f32,
}

impl<'a> Task<'a> {
    /// Goes on with the likeliest tokens until there are `end`.
    pub const fn likeliest(given: &'a [u32], end: usize) -> Self {
        Self {
            given,
            end,
            stop: u32::MAX,
            heat: 0.0,
        }
    }
}

impl Decode {
    /// Prepares the next launch.
    ///
    /// # Errors
    /// If the context has no room for `given`.
    pub fn begin(&mut self, task: Task<'_>) -> Result<()> {
        let mut text = self.text_mut()?;
        let end = task.end.min(text.read_vec()?.len() - 1);
        text.rows_mut(..task.given.len())?.copy_from(task.given)?;
        let stream = self.stream()?;
        (0..stream.len()).try_for_each(|index| stream.store(index, 0))?;
        let tag = self.state()?.read()?[6];
        let numbers = [1, 0, task.given.len() as u32, end as u32, task.stop];
        let mut state = [0; 10];
        state[..5].copy_from_slice(&numbers);
        (state[5], state[6]) = (task.heat.to_bits(), tag);
        self.state_mut()?.copy_from(&state)
    }

    /// Goes back to a position whose token is in the text, or forward. A launch decodes at least one token.
    ///
    /// # Errors
    /// If the device has failed.
    pub fn seek(&mut self, position: usize, end: usize) -> Result<()> {
        let mut state = self.state()?.read()?;
        (state[1], state[3]) = (position as u32, end as u32);
        self.state_mut()?.copy_from(&state)
    }

    /// Returns the text up to the current position.
    ///
    /// # Errors
    /// If the device has failed.
    pub fn written(&self) -> Result<Vec<u32>> {
        let position = self.state()?.read()?[1] as usize;
        self.text()?.rows(..=position)?.read_vec()
    }
}

/// Calls `launch`, which waits for the end of a launch, and meanwhile `show` with each token after the first as soon as
/// it is chosen, until `end` or one of `stops`.
///
/// # Errors
/// Any error of `launch`; if `end` is beyond the context, or if the launch ends without a token.
pub fn follow(
    launch: impl FnOnce() -> Result<()>,
    stream: &MappedHost<u32>,
    (end, stops): (usize, &[u32]),
    mut show: impl FnMut(u32) + Send,
) -> Result<(), BoxError> {
    let is_over = &AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(move || {
            for position in 1..=end {
                match next(stream, position, is_over)? {
                    token if stops.contains(&token) => break,
                    token => show(token),
                }
            }
            Ok::<_, BoxError>(())
        });
        let launched = {
            let _over = Over(is_over);
            launch()
        };
        let read = reader.join().map_err(|_| "the reader has failed")?;
        launched?;
        read
    })
}

/// Waits for a token of a launch.
fn next(stream: &MappedHost<u32>, position: usize, is_over: &AtomicBool) -> Result<u32, BoxError> {
    loop {
        let was_over = is_over.load(SeqCst);
        if let Some(token) = stream.load(position)?.checked_sub(1) {
            return Ok(token);
        }
        if was_over {
            return Err(format!("the launch has ended without token {position}").into());
        }
        thread::sleep(Duration::from_micros(20));
    }
}

/// Says, when it is dropped, that a launch is over: also if it has panicked.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}
