//! The weights of a Llama on a device, or those of one of several ranks: from a folder as Hugging Face has them, or by
//! a formula.

use super::graph::{Decode, Layer, RING, RankDecode};
use super::share::Share;
use crate::decoder::Fill;
use crate::engine::Config;
use crate::program::progress;
use crate::tensors;
use cudarc::driver::sys::CUdevice_attribute::{
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
};
use graph_runtime::bytemuck::{cast_slice, pod_collect_to_vec};
use graph_runtime::{BoxError, Communicator, Device, DeviceBuffer, Table};
use half::bf16;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The config of Llama-3.2-1B, with a shorter context.
pub const LLAMA_1B: &str = r#"{
  "hidden_size": 2048,
  "intermediate_size": 8192,
  "num_hidden_layers": 16,
  "num_attention_heads": 32,
  "num_key_value_heads": 8,
  "vocab_size": 128256,
  "max_position_embeddings": 4096,
  "rms_norm_eps": 1e-5,
  "rope_theta": 500000.0,
  "rope_scaling": {
    "rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192
  },
  "tie_word_embeddings": true
}
"#;

/// The config of the tiny model, which `pytorch/llama.py` has too. Its angles are scaled within its context.
pub const TINY: &str = r#"{
  "hidden_size": 64,
  "intermediate_size": 544,
  "num_hidden_layers": 2,
  "num_attention_heads": 4,
  "num_key_value_heads": 2,
  "vocab_size": 96,
  "max_position_embeddings": 64,
  "rms_norm_eps": 1e-5,
  "rope_theta": 10000.0,
  "rope_scaling": {
    "rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32
  },
  "tie_word_embeddings": true,
  "eos_token_id": [95]
}
"#;

/// The weights of a model, or a share of them, on a device.
pub struct Weights {
    /// The sizes of the model.
    pub config: Config,
    /// The share that is here.
    pub share: Share,
    /// The tensors by their names in the checkpoint.
    tensors: BTreeMap<String, DeviceBuffer<[bf16]>>,
}

impl Weights {
    /// Makes weights by a formula, which `examples/pytorch/llama.py` repeats.
    ///
    /// # Errors
    /// If the device has too little memory.
    pub fn from_formula(device: &Device, config: Config, share: Share) -> Result<Self, BoxError> {
        let mut seed = 0;
        Self::new(device, config, share, |name, shape, tensor| {
            seed += 1;
            let (scale, ones) = scale_of(shape);
            let len = shape.iter().product();
            let fill = |tensor| Ok::<_, BoxError>(Fill::build(device, tensor, len, seed, scale, ones, 1)?.launch()?);
            if tensor.len() == len {
                return fill(tensor);
            }
            let whole = device.alloc_slice(len)?;
            fill(&whole)?;
            Ok(tensor.copy_from(&share.cut(name, shape, whole.read_vec()?))?)
        })
    }

