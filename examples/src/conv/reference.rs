//! One step of training in plain Rust: loops as the formulas have them.

use super::{BATCH, C1, C2, FEATURES, PIXELS, Weights};

/// Trains `weights` with one batch, by a step of size `rate` down the gradient of the mean cross-entropy, and returns
/// that. `images` and `labels` are the batch.
pub fn step(weights: &mut Weights, images: &[[f32; PIXELS]], labels: &[u32], rate: f32) -> f32 {
    let mut gradient = Weights::zeroed();
    let mut loss = 0.0;
    for (image, &label) in images.iter().zip(labels) {
        loss += add_gradient(weights, image, label, &mut gradient) / BATCH as f32;
    }
    for (part, gradient) in weights.parts_mut().into_iter().zip(gradient.parts()) {
        part.iter_mut()
            .zip(gradient)
            .for_each(|(weight, g)| *weight -= rate * g);
    }
    loss
}

/// Adds the gradient of one image, as its part of the mean, and returns its cross-entropy.
fn add_gradient(weights: &Weights, image: &[f32], label: u32, gradient: &mut Weights) -> f32 {
    let first = Layer {
        inputs: 1,
        outputs: C1,
        side: 16,
    };
    let second = Layer {
        inputs: C1,
        outputs: C2,
        side: 8,
    };
    let (h1, from1) = first.forward(image, &weights.w1, &weights.b1);
    let (h2, from2) = second.forward(&h1, &weights.w2, &weights.b2);

    let rows = weights.w3.chunks(FEATURES).zip(&weights.b3);
    let logits: Vec<f32> = rows
        .map(|(row, bias)| row.iter().zip(&h2).map(|(w, h)| w * h).sum::<f32>() + bias)
        .collect();
    let most = logits.iter().copied().fold(f32::MIN, f32::max);
    let exps: Vec<f32> = logits.iter().map(|logit| (logit - most).exp()).collect();
    let sum: f32 = exps.iter().sum();

    let mut dh2 = vec![0.0; FEATURES];
    for (class, exp) in exps.iter().enumerate() {
        let wanted = if class == label as usize { 1.0 } else { 0.0 };
        let d = (exp / sum - wanted) / BATCH as f32;
        gradient.b3[class] += d;
        for (feature, dh) in dh2.iter_mut().enumerate() {
            *dh += d * weights.w3[class * FEATURES + feature];
            gradient.w3[class * FEATURES + feature] += d * h2[feature];
        }
    }
    let dh1 = second.backward(&h1, &weights.w2, &h2, &from2, &dh2, &mut gradient.w2, &mut gradient.b2);
    first.backward(
        image,
        &weights.w1,
        &h1,
        &from1,
        &dh1,
        &mut gradient.w1,
        &mut gradient.b1,
    );
    sum.ln() + most - logits.get(label as usize).copied().unwrap_or(0.0)
}

/// A convolution by 3x3 filters, bias, ReLU, and the largest of 2x2.
struct Layer {
    inputs: usize,
    outputs: usize,
    /// The side of a channel before the largest of 2x2 are taken.
    side: usize,
}

impl Layer {
    /// Returns the cells, and for each the place that was the largest.
    fn forward(&self, x: &[f32], w: &[f32], bias: &[f32]) -> (Vec<f32>, Vec<usize>) {
        let (side, half) = (self.side, self.side / 2);
        let mut cells = Vec::new();
        let mut from = Vec::new();
        for (output, bias) in bias.iter().enumerate() {
            for cell in 0..half * half {
                let corner = cell / half * 2 * side + cell % half * 2;
                let places = [corner, corner + 1, corner + side, corner + side + 1];
                let (place, most) = places
                    .map(|place| (place, self.at(x, w, output, place)))
                    .into_iter()
                    .fold((0, f32::MIN), |most, next| if next.1 > most.1 { next } else { most });
                cells.push((most + bias).max(0.0));
                from.push(place);
            }
        }
        (cells, from)
    }

    /// The sum of a filter at one place.
    fn at(&self, x: &[f32], w: &[f32], output: usize, place: usize) -> f32 {
        let taps = self.taps(place);
        taps.map(|(input, tap, from)| w[(output * self.inputs + input) * 9 + tap] * x[from])
            .sum()
    }

    /// The inputs that a filter at `place` takes: channel, number in the filter, index.
    fn taps(&self, place: usize) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
        let (side, inputs) = (self.side, self.inputs);
        (0..inputs * 9).filter_map(move |index| {
            let (input, tap) = (index / 9, index % 9);
            let (row, column) = (place / side + tap / 3, place % side + tap % 3); // both 1 more
            let inside = (1..=side).contains(&row) && (1..=side).contains(&column);
            inside.then(|| (input, tap, (input * side + row - 1) * side + column - 1))
        })
    }

    /// Adds to the gradients by `w` and `bias`, and returns that by `x`.
    #[expect(
        clippy::too_many_arguments,
        reason = "the values of the forward pass, and where gradients go"
    )]
    fn backward(
        &self,
        x: &[f32],
        w: &[f32],
        cells: &[f32],
        from: &[usize],
        dcells: &[f32],
        dw: &mut [f32],
        dbias: &mut [f32],
    ) -> Vec<f32> {
        let mut dx = vec![0.0; x.len()];
        let per_output = cells.len() / self.outputs;
        for (index, &d) in dcells.iter().enumerate().filter(|(index, _)| cells[*index] > 0.0) {
            let output = index / per_output;
            dbias[output] += d;
            for (input, tap, place) in self.taps(from[index]) {
                let weight = (output * self.inputs + input) * 9 + tap;
                dw[weight] += d * x[place];
                dx[place] += d * w[weight];
            }
        }
        dx
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The gradient agrees with differences of the loss: of one image, which is a 32nd of a batch.
    #[test]
    fn steps_go_down_the_gradient() {
        let image: [[f32; PIXELS]; 1] = [std::array::from_fn(|pixel| (pixel * 13 % 17) as f32 / 16.0)];
        let start = Weights::first();
        let mut stepped = start.clone();
        step(&mut stepped, &image, &[3], BATCH as f32);
        let places: [fn(&mut Weights) -> &mut f32; 5] = [
            |w| &mut w.w1[5],
            |w| &mut w.b1[3],
            |w| &mut w.w2[700],
            |w| &mut w.b2[9],
            |w| &mut w.w3[FEATURES + 20],
        ];
        for place in places {
            let loss_with = |change: f32| {
                let mut weights = start.clone();
                *place(&mut weights) += change;
                step(&mut weights, &image, &[3], 0.0) * BATCH as f32
            };
            let slope = (loss_with(0.01) - loss_with(-0.01)) / 0.02;
            let gradient = *place(&mut start.clone()) - *place(&mut stepped);
            assert!((slope - gradient).abs() < 2e-3, "{slope} and {gradient}");
        }
    }
}
