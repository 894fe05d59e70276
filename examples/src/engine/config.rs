//! The sizes of a model.

use graph_runtime::BoxError;
use serde_json::Value;
use std::f64::consts::TAU;

/// The most numbers of any kind: products of two fit 64 bits, and indices of places 32.
const MOST: u64 = 1 << 20;
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
    /// `rope_scaling`.
    pub scaling: Option<Scaling>,
    /// `tie_word_embeddings`: whether the rows of tokens are also those that logits are computed with.
    pub is_tied: bool,
    /// `eos_token_id`: the tokens that end a text; `u32::MAX` is none.
    pub stops: [u32; 4],
}

/// The scaling of Llama 3's angles: slow ones are divided, so that a text may be longer than those of the training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaling {
    /// `factor`: the divisor of angles that turn less than `low` times in `places`.
    pub factor: f64,
    /// `low_freq_factor`.
    pub low: f64,
    /// `high_freq_factor`: angles that turn more often stay.
    pub high: f64,
    /// `original_max_position_embeddings`.
    pub places: f64,
}

impl Scaling {
    /// The angle of a place from that of the place before.
    fn apply(self, angle: f64) -> f64 {
        let turns = self.places * angle / TAU;
        let share = ((turns - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        angle * (share + (1.0 - share) / self.factor)
    }
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
        let scaling = &json["rope_scaling"];
        let scale = |name: &str| match scaling[name].as_f64() {
            Some(number) if number > 0.0 => Ok(number),
            _ => Err(format!(
                "`{name}` of `rope_scaling` is no positive number: {}",
                scaling[name]
            )),
        };
        let scaling = match scaling["rope_type"].as_str() {
            Some("llama3") => Some(Scaling {
                factor: scale("factor")?,
                low: scale("low_freq_factor")?,
                high: scale("high_freq_factor")?,
                places: scale("original_max_position_embeddings")?,
            }),
            None if scaling.is_null() => None,
            _ => return Err(format!("`rope_scaling` is not that of Llama 3: {scaling}").into()),
        };
        let ends = &json["eos_token_id"];
        let ends = ends.as_array().map_or(std::slice::from_ref(ends), Vec::as_slice);
        let mut stops = [u32::MAX; 4];
        for (stop, end) in stops.iter_mut().zip(ends) {
            *stop = end.as_u64().and_then(|end| end.try_into().ok()).unwrap_or(u32::MAX);
        }
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
            scaling,
            is_tied: json["tie_word_embeddings"].as_bool().unwrap_or(false),
            stops,
        };
        config.check()?;
        Ok(config)
    }

    fn check(self) -> Result<(), String> {
        let Self {
            width, heads, groups, ..
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

    /// The name of the tensor that logits are computed with.
    pub const fn head_name(self) -> &'static str {
        if self.is_tied {
            "model.embed_tokens.weight"
        } else {
            "lm_head.weight"
        }
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
        ];
        if !self.is_tied {
            tensors.push((self.head_name().to_owned(), vec![vocabulary, width]));
        }
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
        let turn = |pair: usize| {
            let angle = f64::from(self.theta).powf(-(pair as f64) / half as f64);
            self.scaling.map_or(angle, |scaling| scaling.apply(angle))
        };
        let angles = (0..self.context).flat_map(|place| (0..half).map(move |pair| place as f64 * turn(pair)));
        let (cosines, sines) = angles.map(|angle| (angle.cos() as f32, angle.sin() as f32)).unzip();
        [cosines, sines]
    }
}
