//! The edges of one body, once for all iterations, with the numbers by which the iterations of their ends differ.

use crate::draft::Link;
use crate::{Draft, Edge, Nest, Shift};

/// An edge between nodes, or iterations of nodes, of one body.
pub(crate) struct Apart {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// The edge of the draft; `None` for the order of a `for`'s iterations.
    pub(crate) link: Option<Link>,
    /// For each loop around both, the number of `to` minus that of `from`.
    pub(crate) by: Vec<i64>,
}

impl Apart {
    /// The number of loops that are around both nodes, of which these are the loops from the outermost.
    pub(crate) fn common(first: &[usize], second: &[usize]) -> usize {
        first.iter().zip(second).take_while(|(a, b)| a == b).count()
    }

    /// The edges of a body that its order takes, and those between iterations. `loops` are those around each node.
    pub(crate) fn of(draft: &Draft, order: &Nest, body: usize, loops: &[Vec<usize>]) -> Vec<Self> {
        let inside = |node: usize| draft.nodes[node].body == body;
        let mut found = Vec::new();
        for (index, &Edge { from, to }) in draft.edges.iter().enumerate() {
            if inside(from) && order.before(from, to) {
                let (link, by) = (Some(Link::Edge(index)), vec![0; Self::common(&loops[from], &loops[to])]);
                found.push(Self { from, to, link, by });
            }
        }
        for (index, Shift { from, to, steps, .. }) in draft.shifts.iter().enumerate() {
            if inside(*from) && inside(*to) {
                let common = Self::common(&loops[*from], &loops[*to]).min(steps.len());
                found.push(Self {
                    from: *from,
                    to: *to,
                    link: Some(Link::Shift(index)),
                    by: steps[steps.len() - common..].iter().map(|step| -step).collect(),
                });
            }
        }
        found
    }
}
