//! The graph of a decode step, declared from PTX text.

use super::config::Config;
use super::memory::Tensors;
use graph_runtime::{BoxError, CallArgument, Device, Element, Graph, GraphBuilder, Launch, Module, OnDevice, Place};

/// Threads of kernels that have one for each number.
const THREADS: usize = 128;
/// The most places: attention keeps a number for each in 48 KiB of shared memory.
const MOST_PLACES: usize = 12_288;

/// Builds the graph of a step, of kernels of `engine.cu`: a launch goes on by one token. Its memory is `tensors`, and
/// `scratch` for what lasts no longer than a launch.
///
/// # Errors
/// If the model shares `lm_head` with the embedding, or has too many places. If `tensors` are not those of the model,
/// or if the kernels are other ones: the message names node, kernel, memory.
pub fn build(device: &Device, kernels: &Module, config: Config, tensors: &Tensors) -> Result<Graph, BoxError> {
    let context = config.context;
    if context > MOST_PLACES {
        return Err(format!("`max_position_embeddings`, {context}, is more than {MOST_PLACES}").into());
    }
    if config.is_tied {
        return Err("`tie_word_embeddings` is true: the engine takes models with a tensor `lm_head.weight`".into());
    }
    let mut builder = GraphBuilder::new(device, "Step");
    builder.after_auto_everywhere(); // in the order of the nodes, as far as their memory needs it
    let mut step = Step {
        builder,
        kernels,
        config,
        tensors,
    };
    step.declare()?;
    Ok(step.builder.build()?)
}

/// Memory of a graph that is being declared.
type Numbers<T = f32> = Place<[T], OnDevice>;

struct Step<'a> {
    builder: GraphBuilder,
    kernels: &'a Module,
    config: Config,
    tensors: &'a Tensors,
}

/// Memory that all layers use.
struct Common {
    x: Numbers,
    normed: Numbers,
    queries: Numbers,
    key: Numbers,
    value: Numbers,
    mixed: Numbers,
    gate: Numbers,
    up: Numbers,
    cosines: Numbers,
    sines: Numbers,
    position: Numbers<u32>,
}

