//! The search for writes through `&`: debug mode compares what a node may only read with what was there before.

use crate::ownership::blueprint::Blueprint;
use graph_plan::{Draft, Memory, Space};
use std::collections::BTreeMap;

/// The memory that is compared.
pub(super) struct ReadOnly {
    /// The bytes of each resource that is device memory.
    bytes: Vec<Option<usize>>,
    /// Whether each node is a kernel.
    kernels: Vec<bool>,
}

/// The contents of resources before a node runs.
pub(super) type Contents = Vec<(usize, Vec<u8>)>;

impl ReadOnly {
    pub(super) fn new(blueprint: &Blueprint<'_>) -> Self {
        let draft = blueprint.draft;
        let resources = draft.resources.iter().zip(blueprint.layouts);
        let bytes = resources.map(|(resource, layout)| {
            let is_compared = resource.memory.space() == Space::Device && resource.memory != Memory::Mapped;
            layout.filter(|_| is_compared).map(|layout| layout.bytes)
        });
        let ops = blueprint.program.ops.iter();
        Self {
            bytes: bytes.collect(),
            kernels: ops.map(|op| op.kernel().is_some()).collect(),
        }
    }

    /// The contents of all memory that a node may only read, which an update may change. `read` fills a list with the
    /// first bytes of a resource, and says whether that worked.
    pub(super) fn contents(&self, draft: &Draft, node: usize, read: impl Fn(usize, &mut [u8]) -> bool) -> Contents {
        if !self.kernels[node] {
            return Vec::new();
        }
        let own = draft.accesses.iter().filter(|access| access.node == node);
        let mut written: BTreeMap<usize, bool> = BTreeMap::new();
        for access in own {
            *written.entry(access.resource).or_default() |= access.mode.writes();
        }
        let only_read = written.into_iter().filter(|(_, is_written)| !is_written);
        let contents = only_read.filter_map(|(resource, _)| {
            let mut contents = vec![0; self.bytes[resource]?];
            read(resource, &mut contents).then_some((resource, contents))
        });
        contents.collect()
    }

    /// The first byte that a node has changed although it may only read it, if there is one.
    pub(super) fn finding(
        &self,
        draft: &Draft,
        node: usize,
        before: &Contents,
        read: impl Fn(usize, &mut [u8]) -> bool,
    ) -> Option<String> {
        let after = self.contents(draft, node, read);
        before.iter().zip(&after).find_map(|((resource, before), (_, after))| {
            let byte = before.iter().zip(after).position(|(before, after)| before != after)?;
            let name = &draft.resources[*resource].name;
            Some(format!(
                "wrote to byte {byte} of `{name}`, which it gets to read only (`&`)"
            ))
        })
    }
}
