//! The search for writes through `&`: debug mode compares what a node may only read with what was there before.

use crate::ownership::blueprint::Blueprint;
use graph_plan::{Draft, Memory, Space};

/// The memory that each node may only read.
pub(super) struct ReadOnly {
    /// The resources, with their bytes.
    read: Vec<Vec<(usize, usize)>>,
}

/// The contents of resources before a node runs.
pub(super) type Contents = Vec<(usize, Vec<u8>)>;

impl ReadOnly {
    pub(super) fn new(blueprint: &Blueprint<'_>) -> Self {
        let draft = blueprint.draft;
        let mut read: Vec<Vec<(usize, usize)>> = vec![Vec::new(); draft.nodes.len()];
        let mut written: Vec<Vec<usize>> = vec![Vec::new(); draft.nodes.len()];
        for access in &draft.accesses {
            let memory = draft.resources[access.resource].memory;
            if access.mode.writes() {
                written[access.node].push(access.resource);
            } else if let Some(layout) = blueprint.layouts[access.resource]
                && memory.space() == Space::Device
                && memory != Memory::Mapped
                && blueprint.program.ops[access.node].kernel().is_some()
            {
                read[access.node].push((access.resource, layout.bytes));
            }
        }
        for (read, written) in read.iter_mut().zip(&written) {
            read.sort_unstable();
            read.dedup();
            read.retain(|(resource, _)| !written.contains(resource));
        }
        Self { read }
    }

    /// The contents of all memory that a node may only read. `read` fills a list with the first bytes of a resource,
    /// and says whether that worked.
    pub(super) fn contents(&self, node: usize, read: impl Fn(usize, &mut [u8]) -> bool) -> Contents {
        let contents = self.read[node].iter().filter_map(|&(resource, bytes)| {
            let mut contents = vec![0; bytes];
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
        let after = self.contents(node, read);
        before.iter().zip(&after).find_map(|((resource, before), (_, after))| {
            let byte = before.iter().zip(after).position(|(before, after)| before != after)?;
            let name = &draft.resources[*resource].name;
            Some(format!(
                "wrote to byte {byte} of `{name}`, which it gets to read only (`&`)"
            ))
        })
    }
}
