//! A checked graph as static data: what `Self::PLAN` is, and what the drawings draw.

use crate::{Draft, Mode, NodeKind, Outcome, Space};
use std::borrow::Cow;

/// A checked graph. Indices are positions in these lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The graph's name.
    pub name: Cow<'static, str>,
    /// The memory its nodes touch.
    pub resources: Cow<'static, [PlanResource]>,
    /// The nodes, in order of declaration.
    pub nodes: Cow<'static, [PlanNode]>,
}

/// A resource of a [`Plan`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanResource {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Where it lives.
    pub space: Space,
    /// Its size in bytes.
    pub bytes: usize,
}

/// A node of a [`Plan`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanNode {
    /// Its name.
    pub name: Cow<'static, str>,
    /// What it does.
    pub kind: NodeKind,
    /// What it touches.
    pub accesses: Cow<'static, [PlanAccess]>,
    /// The nodes it runs directly after: the transitive reduction of the edges as written.
    pub after: Cow<'static, [usize]>,
    /// The length in edges of the longest path that ends here. Nodes of one level can run at the same time.
    pub level: usize,
}

/// An access of a [`PlanNode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanAccess {
    /// The resource.
    pub resource: usize,
    /// How it is touched.
    pub mode: Mode,
}

impl PlanAccess {
    /// An access.
    pub const fn new(resource: usize, mode: Mode) -> Self {
        Self { resource, mode }
    }
}

impl PlanResource {
    /// A resource of `bytes` bytes.
    pub const fn new(name: &'static str, space: Space, bytes: usize) -> Self {
        Self {
            name: Cow::Borrowed(name),
            space,
            bytes,
        }
    }
}

impl PlanNode {
    /// A node of static data.
    pub const fn new(
        name: &'static str,
        kind: NodeKind,
        accesses: &'static [PlanAccess],
        after: &'static [usize],
        level: usize,
    ) -> Self {
        Self {
            name: Cow::Borrowed(name),
            kind,
            accesses: Cow::Borrowed(accesses),
            after: Cow::Borrowed(after),
            level,
        }
    }
}

impl Plan {
    /// A plan of static data.
    pub const fn new(name: &'static str, resources: &'static [PlanResource], nodes: &'static [PlanNode]) -> Self {
        Self {
            name: Cow::Borrowed(name),
            resources: Cow::Borrowed(resources),
            nodes: Cow::Borrowed(nodes),
        }
    }

    /// The plan of a checked draft; `bytes` gives each resource's size.
    pub fn of(draft: &Draft, outcome: &Outcome, bytes: impl Fn(usize) -> usize) -> Self {
        let mut after = vec![Vec::new(); draft.nodes.len()];
        outcome.reduced(draft).for_each(|edge| after[edge.to].push(edge.from));
        let mut accesses = vec![Vec::new(); draft.nodes.len()];
        for access in &draft.accesses {
            accesses[access.node].push(PlanAccess::new(access.resource, access.mode));
        }
        let nodes =
            draft
                .nodes
                .iter()
                .zip(after)
                .zip(accesses)
                .enumerate()
                .map(|(index, ((node, after), accesses))| {
                    let level = outcome.order.level(index);
                    PlanNode {
                        name: node.name.clone(),
                        kind: node.kind,
                        accesses: accesses.into(),
                        after: after.into(),
                        level,
                    }
                });
        let resources = draft
            .resources
            .iter()
            .enumerate()
            .map(|(index, resource)| PlanResource {
                name: resource.name.clone(),
                space: resource.space,
                bytes: bytes(index),
            });
        Self {
            name: draft.name.clone(),
            resources: resources.collect(),
            nodes: nodes.collect(),
        }
    }

    /// The number of levels: the length in nodes of the longest path.
    pub fn levels(&self) -> usize {
        self.nodes.iter().map(|node| node.level + 1).max().unwrap_or(0)
    }
}
