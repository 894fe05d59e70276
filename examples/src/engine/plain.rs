//! The same decoder in plain Rust.

use super::config::Config;
use super::model::Model;

/// A text that a model has written.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// The given tokens, and those that the model chose.
    pub text: Vec<u32>,
    /// The number of given tokens.
    pub given: usize,
    /// The logits after each token but the last.
    pub logits: Vec<Vec<f32>>,
}

/// Writes on after the `given` tokens, with the likeliest token each time, until there are `len`, which are at most as
/// many as the context has.
pub fn decode(model: &Model, given: &[u32], len: usize) -> Decoded {
    let config = model.config;
    let mut text = given.to_vec();
    let mut kept = vec![[Vec::new(), Vec::new()]; config.layers];
    let mut logits = Vec::new();
    let angles = config.angles();
    for place in 0..len.saturating_sub(1) {
        let next = step(model, &angles, &mut kept, place, text[place] as usize);
        if text.len() == place + 1 {
            let likeliest = (1..next.len()).fold(0, |best, token| if next[token] > next[best] { token } else { best });
            text.push(likeliest as u32);
        }
        logits.push(next);
    }
    Decoded {
        text,
        given: given.len(),
        logits,
    }
}

/// The logits after a token. `kept` has the keys and the values of each layer.
fn step(model: &Model, angles: &[Vec<f32>; 2], kept: &mut [[Vec<f32>; 2]], place: usize, token: usize) -> Vec<f32> {
    let config = model.config;
    let Config { width, epsilon, .. } = config;
    let mut x = model.tensor("model.embed_tokens.weight")[token * width..][..width].to_vec();
    for (layer, [keys, values]) in kept.iter_mut().enumerate() {
        let tensor = |part| model.tensor(&Config::name(layer, part));
        let normed = norm(&x, tensor("input_layernorm.weight"), epsilon);
        let mut queries = product(tensor("self_attn.q_proj.weight"), &normed);
        let mut key = product(tensor("self_attn.k_proj.weight"), &normed);
        turn(&mut queries, config, angles, place);
        turn(&mut key, config, angles, place);
        keys.extend(key);
        values.extend(product(tensor("self_attn.v_proj.weight"), &normed));
        let mixed = attend(config, &queries, keys, values);
        add(&mut x, &product(tensor("self_attn.o_proj.weight"), &mixed));
        let normed = norm(&x, tensor("post_attention_layernorm.weight"), epsilon);
        let mut gate = product(tensor("mlp.gate_proj.weight"), &normed);
        let up = product(tensor("mlp.up_proj.weight"), &normed);
        for (gate, up) in gate.iter_mut().zip(up) {
            *gate = *gate / (1.0 + (-*gate).exp()) * up;
        }
        add(&mut x, &product(tensor("mlp.down_proj.weight"), &gate));
    }
    product(
        model.tensor(config.head_name()),
        &norm(&x, model.tensor("model.norm.weight"), epsilon),
    )
}

fn norm(x: &[f32], gain: &[f32], epsilon: f32) -> Vec<f32> {
    let mean = x.iter().map(|x| x * x).sum::<f32>() / x.len() as f32;
    let scale = 1.0 / (mean + epsilon).sqrt();
    x.iter().zip(gain).map(|(x, gain)| x * scale * gain).collect()
}

fn product(w: &[f32], x: &[f32]) -> Vec<f32> {
    w.chunks_exact(x.len()).map(|row| dot(row, x)).collect()
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(x: &mut [f32], y: &[f32]) {
    x.iter_mut().zip(y).for_each(|(x, y)| *x += y);
}

/// Turns the pairs of each head by the angles of a place.
fn turn(heads: &mut [f32], config: Config, [cosines, sines]: &[Vec<f32>; 2], place: usize) {
    let half = config.head() / 2;
    for head in heads.chunks_exact_mut(config.head()) {
        let (first, second) = head.split_at_mut(half);
        for (pair, (x, y)) in first.iter_mut().zip(second).enumerate() {
            let (cosine, sine) = (cosines[place * half + pair], sines[place * half + pair]);
            (*x, *y) = (*x * cosine - *y * sine, *y * cosine + *x * sine);
        }
    }
}

/// The values of all places so far, mixed for each query.
fn attend(config: Config, queries: &[f32], keys: &[f32], values: &[f32]) -> Vec<f32> {
    let (head, kept) = (config.head(), config.kept());
    let mix = |(number, query): (usize, &[f32])| {
        let of_group = move |rows: &[f32]| rows[number / (config.heads / config.groups) * head..][..head].to_vec();
        let scores = keys
            .chunks_exact(kept)
            .map(|row| dot(query, &of_group(row)) / (head as f32).sqrt());
        let scores: Vec<f32> = scores.collect();
        let most = scores.iter().copied().fold(f32::MIN, f32::max);
        let shares: Vec<f32> = scores.iter().map(|score| (score - most).exp()).collect();
        let total: f32 = shares.iter().sum();
        let mut mixed = vec![0.0; head];
        for (share, row) in shares.iter().zip(values.chunks_exact(kept)) {
            let value = of_group(row);
            mixed
                .iter_mut()
                .zip(value)
                .for_each(|(mixed, value)| *mixed += share * value);
        }
        mixed.into_iter().map(move |mixed| mixed / total).collect::<Vec<f32>>()
    };
    queries.chunks_exact(head).enumerate().flat_map(mix).collect()
}
