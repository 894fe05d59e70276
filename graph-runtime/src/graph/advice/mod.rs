//! Reasons for which a graph is slow, and the change that mends each: [`Advice`].

mod rules;
mod view;
mod path;
mod prices;

use crate::graph::Graph;
use std::fmt;
use std::ops::Deref;
use std::time::Duration;
use view::View;

/// The most nodes of a hint that its text names.
const NAMED: usize = 6;

/// Hints about a graph: [`Graph::advice`] returns them, those that save most first. Shown as text, it is a numbered
/// list.
#[derive(Clone, Debug)]
pub struct Advice {
    graph: String,
    measured: bool,
    hints: Vec<Hint>,
}

/// One piece of [`Advice`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Hint {
    /// The kind of mistake.
    pub topic: Topic,
    /// The names of the nodes, in order of declaration. All iterations of a loop are one name: `step[..]`.
    pub nodes: Vec<String>,
    /// The time that a launch may get shorter by, estimated; `None` if it is memory that is saved.
    pub saves: Option<Duration>,
    /// The slow part, with figures.
    pub finding: String,
    /// The change to make.
    pub help: String,
}

/// The topic of a [`Hint`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Topic {
    /// Edges that no data needs: see [`Plan::unneeded_edges`](crate::Plan::unneeded_edges).
    UnneededEdges,
    /// Nodes side by side, so many that launching them costs the CPU more than the GPU gains.
    Width,
    /// Plain edges that could be programmatic ones: the PTX of the later kernel was checked.
    ProgrammaticEdges,
    /// Kernels of so few blocks that most of the device has nothing to do.
    FewBlocks,
    /// Kernels of many blocks of few threads, as if grid and block were exchanged.
    GridAndBlock,
    /// Small copies from the host.
    SmallCopies,
    /// Conditional nodes whose bodies are small enough for predicated kernels.
    ConditionalNodes,
    /// Device memory that could be scratch memory, which shares addresses.
    Scratch,
}

impl Advice {
    /// Whether the times are those of the last profile on a GPU. If not, all are estimated from the prices of an H200.
    pub fn is_measured(&self) -> bool {
        self.measured
    }

    /// The hints, those that save most first.
    pub fn hints(&self) -> &[Hint] {
        &self.hints
    }
}

impl Deref for Advice {
    type Target = [Hint];

    fn deref(&self) -> &[Hint] {
        &self.hints
    }
}

impl<'a> IntoIterator for &'a Advice {
    type Item = &'a Hint;
    type IntoIter = std::slice::Iter<'a, Hint>;

    fn into_iter(self) -> Self::IntoIter {
        self.hints.iter()
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = if self.measured { "the last profile and " } else { "" };
        write!(f, "advice for `{}`, by {source}prices of an H200:", self.graph)?;
        if self.hints.is_empty() {
            return f.write_str(" nothing to change");
        }
        for (index, hint) in self.hints.iter().enumerate() {
            write!(f, "\n{}. {hint}", index + 1)?;
        }
        Ok(())
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(saves) = self.saves {
            write!(f, "about {:.1} us: ", saves.as_secs_f64() * 1e6)?;
        }
        write!(f, "{}", self.finding)?;
        let names = self.nodes.iter().take(NAMED).map(|name| format!("`{name}`"));
        let names: Vec<String> = names.collect();
        if !names.is_empty() {
            write!(f, "\n   nodes: {}", names.join(", "))?;
        }
        if self.nodes.len() > NAMED {
            write!(f, ", and {} more", self.nodes.len() - NAMED)?;
        }
        write!(f, "\n   help: {}", self.help)
    }
}

impl Graph {
    /// Says what makes the graph slow, by how much, and what to write instead. Nothing runs.
    ///
    /// The figures are estimates: from the prices of nodes and edges that were measured on an H200, and, if
    /// [`Graph::profile`] has measured this graph on a GPU before, from its times. On the emulator they are about an
    /// H200, too.
    ///
    /// ```
    /// use graph_runtime::{AnyGraph, Device, Topic, cuda_graph};
    ///
    /// let device = Device::emulator();
    /// let graph = cuda_graph! { &device =>
    ///     device x: [f32; 1024];
    ///     device y: [f32; 1024];
    ///     memset first  = x <- 1.0;
    ///     memset second = y <- 2.0 after first;
    /// }?;
    /// let advice = graph.advice();
    /// println!("{advice}");
    /// assert_eq!(advice[0].topic, Topic::UnneededEdges);
    /// assert_eq!(advice[0].help, "leave `after first` out of `second`");
    /// # Ok::<(), graph_runtime::Error>(())
    /// ```
    pub fn advice(&self) -> Advice {
        let view = View::new(self);
        Advice {
            graph: self.data.label(),
            measured: view.measured,
            hints: rules::hints(&view),
        }
    }
}
