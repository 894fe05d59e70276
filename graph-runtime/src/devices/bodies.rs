//! The forms in which the bodies of `if`, `switch` and `while` run on a GPU.

use std::fmt;

/// The form in which the bodies of `if`, `switch` and `while` run on a GPU: see
/// [`Device::with_bodies`](crate::Device::with_bodies).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bodies {
    /// The form that costs less, for each body. The default.
    #[default]
    Cheapest,
    /// Conditional nodes of CUDA.
    Nodes,
    /// Predicated kernels, where bodies can run so.
    Predicated,
}

/// The form of one `if`, `switch` or `while` of a graph: see [`Graph::body_forms`](crate::Graph::body_forms).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BodyForm {
    /// The name of the node.
    pub node: String,
    /// Whether its bodies are predicated kernels, which return at once if their body does not run. If not, it is a
    /// conditional node of CUDA.
    pub predicated: bool,
    /// The number of times that the body of a `while` is repeated in one iteration of its node, each time after the
    /// first predicated; 1 for others.
    pub passes: usize,
    /// The reason: the prices of both forms, or what stands in the way of one.
    pub reason: String,
}

impl fmt::Display for BodyForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, reason, .. } = self;
        match (self.predicated, self.passes) {
            (false, _) => write!(f, "`{node}` is a conditional node: {reason}"),
            (true, 1) => write!(f, "`{node}` is predicated: {reason}"),
            (true, passes) => write!(f, "`{node}` repeats its body {passes} times in one iteration: {reason}"),
        }
    }
}
