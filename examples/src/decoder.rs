//! A decoder of the kind of GPT-2: its weights, the graph that writes text with them, and the same in plain Rust.
//!
//! The example `generate` writes with it; `train_text` trains a small one.

use cudarc::driver::sys::CUdevice_attribute::{
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
};
use graph_runtime::{
    BoxError, Device, DeviceBuffer, Mapped, MappedHost, Philox, Result, bytemuck, cuda_graph, cuda_kernels,
};
use half::bf16;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::path::Path;
use std::time::{Duration, Instant};

/// Columns of a head of attention.
pub const HEAD: usize = 64;
/// The launch that the tuned kernel is made for: blocks, threads, bytes of shared memory.
const TUNED: (u32, u32, u32) = (128, 416, 203_520);
/// The tokens of an iteration of the loop: an iteration costs a few microseconds, whatever it does.
const TOKENS: usize = 4;
/// The names of the five tensors in a file of weights.
const NAMES: [&str; 5] = ["tokens", "places", "matrices", "vectors", "last_norm"];

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
    pub const GPT2: Self = Self {
        layers: 12,
        width: 768,
        vocabulary: 50_304,
        context: 1024,
    };

    /// The length of each tensor: a row for each token, and one for each place; for each layer its matrices (q, k, v;
    /// projection; up; down; with a row for each output) and its vectors (both norms' gains, their biases; the biases
    /// of q, k, v; projection; up; down); the gain and the bias of the last norm.
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

    /// The layer that is `index` layers before the last one.
    pub const fn back(self, index: usize) -> usize {
        self.layers.saturating_sub(1 + index)
    }
}

