//! The sizes of a model.

use graph_runtime::BoxError;
use serde_json::Value;

/// The most numbers of any kind: products of two fit 64 bits, and indices of places 32.
const MOST: u64 = 1 << 20;
/// The most places: attention keeps a number for each in 48 KiB of shared memory.
const MOST_PLACES: usize = 12_288;

/// The sizes of a Llama, by the names that `config.json` of Hugging Face's models gives them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// `hidden_size`: the length of the vector that stands for a token.
    pub width: usize,
    /// `intermediate_size`: the length of the vector between the matrices of a layer's perceptron.
    pub hidden: usize,
    /// `num_hidden_layers`.
    pub layers: usize,
    /// `num_attention_heads`: the number of queries of a token.
    pub heads: usize,
    /// `num_key_value_heads`: the number of keys and values of a token. Several queries share each.
    pub groups: usize,
    /// `vocab_size`: the number of different tokens.
    pub vocabulary: usize,
    /// `max_position_embeddings`: the most tokens of a text.
    pub context: usize,
    /// `rms_norm_eps`.
    pub epsilon: f32,
    /// `rope_theta`.
    pub theta: f32,
}

impl Config {
    /// Reads the text of a `config.json`.
    ///
    /// # Errors
    /// If it is no JSON, if a number is missing, or if no such model can be: the message names the number.
    pub fn parse(text: &str) -> Result<Self, BoxError> {
        let json: Value = serde_json::from_str(text)?;
        let size = |name: &str| match json[name].as_u64() {
            Some(size @ 1..=MOST) => Ok(size as usize),
            _ => Err(format!("`{name}` is no number from 1 to {MOST}: {}", json[name])),
        };
        let number = |name: &str| match json[name].as_f64() {
            Some(number) if number > 0.0 => Ok(number as f32),
            _ => Err(format!("`{name}` is no positive number: {}", json[name])),
        };
        let config = Self {
            width: size("hidden_size")?,
            hidden: size("intermediate_size")?,
            layers: size("num_hidden_layers")?,
            heads: size("num_attention_heads")?,
            groups: size("num_key_value_heads")?,
            vocabulary: size("vocab_size")?,
            context: size("max_position_embeddings")?,
            epsilon: number("rms_norm_eps")?,
            theta: number("rope_theta")?,
        };
        config.check()?;
        Ok(config)
    }

    fn check(self) -> Result<(), String> {
        let Self {
            width,
            heads,
            groups,
            context,
            ..
        } = self;
        if !width.is_multiple_of(2 * heads) || width / heads > 1024 {
            return Err(format!(
                "`hidden_size`, {width}, is not {heads} heads of an even length up to 1024"
            ));
        }
        if !heads.is_multiple_of(groups) {
            return Err(format!(
                "`num_attention_heads`, {heads}, is no multiple of `num_key_value_heads`, {groups}"
            ));
        }
        if context > MOST_PLACES {
            return Err(format!(
                "`max_position_embeddings`, {context}, is more than {MOST_PLACES}"
            ));
        }
        Ok(())
    }

    /// The length of a query, a key and a value.
    pub const fn head(self) -> usize {
        self.width / self.heads
    }

    /// The numbers in all keys of a token, and in all values.
    pub const fn kept(self) -> usize {
        self.groups * self.head()
    }

    /// The name of a tensor of a layer.
    pub fn name(layer: usize, part: &str) -> String {
        format!("model.layers.{layer}.{part}")
    }

    /// The tensors of a checkpoint: names and shapes. Matrices have a row for each of their results.
    pub fn tensors(self) -> Vec<(String, Vec<usize>)> {
        let Self {
            width,
            hidden,
            vocabulary,
            ..
        } = self;
        let mut tensors = vec![
            ("model.embed_tokens.weight".to_owned(), vec![vocabulary, width]),
            ("model.norm.weight".to_owned(), vec![width]),
            ("lm_head.weight".to_owned(), vec![vocabulary, width]),
        ];
        for layer in 0..self.layers {
            let parts = [
                ("input_layernorm.weight", vec![width]),
                ("self_attn.q_proj.weight", vec![width, width]),
                ("self_attn.k_proj.weight", vec![self.kept(), width]),
                ("self_attn.v_proj.weight", vec![self.kept(), width]),
                ("self_attn.o_proj.weight", vec![width, width]),
                ("post_attention_layernorm.weight", vec![width]),
                ("mlp.gate_proj.weight", vec![hidden, width]),
                ("mlp.up_proj.weight", vec![hidden, width]),
                ("mlp.down_proj.weight", vec![width, hidden]),
            ];
            tensors.extend(parts.map(|(part, shape)| (Self::name(layer, part), shape)));
        }
        tensors
    }

    /// The cosines of the angles by which pairs of a head are turned, and their sines: a row for each place.
    pub fn angles(self) -> [Vec<f32>; 2] {
        let half = self.head() / 2;
        let angles = (0..self.context).flat_map(|place| {
            (0..half).map(move |pair| place as f64 / f64::from(self.theta).powf(pair as f64 / half as f64))
        });
        let (cosines, sines) = angles.map(|angle| (angle.cos() as f32, angle.sin() as f32)).unzip();
        [cosines, sines]
    }
}