impl Step<'_> {
    /// Memory of the engine's, with this number of elements.
    fn tensor<T: Element>(&mut self, name: &str, len: usize, mutable: bool) -> Result<Numbers<T>, BoxError> {
        let memory = self.tensors.get::<T>(name)?;
        let place = self.builder.shared(name.to_owned(), &memory, mutable);
        self.builder.require_len(&place, len);
        Ok(place)
    }

    /// Adds a node that launches a kernel.
    fn kernel<const N: usize>(
        &mut self,
        name: impl Into<String>,
        kernel: &str,
        launch: Launch,
        arguments: [CallArgument; N],
    ) -> Result<(), BoxError> {
        let kernel = self.kernels.kernel(kernel)?;
        // SAFETY: each kernel of `engine.cu` stays within memory of the lengths that its values say. `tensor` has
        // `build` compare these lengths, and scratch memory has them. Kernels write all of what they get as `uninit`.
        let call = unsafe { kernel.call(arguments) };
        self.builder.kernel(name.into(), launch, call);
        Ok(())
    }

    fn declare(&mut self) -> Result<(), BoxError> {
        let config = self.config;
        let Config {
            width,
            hidden,
            vocabulary,
            context,
            ..
        } = config;
        let angles = context * config.head() / 2;
        let mut scratch = |name: &'static str, len| self.builder.scratch_slice(name, len);
        let (x, normed) = (scratch("x", width), scratch("normed", width));
        let (queries, mixed) = (scratch("queries", width), scratch("mixed", width));
        let (key, value) = (scratch("key", config.kept()), scratch("value", config.kept()));
        let (gate, up) = (scratch("gate", hidden), scratch("up", hidden));
        let mut common = Common {
            x,
            normed,
            queries,
            key,
            value,
            mixed,
            gate,
            up,
            cosines: self.tensor("cosines", angles, false)?,
            sines: self.tensor("sines", angles, false)?,
            position: self.tensor("position", 2, true)?,
        };
        let mut text = self.tensor::<u32>("text", context, true)?;
        let mut logits = self.tensor("logits", vocabulary, true)?;

        let table = self.tensor::<f32>("model.embed_tokens.weight", vocabulary * width, false)?;
        let arguments = [
            table.read(),
            text.read(),
            common.position.read(),
            CallArgument::uninit(&mut common.x),
            count(width),
            count(vocabulary),
            count(context),
        ];
        self.kernel("embed", "embed", for_each(width), arguments)?;
        for layer in 0..config.layers {
            self.attention(layer, &mut common)?;
            self.perceptron(layer, &mut common)?;
        }
        self.norm("norm".to_owned(), "model.norm.weight", &mut common)?;
        self.multiply("score".to_owned(), "lm_head.weight", &common.normed, &mut logits)?;
        let arguments = [
            logits.read(),
            text.write(),
            common.position.write(),
            count(vocabulary),
            count(context),
        ];
        self.kernel("choose", "choose", Launch::new(1, 256), arguments)
    }

    /// Adds what tokens know of each other to `x`.
    fn attention(&mut self, layer: usize, common: &mut Common) -> Result<(), BoxError> {
        let config = self.config;
        let (context, head, kept) = (config.context, config.head(), config.kept());
        let tensor = |part: &str| Config::name(layer, part);
        let node = |part: &str| format!("layer{layer}.{part}");
        let mut keys = self.tensor::<f32>(&tensor("keys"), context * kept, true)?;
        let mut values = self.tensor::<f32>(&tensor("values"), context * kept, true)?;

        self.norm(node("norm1"), &tensor("input_layernorm.weight"), common)?;
        let Common {
            normed,
            queries,
            key,
            value,
            mixed,
            ..
        } = common;
        self.multiply(node("q"), &tensor("self_attn.q_proj.weight"), normed, queries)?;
        self.multiply(node("k"), &tensor("self_attn.k_proj.weight"), normed, key)?;
        self.multiply(node("v"), &tensor("self_attn.v_proj.weight"), normed, value)?;
        for (name, heads, numbers) in [("turn_q", config.heads, queries), ("turn_k", config.groups, key)] {
            let arguments = [
                numbers.write(),
                common.cosines.read(),
                common.sines.read(),
                common.position.read(),
                count(head / 2),
                count(context),
            ];
            self.kernel(node(name), "turn", Launch::new(heads, head / 2), arguments)?;
        }
        for (name, numbers, rows) in [
            ("keep_k", &common.key, &mut keys),
            ("keep_v", &common.value, &mut values),
        ] {
            let arguments = [
                numbers.read(),
                common.position.read(),
                rows.write(),
                count(kept),
                count(context),
            ];
            self.kernel(node(name), "keep", for_each(kept), arguments)?;
        }
        let arguments = [
            common.queries.read(),
            keys.read(),
            values.read(),
            common.position.read(),
            CallArgument::uninit(mixed),
            count(head),
            count(kept),
            count(context),
        ];
        let launch = Launch::new((config.groups, config.heads / config.groups), 32);
        let launch = launch.shared(context * size_of::<f32>());
        self.kernel(node("attend"), "attend", launch, arguments)?;
        self.multiply_add(
            node("o"),
            &tensor("self_attn.o_proj.weight"),
            &common.mixed,
            &mut common.x,
        )
    }

    /// Adds what a layer makes of each token to `x`.
    fn perceptron(&mut self, layer: usize, common: &mut Common) -> Result<(), BoxError> {
        let tensor = |part: &str| Config::name(layer, part);
        let node = |part: &str| format!("layer{layer}.{part}");
        self.norm(node("norm2"), &tensor("post_attention_layernorm.weight"), common)?;
        let Common {
            x, normed, gate, up, ..
        } = common;
        self.multiply(node("gate"), &tensor("mlp.gate_proj.weight"), normed, gate)?;
        self.multiply(node("up"), &tensor("mlp.up_proj.weight"), normed, up)?;
        let hidden = self.config.hidden;
        let arguments = [gate.write(), up.read(), count(hidden)];
        self.kernel(node("silu"), "gate_by_silu", for_each(hidden), arguments)?;
        self.multiply_add(node("down"), &tensor("mlp.down_proj.weight"), gate, x)
    }

    /// Normalises `x`.
    fn norm(&mut self, node: String, gain: &str, common: &mut Common) -> Result<(), BoxError> {
        let width = self.config.width;
        let gain = self.tensor::<f32>(gain, width, false)?;
        let arguments = [
            common.x.read(),
            gain.read(),
            CallArgument::uninit(&mut common.normed),
            count(width),
            self.config.epsilon.into(),
        ];
        self.kernel(node, "rms_norm", Launch::new(1, 256), arguments)
    }

    /// Makes `out` the product of a matrix and `x`.
    fn multiply(&mut self, node: String, matrix: &str, x: &Numbers, out: &mut Numbers) -> Result<(), BoxError> {
        let (rows, columns) = (len(out), len(x));
        let w = self.tensor::<f32>(matrix, rows * columns, false)?;
        let arguments = [
            w.read(),
            x.read(),
            CallArgument::uninit(out),
            count(rows),
            count(columns),
        ];
        self.kernel(node, "multiply", Launch::new(rows.div_ceil(4), 128), arguments)
    }

    /// Adds the product of a matrix and `x` to `out`.
    fn multiply_add(&mut self, node: String, matrix: &str, x: &Numbers, out: &mut Numbers) -> Result<(), BoxError> {
        let (rows, columns) = (len(out), len(x));
        let w = self.tensor::<f32>(matrix, rows * columns, false)?;
        let arguments = [w.read(), x.read(), out.write(), count(rows), count(columns)];
        self.kernel(node, "multiply_add", Launch::new(rows.div_ceil(4), 128), arguments)
    }
}

/// The number of elements.
fn len(numbers: &Numbers) -> usize {
    numbers.bytes() / size_of::<f32>()
}

/// A thread for each number.
fn for_each(numbers: usize) -> Launch {
    Launch::new(numbers.div_ceil(THREADS), THREADS)
}

/// A size, as kernels take it. [`Config`] has none that does not fit.
fn count(size: usize) -> CallArgument {
    (size as u32).into()
}
