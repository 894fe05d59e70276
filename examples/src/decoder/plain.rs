//! The decoder in plain Rust.

use super::{HEAD, Model, Sizes};
use graph_runtime::Result;
use half::bf16;

/// Computes the logits after the last token of a text, in plain Rust and f32.
///
/// # Errors
/// If the weights cannot be read.
pub fn plain_logits(model: &Model, text: &[u32]) -> Result<Vec<f32>> {
    let mut weights = Vec::new();
    for tensor in &model.tensors {
        weights.extend(tensor.read_vec()?.iter().map(|weight| weight.to_f32()));
    }
    let mut logits = Vec::new();
    each_place(model.sizes, &weights, text, round, |place, score| {
        if place + 1 == text.len() {
            logits = score();
        }
    });
    Ok(logits)
}

/// Computes the mean cross-entropy of the tokens of a window after its first one, in plain Rust and f32; `weights` are
/// all weights, as [`Sizes::weights`] says.
pub fn plain_loss(sizes: Sizes, weights: &[f32], window: &[u32]) -> f64 {
    let count = window.len() - 1;
    let mut loss = 0.0;
    each_place(
        sizes,
        weights,
        &window[..count],
        |number| number,
        |place, score| {
            loss += cross_entropy(&score(), window[place + 1]);
        },
    );
    loss / count as f64
}

/// The cross-entropy of a token, of which these are the logits.
pub fn cross_entropy(logits: &[f32], token: u32) -> f64 {
    let most = logits.iter().copied().fold(f32::MIN, f32::max);
    let sum: f64 = logits.iter().map(|logit| f64::from(logit - most).exp()).sum();
    sum.ln() + f64::from(most - logits[token as usize])
}

/// Calls `done` for each place of a text, with a function that computes the logits there. Keys and values are rounded
/// by `round`.
fn each_place(
    sizes: Sizes,
    weights: &[f32],
    text: &[u32],
    round: fn(f32) -> f32,
    mut done: impl FnMut(usize, &dyn Fn() -> Vec<f32>),
) {
    let width = sizes.width;
    let mut rest = weights;
    let [tokens, places, matrices, vectors, last] = sizes.lengths().map(|length| {
        let (tensor, others) = rest.split_at(length);
        rest = others;
        tensor
    });
    let mut caches = vec![[Vec::new(), Vec::new()]; sizes.layers];
    for (number, (place, token)) in places.chunks(width).zip(text).enumerate() {
        let mut x = sum(place, &tokens[*token as usize * width..][..width]);
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
                cache.extend(new.iter().map(|number| round(*number)));
            }
            x = sum(&x, &product(projection, &attention(&qkv[..width], cache), rows(7, 8)));
            let hidden = product(up, &norm(&x, rows(1, 2), rows(3, 4)), rows(8, 12));
            x = sum(
                &x,
                &product(down, &hidden.into_iter().map(gelu).collect::<Vec<_>>(), rows(12, 13)),
            );
        }
        let (gain, bias) = last.split_at(width);
        done(number, &|| {
            product(tokens, &norm(&x, gain, bias), &vec![0.0; sizes.vocabulary])
        });
    }
}

fn round(number: f32) -> f32 {
    bf16::from_f32(number).to_f32()
}

fn sum(x: &[f32], y: &[f32]) -> Vec<f32> {
    x.iter().zip(y).map(|(x, y)| x + y).collect()
}

/// Adds products, from the first one on. Eight are added in one expression: debug builds of the examples, which tests
/// run, would otherwise spend half their time in the calls of iterators.
fn dot(x: &[f32], y: &[f32]) -> f32 {
    let ((x, x_rest), (y, y_rest)) = (x.as_chunks::<8>(), y.as_chunks::<8>());
    let eights = x.iter().zip(y).fold(0.0, |sum, ([a, b, c, d, e, f, g, h], y)| {
        sum + a * y[0] + b * y[1] + c * y[2] + d * y[3] + e * y[4] + f * y[5] + g * y[6] + h * y[7]
    });
    x_rest.iter().zip(y_rest).fold(eights, |sum, (x, y)| sum + x * y)
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