    /// Loads a model: `config.json`, and tensors in f32, f16 or bf16 in any number of files of safetensors. A text has
    /// at most `context` tokens.
    ///
    /// # Errors
    /// If a file cannot be read, or if a tensor is missing or has another shape: the message names it.
    pub fn open(device: &Device, folder: &Path, context: usize, share: Share) -> Result<Self, BoxError> {
        let path = folder.join("config.json");
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut config = Config::parse(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        config.context = config.context.min(context);
        let mut files = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "safetensors") {
                files.push((fs::read(&path)?, path));
            }
        }
        let mut opened = Vec::new();
        for (bytes, path) in &files {
            opened.push(SafeTensors::deserialize(bytes).map_err(|error| format!("{}: {error}", path.display()))?);
        }
        let bar = progress(config.tensors().len() as u32)?.with_message("tensors are loaded");
        Self::new(device, config, share, |name, shape, tensor| {
            let found = opened.iter().find_map(|file| file.tensor(name).ok());
            let found = found.ok_or_else(|| format!("{}: no file has the tensor `{name}`", folder.display()))?;
            let numbers = numbers(&found).filter(|_| found.shape() == shape).ok_or_else(|| {
                let (dtype, found) = (found.dtype(), found.shape());
                format!("tensor `{name}` is {dtype:?} {found:?}, not F32, F16 or BF16 {shape:?}")
            })?;
            bar.inc(1);
            Ok(tensor.copy_from(&share.cut(name, shape, numbers))?)
        })
    }

    /// Allocates a share of all tensors, and has `fill` give each its numbers, by name and by the shape of the whole.
    fn new(
        device: &Device,
        config: Config,
        share: Share,
        mut fill: impl FnMut(&str, &[usize], &DeviceBuffer<[bf16]>) -> Result<(), BoxError>,
    ) -> Result<Self, BoxError> {
        share.check(config)?;
        let mut tensors = BTreeMap::new();
        for (name, shape) in config.tensors() {
            let tensor = device.alloc_slice(share.shape(&name, &shape).into_iter().product())?;
            fill(&name, &shape, &tensor)?;
            tensors.insert(name, tensor);
        }
        Ok(Self { config, share, tensors })
    }

    /// Builds the graph that writes with these weights, which are whole.
    ///
    /// # Errors
    /// If the device has too little memory, or if the kernels do not take these sizes: the message names them.
    pub fn decode(&self, device: &Device) -> Result<Decode, BoxError> {
        let config = self.config;
        let Bound {
            layers,
            tokens,
            norm,
            head,
            angles,
            launch: [blocks, threads],
            lengths: [asked, kept, hidden, _],
        } = self.bind(device)?;
        Ok(Decode::build(
            device,
            config,
            blocks,
            threads,
            config.layers,
            config.width,
            asked,
            kept,
            hidden,
            layers,
            tokens,
            norm,
            head,
            angles,
        )?)
    }

    /// Builds the graph of a rank that writes with these weights, its share.
    ///
    /// # Errors
    /// As [`decode`](Self::decode), and if another rank builds another graph.
    pub fn decode_on(&self, device: &Device, world: &Communicator) -> Result<RankDecode, BoxError> {
        let config = self.config;
        let Bound {
            layers,
            tokens,
            norm,
            head,
            angles,
            launch: [blocks, threads],
            lengths: [asked, kept, hidden, scored],
        } = self.bind(device)?;
        Ok(RankDecode::build(
            device,
            config,
            world,
            self.share.ranks,
            blocks,
            threads,
            config.layers,
            config.width,
            asked,
            kept,
            hidden,
            scored,
            layers,
            tokens,
            norm,
            head,
            angles,
        )?)
    }

    /// The weights as the graphs take them.
    fn bind(&self, device: &Device) -> Result<Bound, BoxError> {
        let config = self.config;
        let Share { rank, ranks } = self.share;
        let Config { width, vocabulary, .. } = config;
        let whole = [width, config.kept(), config.hidden, vocabulary];
        let lengths @ [asked, kept, hidden, scored] = whole.map(|length| length / ranks);
        let tensor = |name: &str| {
            let tensor = self.tensors.get(name);
            tensor.ok_or_else(|| BoxError::from(format!("there is no tensor `{name}`")))
        };
        let layer = |number: usize| {
            let part = |part: &str| tensor(&Config::name(number, part));
            Ok::<_, BoxError>(Layer {
                norm1: part("input_layernorm.weight")?.clone(),
                q: part("self_attn.q_proj.weight")?.table([asked, width])?,
                k: part("self_attn.k_proj.weight")?.table([kept, width])?,
                v: part("self_attn.v_proj.weight")?.table([kept, width])?,
                o: part("self_attn.o_proj.weight")?.table([width, asked])?,
                norm2: part("post_attention_layernorm.weight")?.clone(),
                gate: part("mlp.gate_proj.weight")?.table([hidden, width])?,
                up: part("mlp.up_proj.weight")?.table([hidden, width])?,
                down: part("mlp.down_proj.weight")?.table([width, hidden])?,
            })
        };
        let layers = (0..config.layers).map(layer).collect::<Result<Vec<_>, _>>()?;
        let tokens = tensor("model.embed_tokens.weight")?.table([vocabulary, width])?;
        let head = if config.is_tied {
            tokens.rows(rank * scored..(rank + 1) * scored)?
        } else {
            tensor(config.head_name())?.table([scored, width])?
        };
        let norm = tensor("model.norm.weight")?.clone();

        let half = config.head() / 2;
        let [cosines, sines] = config.angles();
        let rows = cosines.chunks(half).zip(sines.chunks(half));
        let turns: Vec<f32> = rows.flat_map(|(cosines, sines)| [cosines, sines].concat()).collect();
        let angles = device.alloc_slice(turns.len())?;
        angles.copy_from(&turns)?;

        // A block for each multiprocessor: its weights on their way, and those of the next kernel, fill shared memory.
        let launch = match device.context() {
            Some(context) => {
                let limit = |attribute| Ok::<_, BoxError>(context.attribute(attribute)? as usize);
                let room = limit(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
                let threads = if 2 * hidden.max(width) + 512 * RING <= room {
                    512
                } else {
                    256
                };
                [limit(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?, threads]
            }
            None => [2, 128],
        };
        Ok(Bound {
            layers,
            tokens,
            norm,
            head,
            angles,
            launch,
            lengths,
        })
    }
}

/// The weights as the graphs take them.
struct Bound {
    layers: Vec<Layer>,
    tokens: DeviceBuffer<Table<bf16, 2>>,
    norm: DeviceBuffer<[bf16]>,
    head: DeviceBuffer<Table<bf16, 2>>,
    angles: DeviceBuffer<[f32]>,
    /// Blocks, and threads of each.
    launch: [usize; 2],
    /// The numbers in queries, keys and between the matrices of the perceptron, and the tokens to score.
    lengths: [usize; 4],
}

/// Writes the tiny model as Hugging Face has its models: `config.json`, `model.safetensors`, and `tokenizer.json`,
/// whose tokens are characters.
///
/// # Errors
/// If a file cannot be written.
pub fn write_tiny(folder: &Path) -> Result<(), BoxError> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("config.json"), TINY)?;
    let shapes = Config::parse(TINY)?.tensors();
    let by_formula = |(seed, (_, shape)): (usize, &(String, Vec<usize>))| {
        let (scale, ones) = scale_of(shape);
        let count = shape.iter().product::<usize>() as u32;
        (0..count)
            .map(|index| formula(index, seed as u32 + 1, scale, ones))
            .collect()
    };
    let numbers: Vec<Vec<bf16>> = shapes.iter().enumerate().map(by_formula).collect();
    let mut views = Vec::new();
    for ((name, shape), numbers) in shapes.iter().zip(&numbers) {
        views.push((name, TensorView::new(Dtype::BF16, shape.clone(), cast_slice(numbers))?));
    }
    safetensors::serialize_to_file(views, None, &folder.join("model.safetensors"))?;

    let mut vocabulary = serde_json::Map::new();
    for token in 0..95 {
        vocabulary.insert(char::from(b' ' + token).to_string(), token.into());
    }
    vocabulary.insert("<end>".to_owned(), 95.into());
    let tokenizer = serde_json::json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": { "type": "Split", "pattern": { "String": "" }, "behavior": "Isolated", "invert": false },
        "post_processor": null,
        "decoder": { "type": "Fuse" },
        "model": { "type": "WordLevel", "vocab": vocabulary, "unk_token": "?" },
    });
    Ok(fs::write(folder.join("tokenizer.json"), tokenizer.to_string())?)
}