#[cuda_kernels("kernels/generate.ptx", tuned = ["kernels/generate.sm_90.ptx"])]
unsafe extern "C" {
    /// `out[i] = scale * r`, with `r` between -1 and 1 by a formula of `i` and `seed`; and one more for the first
    /// `ones` of every `period`
    #[requires(n <= out.len() && n <= threads && period >= 1)]
    safe fn formula(out: &mut [bf16], n: u32, seed: u32, scale: f32, ones: u32, period: u32);

    /// The token after `text[state[1]]`, by all blocks together
    #[requires(width.is_multiple_of(64) && 64 <= width && width <= 1024 && 1 <= context && context <= 1024)]
    #[requires(layers <= 4096 && 1 <= vocabulary && vocabulary * width <= tokens.len() && context * width <= places.len())]
    #[requires(layers * 12 * width * width <= matrices.len() && layers * 13 * width <= vectors.len())]
    #[requires(2 * width <= last_norm.len() && layers * 2 * context * width <= cache.len())]
    #[requires(9 * width <= space.len() && 43 * width * layers <= space.len() && vocabulary <= logits.len() && context < text.len())]
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
    graph Fill(out: mut device [bf16; n], n: usize, seed: u32, scale: f32, ones: usize, period: usize) {
        kernel fill = formula<<<n.div_ceil(256), 256>>>(&mut out, n, seed, scale, ones, period);
    }

    /// Writes on from the position in the state, until the text ends: one launch for all tokens.
    pub graph Decode(
        sizes: Sizes,
        launch_size: (u32, u32, u32),
        seed: u64,
        tokens: device [bf16; sizes.lengths()[0]],
        places: device [bf16; sizes.lengths()[1]],
        matrices: device [bf16; sizes.lengths()[2]],
        vectors: device [bf16; sizes.lengths()[3]],
        last_norm: device [bf16; sizes.lengths()[4]],
    ) {
        rng    luck = seed, draws 4;
        device cache:  [bf16; sizes.layers * 2 * sizes.context * sizes.width];
        device space:  [f32; 43 * sizes.width * sizes.layers.max(1)];
        device logits: [f32; sizes.vocabulary];
        device text:   [u32; sizes.context + 1];
        /// Each token and one, as soon as it is chosen; 0 before.
        mapped stream: [u32; sizes.context + 1];
        /// Whether to go on, the position, the number of given tokens, the end, the last token, the heat; the kernel's.
        device state:  [u32; 10];

        memset start = state[0] <- 1;
        while  write = state[0] {
            // Once the text has ended, the other kernels of an iteration end at once.
            for i in 0..TOKENS {
                #[cooperative]
                kernel next = decode<<<launch_size.0, launch_size.1, launch_size.2>>>(
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

/// Calls `show` with each token after the first as soon as it is chosen, while the graph runs, until `end` or the token
/// `stop`.
///
/// # Errors
/// If `end` is beyond the context, or if no token comes for ten seconds: the launch has failed.
pub fn follow(stream: &MappedHost<u32>, end: usize, stop: u32, mut show: impl FnMut(u32)) -> Result<(), BoxError> {
    for position in 1..=end {
        let start = Instant::now();
        let token = loop {
            match stream.load(position)?.checked_sub(1) {
                Some(token) => break token,
                None if start.elapsed() > Duration::from_secs(10) => return Err("no token comes any more".into()),
                None => std::thread::yield_now(),
            }
        };
        if token == stop {
            break;
        }
        show(token);
    }
    Ok(())
}

/// The weights of a decoder, on a device.
pub struct Model {
    /// The sizes of all tensors.
    pub sizes: Sizes,
    /// The tensors, in the order of [`Sizes::lengths`].
    pub tensors: [DeviceBuffer<[bf16]>; 5],
}

impl Model {
    /// Makes weights by a formula, which `examples/pytorch/generate.py` repeats.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn from_formula(device: &Device, sizes: Sizes) -> Result<Self> {
        let model = Self::new(device, sizes)?;
        let width = sizes.width;
        let ones = [(0, 1), (0, 1), (0, 1), (2 * width, 13 * width), (width, 2 * width)];
        let scales = [0.1, 0.05, 0.06, 0.1, 0.2];
        for (index, tensor) in model.tensors.iter().enumerate() {
            let (ones, period) = ones[index];
            Fill::build(
                device,
                tensor,
                tensor.len(),
                index as u32 + 1,
                scales[index],
                ones,
                period,
            )?
            .launch()?;
        }
        Ok(model)
    }

    /// Rounds weights to bf16; `weights` has all of them, as [`Sizes::weights`] says.
    ///
    /// # Errors
    /// If there are fewer, or if the device has too little memory.
    pub fn from_list(device: &Device, sizes: Sizes, weights: &[f32]) -> Result<Self> {
        let model = Self::new(device, sizes)?;
        let mut rest = weights.iter();
        for tensor in &model.tensors {
            let part = rest.by_ref().take(tensor.len());
            tensor.copy_from(&part.map(|weight| bf16::from_f32(*weight)).collect::<Vec<_>>())?;
        }
        Ok(model)
    }

    /// Loads weights that [`save`](Self::save) wrote.
    ///
    /// # Errors
    /// If the bytes are no such file, or if the device has too little memory.
    pub fn load(device: &Device, bytes: &[u8]) -> Result<Self, BoxError> {
        let file = SafeTensors::deserialize(bytes)?;
        let shape = |name: &str| Ok::<_, BoxError>(file.tensor(name)?.shape().to_vec());
        let (tokens, places) = (shape("tokens")?, shape("places")?);
        let (&[vocabulary, width], &[context, _], &[layers, ..]) = (&*tokens, &*places, &*shape("vectors")?) else {
            return Err("the tensors have other numbers of dimensions".into());
        };
        let sizes = Sizes {
            layers,
            width,
            vocabulary,
            context,
        };
        let model = Self::new(device, sizes)?;
        for (name, tensor) in NAMES.iter().zip(&model.tensors) {
            let view = file.tensor(name)?;
            if view.dtype() != Dtype::BF16 || view.data().len() != tensor.bytes() {
                return Err(format!("tensor `{name}` has another type or size").into());
            }
            let pairs = view
                .data()
                .chunks_exact(2)
                .map(|pair| bf16::from_le_bytes([pair[0], pair[1]]));
            tensor.copy_from(&pairs.collect::<Vec<_>>())?;
        }
        Ok(model)
    }

    /// Writes the weights into a file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), BoxError> {
        let Sizes {
            layers,
            width,
            vocabulary,
            context,
        } = self.sizes;
        let shapes = [
            vec![vocabulary, width],
            vec![context, width],
            vec![layers, 12, width, width],
            vec![layers, 13, width],
            vec![2, width],
        ];
        let numbers = self.tensors.each_ref().map(DeviceBuffer::<[bf16]>::read_vec);
        let mut views = Vec::new();
        for ((name, shape), numbers) in NAMES.into_iter().zip(shapes).zip(&numbers) {
            let numbers = numbers.as_ref().map_err(Clone::clone)?;
            views.push((
                name,
                TensorView::new(Dtype::BF16, shape, bytemuck::cast_slice(numbers))?,
            ));
        }
        Ok(safetensors::serialize_to_file(views, None, path)?)
    }

    /// Allocates zeroes.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn new(device: &Device, sizes: Sizes) -> Result<Self> {
        let [tokens, places, matrices, vectors, last] = sizes.lengths().map(|len| device.alloc_slice(len));
        Ok(Self {
            sizes,
            tensors: [tokens?, places?, matrices?, vectors?, last?],
        })
    }

    /// Builds the graph that writes with these weights; `seed` is that of its luck.
    ///
    /// # Errors
    /// As those of `build`.
    pub fn decode(&self, device: &Device, seed: u64) -> Result<Decode> {
        let [tokens, places, matrices, vectors, last_norm] = &self.tensors;
        let launch = self.launch(device);
        Decode::build(
            device, self.sizes, launch, seed, tokens, places, matrices, vectors, last_norm,
        )
    }

    /// Returns the blocks, the threads of each, and the bytes of shared memory that the tuned kernel asks for: all
    /// blocks run at the same time, one on each multiprocessor.
    fn launch(&self, device: &Device) -> (u32, u32, u32) {
        let Some(context) = device.context() else {
            return (2, 128, 0);
        };
        let limit = |attribute| context.attribute(attribute).unwrap_or(0) as u32;
        let blocks = limit(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT).min(TUNED.0);
        let room = limit(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) >= TUNED.2 + (20 << 10);
        let tuned = self.sizes.width == Sizes::GPT2.width && room;
        (blocks, TUNED.1, if tuned { TUNED.2 } else { 0 })
    }
}

/// Computes the logits after the last token of a text, in plain Rust and f32.
///
/// # Errors
/// If the weights cannot be read.
pub fn plain_logits(model: &Model, text: &[u32]) -> Result<Vec<f32>> {
    let width = model.sizes.width;
    let mut weights = Vec::new();
    for tensor in &model.tensors {
        weights.push(
            tensor
                .read_vec()?
                .iter()
                .map(|weight| weight.to_f32())
                .collect::<Vec<f32>>(),
        );
    }
    let [tokens, places, matrices, vectors, last] = &*weights else {
        return Ok(Vec::new());
    };
    let mut caches = vec![[Vec::new(), Vec::new()]; model.sizes.layers];
    let mut x = Vec::new();
    for (place, token) in places.chunks(width).zip(text) {
        x = sum(place, &tokens[*token as usize * width..][..width]);
        for ((cache, matrix), vector) in caches
            .iter_mut()
            .zip(matrices.chunks(12 * width * width))
            .zip(vectors.chunks(13 * width))
        {
            let rows = |from: usize, to: usize| &vector[from * width..to * width];
            let (qkv, matrix) = matrix.split_at(3 * width * width);
            let (projection, matrix) = matrix.split_at(width * width);
            let (up, down) = matrix.split_at(4 * width * width);
            let qkv = product(qkv, &norm(&x, rows(0, 1), rows(2, 3)), rows(4, 7));
            for (cache, new) in cache.iter_mut().zip(qkv[width..].chunks(width)) {
                cache.extend(new.iter().map(|number| bf16::from_f32(*number).to_f32()));
            }
            x = sum(&x, &product(projection, &attention(&qkv[..width], cache), rows(7, 8)));
            let hidden = product(up, &norm(&x, rows(1, 2), rows(3, 4)), rows(8, 12));
            x = sum(
                &x,
                &product(down, &hidden.into_iter().map(gelu).collect::<Vec<_>>(), rows(12, 13)),
            );
        }
    }
    let (gain, bias) = last.split_at(width);
    Ok(product(
        tokens,
        &norm(&x, gain, bias),
        &vec![0.0; model.sizes.vocabulary],
    ))
}

fn sum(x: &[f32], y: &[f32]) -> Vec<f32> {
    x.iter().zip(y).map(|(x, y)| x + y).collect()
}

fn dot(x: &[f32], y: &[f32]) -> f32 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

fn norm(x: &[f32], gain: &[f32], bias: &[f32]) -> Vec<f32> {
    let mean = x.iter().sum::<f32>() / x.len() as f32;
    let centered: Vec<f32> = x.iter().map(|x| x - mean).collect();
    let inverse = 1.0 / (dot(&centered, &centered) / x.len() as f32 + 1e-5).sqrt();
    let scaled = centered.iter().zip(gain).map(|(x, gain)| x * inverse * gain);
    scaled.zip(bias).map(|(x, bias)| x + bias).collect()
}

fn product(matrix: &[f32], x: &[f32], bias: &[f32]) -> Vec<f32> {
    let rows = matrix.chunks(x.len()).zip(bias);
    rows.map(|(row, bias)| bias + dot(row, x)).collect()
}

fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + (0.797_884_6 * (x + 0.044_715 * x * x * x)).tanh())
}

