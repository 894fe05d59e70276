//! The share of a model that each of several ranks has.

use crate::engine::Config;
use graph_runtime::Communicator;
use half::bf16;

/// The share of a model that a rank has: some heads, some of the numbers between the matrices of the perceptron, and
/// some tokens to score. It has the norms and the vectors of tokens whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// The number of the rank.
    pub rank: usize,
    /// The number of ranks.
    pub ranks: usize,
}

impl Share {
    /// The whole model.
    pub const WHOLE: Self = Self { rank: 0, ranks: 1 };

    /// The share of a rank.
    pub fn of(world: &Communicator) -> Self {
        Self {
            rank: world.rank(),
            ranks: world.size(),
        }
    }

    /// Refuses a model that cannot be shared so.
    pub(super) fn check(self, config: Config) -> Result<(), String> {
        let Config {
            hidden,
            heads,
            groups,
            vocabulary,
            ..
        } = config;
        let pieces = [
            ("num_attention_heads", heads, 1),
            ("num_key_value_heads", groups, 1),
            ("intermediate_size", hidden, 8),
            ("vocab_size", vocabulary, 1),
        ];
        match pieces
            .into_iter()
            .find(|(_, count, of)| !count.is_multiple_of(of * self.ranks))
        {
            Some((name, count, 1)) => Err(format!("`{name}`, {count}, is not divisible by {} ranks", self.ranks)),
            Some((name, count, of)) => Err(format!(
                "`{name}`, {count}, is no multiple of {of} for each of {} ranks",
                self.ranks
            )),
            None => Ok(()),
        }
    }

    /// The shape of this share of a tensor: ranks have rows of most matrices, and columns of those that are multiplied
    /// with what each rank has made by itself.
    pub(super) fn shape(self, name: &str, shape: &[usize]) -> Vec<usize> {
        let mut shape = shape.to_vec();
        if let Some(dimension) = divided(name) {
            shape[dimension] /= self.ranks;
        }
        shape
    }

    /// This share of the numbers of a tensor.
    pub(super) fn cut(self, name: &str, shape: &[usize], numbers: Vec<bf16>) -> Vec<bf16> {
        let piece = self.shape(name, shape).into_iter().product::<usize>();
        match divided(name) {
            Some(0) => numbers[self.rank * piece..][..piece].to_vec(),
            Some(_) => {
                let columns = shape[1] / self.ranks;
                let mut part = Vec::with_capacity(piece);
                for row in numbers.chunks_exact(shape[1]) {
                    part.extend_from_slice(&row[self.rank * columns..][..columns]);
                }
                part
            }
            None => numbers,
        }
    }
}

/// The dimension of a tensor that ranks share, if they do.
fn divided(name: &str) -> Option<usize> {
    let part = name
        .strip_suffix("_proj.weight")
        .and_then(|name| name.rsplit('.').next());
    match part {
        Some("q" | "k" | "v" | "gate" | "up") => Some(0),
        Some("o" | "down") => Some(1),
        _ => (name == "lm_head.weight").then_some(0),
    }
}