/// The scale of a tensor's numbers, and whether one is added: rows of matrices keep the size of what they are
/// multiplied with, gains are about one.
fn scale_of(shape: &[usize]) -> (f32, usize) {
    match shape {
        [_, columns] => ((3.0 / *columns as f32).sqrt(), 0),
        _ => (0.2, 1),
    }
}

/// The kernel `formula` of `kernels/generate.cu`.
fn formula(index: u32, seed: u32, scale: f32, ones: usize) -> bf16 {
    let mut bits = index.wrapping_add(seed.wrapping_mul(0x9e37_79b9));
    bits = (bits ^ (bits >> 16)).wrapping_mul(0x7feb_352d);
    bits = (bits ^ (bits >> 15)).wrapping_mul(0x846c_a68b);
    bits ^= bits >> 16;
    let unit = ((bits >> 8) as i32 - 0x0080_0000) as f32 / 8_388_608.0;
    bf16::from_f32(scale.mul_add(unit, ones as f32))
}

/// The numbers of a tensor in bf16; `None` if they are of a type that is not taken.
fn numbers(tensor: &TensorView<'_>) -> Option<Vec<bf16>> {
    match tensor.dtype() {
        Dtype::BF16 => Some(pod_collect_to_vec(tensor.data())),
        _ => Some(tensors::floats(tensor)?.into_iter().map(bf16::from_f32).collect()),
    }
}