/// Mixes the values of all positions so far, for each head.
fn attention(q: &[f32], [keys, values]: &[Vec<f32>; 2]) -> Vec<f32> {
    let width = q.len();
    let mut mixed = vec![0.0; width];
    for first in (0..width).step_by(HEAD) {
        let head = first..first + HEAD;
        let scores = keys
            .chunks(width)
            .map(|key| dot(&q[head.clone()], &key[head.clone()]) / 8.0);
        let scores: Vec<f32> = scores.collect();
        let most = scores.iter().copied().fold(f32::MIN, f32::max);
        let shares: Vec<f32> = scores.iter().map(|score| (score - most).exp()).collect();
        let all = shares.iter().sum::<f32>();
        for (share, value) in shares.iter().zip(values.chunks(width)) {
            let mixed = mixed[head.clone()].iter_mut().zip(&value[head.clone()]);
            mixed.for_each(|(mixed, value)| *mixed += share / all * value);
        }
    }
    mixed
}

/// Returns the paragraphs of Markdown pages, without code and tables, as ASCII; a 0 ends each.
pub fn paragraphs(pages: &[&str]) -> Vec<u8> {
    let mut characters = Vec::new();
    // Code lies between fences.
    let prose = pages.iter().flat_map(|page| page.split("```").step_by(2));
    for paragraph in prose.flat_map(|prose| prose.split("\n\n")).map(str::trim) {
        if paragraph.len() > 40 && !paragraph.starts_with(['|', '#', '[', '<', '+']) {
            let words: Vec<&str> = paragraph.split_whitespace().collect();
            characters.extend(words.join(" ").bytes().filter(u8::is_ascii));
            characters.push(0);
        }
    }
    characters
}
